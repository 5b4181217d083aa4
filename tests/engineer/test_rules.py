"""The rules engineer does what its docstring says."""

from __future__ import annotations

import pytest

from frozenlab.engineer import sections
from frozenlab.engineer.engineers import rules
from frozenlab.engineer.schema import Context, Evidence, Proposal
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import CellConfig
from frozenlab.lake.draw.generator import Realised
from frozenlab.tasks.lake.family import LAKE
from tests.engineer.builders import context_of, one_cell

FEW_FAULTS = {"hole": 0.05}


def context(*evidence: Evidence, sizes: tuple[int, ...] = (5,)) -> Context:
    return context_of(EnvironmentConfig.uniform(sizes), *evidence)


def proposed(seen: Context) -> Proposal:
    sizes = [int(name) for name in seen.names]
    return rules.propose(seen, EnvironmentConfig.uniform(sizes))


def failures(valid: float, faults: dict[str, float]) -> Evidence:
    return sections.failures.cell_line(one_cell(5), 100, valid, valid, faults)


def statistics(hole_ratio: float = 0.2, wait_ratio: float = 0.2) -> Evidence:
    own = CellConfig(size=5, share=1, hole_ratio=hole_ratio, wait_ratio=wait_ratio)
    drawn = Realised(boards=10, share=1, hole_ratio=hole_ratio, wait_ratio=wait_ratio, mean_makespan=6)
    return sections.statistics.cell_line(one_cell(5), *LAKE.statistics(one_cell(5), own, drawn))


def ratios(*evidence: Evidence) -> tuple[float, float]:
    cell = proposed(context(*evidence)).config.cells["5"]
    return cell.hole_ratio, cell.wait_ratio


def test_a_mastered_size_gets_harder_where_it_still_fails() -> None:
    assert ratios(failures(0.9, FEW_FAULTS), statistics()) == pytest.approx((0.3, 0.2))
    assert ratios(failures(0.9, {"vertex_conflict": 0.1}), statistics()) == pytest.approx((0.2, 0.3))


def test_a_hopeless_size_gets_easier() -> None:
    assert ratios(failures(0.1, {"hole": 0.9}), statistics()) == pytest.approx((0.1, 0.2))
    assert ratios(failures(0.1, {"edge_conflict": 0.9}), statistics()) == pytest.approx((0.2, 0.1))


def test_in_between_only_conflicts_are_practised() -> None:
    assert ratios(failures(0.5, {"hole": 0.5}), statistics()) == pytest.approx((0.2, 0.2))
    assert ratios(failures(0.5, {"vertex_conflict": 0.5}), statistics()) == pytest.approx((0.2, 0.3))
    assert ratios(failures(0.5, {"vertex_conflict": 0.5}), statistics(wait_ratio=0.6)) == pytest.approx((0.2, 0.6))


def test_preserved_sizes_stay() -> None:
    proposal = proposed(context(failures(0.9, FEW_FAULTS), statistics(), sections.preserved.cell_line(one_cell(5), 0.9, 0.02)))
    assert proposal.config.cells["5"].hole_ratio == 0.2
    assert proposal.preserved == ("5",)


def test_a_step_that_cost_is_undone() -> None:
    worse = sections.history.cell_line(one_cell(5), 0, {"hole_ratio": 0.1}, before=0.6, after=0.5, expected=0.65)
    assert ratios(failures(0.5, {"hole": 0.5}), statistics(hole_ratio=0.3), worse) == pytest.approx((0.2, 0.2))


def test_without_statistics_it_sets_the_ladder() -> None:
    claims = proposed(context(failures(0.9, FEW_FAULTS))).claims
    assert [(claim.knob, claim.before, claim.after) for claim in claims] == [("hole_ratio", None, 0.4), ("wait_ratio", None, 0.5)]


def test_with_nothing_to_read_it_keeps_and_expects_nothing() -> None:
    claim = proposed(context(statistics())).claims[0]
    assert (claim.knob, claim.now, claim.expected) == (None, None, None)


def test_shares_follow_learnability() -> None:
    lines = [sections.behaviour.cell_line(one_cell(4), 0.5, 0.0, 0.5), sections.behaviour.cell_line(one_cell(9), 0.99, 0.0, 0.9)]
    shares = {name: cell.share for name, cell in proposed(context(*lines, sizes=(4, 9))).config.cells.items()}
    assert shares["4"] == pytest.approx((0.1 + 1) / (0.1 + 1 + 0.1 + 4 * 0.99 * 0.01))
    assert sum(shares.values()) == pytest.approx(1)


def test_claims_cite_every_line_they_rest_on() -> None:
    claim = proposed(context(failures(0.9, FEW_FAULTS), statistics())).claims[0]
    assert claim.evidence == ("F5", "S5")
    assert claim.text == "Size 5: raise the hole ratio from 0.20 to 0.30, because it is 90% valid; expect 93% [F5 S5]."
