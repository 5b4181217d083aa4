"""``frozenlab convert``: every format, and refusals that write nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from tests.cli.calls import answer, reason
from tests.cli.conftest import BOARD


def test_convert_goes_through_every_format_and_back(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    here = board
    for name, file in (("movingai", "b.scen"), ("kei18", "b2.txt"), ("pogema", "b3.txt"), ("benchmark", "b4.json"), ("jsonl", "b5.jsonl")):
        maps = ("--map", str(tmp_path / f"{Path(here).stem}.map")) if (tmp_path / f"{Path(here).stem}.map").exists() else ()
        report = answer(capsys, "convert", here, str(tmp_path / file), "--to", name, *maps)
        assert report["to"] == name and report["boards"] == 1
        here = str(tmp_path / file)
    assert answer(capsys, "convert", here, str(tmp_path / "back.out"), "--to", "text") == {
        "from": "jsonl", "to": "text", "boards": 1, "plans": 0, "files": 1, "out": str(tmp_path / "back.out"),
    }  # fmt: skip
    assert (tmp_path / "back.out").read_text() == BOARD


def test_convert_takes_a_suite_to_a_folder_of_files_with_its_plans(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config, suite, out = tmp_path / "c.json", tmp_path / "suite.jsonl", tmp_path / "out"
    config.write_text('{"agents": 2, "sizes": {"4": {"share": 1}}}')
    answer(capsys, "generate", str(config), "--n", "3", "--out", str(suite))
    report = answer(capsys, "convert", str(suite), str(out), "--to", "tracker")
    assert (report["boards"], report["plans"], report["files"]) == (3, 3, 9)
    plan, grid, scenario = (sorted(out.glob(f"*.{suffix}"))[0] for suffix in ("csv", "map", "scen"))
    report = answer(
        capsys, "convert", str(plan), str(tmp_path / "log.json"), "--to", "planviz", "--map", str(grid), "--scen", str(scenario)
    )
    assert report["plans"] == 1 and json.loads((tmp_path / "log.json").read_text())["errors"] == []
    assert reason(capsys, "convert", str(suite), str(out), "--to", "tracker") == f"{out} exists already: name a new folder"


def test_convert_takes_the_first_agents(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    answer(capsys, "convert", board, str(tmp_path / "b.jsonl"), "--agents", "1")
    assert len(json.loads((tmp_path / "b.jsonl").read_text())["agents"]) == 1


def test_convert_says_on_stderr_how_a_file_was_read(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    answer(capsys, "convert", board, str(tmp_path / "b.scen"))
    (tmp_path / "b.map").rename(tmp_path / "o.map")
    assert main(["convert", str(tmp_path / "b.scen"), str(tmp_path / "b.json"), "--to", "json", "--map", str(tmp_path / "o.map")]) == 0
    assert capsys.readouterr().err == "frozenlab: the file is for the map 'b.map' and was read with 'o.map'\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.map", "x.jsonl"), "nowhere.map cannot be read: No such file or directory"),
        (
            ("BOARD", "x.txt"),
            "the name 'x.txt' does not determine the format: choose one with --to: text, json, jsonl, movingai, tracker, kei18",
        ),
        (("BOARD", "x.txt", "--to", "yaml"), "there is no format 'yaml'; the formats are text, json, jsonl, movingai, tracker, kei18"),
        (("BOARD", "x.csv"), "board 'board' has no plan, and a MAPF Tracker file is about one: solve the board first"),
        (("BOARD", "x.jsonl", "--from", "movingai"), "the map is missing: it is a file of its own (.map), so give that too"),
        (("BOARD", "x.jsonl", "--agents", "3"), "the board has 2 agents; 3 cannot be taken"),
        (("BOARD", "x.jsonl", "--agents", "0"), "0 agents cannot be taken; at least 1 is expected"),
    ],
)
def test_convert_refuses_in_one_line_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str, arguments: tuple[str, ...], said: str
) -> None:
    given = [board if argument == "BOARD" else str(tmp_path / argument) if argument[:2] == "x." else argument for argument in arguments]
    assert reason(capsys, "convert", *given).startswith(said)
    assert [path.name for path in tmp_path.iterdir()] == ["board.txt"]


def test_convert_never_replaces_an_existing_map(capsys: pytest.CaptureFixture[str], tmp_path: Path, board: str) -> None:
    (tmp_path / "mine.map").write_text("mine")
    said = reason(capsys, "convert", board, str(tmp_path / "mine.scen"))
    assert said == f"{tmp_path / 'mine.map'} exists already with other content: choose another name for the output"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.txt", "mine.map"]
