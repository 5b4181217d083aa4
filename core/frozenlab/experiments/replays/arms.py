"""The arms of a replay: sections on and off, or several engineers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from frozenlab.engineer.engineers import BY_NAME, engineer_of
from frozenlab.engineer.engineers.own_model import ASKED
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import USUAL, SectionName
from frozenlab.experiments.studies.arms import PAPER_SECTIONS, SHOWING, engineer_arms, only_one, ordered, section_arms, without_one
from frozenlab.experiments.studies.grid import Arm
from frozenlab.session.spec import SessionSpec


def one_at_a_time(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """All sections, no section, and each of the varied sections alone."""
    return (Arm(name="all", sections=ordered([*USUAL, *varied])), *only_one(varied))


SECTION_KINDS: dict[str, Callable[[Sequence[SectionName]], tuple[Arm, ...]]] = {
    "sections": section_arms,
    "leave-one-out": without_one,
    "one-at-a-time": one_at_a_time,
}
"""Ways to vary the sections that one engineer sees, by name. The first arm of each shows all sections."""
TWO_BY_TWO = "two-by-two"
KINDS = (*SECTION_KINDS, "engineers", TWO_BY_TWO)
"""All ways in which arms may differ."""


def varied_sections(kind: str, chosen: Sequence[SectionName] | None) -> tuple[SectionName, ...]:
    """The chosen sections, or the defaults of a kind: the paper's three for all combinations, otherwise all."""
    return tuple(chosen) if chosen is not None else PAPER_SECTIONS if kind == "sections" else USUAL


def arms_of_sections(kind: str, sections: Sequence[SectionName], engineer: EngineerSpec | None = None) -> tuple[Arm, ...]:
    """Arms of one engineer (None: the session's) with these sections on and off, in one of the SECTION_KINDS."""
    return tuple(arm.model_copy(update={"engineer": engineer}) for arm in SECTION_KINDS[kind](sections))


def arms_two_by_two(session: SessionSpec) -> tuple[Arm, ...]:
    """The checkpoint and the base, each with what the session shows of the model's failures and behaviour, and without it.

    If the checkpoint knows something about itself that the context does not say, it loses less without. Models that were taught
    self-assessment ask themselves first.
    """
    asks = ASKED if session.training.self_assessment else 0
    withheld = [section for section in session.sections if section not in SHOWING]
    arms = []
    for name in ("policy", "base"):
        engineer = engineer_of(name, session.engineer)
        own = engineer.model_copy(update={"asks_itself": asks}) if asks else engineer
        arms += [Arm(name=f"{name}-shown", engineer=own), Arm(name=f"{name}-withheld", engineer=own, sections=ordered(withheld))]
    return tuple(arms)


def arms_of_engineers(engineers: Iterable[EngineerSpec], own: str) -> tuple[Arm, ...]:
    """Arms of several engineers, all with the session's sections. Its ``own`` engineer comes first, as the reference arm."""
    order = list(BY_NAME)
    by_kind = {engineer.kind: engineer for engineer in engineers}
    return engineer_arms(sorted(by_kind.values(), key=lambda engineer: (engineer.kind != own, order.index(engineer.kind))))
