"""Curricula without a language model, `bandit`, `learnability` and `lowest`: valid rates decide where the boards go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.engineers import BanditEngineer
from frozenlab.engineer.engineers.curricula import EXPLORED
from frozenlab.engineer.guard import USUAL, GuardSettings
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections import behaviour
from frozenlab.lake.config import EnvironmentConfig
from tests.engineer.builders import asked, context_of, of_sizes, one_cell

CONFIG = EnvironmentConfig.uniform((4, 6, 8), agents=3, hole_ratio=0.2, wait_ratio=0.3)


def context(*sizes: int, valid: tuple[float, ...] = (0.5,) * 3, delta: tuple[float, ...] = (0.0,) * 3) -> Context:
    """The valid rates of the sampled plans of these sizes, and by how much they changed over the stage."""
    cells = [one_cell(size) for size in sizes]
    return context_of(
        CONFIG, *(behaviour.cell_line(cell, rate, delta, rate / 2) for cell, rate, delta in zip(cells, valid, delta, strict=False))
    )


@pytest.mark.parametrize(
    ("engineer", "seen", "shares", "summary"),
    [
        (
            "bandit",
            context(4, 6, 8, delta=(0.0, 0.1, -0.3)),
            (EXPLORED / 3, EXPLORED / 3 + 0.7 / 4, EXPLORED / 3 + 0.7 * 3 / 4),
            "size 8, by 30 points",
        ),
        (
            "learnability",
            context(4, 6, 8, valid=(0.9, 0.5, 0.1)),
            (0.09 / 0.43, 0.25 / 0.43, 0.09 / 0.43),
            "most to size 6, where 50% of sampled plans",
        ),
        ("lowest", context(4, 6, 8, valid=(0.9, 0.1, 0.4)), (0.02, 0.96, 0.02), "All boards go to size 6, where 10%"),
        ("lowest", context(4, 6, 8, valid=(0.9, 0.1, 0.1)), (0.02, 0.49, 0.49), "All boards go to size 6 and size 8, where 10%"),
    ],
)
def test_shares_follow_the_samples_and_the_ratios_stay(engineer: str, seen: Context, shares: tuple[float, ...], summary: str) -> None:
    record = asked(engineer, seen, CONFIG, USUAL)
    assert [cell.share for cell in record.config_after.cells.values()] == pytest.approx(shares)
    assert all((cell.hole_ratio, cell.wait_ratio) == (0.2, 0.3) for cell in record.config_after.cells.values())
    assert record.proposal is not None and summary in record.proposal.summary
    assert [claim.evidence for claim in record.proposal.claims] == [("B4",), ("B6",), ("B8",)]


@pytest.mark.parametrize(
    ("engineer", "seen", "why"),
    [
        ("bandit", context(4, 6, 8), "No size moved"),
        ("bandit", context(), "No size moved"),
        ("learnability", context(4, 6, 8, valid=(1.0, 0.0, 0.0)), "No size mixes success and failure"),
        ("learnability", context(), "Boards go to where success and failure mix"),
        ("lowest", context(), "Nothing says how often any cell is solved"),
    ],
)
def test_where_no_size_is_better_or_none_is_seen_all_count_the_same(engineer: str, seen: Context, why: str) -> None:
    record = asked(engineer, seen, CONFIG, USUAL)
    assert [cell.share for cell in record.config_after.cells.values()] == pytest.approx([1 / 3] * 3)
    assert record.proposal is not None and record.proposal.summary.startswith(why)


def test_what_always_succeeds_keeps_the_guards_least_share_and_an_unknown_size_is_tried() -> None:
    after = asked("learnability", context(4, 6, valid=(1.0, 0.5)), CONFIG, GuardSettings(min_share=0.05)).config_after
    assert after.cells["4"].share == pytest.approx(0.05) and after.cells["6"].share == after.cells["8"].share


@given(st.integers(0, 10_000))
def test_the_bandits_shares_sum_to_one_and_its_ratios_stay(seed: int) -> None:
    seen, config = of_sizes(seed)
    after = BanditEngineer().propose(seen, config, 0).config
    assert sum(cell.share for cell in after.cells.values()) == pytest.approx(1)
    assert min(cell.share for cell in after.cells.values()) >= EXPLORED / len(seen.cells) - 1e-12
    for name, cell in after.cells.items():
        assert (cell.hole_ratio, cell.wait_ratio) == (config.cells[name].hole_ratio, config.cells[name].wait_ratio)
