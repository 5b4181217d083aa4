"""The comparisons of a study, derived from what its arms change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import pandas as pd

from frozenlab.base.numbers import listed
from frozenlab.engineer.engineers import name_of
from frozenlab.engineer.sentences import capitalised, setting_words
from frozenlab.experiments.studies.arms import arm_name
from frozenlab.experiments.studies.effects import Effect, Sides, compare
from frozenlab.experiments.studies.grid import Arm, TrainingValue, setting_name, training_words, value_words
from frozenlab.experiments.studies.spec import StudySpec

EQUAL, UNIFORM, ORACLE = "equal", "uniform", "oracle"
"""The names of the arms that are the ends of the scale: ``oracle``, and ``equal`` or, without it, ``uniform``."""
ARM_WORDS = {"taught-blind": "taught, sees no failures", "again": "the same again: noise"}
"""What people read in the place of names of arms that are no engineers'."""
DRAWS = "draws of training"
SHARES_AND_RATIOS = ("shares", "ratios")
Kind = Literal["main effect", "interaction", "leave-one-out", "one-at-a-time", "setting", "arm"]
Sections = Mapping[str, frozenset[str]]
"""Arm -> the sections that its engineer sees."""


@dataclass(frozen=True)
class Design:
    """The comparisons that a study makes. Their keys are sections if the arms switch sections, two values if they vary training settings,
    otherwise arms."""

    kind: Kind
    pairs: dict[str, list[tuple[str, str]]]
    """Pairs of arms, one of either side of each comparison, that differ in nothing else."""
    reference: str
    """The reference arm."""
    interactions: dict[str, Sides] = field(default_factory=dict)
    """The two sides of the interaction of each pair of sections; empty unless the arms are all combinations of some sections."""

    @property
    def sides(self) -> dict[str, Sides]:
        """The arms on either side of each comparison.

        For all combinations of sections: all arms with a section and all arms without it. With ±1 coding an effect is then twice the
        coefficient of its column (Box, Hunter & Hunter 2005, chapter 5).
        """
        return {
            key: (list(dict.fromkeys(plus for plus, _ in of)), list(dict.fromkeys(minus for _, minus in of)))
            for key, of in self.pairs.items()
        }

    def effects(self, outcomes: pd.DataFrame) -> dict[str, Effect]:
        """The effects in a table of outcomes (:mod:`frozenlab.experiments.studies.effects`), corrected for their number. Where single arms
        are compared with the reference, those without a session are left out. Raises ComparisonError if an arm is missing elsewhere."""
        there = {*outcomes["arm"]}
        single = self.kind in ("arm", "setting", "one-at-a-time")
        return compare(outcomes, {key: sides for key, sides in self.sides.items() if not single or there.issuperset(sides[0])})

    def name(self, key: str) -> str:
        return f"{key} instead of {self.reference}" if self.kind == "arm" else key

    def done(self, key: str) -> str:
        """The change under test, as the beginning of a sentence."""
        if self.kind == "arm":
            return self.name(key)
        if self.kind == "setting":
            return capitalised(key)
        return f"Showing {key} alone" if self.kind == "one-at-a-time" else f"Showing {key}"


def design(spec: StudySpec) -> Design:
    """The design of a study: all combinations of some sections, leave-one-out, one-at-a-time, a grid of training settings, or each arm
    against the first."""
    first = spec.arms[0].name
    by_sections = of_sections(spec.sections_of()) if only_differ(spec, "sections") else None
    by_settings = of_settings(spec) if only_differ(spec, "training") else None
    return by_sections or by_settings or Design("arm", {arm.name: [(arm.name, first)] for arm in spec.arms[1:]}, first)


