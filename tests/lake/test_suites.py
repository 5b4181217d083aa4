import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind, CellConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.hashes import canonical_hash, canonical_hashes
from frozenlab.lake.instance import instances_in
from frozenlab.lake.suites import SUITES, SuiteSpec, build_suite, held_out


def test_a_suite_is_the_same_every_time_and_has_no_board_twice() -> None:
    spec = SuiteSpec(agents=(2, 3), sizes=(3, 5), boards_per_cell=20, seed=5)
    suite = build_suite(spec)
    assert build_suite(spec) == suite
    assert len({canonical_hash(i.board) for i in suite}) == len(suite) == 80
    assert all(i.solution.sum_of_costs is not None for i in suite)
    other = build_suite(spec.model_copy(update={"seed": 6}))
    assert len({canonical_hash(i.board) for i in suite} & {canonical_hash(i.board) for i in other if i.board.size == 5}) < 3


def test_a_suite_can_ask_for_a_wait_ratio() -> None:
    spec = SuiteSpec(agents=(3,), sizes=(3, 5, 10), boards_per_cell=20, wait_ratio=0.5, seed=5)
    suite = build_suite(spec, sum_of_costs=False)
    assert len(suite) == 60 and len(canonical_hashes([i.board for i in suite])) == 60
    strata = Counter((i.board.size, len(i.board.holes), i.solution.needs_wait) for i in suite)
    assert all(abs(strata[size, holes, True] - strata[size, holes, False]) <= 1 for size, holes, _ in strata)


@pytest.mark.slow
def test_the_paper_shaped_suite_is_the_same_from_any_processes(tmp_path: Path) -> None:
    """Two processes on their own, started one after the other, one of them with two workers: the same bytes."""
    code = (
        "import sys; from pathlib import Path; from frozenlab.lake.suites import *; from frozenlab.lake.instance import write_instances\n"
        "if __name__ == '__main__': suite = build_suite(SUITES['paper-wr0.5'], sum_of_costs=False, workers=int(sys.argv[2])); "
        "write_instances(Path(sys.argv[1]), suite)"
    )
    script = tmp_path / "build.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    for name, workers in (("two", "2"), ("one", "1")):
        subprocess.run([sys.executable, str(script), str(tmp_path / name), workers], check=True, env=environment)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    lines = instances_in((tmp_path / "one").read_text())
    assert len(lines) == 3150 and sum(bool(i.solution.needs_wait) for i in lines) == 1575


@cache
def hashes_drawn() -> np.ndarray:
    """Of boards for training."""
    config = EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.3, wait_ratio=0.1)
    return canonical_hashes([i.board for i in generate(config, 600, seed=3, exclude=held_out())])


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if "-wr" in name else name for name in SUITES])
def test_a_named_suite_is_whole_and_none_of_its_boards_is_ever_drawn_for_training(name: str) -> None:
    spec, suite = SUITES[name], build_suite(SUITES[name], sum_of_costs=False)
    assert Counter(BoardKind(i.board.num_agents, i.board.size) for i in suite) == dict.fromkeys(spec.cells, spec.boards_per_cell)
    if spec.wait_ratio is not None:
        waiting = Counter(BoardKind(i.board.num_agents, i.board.size) for i in suite if i.solution.needs_wait)
        assert all(abs(waiting[cell] - spec.wait_ratio * spec.boards_per_cell) < 1 for cell in spec.cells)
    hashes = canonical_hashes([i.board for i in suite])
    assert np.isin(hashes, held_out()).all(), "run python -m frozenlab.lake.suites"
    assert len(hashes_drawn()) > 200 and not np.isin(hashes_drawn(), hashes).any()


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
    assert len(SUITES["paper"].cells) == 21 and BoardKind(3, 3) in SUITES["paper"].cells and BoardKind(5, 4) not in SUITES["paper"].cells
    assert len(SUITES["quick"].cells) == 23
    assert SUITES["train-shape"].cells == tuple(BoardKind(2, size) for size in range(3, 11))
    assert [name for name in SUITES if name.startswith("paper-")] == [f"paper-wr{ratio}" for ratio in ("0", "0.25", "0.5", "0.75", "1")]
    assert all(SUITES[name].cells == SUITES["paper"].cells for name in SUITES if name.startswith("paper-"))


def test_a_bad_spec_is_refused() -> None:
    with pytest.raises(ValidationError):
        SuiteSpec(agents=(), sizes=(3,), boards_per_cell=1)
    with pytest.raises(ValidationError):
        SuiteSpec(agents=(2,), sizes=(33,), boards_per_cell=1)


def test_a_suite_of_layouts_has_a_cell_for_each_and_its_boards_count_for_the_cells_of_the_config() -> None:
    spec = SuiteSpec(agents=(2, 3), sizes=(5,), layouts=("scatter", "maze"), boards_per_cell=6)
    assert spec.cells == tuple(BoardKind(team, 5, layout) for team in (2, 3) for layout in ("scatter", "maze"))
    apart = EnvironmentConfig.of(CellConfig(agents=2, size=5, share=0.5, layout=layout) for layout in ("scatter", "maze"))
    assert Counter(i.cell for i in build_suite(spec, apart)) == {"scatter5": 12, "maze5": 12}
    teams = EnvironmentConfig.uniform((5,), agents=(2, 4))
    assert Counter(i.cell for i in build_suite(spec, teams)) == {"2@5": 24}, "3 agents are as near to 2 as to 4: the smaller team"
    assert {i.cell for i in build_suite(spec)} == {""}
    scatter = build_suite(spec.model_copy(update={"layouts": ("scatter",)}))
    assert {i.board for i in scatter} <= {i.board for i in build_suite(spec)}
