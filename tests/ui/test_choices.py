"""Uploads to the Play page, and downloads from it."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from frozenlab.app.play import choices
from frozenlab.base.errors import LabError
from frozenlab.lake.board import Agent, Board, BoardError, read_board
from frozenlab.lake.formats import Source, read
from frozenlab.lake.rules import judge_paths, walk

GOLDEN = Path(__file__).parents[1] / "lake" / "golden"
SMALL = read_board("S F G\nF F F\ng F s")


def files(*names: str) -> dict[str, bytes]:
    return {name: (GOLDEN / name).read_bytes() for name in names}


def test_a_scenario_comes_with_its_map_in_any_order() -> None:
    names = "random-32-32-20.map", "random-32-32-20-random-1.scen"
    assert choices.bring(files(*names)) == choices.bring(files(*reversed(names)))
    assert choices.bring(files(*names), agents=3)[1][0].board.num_agents == 3


@pytest.mark.parametrize(("grid", "scenario"), [("2x1 (1).map", "2X1.SCEN"), ("2x1.map.txt", "2x1.scen.txt"), ("grid.txt", "rows.txt")])
def test_a_map_and_a_scenario_are_known_by_their_content(grid: str, scenario: str) -> None:
    both = files("2x1.map", "2x1.scen")
    main, (entry,) = choices.bring({grid: both["2x1.map"], scenario: both["2x1.scen"]})
    assert main == scenario and entry.board == choices.bring(both)[1][0].board
    assert entry.notes == (("the file is for the map '2x1.map' and was read with 'grid.txt'",) if grid == "grid.txt" else ())


def test_the_plan_of_a_file_is_one_to_watch() -> None:
    main, (entry,) = choices.bring(files("random-32-32-20.map", "mapf_plan_example.json"))
    brought = choices.from_file(entry, "log.json")
    assert main == "mapf_plan_example.json"
    assert judge_paths(brought.board, brought.paths or ()).valid and brought.origin == "The plan of log.json, judged here."
    with pytest.raises(ValueError, match="has no plan"):
        choices.from_file(choices.bring(files("pogema.txt"))[1][0], "pogema.txt")


@pytest.mark.parametrize(
    ("brought", "reason"),
    [
        (files("2x1.map"), "2x1.map: a map has no agents: give the scenario (.scen) that has them, and this map with it"),
        (files("2x1.scen"), "2x1.scen: the map is missing: it is a file of its own (.map), so give that too"),
        (files("2x1.map", "tunnel.map"), "2x1.map and tunnel.map are two of a kind: bring one, with its map and scenario if it needs them"),
        ({"a.txt": b"\xff"}, "a.txt is not a text file in UTF-8 (byte 0)"),
        (
            {"a.txt": b"hello you"},
            "a.txt: line 1, cell 1: 'hello' is no cell; use F (frozen), H (hole), ^ v < > (one-way ice) or 0 to 4 (an agent's door); "
            "agents start on S s A B C and end on G g a b c",
        ),
        ({"a.json": b"{"}, "a.json: not a JSON board: Expecting property name enclosed in double quotes at line 1, column 2"),
        ({"a.json": b"{}"}, 'a.json: "map" must be a list of strings, one per row, like "S F H"'),
    ],
)
def test_a_bad_file_is_refused_in_a_line(brought: dict[str, bytes], reason: str) -> None:
    with pytest.raises(LabError) as refused:
        choices.bring(brought)
    assert str(refused.value) == reason


@pytest.mark.parametrize("name", choices.EXPORTS)
def test_what_is_taken_away_can_be_brought_back(name: str) -> None:
    alone = name == "frozenlake"  # which has one agent
    board, plan = (SMALL, ("RR", "LL")) if not alone else (replace(SMALL, agents=SMALL.agents[:1]), ("RR",))
    file_name, data = choices.export(board, walk(board, plan), name)
    if file_name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            _, (entry,) = choices.bring({item: packed.read(item) for item in packed.namelist()})
    else:
        _, (entry,) = choices.bring({file_name: data})
    assert entry.board == board and entry.plan == (plan if choices.FORMATS[name].plans else None)
    assert choices.export(board, walk(board, plan), name) == (file_name, data)


def test_a_path_that_is_no_plan_is_not_taken() -> None:
    jump = (((0, 0), (0, 2)), ((2, 2), (2, 1), (2, 0)))
    with pytest.raises(BoardError, match="step 1: agent 0 goes from"):
        choices.export(SMALL, jump, "planviz")
    with pytest.raises(BoardError, match="does not give every agent a path from its start"):
        choices.export(SMALL, jump[:1], "kei18")
    assert choices.export(SMALL, jump, "pogema")[0] == "board.txt"


def test_a_written_archive_holds_the_board() -> None:
    crowd = Board(("F" * 8,) * 3, tuple(Agent((0, i), (2, i)) for i in range(7)))
    name, data = choices.export(crowd, None, "movingai")
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        texts = {item: packed.read(item).decode() for item in packed.namelist()}
    assert name == "board-movingai.zip" and read("movingai", Source(texts["board.scen"], map=texts["board.map"]))[0].board == crowd