def of_sections(sections: Sections) -> Design | None:
    """The design of arms that differ in nothing but their sections; None if these make none of the three designs."""
    first, pairs = next(iter(sections)), dict[str, list[tuple[str, str]]]()
    for plus, shown in sections.items():
        for section in sorted(shown):
            of = [(plus, minus) for minus, fewer in sections.items() if fewer == shown - {section}]
            pairs[section] = pairs.get(section, []) + of
    pairs = {section: of for section, of in pairs.items() if of}
    by_name = dict(sorted(pairs.items()))
    if len(set(sections.values())) < len(sections):
        return None
    if len(sections) == 2 ** len(varied(sections)):
        return Design("main effect", by_name, first, interactions(sections))
    more, less = ({pair[side] for of in pairs.values() for pair in of} for side in (0, 1))
    if len(more) == 1 and len(less) == len(sections) - 1:
        return Design("leave-one-out", by_name, more.pop())
    if less == {first} and len(more) == len(sections) - 1:
        return Design("one-at-a-time", pairs, first)
    return None


def of_settings(spec: StudySpec) -> Design | None:
    """The design of arms that differ in nothing but training settings: each value of a setting instead of the first arm's, in all pairs of
    arms that differ in nothing else. None if an arm is in no such pair."""
    settings, pairs = settings_of(spec), dict[str, list[tuple[str, str]]]()
    first = settings[spec.arms[0].name]
    for name, usual in first.items():
        for arm, own in settings.items():
            other = next((other for other, values in settings.items() if values == own | {name: usual}), arm)
            if other != arm:
                key = f"{setting_name(name)} {value_words(own[name])} instead of {value_words(usual)}"
                pairs.setdefault(key, []).append((arm, other))
    compared = {arm for of in pairs.values() for pair in of for arm in pair}
    return Design("setting", pairs, spec.arms[0].name) if compared == {*settings} else None


def settings_of(spec: StudySpec) -> dict[str, dict[str, TrainingValue]]:
    """Arm -> its values of the training settings that any arm names."""
    named = dict.fromkeys(name for arm in spec.arms for name in arm.training or ())
    return {arm.name: {name: getattr(spec.training_of(arm), name) for name in named} for arm in spec.arms}


def interactions(sections: Sections) -> dict[str, Sides]:
    """The interaction of each pair of sections (in alphabetical order), in a full factorial: the arms in which both are on or both off, and
    the other arms.

    The convention is Box, Hunter & Hunter's (2005, chapter 5): the effect of A when B is on minus the effect of A when B is off, divided by
    2 (the other way round it is the same). So it has the scale of a main effect, and is twice the coefficient of the product of two ±1
    columns.
    """
    found: dict[str, Sides] = {}
    for a, b in combinations(varied(sections), 2):
        alike = [arm for arm, shown in sections.items() if (a in shown) == (b in shown)]
        found[f"{a} and {b}"] = (alike, [arm for arm in sections if arm not in alike])
    return found


def only_differ(spec: StudySpec, field: str) -> bool:
    """Whether the arms differ in nothing but this field. Otherwise no difference could be attributed to it."""
    others = [arm.model_dump(exclude={"name", field}) for arm in spec.arms]
    return all(changes == others[0] for changes in others)


def confounded(spec: StudySpec) -> tuple[str, ...]:
    """What the comparisons of a study cannot say, because their arms differ in more than one thing; a sentence for each kind.

    Engineers that keep the ratios set shares; one that writes other ratios, or chooses them, sets two things.
    """
    arms, titles = {arm.name: arm for arm in spec.arms}, arm_titles(spec)
    pairs = [pair for of in design(spec).pairs.values() for pair in of] + [(one.arm, one.than) for one in spec.primary]
    low = lower_end(arms)
    pairs += [(ORACLE, low)] if low and ORACLE in arms else []
    mixed: dict[str, list[str]] = {}
    doing: dict[str, set[str]] = {}
    for one, other in {frozenset(pair): pair for pair in reversed(pairs)}.values():
        things = [thing for thing in differing(arms[one], arms[other], spec) if thing != DRAWS]  # they are noise, not a cause
        if ratios := different_ratios(arms[one], arms[other], spec):
            for arm, what in zip((one, other), ratios, strict=True):
                doing.setdefault(what, set()).add(titles[arm])
            things = [*(thing for thing in things if thing != "engineer"), *SHARES_AND_RATIOS]
        if len(things) > 1:
            mixed.setdefault(listed(things), []).append(f"{titles[one]} and {titles[other]}")
    said = []
    for differ, of in mixed.items():
        which, advice = f"{'; '.join(reversed(of))}: these arms", ""
        if differ == listed(SHARES_AND_RATIOS):
            by_what = "; ".join(f"{what}: {listed(sorted(names))}" for what, names in doing.items())
            which = f"{capitalised(by_what)}. These groups"
            advice = " What shares alone win, engineers that keep the ratios show against the engineer equal."
        said.append(f"{which} differ in {differ}, so comparing them cannot say which of these matters.{advice}")
    return tuple(said)


