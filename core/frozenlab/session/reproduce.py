"""Runs a session again from its spec, and says what came out otherwise.

The same spec on the same machine with the same versions gives the same weights to the bit. Other processors and versions of torch round
differently, and after some steps a plan differs, then everything: so what differs is listed in the order in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.numbers import percent
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.jobs.origin import Origin
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.session import SUITES, Session
from frozenlab.session.spec import SessionSpec

FIGURES = ("reward", "loss", "valid", "optimal", "length")
"""Of a step; how long it took is never the same."""
LACKING = {(True, False): "the first has none", (False, True): "this one has none", (True, True): "neither has any"}
"""Whether the first and this one lack something -> the words for it."""
Found = tuple[Literal["differs", "unseen"], str]
"""Whether something differs or could not be compared, and the sentence that says so."""


@dataclass(frozen=True)
class Comparison:
    """How a session and its repetition compare, in sentences, in the order in which it happened."""

    origins: tuple[str, ...]
    """What differs in the machine, the code and the versions."""
    differences: tuple[str, ...]
    """What came out otherwise."""
    not_compared: tuple[str, ...]
    """What should be on both sides and is not, as weights that were imported without or removed."""

    @property
    def equal(self) -> bool:
        """Whether everything was compared and nothing differs."""
        return not self.differences and not self.not_compared


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


def compare(session: Session, again: Session) -> Comparison:
    """Compare a session with its repetition."""
    found = [one for stage in (None, *range(session.spec.stages)) for one in compare_stage(session, again, stage)]
    return Comparison(
        tuple(origins_differ(session.origin, again.origin)),
        tuple(sentence for kind, sentence in found if kind == "differs"),
        tuple(sentence for kind, sentence in found if kind == "unseen"),
    )


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


def compare_stage(session: Session, again: Session, stage: int | None) -> Iterator[Found]:
    """The boards, the training, the checkpoint, the answers and the next config of a stage."""
    where = "Before training" if stage is None else f"Stage {stage + 1}"
    asked = not (stage is None or stage == session.spec.stages - 1)
    """Whether an engineer surely decided afterwards; before training only some are asked."""
    environments = session.environment(stage), again.environment(stage)
    if both(environments):
        if environments[0] != environments[1]:
            yield "differs", f"{where}: it trained on boards of another config."
    elif stage is not None or any(environments):
        yield unseen(where, "configs", environments)
    if stage is not None:
        yield from compare_figures(session, again, stage, where)
        yield from compare_weights(session.stage_dir(stage) / "policy", again.stage_dir(stage) / "policy", where)
    for name in SUITES:
        tables = first, second = session.answers(name, stage), again.answers(name, stage)
        if first is None or second is None:
            if name == "validation" or session.spec.test is not None:
                yield unseen(where, f"answers on {name} boards", tables)
            continue
        merged = first.merge(second, on="board_id", suffixes=("", "_again"))
        if len(merged) < max(len(first), len(second)):
            yield "differs", f"{where}: the {name} has other boards."
        elif (changed := int((merged["completion"] != merged["completion_again"]).sum())) > 0:
            rates = f"{percent(first['valid'].mean(), len(first))} valid, now {percent(second['valid'].mean(), len(second))}"
            yield "differs", f"{where}: {changed} of {len(merged)} answers on {name} boards are others ({rates})."
    proposals = session.proposal(stage), again.proposal(stage)
    if proposals[0] is not None and proposals[1] is not None:
        if proposals[0].config_after != proposals[1].config_after:
            yield "differs", f"{where}: the engineer decided on another config."
        elif words_of(proposals[0]) != words_of(proposals[1]):
            yield "differs", f"{where}: the engineer decided on the same config in other words."
    elif asked or any(proposals):
        yield unseen(where, "proposals", proposals)


def both(pair: Sequence[object]) -> bool:
    return all(one is not None for one in pair)


def unseen(where: str, what: str, pair: Sequence[object]) -> Found:
    """Says which of a pair is missing; None is."""
    return "unseen", f"{where}: {what} were not compared: {LACKING[pair[0] is None, pair[1] is None]}."


def words_of(record: ProposalRecord) -> list[str]:
    return [attempt.raw for attempt in record.attempts]


def compare_figures(session: Session, again: Session, stage: int, where: str) -> Iterator[Found]:
    """The first step with other figures."""
    first, second = session.metrics(stage), again.metrics(stage)
    if first.empty or second.empty:
        yield unseen(where, "figures of training", [None if table.empty else table for table in (first, second)])
        return
    for name in FIGURES:
        if (name in first) != (name in second):
            columns: list[Any] = [name if name in table else None for table in (first, second)]
            yield unseen(where, f"figures of {name}", columns)
    names = [name for name in FIGURES if name in first and name in second]
    steps = min(len(first), len(second))
    before, now = first[names].head(steps), second[names].head(steps)
    unequal = ((before != now) & ~(before.isna() & now.isna())).any(axis=1)
    if unequal.any():
        yield "differs", f"{where}: figures differ from step {int(first['step'].iloc[int(unequal.to_numpy().argmax())])} on."
    elif len(first) != len(second):
        yield "differs", f"{where}: it trained {len(second)} steps, the first {len(first)}."


def compare_weights(first: Path, second: Path, where: str) -> Iterator[Found]:
    """The checkpoints in two folders."""
    try:
        weights = [{file.name: checksum(file) for file in sorted(folder.glob("*.safetensors"))} or None for folder in (first, second)]
    except OSError as error:
        yield "unseen", f"{where}: weights were not compared: {one_line(error)}."
        return
    if not both(weights):
        yield unseen(where, "weights", weights)
    elif weights[0] != weights[1]:
        yield "differs", f"{where}: the weights are others."
