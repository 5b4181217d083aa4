"""Runs a session again from its spec, and says what came out otherwise.

The same spec on the same machine with the same versions gives the same weights to the bit. Other processors and versions of torch round
differently, and after some steps a plan differs, then everything: so what differs is told in the order in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from frozenlab.errors import LabError, one_line
from frozenlab.jobs.origin import Origin
from frozenlab.loop.session import Session
from frozenlab.loop.spec import SessionSpec
from frozenlab.policy.folders import weights_file
from frozenlab.training.checkpoints import checksum

FIGURES = ("reward", "loss", "valid", "optimal", "length")
"""Of a step; how long it took is never the same."""


class ReproduceError(LabError, ValueError):
    """A session cannot be run again from its spec; the message says why."""


def spec_to_reproduce(session: Session) -> SessionSpec:
    """The spec to run again. Raises ReproduceError if a spec is not all that decided the session."""
    spec = session.spec
    if spec.parent is not None:
        parent = f"{spec.parent.session}:{spec.parent.stage + 1}"
        raise ReproduceError(f"{session.id} is a fork: reproduce {spec.parent.session}, then fork it again (frozenlab fork {parent})")
    if decided := [stage for stage in range(spec.stages) if session.given(stage) is not None]:
        raise ReproduceError(f"a person decided what {session.id} trains on after stage {decided[0] + 1}, which is not in its spec")
    if "person" in spec.engineer.needs:
        raise ReproduceError(f"the engineer of {session.id} is a person, who would have to decide again")
    return spec


def differences(session: Session, again: Session) -> list[str]:
    """What differs between a session and its repetition, a sentence each, in the order in which it happened."""
    told = list(origins_differ(session.origin, again.origin))
    for stage in (None, *range(session.spec.stages)):
        told += stage_differs(session, again, stage)
    return told


def origins_differ(first: Origin | None, second: Origin | None) -> Iterator[str]:
    if first is None or second is None:
        yield "Where the first came from is not known: an older version began it."
        return
    before, now = (f"{origin.machine}, Python {origin.python}, {origin.code}" for origin in (first, second))
    if before != now:
        yield f"The first ran on {before}; this one on {now}."
    for name in dict.fromkeys([*first.versions, *second.versions]):
        versions = first.versions.get(name, "none"), second.versions.get(name, "none")
        if versions[0] != versions[1]:
            yield f"{name} was {versions[0]} and is {versions[1]}."


def stage_differs(session: Session, again: Session, stage: int | None) -> Iterator[str]:
    """The boards, the training, the checkpoint, the answers and the next config of a stage, each where both have it."""
    where = "Before training" if stage is None else f"Stage {stage + 1}"
    environments = session.environment(stage), again.environment(stage)
    if all(environments) and environments[0] != environments[1]:
        yield f"{where}: it trained on boards of another config."
    if stage is not None:
        yield from training_differs(session, again, stage, where)
    for name, tables in {
        "validation": (session.validation(stage), again.validation(stage)),
        "test": (session.test(stage), again.test(stage)),
    }.items():
        first, second = tables
        if first is None or second is None:
            continue
        both = first.merge(second, on="board_id", suffixes=("", "_again"))
        if len(both) < max(len(first), len(second)):
            yield f"{where}: the {name} has other boards."
        elif (changed := int((both["completion"] != both["completion_again"]).sum())) > 0:
            rates = f"{first['valid'].mean():.1%} valid, now {second['valid'].mean():.1%}"
            yield f"{where}: {changed} of {len(both)} answers on {name} boards are others ({rates})."
    proposals = session.proposal(stage), again.proposal(stage)
    if proposals[0] and proposals[1] and proposals[0].config_after != proposals[1].config_after:
        yield f"{where}: the engineer decided on another config."


def training_differs(session: Session, again: Session, stage: int, where: str) -> Iterator[str]:
    """The first step with other figures, and the checkpoint."""
    first, second = session.metrics(stage), again.metrics(stage)
    names = [name for name in FIGURES if name in first and name in second]
    steps = min(len(first), len(second))
    unequal = (first[names].head(steps) != second[names].head(steps)).any(axis=1)
    if unequal.any():
        yield f"{where}: figures differ from step {int(first['step'].iloc[int(unequal.to_numpy().argmax())])} on."
    weights = [weights_file(of.stage_dir(stage) / "policy") for of in (session, again)]
    try:
        if weights[0] and weights[1] and checksum(weights[0]) != checksum(weights[1]):
            yield f"{where}: the weights are others."
    except OSError as error:
        yield f"{where}: the weights cannot be compared: {one_line(error)}."
