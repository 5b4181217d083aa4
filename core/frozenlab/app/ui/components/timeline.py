"""The thread of stages: the same timeline along the top of every page that speaks of a session.

Clicking a stage keeps you on the page and moves all its views; the choice stands in the address (``?stage=``), 0 for before training,
1 for the first stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

import streamlit as st

from frozenlab.app.ui.components import NODES, component
from frozenlab.base.numbers import Interval
from frozenlab.session.session import Session
from frozenlab.session.state import BEFORE_TRAINING, State

_thread = component(__file__, "timeline", '<div class="thread" role="tablist"></div>', code=NODES)
UNFINISHED: dict[str, Literal["running", "waiting", "stopped", "failed"]] = {
    "running": "running", "stalled": "running", "stopped": "stopped", "failed": "failed", "crashed": "failed",
}  # fmt: skip
PART = "part"
"""The part of the page that is shown, in the address."""
_contents = component(__file__, "contents", '<nav class="contents"></nav>', code=NODES)


@dataclass(frozen=True)
class Mark:
    """One moment of a session on the thread."""

    id: int
    """0 before training, then the number of the stage from 1."""
    title: str
    state: Literal["done", "running", "waiting", "stopped", "failed"]
    value: str = ""
    """The valid rate of its validation."""
    detail: str = ""
    link: str = ""
    """The change from the mark before to this one."""
    progress: float = 1.0


def stage_name(stage: int | None) -> str:
    """The name of a stage for people: ``stages/00`` is Stage 1; None is the time before training."""
    return "Before training" if stage is None else f"Stage {stage + 1}"


def rates_by_stage(state: State) -> dict[int | None, Interval]:
    """The valid rate of each stage that has been measured, on the boards that results come from; None is the base, before training."""
    return {rate.stage: Interval.of(round(rate.valid * rate.n), rate.n) for rate in state.rates}


def marks(session: Session, state: State) -> list[Mark]:
    """The marks of a session: finished, running and future stages."""
    measured = rates_by_stage(state)
    now = UNFINISHED.get(state.status, "waiting")
    before_training = state.phase in BEFORE_TRAINING
    found = [_mark(None, measured.get(None), now if before_training else "waiting", 0.5, "")]
    for stage in range(session.spec.stages):
        here = stage == state.stage and not before_training
        in_training = state.step / max(state.steps, 1) if state.phase == "training" else 0.0
        proposal = session.proposal(stage - 1 if stage else None)
        link = "" if proposal is None else "config kept" if not proposal.changes else f"{len(proposal.changes)} changes"
        progress = 1.0 if state.phase in ("validating", "testing", "proposing") else in_training
        found.append(_mark(stage, measured.get(stage), now if here else "waiting", progress, link))
    return found


def _mark(
    stage: int | None, rate: Interval | None, otherwise: Literal["running", "waiting", "stopped", "failed"], progress: float, link: str
) -> Mark:
    number = 0 if stage is None else stage + 1
    if rate is None:
        return Mark(number, stage_name(stage), otherwise, link=link, progress=progress)
    return Mark(number, stage_name(stage), "done", f"{rate.percent} valid", f"{rate.percents}, n = {rate.n:,}", link)


def _follow(key: str) -> None:
    """Put the stage that was clicked in the component ``key`` into the address."""
    st.query_params["stage"] = str(int(st.session_state[key].picked))


def chosen_mark(thread: Sequence[Mark], *, follow: bool = False, default: int | None = None) -> Mark:
    """The mark in the address, else the newest with results.

    Args:
        follow: without a choice in the address, the stage that runs now, or in which the session ended early, goes before all others.
        default: the mark that goes before the newest with results.
    """
    open_marks = [mark for mark in thread if mark.state != "waiting"] or list(thread[:1])
    asked = [mark for mark in open_marks if str(mark.id) == st.query_params.get("stage")]
    here = [mark for mark in open_marks if follow and mark.state != "done"]
    suggested = [mark for mark in open_marks if mark.id == default]
    done = [mark for mark in open_marks if mark.state == "done"]
    return (asked or here or suggested or done or open_marks)[-1]


def timeline(thread: Sequence[Mark], key: str, *, follow: bool = False, default: int | None = None) -> Mark:
    """Draw the thread and return its :func:`chosen_mark`."""
    chosen = chosen_mark(thread, follow=follow, default=default)
    _thread(
        key=key,
        data={"label": "Stages of the session", "selected": chosen.id, "marks": [asdict(mark) for mark in thread]},
        on_picked_change=partial(_follow, key),
        height="content",
    )
    return chosen


def contents(parts: Mapping[str, str], before: Mark | None, chosen: Mark, after: Mark | None, *, key: str, default: str) -> str:
    """Draw the bar; return the part that is shown: the one in the address, else ``default``.

    A click on a part or a stage puts it into the address (``?part=``, ``?stage=``), as the thread of stages does.

    Args:
        parts: name in the address -> title.
    """
    asked = st.query_params.get(PART)
    shown = asked if asked is not None and asked in parts else default

    def opened() -> None:
        st.query_params[PART] = str(st.session_state[key].opened)

    with st.container(key=f"{key}-place"):
        _contents(
            key=key,
            data={
                "stages": [{"id": mark.id, "title": mark.title} if mark else None for mark in (before, chosen, after)],
                "parts": [{"id": part, "title": title} for part, title in parts.items()],
                "open": shown,
            },
            on_picked_change=partial(_follow, key),
            on_opened_change=opened,
            height="content",
        )
    return shown
