"""The loop in one picture, with the numbers of a session flowing through it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import pandas as pd

from frozenlab.app.session.proposals import what_changed
from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.figures import overall, overall_by_cell
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import percent
from frozenlab.models.training.methods import BY_NAME, title_of
from frozenlab.session.session import Session
from frozenlab.tasks.words import Outcome

FAULTS_SHOWN = 4
CURVE_POINTS = 60

_loop = component(__file__, "loop_picture", '<div class="loop" role="group"></div>', code=NODES)


def loop_picture(session: Session, key: str) -> bool:
    """Draws one turn of the session's loop; False, and nothing drawn, if no turn is complete yet."""
    stage = complete_stage(session)
    if stage is None:
        return False
    _loop(key=key, data=turn(session, stage), height="content")
    return True


def loop_explained(session: Session | None, cards: Sequence[tuple[str, str, str, str]], back: str, key: str) -> None:
    """Draws the loop as it always is, with the figures of the session's turn.

    Args:
        session: see :func:`with_a_turn`; None: no figures.
        cards: of each step its title, what happens, and the address and the name of the page that shows it.
        back: what leads from the last step to the first.
    """
    stage = None if session is None else complete_stage(session)
    figures = [one["figure"] for one in turn(session, stage)["cards"]] if session is not None and stage is not None else [None] * len(cards)
    told = [
        {"title": title, "figure": figure, "caption": what, "page": {"address": address, "name": name}}
        for figure, (title, what, address, name) in zip(figures, cards, strict=True)
    ]
    _loop(key=key, data={"label": "The loop", "cards": told, "back": back}, height="content")


def with_a_turn(found: Sequence[Session]) -> Session | None:
    """The session whose turn shows the loop: the first that has a complete one, of those that are done if there is any."""
    done = (session for session in found if session.state().status == "done")
    return next((session for session in chain(done, found) if complete_stage(session) is not None), None)


def complete_stage(session: Session) -> int | None:
    """The latest stage with a proposal that the next stage trained on; else the latest with a proposal. Reads no more files than needed."""
    complete = [stage for stage in reversed(range(session.spec.stages)) if (session.stage_dir(stage) / "proposal.json").exists()]
    proposed = (
        stage
        for stage in complete
        if session.proposal(stage) is not None and session.results(stage) is not None and session.validation(stage) is not None
    )
    latest = next(proposed, None)
    if latest is None or session.results(latest + 1) is not None:
        return latest
    return next((stage for stage in proposed if session.results(stage + 1) is not None), latest)


def turn(session: Session, stage: int) -> dict[str, Any]:
    """What ``loop_picture.js`` draws: config, training, validation, evidence and engineer of one stage, and the way back."""
    record, after, read = session.proposal(stage), session.results(stage), session.validation(stage)
    if record is None or after is None or read is None:
        raise ValueError(f"stage {stage} of {session.id} is not complete")
    before = session.results(stage - 1 if stage else None)
    config, training = record.config_before, session.spec.training
    now = overall(after)
    was = "" if before is None else f"{overall(before).percent} \N{RIGHTWARDS ARROW} "
    metrics = session.metrics(stage)
    lines = len(context.lines) if (context := session.context(stage)) else 0
    said = record.proposal.summary if record.proposal else (record.kept_because or "")
    return {
        "label": f"One turn of the loop in {session.title}, {stage_name(stage).lower()}",
        "cards": [
            card(
                "Environment config",
                _bars(list(config.cells), [cell.share for cell in config.cells.values()]),
                f"Share of {session.spec.tasks.scope(config)}. It says what to draw, not which boards.",
            ),
            card(
                f"Train by {title_of(training.method)}",
                _curve(metrics),
                f"{training.plans_per_stage:,} plans sampled in {training.steps} steps; {BY_NAME[training.method].step}",
            ),
            card(
                "Validate" if session.suite == "validation" else "Validate and test",
                _rates(before, after),
                f"{was}{now.percent} valid on {now.n:,} {session.suite} boards ({now.percents}).",
            ),
            card(
                "Gather evidence",
                _faults(read, session.spec.tasks.outcomes),
                f"First faults of the boards that fail. {lines} lines of evidence, each with an id.",
            ),
            card("The engineer decides", {"kind": "quote", "text": said}, _who(record.engineer)),
        ],
        "back": f"Next config: it {what_changed(record)}",
    }


def card(title: str, figure: dict[str, Any], caption: str) -> dict[str, Any]:
    return {"title": title, "figure": figure, "caption": caption}


def _who(engineer: str) -> str:
    return {
        "policy": "The same model that was just trained, asked to redesign what it trains on.",
        "base": "The model before any training, asked to redesign what the policy trains on.",
    }.get(engineer, f"Here the {engineer} engineer, in place of the model.")


def _rates(before: pd.DataFrame | None, after: pd.DataFrame) -> dict[str, Any]:
    new, old = overall_by_cell(after), {} if before is None else overall_by_cell(before)
    cells = in_order(new)
    earlier = None if before is None else [old[cell].value if cell in old else 0.0 for cell in cells]
    return _bars(cells, [new[cell].value for cell in cells], earlier, top=1.0)


def _bars(cells: list[str], values: list[float], before: list[float] | None = None, top: float | None = None) -> dict[str, Any]:
    return {"kind": "bars", "values": values, "before": before, "groups": by_kind(cells), "top": top}


def by_kind(cells: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Neighbouring cells that differ only in their last number, so that narrow bars need not repeat what they have in common.

    >>> by_kind(["2@5", "2@6", "3@6"])
    [('2@', ['5', '6']), ('3@', ['6'])]
    """
    named = [re.fullmatch(r"(.*?)(\d*)", cell).groups() for cell in cells]  # type: ignore[union-attr]
    return [(kind, [number for _, number in group]) for kind, group in groupby(named, key=itemgetter(0))]


def _curve(metrics: pd.DataFrame) -> dict[str, Any]:
    """The valid rate of the sampled plans by step: as measured, and its running mean over a fifth of the stage, both thinned."""
    valid = metrics.reindex(columns=["valid"])["valid"].dropna()  # a damaged file may have none
    smooth = valid.rolling(max(5, len(valid) // 5), min_periods=1).mean()
    thin = slice(None, None, max(1, len(valid) // CURVE_POINTS))
    measured, mean = ([float(v) for v in line.iloc[thin]] for line in (valid, smooth))
    ends = (min(measured, default=0.0), max(measured, default=1.0))
    return {
        "kind": "line", "measured": measured, "values": mean, "low": ends[0], "high": ends[1],
        "labels": [f"{percent(ends[1])} valid", percent(ends[0])], "ticks": ["step 1", str(len(valid))],
    }  # fmt: skip


def _faults(after: pd.DataFrame, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    failed = after.loc[~after["valid"], "outcome"]
    common = failed.value_counts(normalize=True).head(FAULTS_SHOWN)
    names = sorted(common.index, key=lambda name: (-common[name], list(outcomes).index(name)))
    return {
        "kind": "stack",
        "parts": [{"share": float(common[name]), "color": outcomes[name].color, "label": outcomes[name].label} for name in names],
    }
