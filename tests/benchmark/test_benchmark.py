"""Results: every figure of a report equals a count by hand; folders may be complete, damaged or missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from frozenlab.base.numbers import wilson
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.experiments.benchmark.report import Measured, Tally
from frozenlab.experiments.benchmark.results import Result, results, results_folder, save_result
from frozenlab.lake.board import Board
from frozenlab.lake.rules import FAULTS
from frozenlab.lake.suites import build_suite
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.answer import COLUMNS
from tests.builders import answers, small_spec

MEASURED = Measured(title="Built", model="built model", suite="built")
BOARD = json.dumps(Board.from_text("S F G\ns F g").to_dict())


def row(size: int, outcome: str, *, agents: int = 2, on_goal: float = 1.0, makespan: int = 4, costs: int = 8) -> dict[str, Any]:
    """A row of ``boards.parquet``; the optimum is a makespan of 4 and a sum of costs of 8."""
    valid = outcome in ("optimal", "suboptimal")
    return {
        "board_id": f"{agents}-{size}-{outcome}", "size": size, "agents": agents, "hole_ratio": 0.0, "needs_wait": False,
        "optimal_makespan": 4, "optimal_sum_of_costs": 8, "board": BOARD, "completion": "", "paths": None, "outcome": outcome,
        "valid": valid, "optimal": outcome == "optimal", "fault": None if valid else outcome, "step": None, "fault_agents": "[]",
        "cell": None, "makespan": makespan if valid else None, "sum_of_costs": costs if valid else None, "on_goal": on_goal, "tokens": 10,
    }  # fmt: skip


def built(rows: list[dict[str, Any]], about: dict[str, Any] | None = None, **fields: Any) -> LakeReport:
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    return LakeReport.of(
        table,
        MEASURED.model_copy(update=about),
        **({"id": "built", "checkpoint_sha256": "0" * 64, "created": 1.0, "seconds": 2.0} | fields),
    )


def test_a_cell_counts_what_its_boards_say() -> None:
    report = built([
        row(3, "optimal"), row(3, "suboptimal", makespan=5, costs=10), row(3, "suboptimal", makespan=6, costs=8),
        row(3, "vertex_conflict"), row(3, "hole", on_goal=0.5), row(3, "parse_error", on_goal=0.0), row(3, "hole", on_goal=0.0),
        row(4, "goal_not_reached", on_goal=0.5),
    ])  # fmt: skip
    cell, empty_handed = report.cells
    assert (cell.agents, cell.size, cell.n, cell.valid, cell.optimal) == (2, 3, 7, 3, 1)
    assert cell.valid_interval == wilson(3, 7) and cell.optimal_interval == wilson(1, 7)
    assert cell.csr == pytest.approx(4 / 7), "the plan with a conflict arrives, too"
    assert cell.isr == pytest.approx(4.5 / 7)
    assert cell.soc_gap == pytest.approx((0 + 2 / 8 + 0) / 3)
    assert cell.makespan_gap == pytest.approx((0 + 1 / 4 + 2 / 4) / 3)
    assert list(cell.faults.items()) == [("parse_error", 1), ("hole", 2), ("vertex_conflict", 1)]
    assert (empty_handed.valid_rate, empty_handed.csr, empty_handed.isr, empty_handed.soc_gap) == (0.0, 0.0, 0.5, None)


def test_a_team_has_the_mean_over_cells_and_the_count_over_boards() -> None:
    rows = [row(3, "optimal")] * 8 + [row(4, "optimal")] + [row(4, "hole")] + [row(5, "hole", agents=3)] * 20
    pairs, threes = built(rows).teams
    assert (pairs.agents, pairs.n, pairs.cells, pairs.valid_rate, pairs.mean_valid) == (2, 10, 2, 0.9, 0.75)
    low, high = pairs.mean_valid_interval
    assert 0.3 < low < 0.75 < high < 1
    assert threes.mean_valid_interval == pytest.approx(wilson(0, 20)), "one cell: its own interval"


def test_several_answers_to_a_board_are_one_board() -> None:
    boards = [row(3, "optimal") | {"board_id": str(i)} for i in range(4)]
    rows = [each for board in boards for each in (board, board | {"outcome": "hole", "fault": "hole", "valid": False, "optimal": False})]
    twice = built(rows, about={"samples": 2, "temperature": 0.7})
    (cell,), once = twice.cells, built(boards)
    assert (cell.n, cell.samples, cell.valid, cell.valid_rate, twice.n) == (4, 2, 4, 0.5, 4)
    assert cell.valid_interval == wilson(2, 4), "eight answers to four boards are no eight boards"
    assert twice.teams[0].mean_valid == 0.5 and twice.teams[0].mean_valid_interval == pytest.approx(wilson(2, 4))
    assert twice.boards_sha256 == once.boards_sha256 and "2 answers each" in twice.how
    assert "samples" not in once.model_dump_json(), "results of one answer each are written as they always were"


def test_a_report_without_boards_is_refused() -> None:
    with pytest.raises(ValueError, match="no board"):
        built([])


def test_results_are_comparable_if_their_boards_are_the_same() -> None:
    one, other = row(3, "optimal"), row(3, "optimal")
    assert built([one]).boards_sha256 == built([one | {"valid": False, "optimal": False, "tokens": 3}]).boards_sha256
    assert built([one]).boards_sha256 != built([one, other]).boards_sha256
    assert built([one]).boards_sha256 != built([one | {"optimal_makespan": 5}]).boards_sha256


def saved(folder: Path, created: float = 1.0) -> Result:
    rows = answers(build_suite(small_spec(sizes=(3, 5)).suite), skill=0.5, seed=1)
    save_result(folder, LakeReport.of(rows, MEASURED, id=folder.name, checkpoint_sha256="0" * 64, created=created, seconds=2.0), rows)
    return Result(folder)


def test_a_result_is_read_as_it_was_saved(tmp_path: Path) -> None:
    result = saved(tmp_path / "mine")
    report, rows = result.report, result.rows
    assert report is not None and rows is not None and not result.problems
    again = LakeReport.of(rows, report, id="mine", checkpoint_sha256="0" * 64, created=1.0, seconds=2.0)
    assert again == report, "the report can be counted again from its boards"
    stored = json.loads((result.dir / "report.json").read_text())
    assert stored["cells"][0]["valid_interval"] == list(report.cells[0].valid_interval), "other programs find the intervals, too"
    table = pd.read_csv(result.dir / "cells.csv")
    pd.testing.assert_frame_equal(table, report.cells_table())
    assert (table["valid"] + table[list(FAULTS)].sum(axis=1)).tolist() == table["n"].tolist()


def test_results_are_listed_newest_first_and_damage_is_named(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    folder = results_folder(store)
    for name, created in (("old", 1.0), ("new", 2.0), ("torn", 3.0)):
        saved(folder / name, created)
    (folder / "torn" / "report.json").write_text('{"schema_version": 1, "title": 3')
    (folder / "running").mkdir()
    (folder / "new" / "boards.parquet").write_text("no table")
    own = [result for result in results(store) if not result.shipped]
    assert [result.id for result in own] == ["new", "old", "torn"]
    new, _, torn = own
    assert torn.report is None and "torn: report.json cannot be read" in torn.problems[0]
    assert new.report is not None and new.rows is None and "new: boards.parquet cannot be read" in new.problems[0]


@pytest.mark.parametrize("counts", [{"n": 0}, {"optimal": 3}, {"valid": 9}, {"optimal": -1}])
def test_counts_that_cannot_be_are_refused(counts: dict[str, int]) -> None:
    """So that no rate of them is ever worked out: a report may come from any person."""
    sound = {"n": 4, "valid": 2, "optimal": 1, "tokens": 5.0, "faults": {}}
    assert Tally(**sound).valid_rate == 0.5  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        Tally(**(sound | counts))  # type: ignore[arg-type]
