"""The neighbours' formats: what we write we read back, their documentation's own files we read, and a bad file is refused in one line."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from frozenlab.lake.board import MOVES, Agent, Board, BoardError
from frozenlab.lake.formats import FORMATS, Entry, Source, file_stems, read, recognise, suffix_format, write
from frozenlab.lake.formats.entry import from_xy, plan_of, swap_up_down, to_xy, trimmed
from frozenlab.lake.formats.movingai import octile_distance
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import judge, walk
from frozenlab.lake.solvers.solver import Solution
from tests.lake.boards import boards

GOLDEN = Path(__file__).parent / "golden"
MAP = "type octile\nheight 2\nwidth 3\nmap\n...\n.@.\n"
SCENARIO = "version 1\n0\tm.map\t3\t2\t0\t0\t2\t0\t2.00000000\n0\tm.map\t3\t2\t0\t1\t2\t1\t4.00000000\n"
LAKE = Board(("FFF", "FHF"), (Agent((0, 0), (0, 2)), Agent((1, 0), (1, 2))))
"""The board of MAP and SCENARIO."""
FURNISHED = Entry("x", Board(("F>F", "F1F"), LAKE.agents), ("RR", "RR"))
PLAN = ("RR", "URRWD")
"""Keeps to the rules on LAKE up to a conflict: formats carry plans right or wrong."""


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def benchmark_source(name: str, **fields: object) -> Source:
    """A golden file that is about the MovingAI benchmark's random-32-32-20, with that map."""
    return Source(golden(name), map=golden("random-32-32-20.map"), map_name="random-32-32-20.map", **fields)  # type: ignore[arg-type]


