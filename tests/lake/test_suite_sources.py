"""Boards from files and from the official dataset: the same boards whatever holds them, their optima found here, bad rows named."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from frozenlab.lake.board import Board, BoardError
from frozenlab.lake.formats.benchmark import question
from frozenlab.lake.instance import Instance, write_instances
from frozenlab.lake.solvers.solver import Solution
from frozenlab.lake.suites import SUITES, SuiteError, check_suite, official, open_suite, solved
from frozenlab.tasks.lake.family import LAKE

BOARDS = {
    "2ag_3x3_hr0.1_000": "S F g\nF H F\ns F G",
    "2ag_3x3_hr0.1_001": "S s F\nF F F\nF g G",
    "2ag_2x3_hr0.2_000": "S g G\ns F H",
}
OPTIMA = [(4, 8), (4, 6), (2, 4)]


def records() -> list[dict[str, Any]]:
    """The boards as the dataset has them, with more text after the sentences, as it has."""
    boards = [(name, Board.from_text(text)) for name, text in BOARDS.items()]
    return [
        {"sample_id": name, "num_agents": board.num_agents, "text": question(board) + "\nGive the paths as JSON."} for name, board in boards
    ]


def optima(boards: Sequence[Instance]) -> list[tuple[int | None, int | None]]:
    return [(instance.solution.makespan, instance.solution.sum_of_costs) for instance in boards]


@pytest.mark.parametrize("kind", ["list.json", "lines.jsonl", "lines.json", "table.parquet"])
def test_a_file_of_the_official_dataset(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "table.parquet":
        pd.DataFrame(records()).to_parquet(path)
    elif kind == "list.json":
        path.write_text(json.dumps(records(), indent=2))
    else:
        path.write_text("\n".join(json.dumps(record) for record in records()))
    progress: list[tuple[int, int]] = []
    suite = LAKE.open_suite(str(path), lambda done, of: progress.append((done, of)))
    assert (suite.name, suite.spec, [instance.id for instance in suite.tasks]) == (kind, None, list(BOARDS))
    assert optima(suite.tasks) == OPTIMA
    assert progress[-1] == (3, 3)


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``datasets`` has read once it takes from its cache: here every test has one of its own."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def hub(folder: Path, rows: list[dict[str, Any]]) -> str:
    """A folder of the shape of a repository on the hub, with one part."""
    folder.mkdir()
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: benchmark_wr0.5\n  data_files:\n  - split: test\n    path: benchmark_wr0.5.json\n"
        "- config_name: benchmark_wr1\n  data_files: benchmark_wr0.5.json\n---\n"
    )
    (folder / "benchmark_wr0.5.json").write_text(json.dumps(rows))
    return str(folder)


def test_a_part_of_the_official_dataset(tmp_path: Path, no_cache: None) -> None:
    repository = hub(tmp_path / "hub", records())
    assert optima(solved(official("benchmark_wr0.5", repository))) == OPTIMA
    assert [entry.name for entry in official("benchmark_wr1", repository)] == list(BOARDS)
    with pytest.raises(SuiteError, match=r"'benchmark_wr2' of .* cannot be loaded: .*benchmark_wr2.*give the dataset's file instead"):
        official("benchmark_wr2", repository)


def test_a_bad_row_of_the_official_dataset_is_named(tmp_path: Path, no_cache: None) -> None:
    rows = records()
    rows[1] = rows[1] | {"num_agents": 3}
    with pytest.raises(BoardError, match=r"record 2 \('2ag_3x3_hr0.1_001'\): \"num_agents\" is 3; the text has 2 agents"):
        official("benchmark_wr0.5", hub(tmp_path / "hub", rows))


def test_claimed_optima_are_not_believed(tmp_path: Path) -> None:
    board = Board.from_text("S F g\nF H F\ns F G")
    write_instances(tmp_path / "mine.jsonl", [Instance("one", board, Solution("solved", 99, 99, False, ("R", "R")))])
    assert optima(open_suite(str(tmp_path / "mine.jsonl"))) == OPTIMA[:1]


@pytest.mark.parametrize(
    ("name", "text", "error", "said"),
    [
        ("twice.jsonl", "\n".join(json.dumps(records()[0]) for _ in range(2)), SuiteError, "2 boards are called '2ag_3x3_hr0.1_000'"),
        ("wall.txt", "S H G", SuiteError, "board 'wall' has no solution"),
        ("torn.json", '[{"sample_id": "x", "text": "S', BoardError, "not a JSON board"),
        ("torn.parquet", "PAR1", BoardError, "torn.parquet is no Parquet file"),
        ("prose.md", "nothing to see", BoardError, "does not reveal its format"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, text: str, error: type[Exception], said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(error, match=said):
        open_suite(str(tmp_path / name))


def test_boards_without_names_are_numbered(tmp_path: Path) -> None:
    rows = [{key: value for key, value in record.items() if key != "sample_id"} for record in records()]
    (tmp_path / "bare.json").write_text(json.dumps(rows))
    assert [instance.id for instance in open_suite(str(tmp_path / "bare.json"))] == ["board-1", "board-2", "board-3"]


def test_a_name_of_nothing_is_refused_at_once() -> None:
    with pytest.raises(SuiteError, match="there is no suite 'papper' and no such file; the suites are quick, session, train-shape, paper,"):
        check_suite("papper")
    check_suite("hf:benchmark_wr0.5")
    assert LAKE.open_suite("quick", lambda done, of: None).spec == SUITES["quick"]
