"""How much a comparison varies from seed to seed, as the recorded studies show it, so that a new study can say what it will be able to see.

A comparison is the difference of two sessions of one seed, in final valid rate. Two parts of its noise can be measured:

- *runs*: its standard deviation over seeds on the same boards. If the engineer is asked before the first stage, two arms have no
  training in common, and differ as two seeds of one arm do;
- *boards*: what other boards would change, for the same two runs: the part of the boards on which only one of them is right, over their
  number.

Where each seed has boards of its own both count. The first holds a part of the second already, so their sum is cautious.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from frozenlab.studies.design import design
from frozenlab.studies.effects import margin_words, smallest_visible
from frozenlab.studies.spec import StudySpec
from frozenlab.studies.store import outcomes, shipped


@dataclass(frozen=True)
class Visible:
    """What a study can see, and by which noise."""

    seeds: int
    deviation: float
    """Standard deviation of one of its comparisons over seeds, as a part of 1."""
    effect: float
    """The smallest effect that it would call clear of chance with a chance of 80 %."""
    source: str
    """Where the noise was measured."""

    @property
    def sentence(self) -> str:
        return (
            f"With {self.seeds} seeds this study can see effects of {100 * self.effect:.1f} points or more (clear of chance 4 times in 5): "
            f"a comparison varies by {100 * self.deviation:.1f} points from seed to seed, {self.source}."
        )


def told_beforehand(spec: StudySpec) -> str:
    """What a study of this spec can see, in a sentence that is true before it runs."""
    if len(spec.seeds) < 2:
        return "One seed can see no effect: it shows no spread that a difference could be held against."
    seen = visible(spec)
    if seen is None:
        return "What it can see is not known: no study with such a model has been recorded, so nobody has measured the noise."
    if seen.effect <= spec.smallest_effect:
        return seen.sentence
    return f"{seen.sentence} Effects of {margin_words(spec.smallest_effect)}, the smallest that matters here, will mostly go unseen."


def visible(spec: StudySpec) -> Visible | None:
    """What the study's comparisons can see in the valid rate; None where no recorded study can tell, or with a single seed."""
    if spec.session.language is not None or spec.session.policy != "lab-model" or len(spec.seeds) < 2:
        return None
    suite = spec.session.test or spec.session.suite
    boards = suite.boards_per_cell * len(suite.cells)
    recorded = dict(known())
    alike = {name: one for name, one in recorded.items() if one.like(spec)}
    if alike:
        variance, source = float(np.mean([one.between_arms**2 for one in alike.values()])), "as measured in"
    else:
        runs = [one.between_seeds**2 if spec.session.ask_first else one.between_arms**2 for one in recorded.values()]
        turned = [one.turned_between_seeds if spec.session.ask_first else one.turned_between_arms for one in recorded.values()]
        variance = float(np.mean(runs)) + (float(np.mean(turned)) / boards if spec.suite_by_seed else 0.0)
        source = "cautiously estimated from"
    pairs = min(len(of) for of in design(spec).pairs.values())
    deviation = sqrt(variance / pairs)
    names = " and ".join(sorted(alike or recorded))
    source = f"{source} the recorded {'study' if len(alike or recorded) == 1 else 'studies'} {names}"
    return Visible(len(spec.seeds), deviation, smallest_visible(deviation, len(spec.seeds)), source)


@dataclass(frozen=True)
class Known:
    """What a recorded study shows of the noise; rates lie in 0..1."""

    ask_first: bool
    suite_by_seed: bool
    between_arms: float
    """Standard deviation over seeds of the difference of two arms."""
    between_seeds: float
    """The same of two seeds of one arm."""
    turned_between_arms: float
    """Part of the boards on which only one of two arms of a seed is right."""
    turned_between_seeds: float
    """The same of two seeds of one arm; 0 where these have other boards."""

    def like(self, spec: StudySpec) -> bool:
        return (self.ask_first, self.suite_by_seed) == (spec.session.ask_first, spec.suite_by_seed)


def known() -> Iterator[tuple[str, Known]]:
    """Of the studies that come with the project, by name."""
    for folder in shipped():
        yield folder.name, noise_of(folder)


@cache
def noise_of(folder: Path) -> Known:
    """Of one recorded study. Kept: the page of studies asks at every run, and what is recorded does not change."""
    spec = StudySpec.model_validate(json.loads((folder / "report.json").read_text(encoding="utf-8"))["spec"])
    boards = pd.read_parquet(folder / "boards.parquet", columns=["arm", "seed", "board_id", "cell", "valid"])
    rates = outcomes(boards).pivot(index="arm", columns="seed", values="value").drop_duplicates()  # one of arms that trained alike
    left = rates.sub(rates.mean(axis=1), axis=0)
    seeds, arms = rates.shape[1], rates.shape[0]
    between_seeds = sqrt(2 * float((left**2).to_numpy().sum()) / (arms * (seeds - 1)))
    left = left.sub(left.mean(axis=0), axis=1)
    between_arms = sqrt(2 * float((left**2).to_numpy().sum()) / ((arms - 1) * (seeds - 1)))
    return Known(
        spec.session.ask_first,
        spec.suite_by_seed,
        between_arms,
        between_seeds,
        turned(boards[boards["arm"].isin(rates.index)], "seed", "arm"),
        0.0 if spec.suite_by_seed else turned(boards[boards["arm"].isin(rates.index)], "arm", "seed"),
    )


def turned(boards: pd.DataFrame, within: str, between: str) -> float:
    """The mean part of boards on which only one of two sessions is right that have the same ``within`` and differ in ``between``."""
    parts = []
    for _, own in boards.groupby(within):
        answers = own.pivot(index="board_id", columns=between, values="valid").to_numpy()
        parts += [float((answers[:, one] != answers[:, other]).mean()) for one, other in combinations(range(answers.shape[1]), 2)]
    return float(np.mean(parts))
