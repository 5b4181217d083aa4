"""What is evidence and what is noise: the lines that a stage's tables give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from frozenlab.engineer.evidence import describe
from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.sections import USUAL
from frozenlab.engineer.sections.preserved import LUCK, Preserved, luck
from frozenlab.lake.config import EnvironmentConfig

CONFIG = EnvironmentConfig.uniform((4,), agents=2)


def table(valid: list[bool]) -> pd.DataFrame:
    """A validation of 4x4 boards."""
    rows = {"board_id": [f"b{i}" for i in range(len(valid))], "size": 4, "agents": 2, "valid": valid, "optimal": False}
    return pd.DataFrame(rows).assign(
        fault=[None if ok else "hole" for ok in valid], step=0, fault_agents="[0]", cell=None, optimal_makespan=3
    )


def stage(won: int, lost: int, boards: int = 40) -> StageMeasurements:
    """A stage that won and lost so many of the boards, half of which it had, while half of its samples are valid."""
    before = np.arange(boards) < boards // 2
    after = before.copy()
    after[boards - won :], after[:lost] = True, False
    metrics = pd.DataFrame({"step": [1, 2, 3], "valid_4": 0.5, "optimal_4": 0.5})
    return StageMeasurements(0, CONFIG, {}, metrics, table(after.tolist()), table(before.tolist()), None)


@pytest.mark.parametrize(("won", "lost"), [(5, 0), (12, 4)])
def test_a_size_that_gained_more_than_chance_explains_is_preserved(won: int, lost: int) -> None:
    [line] = Preserved().lines(stage(won, lost))
    assert line.size == 4 and line.numbers["gain"] == pytest.approx((won - lost) / 40)


@pytest.mark.parametrize(("won", "lost"), [(4, 0), (6, 1), (11, 4), (2, 0), (0, 5)])
def test_a_gain_within_the_noise_of_few_boards_is_not_preserved(won: int, lost: int) -> None:
    """A gain of 5 points on 40 boards, the threshold until now, is two boards."""
    assert not list(Preserved().lines(stage(won, lost)))


def test_on_many_boards_a_clear_gain_has_to_be_large_enough_too() -> None:
    assert not list(Preserved().lines(stage(30, 0, boards=1000))), "3 points"
    assert list(Preserved().lines(stage(60, 0, boards=1000)))


def test_of_twenty_sizes_that_nothing_happened_to_one_at_most_is_called_lucky() -> None:
    rng = np.random.default_rng(0)
    null = [(table((rng.random(40) < 0.7).tolist()), table((rng.random(40) < 0.7).tolist())) for _ in range(400)]
    assert np.mean([luck(before, after) <= LUCK for before, after in null]) < 0.065


def test_before_training_there_is_neither_behaviour_nor_anything_preserved() -> None:
    before = StageMeasurements(None, CONFIG, {}, pd.DataFrame(), table([True, False] * 20), None, None)
    told = describe(before, USUAL)
    assert told.stage is None and {section: len(lines) > 0 for section, lines in told.sections.items()} == {
        "behaviour": False, "failures": True, "statistics": False, "preserved": False, "history": False,
    }  # fmt: skip