def written_source(files: dict[str, str]) -> Source:
    """The files of :func:`write` as its reader wants them: the main file is the first."""
    (text, *_) = files.values()
    named = {Path(name).suffix: (name, text) for name, text in files.items()}
    map_name, map_text = named.get(".map", (None, None))
    return Source(text, "x", map=map_text, map_name=map_name, scenario=named.get(".scen", (None, None))[1])


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Boards whose agents can reach their goals, with a walk of each agent over free cells; walks may collide and miss the goals."""
    board = draw(boards())
    assume(all(agent.start in board.distances_to_goal(i) for i, agent in enumerate(board.agents)))
    rng = draw(st.randoms(use_true_random=False))
    return Entry("x", board, tuple(wander(board, i, rng, draw(st.integers(0, 12))) for i in range(board.num_agents)))


def wander(board: Board, agent: int, rng: random.Random, steps: int) -> str:
    motions, (r, c) = "", board.agents[agent].start
    for _ in range(steps):
        letter = rng.choice(
            [x for x, (dr, dc) in MOVES.items() if board.contains((r + dr, c + dc)) and not board.is_hole((r + dr, c + dc))]
        )
        motions, (r, c) = motions + letter, (r + MOVES[letter][0], c + MOVES[letter][1])
    return motions


# --- there and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
@given(entry=entries())
def test_what_is_written_is_read_back(name: str, entry: Entry) -> None:
    files = write(name, [entry], "x")
    (back,) = read(name, written_source(files))
    assert back.board == entry.board
    assert back.plan == (trimmed(entry.plan or ()) if FORMATS[name].plans else None)
    assert write(name, [back], "x") == files or not FORMATS[name].plans


@pytest.mark.parametrize("name", FORMATS)
def test_one_way_ice_and_doors_are_written_or_refused(name: str) -> None:
    if FORMATS[name].furnished:
        assert read(name, written_source(write(name, [FURNISHED], "x")))[0].board == FURNISHED.board
        assert recognise(*next(iter(write(name, [FURNISHED], "x").items()))) == name
    else:
        with pytest.raises(
            BoardError, match=f"the format {name} has no one-way ice and no doors, .*; take one of text, json, jsonl, bench"
        ):
            write(name, [FURNISHED], "x")


@pytest.mark.parametrize("name", FORMATS)
@given(entry=entries())
def test_a_written_file_is_recognised(name: str, entry: Entry) -> None:
    main, *_ = write(name, [entry], "x").items()
    assert recognise(*main) == name or (name == "pogema" and entry.board.width == 1)  # a column of letters may be ours


@given(st.lists(entries(), min_size=1, max_size=4))
def test_many_boards_are_one_file_or_one_each(several: list[Entry]) -> None:
    named = [Entry(f"b{i}", entry.board, entry.plan) for i, entry in enumerate(several)]
    for name in ("jsonl", "benchmark"):
        (text,) = write(name, named, "suite").values()
        assert [(entry.name, entry.board) for entry in read(name, Source(text))] == [(entry.name, entry.board) for entry in named]
    if len(named) > 1:
        files = write("kei18", named, "ignored")
        assert set(files) == {f"b{i}.{suffix}" for i in range(len(named)) for suffix in ("txt", "map")}


def test_suites_keep_their_optimal_plans() -> None:
    line = Instance("a", LAKE, Solution("solved", 6, None, True, PLAN)).to_line()
    assert read("jsonl", Source(line + "\n\n")) == [Entry("a", LAKE, PLAN)]


def test_file_names_are_harmless_and_different() -> None:
    names = ["../../etc/passwd", "a b", "", ".hidden", "ok"]
    assert file_stems([Entry(name, LAKE) for name in names]) == ["etc_passwd", "a_b", "board", "hidden", "ok"]
    assert file_stems([Entry(name, LAKE) for name in ("a", "A", "b")]) == ["0_a", "1_A", "2_b"]


@given(st.integers(0, 99), st.integers(0, 99))
def test_x_and_y_are_column_and_row(x: int, y: int) -> None:
    assert from_xy(x, y) == (y, x) and to_xy(from_xy(x, y)) == (x, y)


def test_up_and_down_change_places_and_nothing_else() -> None:
    assert swap_up_down("UDLRW") == "DULRW"


def test_a_jump_is_no_plan() -> None:
    assert plan_of([((0, 0), (0, 1), (0, 1))]) == ("RW",)
    with pytest.raises(BoardError, match=r"step 2: agent 0 goes from \(0, 1\) to \(2, 1\)"):
        plan_of([((0, 0), (0, 1), (2, 1))])


# --- the tools' own files ---------------------------------------------------------------------------------------------


def test_a_movingai_scenario_is_read_and_written_to_the_letter() -> None:
    (entry,) = read("movingai", benchmark_source("random-32-32-20-random-1.scen"))
    assert (entry.board.height, entry.board.width, entry.board.num_agents, len(entry.board.holes)) == (32, 32, 14, 205)
    assert entry.board.agents[0] == Agent((16, 5), (24, 31))
    files = write("movingai", [entry], "random-32-32-20")
    assert files["random-32-32-20.scen"] == golden("random-32-32-20-random-1.scen"), "starts, goals, octile lengths and buckets agree"
    assert files["random-32-32-20.map"] == golden("random-32-32-20.map").replace("T", "@")


def test_the_first_rows_of_a_scenario_are_the_agents() -> None:
    (entry,) = read("movingai", benchmark_source("random-32-32-20-random-1.scen", agents=3))
    assert [agent.start for agent in entry.board.agents] == [(16, 5), (29, 21), (1, 27)]
    assert read("movingai", Source(golden("2x1.scen"), map=golden("2x1.map"), agents=1))[0].board == Board(
        ("FF",), (Agent((0, 0), (0, 1)),)
    )


def test_the_trackers_documented_example_goes_down_with_d() -> None:
    """(0,0) -> (0,1) -> (1,1) -> (2,1) -> (2,0) -> (2,0) -> (1,0) in x, y."""
    grid = "type octile\nheight 2\nwidth 3\nmap\n...\n...\n"
    scenario = "version 1\n0\tm.map\t3\t2\t0\t0\t1\t0\t1\n"
    (entry,) = read("tracker", Source(golden("tracker_documented.txt"), map=grid, scenario=scenario))
    assert entry.plan == ("DRRUWL",)
    assert [to_xy(cell) for cell in walk(entry.board, entry.plan)[0]] == [(0, 0), (0, 1), (1, 1), (2, 1), (2, 0), (2, 0), (1, 0)]
    assert ",d2ruwl,FALSE" in write("tracker", [entry], "m")["m.csv"]


def test_a_planviz_log_and_a_tracker_download_are_the_same_valid_plan() -> None:
    (log,) = read("planviz", benchmark_source("mapf_plan_example.json"))
    verdict = judge(log.board, log.plan or ())
    assert verdict.valid and (verdict.makespan, verdict.sum_of_costs) == (51, 182)
    scenario = golden("random-32-32-20-random-1.scen")
    old = golden("random-32-32-20_random_1_300.csv")
    with pytest.raises(BoardError, match="arrive only if u is down and d is up"):
        read("tracker", benchmark_source("random-32-32-20_random_1_300.csv", scenario=scenario))
    turned = Source(old.replace('"path"', '"path","flip_up_down"') + ",TRUE\n", map=golden("random-32-32-20.map"), scenario=scenario)
    assert read("tracker", turned)[0] == log


def test_a_written_log_has_the_moves_of_the_log() -> None:
    (log,) = read("planviz", benchmark_source("mapf_plan_example.json"))
    ours = json.loads(write("planviz", [log], "random-32-32-20")["random-32-32-20.json"])
    theirs = json.loads(golden("mapf_plan_example.json"))
    assert ours["actionModel"] == theirs["actionModel"] and ours["start"] == theirs["start"]
    assert [path.rstrip(",W") for path in ours["actualPaths"]] == [path.rstrip(",W") for path in theirs["actualPaths"]]
    assert [[task, *stop] for task, _, stop in ours["tasks"]] == theirs["tasks"]
    assert [[[task, t, "finished"]] for t, _, task, _ in ours["events"]] == [agent[1:] for agent in theirs["events"]]
    assert ours["errors"] == []


def test_the_first_fault_is_planvizs_error() -> None:
    wrong = json.loads(write("planviz", [Entry("x", LAKE, ("RD", "W"))], "x")["x.json"])
    assert wrong["errors"] == [[-1, 0, -1, 2, "hole"]] and wrong["AllValid"] == "No"
    wrong = json.loads(write("planviz", [Entry("x", LAKE, ("D", "U"))], "x")["x.json"])
    assert wrong["errors"] == [[-1, 0, 1, 1, "edge conflict"]]


def test_mapf_visualizers_tunnel_is_read() -> None:
    source = Source(golden("demo_tunnel.txt"), map=golden("tunnel.map"), agents=2)
    (entry,) = read("kei18", source)
    assert entry.board.rows == ("FHHH", "FFFF", "FHHH", "FHHH", "FHHH", "FHHH")
    assert entry.board.agents == (Agent((5, 0), (2, 0)), Agent((4, 0), (3, 0)))
    assert judge(entry.board, entry.plan or ()).makespan == 15
    steps = [line for line in write("kei18", [entry], "tunnel")["tunnel.txt"].splitlines() if ":(" in line]
    assert steps == [",".join(line.split(",")[:4]) + "," for line in golden("demo_tunnel.txt").splitlines()]


def test_our_result_files_have_the_keys_of_lacams_in_their_order() -> None:
    def keys(text: str) -> list[str]:
        return [line.split("=")[0] for line in text.splitlines() if "=" in line]

    theirs = keys(golden("lacam_result.txt"))
    ours = keys(write("kei18", [Entry("x", LAKE, ("RRWWWW", "URRD"))], "x")["x.txt"])
    assert ours == [key for key in theirs if key in ours] and {"agents", "starts", "goals", "solution"} <= set(ours)
    with pytest.raises(BoardError, match=r"line 14: the start of agent 0 \(32, 6\) is off the 32x32 board"):
        read("kei18", Source(golden("lacam_result.txt"), map=golden("random-32-32-20.map")))


def test_a_turning_agents_heading_is_passed_over() -> None:
    grid = "type octile\nheight 2\nwidth 2\nmap\n..\n..\n"
    (entry,) = read("kei18", Source("0:(0,0,Y_MINUS),\n1:(0,0,X_PLUS),\n2:(1,0,X_PLUS),\n", map=grid))
    assert entry.plan == ("WR",) and entry.board.agents == (Agent((0, 0), (0, 1)),)


def test_pogemas_own_example_is_read_and_written() -> None:
    (entry,) = read("pogema", Source(golden("pogema.txt")))
    assert entry.board.agents == (Agent((0, 1), (9, 9)), Agent((2, 8), (9, 1)), Agent((8, 1), (2, 2)))
    assert write("pogema", [entry], "p")["p.txt"].split() == golden("pogema.txt").split()


def test_a_benchmark_question_is_read_past_the_words_that_we_do_not_know() -> None:
    (entry,) = read("benchmark", Source(golden("benchmark.json")))
    assert entry == Entry("2ag_3x3_hr0.1_000", Board(("FFF", "FHF", "FFF"), (Agent((0, 0), (2, 2)), Agent((2, 0), (0, 2)))))
    (record,) = json.loads(write("benchmark", [entry], "b")["b.json"])
    assert set(record) == {"sample_id", "num_agents", "text"} and record["text"].startswith("Question:\n")
    (line,) = golden("benchmark.json").splitlines()
    assert read("benchmark", Source(line[1:-1])) == [entry], "a single record"
    assert read("benchmark", Source(f"{line[1:-1]}\n{line[1:-1]}\n")) == [entry, entry], "JSON lines"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.*")), ids=lambda path: path.name)
def test_every_golden_file_is_recognised_and_named_in_the_readme(path: Path) -> None:
    if path.name != "README.md":
        assert recognise(path.name, golden(path.name)) in FORMATS and f"`{path.name}`" in golden("README.md")


def test_octile_length_cuts_no_corner() -> None:
    assert octile_distance(LAKE, (1, 0), (1, 2)) == 4
    assert octile_distance(Board(("FFF", "FFF"), LAKE.agents), (0, 0), (1, 2)) == pytest.approx(2**0.5 + 1)
    assert octile_distance(Board(("FHF", "FHF"), (Agent((0, 0), (1, 0)),)), (0, 0), (0, 2)) is None


# --- files as people have them ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid",
    [
        "height 2\nwidth 3\nmap\n...\n.T.",  # pibt2
        "2,3\n...\n.@.\n",  # CBSH2, EECBS, MAPF-LNS
        "type unknown\nwidth 3\nheight 2\nmap\n.S.\n.WE\n\n",  # a column of swamp, and a station of the League of Robot Runners
    ],
)
def test_maps_are_read_as_other_tools_write_them(grid: str) -> None:
    assert read("movingai", Source(SCENARIO, map=grid, map_name="m.map")) == [Entry("", LAKE)]


@pytest.mark.parametrize(
    "row",
    [
        "0 m.map 3 2 0 0 2 0 2.0",
        "0\tm \t3\t2\t0\t0\t2\t0",  # no length, and a name without its end
        "0  sub dir/m.map  3  2  0  0  2  0  2.0",
    ],
)
def test_rows_with_blanks_or_without_a_length_are_read(row: str) -> None:
    assert read("movingai", Source(f"version 1.0\n{row}\n", map=MAP, map_name="m.map", agents=1))[0] == Entry("", LAKE).first(1)


@pytest.mark.parametrize("name", ["m (1).map", "m - Copy.map", "M.MAP", "m.map.txt"])
def test_a_copy_of_a_map_is_the_map(name: str) -> None:
    assert read("movingai", Source(SCENARIO, map=MAP, map_name=name)) == [Entry("", LAKE)]


def test_a_renamed_map_is_read_with_a_note() -> None:
    (entry,) = read("movingai", Source(SCENARIO, map=MAP, map_name="mmap.txt"))
    assert entry.board == LAKE and entry.notes == ("the file is for the map 'm.map' and was read with 'mmap.txt'",)
    (entry,) = read("kei18", Source("map_file=m.map\n0:(0,0),\n1:(1,0),\n", map=MAP, map_name="o.map"))
    assert entry.notes == ("the file is for the map 'm.map' and was read with 'o.map'",)


def test_rows_for_other_maps_are_left_out_with_a_note() -> None:
    text = SCENARIO + "0\to.map\t9\t9\t8\t8\t0\t0\t9\n"
    (entry,) = read("movingai", Source(text, map=MAP, map_name="m.map"))
    assert entry == Entry("", LAKE, notes=("1 row for other maps is left out",))


def test_a_result_of_pick_up_and_delivery_says_what_it_is() -> None:
    steps = "0:(0,0)->(2,0):-1,(2,0)->(2,1):4,\n1:(1,0)->(2,0):0,(2,1)->(2,1):4,\n"
    text = f"starts=(0,0),(2,0),\ntask=\n0:1->2,appear=0,finished=1\nsolution=\n{steps}"
    (entry,) = read("kei18", Source(text, map=MAP))
    assert entry.plan == ("R", "D") and entry.board.agents == (Agent((0, 0), (0, 1)), Agent((0, 2), (1, 2)))
    assert "pick-up and delivery" in entry.notes[0]


# --- bad files --------------------------------------------------------------------------------------------------------

LOG = {"actionModel": "MAPF", "start": [[0, 0, "N/A"]], "tasks": [[0, 0, [0, 2]]], "actualSchedule": ["0:0"], "actualPaths": ["R,R"]}
QUESTION = "S F G\nAgent 0 needs to go from (0, 0) to (0, 2)"


def log(**changes: object) -> str:
    return json.dumps(LOG | changes)


def record(**changes: object) -> str:
    return json.dumps([{"sample_id": "a", "num_agents": 1, "text": QUESTION} | changes])


def row(*changes: tuple[int, str]) -> str:
    fields = ["0", "m.map", "3", "2", "0", "0", "2", "0", "2.0"]
    for i, value in changes:
        fields[i] = value
    return "version 1\n" + "\t".join(fields) + "\n"


BAD = [
    ("movingai", "", "line 1: 'version 1' is expected, not ''"),
    ("movingai", "version 2\n", "line 1: 'version 1' is expected, not 'version 2'"),
    ("movingai", MAP, "a map has no agents: give the scenario (.scen) that has them, and this map with it"),
    ("movingai", "version 1\n", "the board has no agents"),
    ("movingai", "version 1\n0 m.map 3 2 0 0 2\n",
     "line 2: 1 fields; 9 with tabs between them are expected: bucket, map, width, height, start x, start y, goal x, goal y, length"),
    ("movingai", row((1, "a.map")) + row((1, "../b.map"))[10:],
     "line 2: the rows are for 2 maps ('a.map', 'b.map'); give one of them under its own name"),
    ("movingai", row((2, "32")), "line 2: the row is for a map 32 wide and 2 high; this one is 3 and 2"),
    ("movingai", row((4, "-1")), "line 2: start x is '-1'; a whole number is expected"),
    ("movingai", row((7, "9" * 5000)), f"line 2: goal y is '{'9' * 20}'; a whole number is expected"),
    ("movingai", row((8, "nan")), "line 2: length is 'nan'; a number is expected"),
    ("movingai", row((6, "3")), "line 2: the goal of agent 0 (0, 3) is off the 2x3 board (cells are row, col)"),
    ("movingai", row((6, "1"), (7, "1")), "line 2: the goal of agent 0 (1, 1) is a hole (cells are row, col)"),
    ("movingai", SCENARIO + "0\tm.map\t3\t2\t0\t0\t1\t0\t1\n",
     "line 4: the start of agent 2 (0, 0) is also the start of agent 0; no two agents share one (cells are row, col); "
     "the first 2 agents make a board"),
    ("tracker", "ruRr\nr", "agent 0: 'Rr' is no motion; use u d l r w, and a number before a run, as in 5w"),
    ("tracker", "rr\n999999999w", "agent 1 moves for more than 10000 steps"),
    ("tracker", "rr\n9999999999w", "agent 1: '9999999999w' is no motion; use u d l r w, and a number before a run, as in 5w"),
    ("tracker", "r\nr\nr", "the plan is for 3 agents; the scenario has 2"),
    ("tracker", "map_name,solution_plan\n", "the table has a heading and no row"),
    ("tracker", 'map_name,solution_plan\nm,"rr', "not a CSV table: unexpected end of data"),
    ("tracker", "map_name,solution_plan\nm\n", "row 1: not as many fields as the heading has"),
    ("tracker", "map_name,solution_plan\no,rr\n", "the plan is for the map 'o', not for 'm.map'"),
    ("tracker", "agents,solution_plan\n2,rr\n", "the plan has 1 motion strings for 2 agents"),
    ("tracker", "solution_plan,flip_up_down\nrr,maybe\n", "flip_up_down is 'MAYBE'; TRUE or FALSE is expected"),
    ("kei18", "", "neither a line 'starts=(x,y),...' nor one of the plan, like '0:(x,y),...'"),
    ("kei18", "map_file=o.map\nstarts=(0,1),\ngoals=(0,0),\n0:(0,1),\n1:(1,1),\n",
     "line 1: the file is for the map 'o.map' and was read with 'm.map', whose free cells the plan leaves"),
    ("kei18", "0:(0,0),\n2:(1,0),\n", "line 2: step 2 where step 1 is expected"),
    ("kei18", "0:(0,0),\n1:(1,0),(2,0),\n", "line 2: 2 cells; step 0 has 1"),
    ("kei18", "0:(0,0),\n1:(-1,0),\n", "line 2: '(-1,0),' is no cell; cells look like (x,y) with commas between them"),
    ("kei18", "0:(0,0),\n1:(2,0),\n", "step 1: agent 0 goes from (0, 0) to (0, 2) (row, col), which is no neighbouring cell"),
    ("kei18", "0:(0,0),\n1:(1,0),\n2:(1,1),\n", "the last step: the goal of agent 0 (1, 1) is a hole (cells are row, col)"),
    ("kei18", "starts=(0,0),\ngoals=(2,0),(0,1),\n", "there are 1 starts and 2 goals"),
    ("kei18", "agents=3\nstarts=(0,0),\ngoals=(2,0),\n", "line 1: 3 agents, but 1 starts"),
    ("kei18", "starts=(0,0),\ngoals=(2,0),\n0:(0,1),\n", "step 0: agent 0 is on (1, 0); its start is (0, 0) (row, col)"),
    ("planviz", "{", "not a JSON board: Expecting property name enclosed in double quotes at line 1, column 2"),
    ("planviz", "[" * 200_000, "not a JSON board: a number too long, or too deeply nested"),
    ("planviz", log(actionModel="MAPF_T"),
     '"actionModel" must be "MAPF"; the plans of other models have turns, for which a board has no place'),
    ("planviz", log(start={}), '"start" must be a list'),
    ("planviz", log(start=[[0.5, 0]]), '"start", agent 0: [row, col, ...] with whole numbers is expected'),
    ("planviz", log(start=[[0, 10**20]]),
     '"start" and "tasks", agent 0: the start of agent 0 (0, 100000000000000000000) is off the 2x3 board (cells are row, col)'),
    ("planviz", log(tasks=[[0, 0]]), '"tasks", entry 0: [task, release time, [row, col]] is expected'),
    ("planviz", log(tasks=[[0, 0, [0, 2, 1, 2]]]), '"tasks": task 0 of agent 0 must have one stop [row, col]'),
    ("planviz", log(actualSchedule=[""]), "agent 0 has 0 tasks; a board has one goal an agent"),
    ("planviz", log(actualSchedule=["0:0,4:1"]), "agent 0 has 2 tasks; a board has one goal an agent"),
    ("planviz", log(actualSchedule=["x"]), '"actualSchedule", agent 0: "time:task,time:task,..." is expected'),
    ("planviz", log(actualPaths=[]), '"actualPaths" has 0 paths; there are 1 agents'),
    ("planviz", log(actualPaths=["R,F"]), "\"actualPaths\", agent 0, step 2: 'F' is no action; use U D L R W T"),
    ("planviz", log(actualPaths=["W," * 20_000]),
     '"actualPaths", agent 0: a text of at most 10000 letters with commas between them is expected'),
    ("pogema", "", "the board has no cells"),
    ("pogema", "..", "the board has no agents"),
    ("pogema", "a.?", "line 1, cell 3: '?' is no cell; use . (free), # (blocked), a and A (agent, target)"),
    ("pogema", "aA\n.a", "line 2, cell 2: a second 'a', the first is at (0, 0) (row, col)"),
    ("pogema", "aAb", "there is 'b' on the map but no 'B'; each agent has a small letter and each target its capital"),
    ("pogema", "aA\n.", "line 2: 1 cells in row 2; all rows are of one length, sides at most 512"),
    ("pogema", "aA" + "." * 511, "line 1: 513 cells in row 1; all rows are of one length, sides at most 512"),
    ("benchmark", "[3]", 'record 1: an object with "sample_id", "num_agents" and "text" is expected'),
    ("benchmark", record(text="no map"),
     "record 1 ('a'): the text has no map: rows of F, H, starts and goals with one space between the cells"),
    ("benchmark", record(num_agents=2), "record 1 ('a'): \"num_agents\" is 2; the text has 1 agents"),
    ("benchmark", record(num_agents=True), "record 1 ('a'): \"num_agents\" must be a whole number"),
    ("benchmark", record(sample_id=1), 'record 1: "sample_id" must be a string'),
    ("benchmark", record(text=QUESTION.replace("(0, 2)", "(0, 1)")),
     "record 1 ('a'): agent 0 goes from (0, 0) to (0, 2) on the map, but from (0, 0) to (0, 1) in its sentence"),
    ("benchmark", record(text="S F G"),
     "record 1 ('a'): the map has an agent 0, but no sentence 'Agent 0 needs to go from (r, c) to (r, c)'"),
    ("benchmark", record(text=QUESTION + "\nAgent 1 needs to go from (0, 0) to (0, 2)"),
     "record 1 ('a'): there is a sentence for agent 1, but the map has 1 agents"),
    ("benchmark", "[]", "the file holds no board"),
    ("jsonl", "", "the file holds no board"),
    ("jsonl", '{"map": ["S G"]}', 'line 1: "agents" must be a list of {"start": [row, col], "goal": [row, col]}'),
    ("json", "3", "a board is a JSON object, not int"),
    ("text", "S F\nF X", "line 2, cell 2: 'X' is no cell; use F H ^ v < > 0 1 2 3 4, starts S s A B C, goals G g a b c"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "reason"), BAD)
def test_a_bad_file_is_refused_in_one_line(name: str, text: str, reason: str) -> None:
    with pytest.raises(BoardError) as refused:
        read(name, Source(text, map=MAP, map_name="m.map", scenario=SCENARIO))
    assert str(refused.value) == reason


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_map_has_one_name_on_every_system(form: Literal["NFC", "NFD"]) -> None:
    """macOS writes the mark of a letter as a sign of its own."""
    other = "NFD" if form == "NFC" else "NFC"
    scenario = normalize(form, SCENARIO.replace("m.map", "maps\\Über.map"))
    assert read("movingai", Source(scenario, map=MAP, map_name=normalize(other, "Über.map")))[0].board == LAKE  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the map, line 1: 'type octile' is expected, not ''"),
        ("type hex\n", "the map, line 1: 'type octile' is expected, not 'type hex'"),
        ("width 3\nwidth 3\n", "the map, line 2: 'height' and a number are expected, not 'width 3'"),
        ("3,0\n", "the map, line 1: the width is 0; a board has sides of 1 to 32 cells"),
        ("type octile\nheight\n", "the map, line 2: 'height' and a number are expected, not 'height'"),
        ("type octile\nheight 513\n", "the map, line 2: the height is 513; a board has sides of 1 to 512 cells"),
        ("type octile\nheight 2\nwidth x\n", "the map, line 3: the width is 'x'; a whole number is expected"),
        (MAP.replace("map\n", "Map\n"), "the map, line 4: 'map' is expected, not 'Map'"),
        (MAP.replace(".@.\n", ""), "the map, line 5: the map ends after 1 rows; its height is 2"),
        (MAP + "...\n", "the map, line 7: the map ends after 3 rows; its height is 2"),
        (MAP.replace("...", ".."), "the map, line 5: 2 cells; the width is 3"),
        (MAP.replace("@", "#"), "the map, line 6, cell 2: '#' is no terrain; use . G S E (free) or @ O T W (blocked)"),
    ],
)
@pytest.mark.parametrize("name", ["movingai", "kei18", "planviz"])
def test_a_bad_map_is_refused_in_one_line(name: str, text: str, reason: str) -> None:
    with pytest.raises(BoardError) as refused:
        read(name, Source("", map=text))
    assert str(refused.value) == reason


def test_a_map_or_scenario_that_was_not_given_is_asked_for() -> None:
    for name in ("movingai", "kei18", "planviz"):
        with pytest.raises(BoardError, match="the map is missing"):
            read(name, Source(SCENARIO))
    with pytest.raises(BoardError, match="the map or the scenario is missing"):
        read("tracker", Source("rr", map=MAP))
    with pytest.raises(BoardError, match="the scenario, line 1: 'version 1' is expected"):
        read("tracker", Source("rr", map=MAP, scenario="x"))


@pytest.mark.parametrize("agents", [0, 3])
def test_agents_that_are_not_there_cannot_be_taken(agents: int) -> None:
    with pytest.raises(BoardError, match="agents"):
        read("movingai", Source(SCENARIO, map=MAP, agents=agents))


@pytest.mark.parametrize(
    ("name", "entry", "reason"),
    [
        ("tracker", Entry("b", LAKE), "board 'b' has no plan, and a MAPF Tracker file is about one: solve the board first"),
        ("planviz", Entry("b", LAKE), "board 'b' has no plan, and a PlanViz file is about one: solve the board first"),
        ("kei18", Entry("b", LAKE, ("RD", "")),
         "step 2: agent 0 is on (1, 1) (row, col), which is no free cell: mapf-visualizer cannot show it"),
        ("movingai", Entry("b", Board(("FHF",), (Agent((0, 0), (0, 2)),))),
         "agent 0 cannot reach its goal, and a scenario has to say how long its way is"),
        ("pogema", Entry("b", Board(("F" * 27, "F" * 27), tuple(Agent((0, i), (1, i)) for i in range(27)))),
         "POGEMA's maps have letters for 26 agents; the board has 27"),
        ("benchmark", Entry("b", Board(("F" * 6, "F" * 6), tuple(Agent((0, i), (1, i)) for i in range(6)))),
         "the text form has letters for 5 agents, the board has 6: use JSON"),
    ],
)  # fmt: skip
def test_what_a_format_cannot_hold_is_said(name: str, entry: Entry, reason: str) -> None:
    with pytest.raises(BoardError) as refused:
        write(name, [entry], "x")
    assert str(refused.value) == reason


def test_a_board_without_a_plan_is_an_unsolved_result() -> None:
    files = write("kei18", [Entry("x", LAKE)], "x")
    assert "solved=0\n" in files["x.txt"] and read("kei18", written_source(files)) == [Entry("x", LAKE)]


GARBAGE = st.text(max_size=80) | st.text('0123456789,:()=\t\n.#@aAGSFH{}[]"udlrw -', max_size=120)


@pytest.mark.parametrize("name", FORMATS)
@given(text=GARBAGE, map_text=GARBAGE | st.just(MAP), scenario=GARBAGE | st.just(SCENARIO), agents=st.none() | st.integers(-1, 3))
def test_any_text_is_read_or_refused_in_one_line(name: str, text: str, map_text: str, scenario: str, agents: int | None) -> None:
    try:
        read(name, Source(text, map=map_text, scenario=scenario, agents=agents))
        recognise("x.txt", text)
    except BoardError as error:
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize("name", FORMATS)
@example(place=60, length=0, put='"')  # a quote within the heading of a table
@given(place=st.integers(0, 10_000), length=st.integers(0, 6), put=st.text('0123456789,:()\t\n."x[{', max_size=4))
def test_a_damaged_file_is_read_or_refused_in_one_line(name: str, place: int, length: int, put: str) -> None:
    source = written_source(write(name, [Entry("x", LAKE, PLAN)], "x"))
    cut = place % len(source.text)
    try:
        read(name, replace(source, text=source.text[:cut] + put + source.text[cut + length :]))
    except BoardError as error:
        assert len(str(error).splitlines()) == 1


# --- names and bytes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file_name", "name"),
    [("a.map", "movingai"), ("a.SCEN", "movingai"), ("a.csv", "tracker"), ("a.jsonl", "jsonl"),
     ("a.txt", None), ("a.json", None), ("a", None)],
)  # fmt: skip
def test_a_file_name_tells_the_format_where_only_one_ends_so(file_name: str, name: str | None) -> None:
    assert suffix_format(file_name) == name


def test_content_tells_the_format_where_the_name_does_not() -> None:
    line = Instance("a", LAKE, Solution("undecided")).to_line()
    assert recognise("x.jsonl", line) == "jsonl" and recognise("x.json", json.dumps(LAKE.to_dict(), indent=1)) == "json"
    assert recognise("x.jsonl", f"{record()[1:-1]}\n{record()[1:-1]}") == "benchmark"
    with pytest.raises(BoardError, match="does not reveal its format"):
        recognise("x.txt", "hello, world")
