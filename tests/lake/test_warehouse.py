"""The layout warehouse, and what holds for boards without measured rates and a layout without words in the lab dialect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.dialects.lab import parse_proposal
from frozenlab.engineer.schema import Context
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.feasible import natural_wait_rate, undrawable
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.stratum import Stratum
from frozenlab.lake.draw.stream import Stream
from tests.lake.test_layouts import SEEDS, drawn, parts, picture

CONFIG = EnvironmentConfig.uniform((5, 8), agents=3, hole_ratio=0.25, wait_ratio=0.5, layouts={"warehouse": 1.0})

GOLDEN = """
    #.........
    ..#.#.#.#.
    ..#.#.#.#.
    #.........
    #.#.#.#.#.
    #.#.#.#.#.
    #.........
    ..#.#.#.#.
    #.#.#.#.#.
    ..........
"""


def test_the_golden_drawing() -> None:
    assert picture(drawn("warehouse", 10, 30, 7)) == GOLDEN.split()


@given(st.integers(5, 32), st.floats(0, 0.15), SEEDS)
def test_shelves_leave_the_rim_free_and_can_be_walked_around(size: int, ratio: float, seed: int) -> None:
    free = drawn("warehouse", size, round(ratio * size * size), seed)
    assert free[0].all() and free[-1].all() and free[:, 0].all() and free[:, -1].all()
    assert parts(free) == 1


def test_without_measured_rates_boards_are_drawn_to_see_whether_a_config_can_be_had() -> None:
    """As for connected placement in a layout."""
    config = CONFIG.model_copy(update={"placement": "connected"})
    assert natural_wait_rate(config, "8") is None
    assert undrawable(config, "8") is None
    needs_wait = [instance.solution.needs_wait for instance in generate(config, 16, seed=0)]
    assert sum(map(bool, needs_wait)) == 8
    tight = EnvironmentConfig.uniform((3,), agents=2, hole_ratio=0.4, wait_ratio=1.0, layouts={"warehouse": 1.0})
    tight = tight.model_copy(update={"placement": "connected"})
    assert "in the layout warehouse gave 0 to use, too few to draw from" in (undrawable(tight, "3") or "")


def test_other_boards_need_a_wait_as_often_as_the_measured_ones() -> None:
    config = EnvironmentConfig.uniform((6,), agents=4, hole_ratio=0.4, layouts={"warehouse": 1.0})
    stratum = Stratum.of(config, "6", "warehouse")
    waits = [solution.needs_wait for _, solution in Stream(stratum, stratum.key("test", 1)).take([400])]
    assert natural_wait_rate(config, "6") == pytest.approx(sum(map(bool, waits)) / 400, abs=0.08)


def test_the_lab_dialect_has_no_words_for_it_and_keeps_it() -> None:
    context = Context(stage=0, cells=CONFIG.described(), sections={})
    kept = " ".join(f"#{n} valid#{n} unknown usually unknown because unknown" for n in (1, 2))
    config = " ".join(f"share#{n} 50% hole#{n} 30% wait#{n} keep expect unknown spread unknown" for n in (1, 2))
    after = parse_proposal(context, CONFIG, f"{kept} <config> {config}").config
    assert after.cells["8"].hole_ratio == 0.3 and after.with_layouts_of(CONFIG) == after