def lower_end(arms: Collection[str]) -> str | None:
    """The arm from which headroom is counted; None without one."""
    return next((name for name in (EQUAL, UNIFORM) if name in arms), None)


def differing(one: Arm, other: Arm, spec: StudySpec) -> list[str]:
    """What two arms change of the study's session in different ways."""
    first, second = (spec.spec_of(arm, spec.seeds[0]) for arm in (one, other))
    settings = settings_of(spec)
    return [
        *(["engineer"] if first.engineer.seeded(0) != second.engineer.seeded(0) else []),
        *(["sections"] if {*first.sections} != {*second.sections} else []),
        *(["guard"] if first.guard != second.guard else []),
        *([DRAWS] if one.draws != other.draws else []),
        *(setting_name(name) for name, value in settings[one.name].items() if value != settings[other.name][name]),
    ]


def different_ratios(one: Arm, other: Arm, spec: StudySpec) -> tuple[str, str] | None:
    """What two arms do with the ratios, if they do different things; None for the same engineer, whose shares are the same."""
    config, family = spec.session.initial_config, spec.session.tasks
    engineers = [spec.spec_of(arm, spec.seeds[0]).engineer for arm in (one, other)]
    if engineers[0].author == engineers[1].author or one.yoked or other.yoked:
        return None
    written = [engineer.ratios_of(config, spec.session.language) for engineer in engineers]
    values = [None if found is None else family.ratios_in(found) for found in written]
    if values[0] == values[1]:
        return None
    usual = family.ratios_in(config)

    def words(found: Mapping[str, frozenset[float]] | None) -> str:
        if found is None:
            return "choose the ratios"
        changed = {name: own for name, own in found.items() if own != usual.get(name)}
        values = (f"{setting_words(name)} {' or '.join(f'{value:.2f}' for value in sorted(own))}" for name, own in changed.items())
        return f"set {listed(list(values))}" if changed else "keep the ratios"

    return words(values[0]), words(values[1])


def words_of(arm: str) -> str:
    """What people read in the place of an arm's name, whatever study it is of.

    >>> words_of("again"), words_of("lowest")
    ('the same again: noise', 'the lowest rate')
    """
    return ARM_WORDS.get(arm) or name_of(arm)


def arm_titles(spec: StudySpec) -> dict[str, str]:
    """Arm -> what people read: an arm that is named after its training settings has these in words, one that is named after an engineer
    with a title has that title."""
    ratios = spec.session.tasks.ratios_in

    def title(arm: Arm) -> str:
        engineer, training = arm.engineer, training_words(arm.training or {})
        if training and arm.name == arm_name(training):
            return training
        if engineer is None or arm.name != engineer.kind or not engineer.title:
            return ARM_WORDS.get(arm.name, arm.name)
        written = engineer.ratios_of(spec.session.initial_config) if arm.name == UNIFORM else None  # its title names its ratios
        return arm.name if written is not None and ratios(written) == ratios(spec.session.initial_config) else engineer.title

    return {arm.name: title(arm) for arm in spec.arms}


def varied(sections: Sections) -> list[str]:
    """The sections that are on in some arms and off in others, in alphabetical order."""
    return sorted(frozenset[str]().union(*sections.values()) - frozenset.intersection(*sections.values()))
