"""The comparisons of a study, derived from what its arms change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from frozenlab.experiments.studies.effects import Effect, against, leave_one_out, main_effects
from frozenlab.experiments.studies.spec import StudySpec

Kind = Literal["main effect", "interaction", "leave-one-out", "one-at-a-time", "arm"]
Sections = Mapping[str, frozenset[str]]
"""Arm -> the sections that its engineer sees."""


@dataclass(frozen=True)
class Design:
    """The comparisons that a study makes. Their keys are sections if the arms switch sections, otherwise arms."""

    kind: Kind
    effects: Callable[[pd.DataFrame], dict[str, Effect]]
    """Compute the effects from a table of outcomes (:mod:`frozenlab.experiments.studies.effects`); ValueError: it allows no comparison."""
    sides: dict[str, tuple[set[str], set[str]]]
    """The arms on either side of each comparison."""
    pairs: dict[str, list[tuple[str, str]]]
    """Pairs of arms, one of either side, that differ in nothing else."""
    reference: str
    """The reference arm."""

    def name(self, key: str) -> str:
        return f"{key} instead of {self.reference}" if self.kind == "arm" else key

    def done(self, key: str) -> str:
        """The change under test, as the beginning of a sentence."""
        if self.kind == "arm":
            return self.name(key)
        return f"Showing {key} alone" if self.kind == "one-at-a-time" else f"Showing {key}"


def design(spec: StudySpec) -> Design:
    """The design of a study: all combinations of some sections, leave-one-out, one-at-a-time, or each arm against the first."""
    sections, first = sections_of(spec), spec.arms[0].name
    if only_sections_differ(spec):
        arm_of = {shown: arm for arm, shown in sections.items()}
        if is_factorial(sections):
            pairs = {
                section: [(arm, arm_of[shown - {section}]) for arm, shown in sections.items() if section in shown]
                for section in varied(sections)
            }
            return of_pairs("main effect", lambda table: main_effects(table, sections), pairs, first)
        if is_leave_one_out(sections):
            whole = max(arm_of, key=len)
            pairs = {section: [(arm_of[whole], arm)] for shown, arm in arm_of.items() for section in whole - shown}
            return of_pairs("leave-one-out", lambda table: leave_one_out(table, sections), pairs, arm_of[whole])
        if is_one_at_a_time(sections):
            added = {arm: section for arm, shown in sections.items() for section in shown - sections[first]}
            pairs = {section: [(arm, first)] for arm, section in added.items()}
            return of_pairs(
                "one-at-a-time", lambda table: {added[arm]: effect for arm, effect in against(table, first).items()}, pairs, first
            )
    return of_pairs("arm", lambda table: against(table, first), {arm.name: [(arm.name, first)] for arm in spec.arms[1:]}, first)


def of_pairs(
    kind: Kind, effects: Callable[[pd.DataFrame], dict[str, Effect]], pairs: dict[str, list[tuple[str, str]]], reference: str
) -> Design:
    sides = {key: ({plus for plus, _ in of}, {minus for _, minus in of}) for key, of in pairs.items()}
    return Design(kind, effects, sides, pairs, reference)


def sections_of(spec: StudySpec) -> dict[str, frozenset[str]]:
    return {arm: frozenset(shown) for arm, shown in spec.sections_of().items()}


def only_sections_differ(spec: StudySpec) -> bool:
    """Whether the arms differ in nothing but sections. Otherwise no difference could be attributed to a section."""
    others = [arm.model_dump(exclude={"name", "sections"}) for arm in spec.arms]
    return all(changes == others[0] for changes in others)


def varied(sections: Sections) -> list[str]:
    """The sections that are on in some arms and off in others, in alphabetical order."""
    return sorted(frozenset[str]().union(*sections.values()) - frozenset.intersection(*sections.values()))


def is_factorial(sections: Sections) -> bool:
    """Whether the arms are all combinations of the sections that vary."""
    return len(set(sections.values())) == len(sections) == 2 ** len(varied(sections)) > 1


def is_leave_one_out(sections: Sections) -> bool:
    """Whether one arm shows every section and each other arm lacks a different one."""
    shown = sorted(set(sections.values()), key=len, reverse=True)
    return len(shown) == len(sections) and all(part < shown[0] and len(shown[0] - part) == 1 for part in shown[1:])


def is_one_at_a_time(sections: Sections) -> bool:
    """Whether the first arm shows the fewest sections and each other arm adds a different one."""
    least, *others = sections.values()
    return len(set(others)) == len(others) and all(least < shown and len(shown - least) == 1 for shown in others)
