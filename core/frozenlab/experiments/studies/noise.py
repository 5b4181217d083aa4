"""The noise of a comparison from seed to seed, measured on the recorded studies, so that a new study can state what it will detect.

A comparison is the difference of the final valid rates of two sessions of one seed. Two parts of its noise can be measured:

- *runs*: its standard deviation over seeds on the same boards. If the engineer is asked before the first stage, two arms have no
  training in common, and differ as two seeds of one arm do;
- *boards*: what other boards would change, for the same two runs: the share of boards on which only one of them is right, divided by the
  number of boards.

If each seed has its own boards, both count. The first already contains a part of the second, so their sum is cautious. A study that is like
a recorded one but has fewer boards gets the second for those that it lacks.

From student to student, sessions of one student and seed share their boards and differ in their arm. Two parts of the spread are
separated, by a two-way analysis of variance of arms and students with the seeds as replicates: what another student changes, and what
another seed changes, which more seeds average out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from frozenlab.base.files import Kept, regular
from frozenlab.base.numbers import counted, listed, number
from frozenlab.experiments.studies.design import design
from frozenlab.experiments.studies.effects import margin_words
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import smallest_visible
from frozenlab.experiments.studies.store import Study, outcomes

BOARDS = "boards.parquet"


@dataclass(frozen=True)
class StudentNoise:
    """Variances of one arm's rates around what its student and its seed do to all arms; rates lie in 0..1."""

    between_students: float
    between_seeds: float
    boards: int
    """Test boards of a session."""
    turned: float
    """Share of boards on which only one of two arms of a student and seed is right."""

    def deviation(self, seeds: int, boards: int) -> float:
        """Standard deviation over students of the difference of two arms, each the mean of so many seeds with so many boards each.

        >>> noise = StudentNoise(0.0, 0.0004, boards=300, turned=0.12)
        >>> round(noise.deviation(2, 300), 3), round(noise.deviation(2, 60), 3)
        (0.02, 0.035)
        """
        return sqrt(2 * self.between_students + (2 * self.between_seeds + of_fewer_boards(self.turned, boards, self.boards)) / seeds)


def recorded_student_noise() -> dict[str, StudentNoise]:
    """The noise of each study with students and several seeds that comes with the project, by the study's name."""
    return {study.id: _student_noise(study.dir / BOARDS) for study in Study.shipped() if study.spec.students and study.spec.seeds[1:]}


def student_noise(rates: pd.DataFrame, boards: int, turned: float) -> StudentNoise:
    """From a row per session: ``arm, student, seed, value``, as :func:`outcomes` gives it; units that lack an arm are left out."""
    wide = rates.pivot(index=["student", "seed"], columns="arm", values="value").dropna()
    left = wide.sub(wide.mean(axis=1), axis=0)  # without what the unit does to all arms
    means = left.groupby("student").mean()
    students, arms = means.shape
    seeds = len(wide) / students
    within = square_sum(left - left.groupby("student").transform("mean")) / (students * (arms - 1) * (seeds - 1))
    between = seeds * square_sum(means - means.mean()) / ((students - 1) * (arms - 1))
    return StudentNoise(max(0.0, (between - within) / seeds), within, boards, turned)


def student_noise_of(path: Path) -> StudentNoise:
    """The noise of a study with students, from its table of boards."""
    boards = pd.read_parquet(regular(path), columns=["arm", "student", "seed", "board_id", "cell", "valid"])
    of_session = len(boards) // len(boards[["arm", "student", "seed"]].drop_duplicates())
    return student_noise(outcomes(boards), of_session, turned(boards, ["student", "seed"], "arm"))


_student_noise = Kept(student_noise_of, 20)


def square_sum(table: pd.DataFrame) -> float:
    return float((table.to_numpy() ** 2).sum())


@dataclass(frozen=True)
class Visible:
    """The smallest effect that a study can detect, and the noise behind it."""

    seeds: int
    deviation: float
    """Standard deviation of one of its comparisons over seeds, or over students if it has some, as a fraction of 1."""
    effect: float
    """The smallest effect that it would call clear of chance with 80 % power."""
    source: str
    """Where the noise was measured."""
    students: int = 0

    @property
    def sentence(self) -> str:
        unit = "student" if self.students else "seed"
        of = f"{counted(self.students, 'student')} and " * bool(self.students) + counted(self.seeds, "seed")
        return (
            f"With {of} this study can detect effects of {number(100 * self.effect, 1)} points or more with 80 % power: "
            f"a comparison varies by {number(100 * self.deviation, 1)} points from {unit} to {unit}, {self.source}."
        )


def detectable_effect(spec: StudySpec) -> str:
    """What a study of this spec can detect, as a sentence that is known before it runs."""
    if spec.units < 2:
        return "One seed can detect no effect: it shows no spread to compare a difference with."
    seen = visible(spec)
    if seen is None and len(spec.students) == 1:
        return "What it can detect is not known: with one student nothing shows how students differ."
    if seen is None:
        return "What it can detect is not known: no study with such a model has been recorded, so its noise has not been measured."
    if seen.effect <= spec.smallest_effect:
        return seen.sentence
    return f"{seen.sentence} Effects of {margin_words(spec.smallest_effect)}, the smallest that matters here, will mostly go undetected."


