"""How long a session takes, by one that has run: loading, measuring on held-out tasks, training and asking, each at its own pace."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from frozenlab.base.numbers import duration
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec

FEWEST_STEPS = 3
"""A session's first step also loads and compiles, so fewer say nothing about the others."""


class Pace(NamedTuple):
    """Seconds of the parts of a session that ran from start to end."""

    load: float
    """From the start of its process to the first answer, and what the first step takes longer than others."""
    answer: float
    """For a held-out task."""
    plan: float
    """For a plan in training, with the boards that it needs."""
    proposal: float
    title: str
    """Of that session."""

    def seconds(self, spec: SessionSpec, *, forked: bool = False) -> float:
        """What a session of this spec takes; one that is ``forked`` has the measurements of its base already."""
        measured = (spec.stages + (not forked)) * sum(spec.held_out)
        proposals = self.proposal * (spec.stages + spec.ask_first)
        return self.load + measured * self.answer + spec.stages * spec.training.plans_per_stage * self.plan + proposals

    def judged(self, seconds: float) -> str:
        """``About 3 min, judging by Quick session``."""
        return f"About {duration(seconds)}, judging by {self.title}"


def pace_of(session: Session) -> Pace | None:
    """The pace of a session; None for one that was interrupted, is a fork, or has not trained a stage and FEWEST_STEPS."""
    spec, events = session.spec, session.events()
    took: dict[str, list[float]] = {}
    for earlier, event in pairwise(events):
        took.setdefault(str(event["kind"]), []).append(float(event["time"]) - float(earlier["time"]))
    if spec.parent is not None or {"resumed", "damaged"} & took.keys() or not {"baseline", "validated"} <= took.keys():
        return None
    if len(took.get("step", ())) < FEWEST_STEPS:
        return None
    validation, test = spec.held_out
    answer = median(took["tested"]) / test if test and "tested" in took else median(took["validated"]) / validation
    waits = "person" in spec.engineer.needs or "proposed" not in took
    step, started = median(took["step"]), float(events[0]["time"])
    before = took["baseline"][0] + max(0.0, started - (session.state().create_time or started))
    return Pace(
        load=max(0.0, before - validation * answer) + max(0.0, took["step"][0] - step),
        answer=answer,
        plan=step / spec.training.plans_per_step,
        proposal=0.0 if waits else median(took["proposed"]),
        title=session.title,
    )


def pace_for(spec: SessionSpec, found: Iterable[Session]) -> Pace | None:
    """The pace of the first session of the same model and method that has one."""
    alike = (one for one in found if (one.spec.policy, one.spec.training.method) == (spec.policy, spec.training.method))
    return next((pace for session in alike if (pace := pace_of(session)) is not None), None)
