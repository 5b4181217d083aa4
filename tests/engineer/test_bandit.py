"""The bandit gives boards to what moves, and to everything a little."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.engineers.bandit import EXPLORED, BanditEngineer
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections import behaviour
from frozenlab.lake.config import EnvironmentConfig
from tests.engineer.builders import context_of, of_sizes

SIZES = (3, 5, 7)
CONFIG = EnvironmentConfig.uniform(SIZES, agents=2, hole_ratio=0.2, wait_ratio=0.1)


def context(*deltas: float) -> Context:
    return context_of(CONFIG, *(behaviour.cell_line(cell, 0.5, delta, 0.4) for cell, delta in zip(CONFIG.described(), deltas, strict=True)))


def test_gains_and_losses_are_both_worth_boards() -> None:
    proposal = BanditEngineer().propose(context(0.0, 0.1, -0.3), CONFIG, 0)
    shares = [cell.share for cell in proposal.config.cells.values()]
    assert shares == pytest.approx([EXPLORED / 3, EXPLORED / 3 + 0.7 / 4, EXPLORED / 3 + 0.7 * 3 / 4])
    assert "size 7, by 30 points" in proposal.summary
    assert [claim.evidence for claim in proposal.claims] == [("B3",), ("B5",), ("B7",)]


@pytest.mark.parametrize("seen", [context(0.0, 0.0, 0.0), context_of(CONFIG)])
def test_where_nothing_moves_or_nothing_is_seen_all_count_the_same(seen: Context) -> None:
    proposal = BanditEngineer().propose(seen, CONFIG, 0)
    assert [cell.share for cell in proposal.config.cells.values()] == pytest.approx([1 / 3] * 3)
    assert "No size moved" in proposal.summary


@given(st.integers(0, 10_000))
def test_shares_sum_to_one_and_ratios_stay(seed: int) -> None:
    seen, config = of_sizes(seed)
    after = BanditEngineer().propose(seen, config, 0).config
    assert sum(cell.share for cell in after.cells.values()) == pytest.approx(1)
    assert min(cell.share for cell in after.cells.values()) >= EXPLORED / len(seen.cells) - 1e-12
    for name, cell in after.cells.items():
        assert (cell.hole_ratio, cell.wait_ratio) == (config.cells[name].hole_ratio, config.cells[name].wait_ratio)