def visible(spec: StudySpec) -> Visible | None:
    """What the study's comparisons can detect in the valid rate; None if no recorded study applies, or with a single seed or student."""
    if spec.session.language is not None or spec.session.policy != "lab-model":
        return None
    if spec.students:
        return visible_over_students(spec) if len(spec.students) > 1 else None
    if len(spec.seeds) < 2:
        return None
    boards, recorded = boards_of(spec), recorded_noise()
    alike = {name: one for name, one in recorded.items() if one.like(spec)}
    if alike:
        fewer = [of_fewer_boards(one.turned_between_arms, boards, one.boards) for one in alike.values()]
        variance = float(np.mean([one.between_arms**2 for one in alike.values()])) + float(np.mean(fewer))
        source = "cautiously estimated from" if any(fewer) else "as measured in"
    else:
        runs = [one.between_seeds**2 if spec.session.ask_first else one.between_arms**2 for one in recorded.values()]
        turned = [one.turned_between_seeds if spec.session.ask_first else one.turned_between_arms for one in recorded.values()]
        variance = float(np.mean(runs)) + (float(np.mean(turned)) / boards if spec.suite_by_seed else 0.0)
        source = "cautiously estimated from"
    pairs = min(len(of) for of in design(spec).pairs.values())
    deviation = sqrt(variance / pairs)
    return Visible(len(spec.seeds), deviation, smallest_visible(deviation, len(spec.seeds)), f"{source} {recordings(alike or recorded)}")


def of_fewer_boards(turned: float, boards: int, recorded: int) -> float:
    """The variance that a comparison gets with so many boards, if fewer than the recorded one had, of which ``turned`` is the share that
    only one arm solves."""
    return turned * max(0.0, 1 / boards - 1 / recorded)


def boards_of(spec: StudySpec) -> int:
    """On how many boards the results of each of its sessions are measured."""
    validation, test = spec.session.held_out
    return test or validation


def visible_over_students(spec: StudySpec) -> Visible:
    """The same for a study whose units are students, each the mean of its seeds."""
    recorded, seeds, students = recorded_student_noise(), len(spec.seeds), len(spec.students)
    deviation = sqrt(float(np.mean([noise.deviation(seeds, boards_of(spec)) ** 2 for noise in recorded.values()])))
    source = f"cautiously estimated from {recordings(recorded)}"
    return Visible(seeds, deviation, smallest_visible(deviation, students), source, students)


def recordings(names: Collection[str]) -> str:
    """``the recorded studies engineers and sections``"""
    return f"the recorded {'study' if len(names) == 1 else 'studies'} {listed(sorted(names))}"


@dataclass(frozen=True)
class Noise:
    """The noise that a recorded study shows; rates lie in 0..1."""

    ask_first: bool
    suite_by_seed: bool
    boards: int
    """Test boards of a session."""
    between_arms: float
    """Standard deviation over seeds of the difference of two arms."""
    between_seeds: float
    """The same for two seeds of one arm."""
    turned_between_arms: float
    """Share of boards on which only one of two arms of a seed is right."""
    turned_between_seeds: float
    """The same for two seeds of one arm; 0 if the seeds have different boards."""

    def like(self, spec: StudySpec) -> bool:
        return (self.ask_first, self.suite_by_seed) == (spec.session.ask_first, spec.suite_by_seed)


def recorded_noise() -> dict[str, Noise]:
    """The noise of each study that comes with the project and has no students, by the study's name."""
    return {study.id: _noise(study.dir / BOARDS) for study in Study.shipped() if not study.spec.students}


def noise_of(study: Study) -> Noise:
    """The noise of one recorded study."""
    spec, boards = study.spec, pd.read_parquet(regular(study.dir / BOARDS), columns=["arm", "seed", "board_id", "cell", "valid"])
    # Of several arms that trained alike one counts.
    rates = outcomes(boards).pivot(index="arm", columns="seed", values="value").drop_duplicates()
    left = rates.sub(rates.mean(axis=1), axis=0)
    seeds, arms = rates.shape[1], rates.shape[0]
    between_seeds = sqrt(2 * square_sum(left) / (arms * (seeds - 1)))
    between_arms = sqrt(2 * square_sum(left - left.mean()) / ((arms - 1) * (seeds - 1)))
    kept = boards[boards["arm"].isin(rates.index)]
    return Noise(
        spec.session.ask_first,
        spec.suite_by_seed,
        len(boards) // boards[["arm", "seed"]].drop_duplicates().shape[0],
        between_arms,
        between_seeds,
        turned(kept, "seed", "arm"),
        0.0 if spec.suite_by_seed else turned(kept, "arm", "seed"),
    )


_noise = Kept(lambda path: noise_of(Study(path.parent)), 20)


def turned(boards: pd.DataFrame, within: str | list[str], between: str) -> float:
    """The mean share of boards on which only one of two sessions is right, over pairs with the same ``within`` and different
    ``between``."""
    parts = []
    for _, own in boards.groupby(within):
        answers = own.pivot(index="board_id", columns=between, values="valid").to_numpy()
        parts += [float((answers[:, one] != answers[:, other]).mean()) for one, other in combinations(range(answers.shape[1]), 2)]
    return float(np.mean(parts))
