import pytest
from pydantic import ValidationError

from core.lake.generator import canonical_hash
from core.lake.suites import SUITES, SuiteSpec, build_suite


def test_a_suite_is_the_same_every_time_and_has_no_board_twice() -> None:
    spec = SuiteSpec(agents=(2, 3), sizes=(3, 5), boards_per_cell=20, seed=5)
    suite = build_suite(spec)
    assert build_suite(spec) == suite
    assert len({canonical_hash(i.board) for i in suite}) == len(suite) == 80
    assert all(i.solution.sum_of_costs is not None for i in suite)
    other = build_suite(spec.model_copy(update={"seed": 6}))
    assert len({canonical_hash(i.board) for i in suite} & {canonical_hash(i.board) for i in other if i.board.size == 5}) < 3


def test_the_boards_of_a_cell_are_spread_over_the_hole_ratios() -> None:
    suite = build_suite(SuiteSpec(agents=(3,), sizes=(3, 6), boards_per_cell=10))
    assert [len(i.board.holes) for i in suite if i.board.size == 3] == [1] * 4 + [2] * 3 + [3] * 3
    assert [len(i.board.holes) for i in suite if i.board.size == 6] == [4, 4, 7, 7, 11, 11, 14, 14, 18, 18]


def test_hole_ratios_that_round_to_one_count_are_one() -> None:
    assert len(build_suite(SuiteSpec(agents=(2,), sizes=(3,), boards_per_cell=60, hole_ratios=(0.1, 0.12)))) == 60


def test_a_cell_that_runs_out_of_different_boards_holds_fewer() -> None:
    suite = build_suite(SuiteSpec(agents=(2,), sizes=(3,), boards_per_cell=500, hole_ratios=(0.5,)))
    assert 10 < len(suite) < 500


def test_the_paper_suite_has_the_papers_cells() -> None:
    assert len(SUITES["paper"].cells) == 21 and (3, 3) in SUITES["paper"].cells and (5, 4) not in SUITES["paper"].cells
    assert len(SUITES["quick"].cells) == 23


def test_a_bad_spec_is_refused() -> None:
    with pytest.raises(ValidationError):
        SuiteSpec(agents=(), sizes=(3,), boards_per_cell=1)
    with pytest.raises(ValidationError):
        SuiteSpec(agents=(2,), sizes=(33,), boards_per_cell=1)
