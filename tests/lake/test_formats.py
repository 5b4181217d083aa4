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
from frozenlab.lake.formats.entry import plan_of, standing, to_xy, trimmed
from frozenlab.lake.formats.movingai import octile_distance
from frozenlab.lake.formats.paths import SWAPPED
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
    scenario_name, scenario = named.get(".scen", (None, None))
    return Source(text, "x", map=map_text, map_name=map_name, scenario=scenario, scenario_name=scenario_name)


def for_format(name: str, entry: Entry) -> Entry:
    """``entry`` with as many agents as the format has room for."""
    return entry.first(1) if name == "frozenlake" else entry


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
    entry = for_format(name, entry)
    files = write(name, [entry], "x")
    try:
        (back,) = read(name, written_source(files))
    except BoardError as error:
        assert name == "paths" and "fits the map with its cells as (row, col) and as (x, y)" in str(error)
        return
    assert back.board == entry.board
    if back.notes == (SWAPPED,):  # a walk that misses goals, of which more are met the other way round: that is said
        assert standing(back.board, back.plan or ())[1] > standing(entry.board, trimmed(entry.plan or ()))[1]
        return
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
    main, *_ = write(name, [for_format(name, entry)], "x").items()
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
    (noted,) = read("tracker", benchmark_source("random-32-32-20_random_1_300.csv", scenario=scenario))
    assert noted == replace(log, notes=("u is read as down and d as up: only so is the plan valid",))
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


SIZES = """8x8 16x16 32x32 48x48 63x161 64x64 81x65 84x170 123x321 128x128 141x162 164x340 180x251 194x194 256x256 257x256 270x133
    481x530 578x642 656x1491 2048x512"""
"""Height and width of the 33 maps of the MovingAI benchmark, and of the largest map that is read."""


@pytest.mark.parametrize("size", SIZES.split())
def test_maps_of_the_benchmarks_sizes_are_read(size: str) -> None:
    height, width = map(int, size.split("x"))
    rows = tuple("".join("FH"[0 < r < height - 1 and (3 * r + 5 * c) % 7 == 6] for c in range(width)) for r in range(height))
    grid = "\n".join(rows).translate(str.maketrans("FH", ".T"))
    scenario = f"version 1\n0\tm\t{width}\t{height}\t0\t0\t{width - 1}\t{height - 1}\t1\n"
    source = Source(scenario, map=f"type octile\nheight {height}\nwidth {width}\nmap\n{grid}\n")
    assert read("movingai", source) == [Entry("", Board(rows, (Agent((0, 0), (height - 1, width - 1)),)))]


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
        "0\tm.map   3  2   0\t0   2   0   2.0",
        "0\tm.map\t3\t2\t0\t0\t2\t0\t2.0\tY_PLUS\r",  # orient-pypibt
    ],
)
def test_rows_with_blanks_or_without_a_length_are_read(row: str) -> None:
    assert read("movingai", Source(f"version 1.0\n{row}\n", map=MAP, map_name="m.map", agents=1))[0] == Entry("", LAKE).first(1)


@pytest.mark.parametrize(
    "scenario",
    [
        SCENARIO.removeprefix("version 1\n").replace(
            "\t3\t2\t", "\t0\t0\t"
        ),  # in a fork of lacam2: no version, and sizes that nobody reads
        "2\n0,0,0,2,\n1,0,1,2,\n",  # CBSH2, EECBS: the number of agents, row and column
        "2,\n0,0,0,2\n\n1,0,1,2\n9,9,9,9\n",
    ],
)
def test_scenarios_are_read_as_other_planners_have_them(scenario: str) -> None:
    assert read("movingai", Source(scenario, map=MAP, map_name="m.map")) == [Entry("", LAKE)]


def test_an_instance_of_pibt2_is_read() -> None:
    text = "## ==\nmap_file=m.map\nagents=2\nseed=1\nrandom_problem=0\nmax_timestep=9\n0,0,2,0\n0,1,2,1\n"
    assert read(recognise("sample.txt", text), Source(text, map=MAP, map_name="m.map")) == [Entry("", LAKE)]
    assert read("kei18", Source(text, map=MAP, map_name="m.map", agents=1)) == [Entry("", LAKE).first(1)]


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


ROOM = "type octile\nheight 3\nwidth 3\nmap\n...\n...\n...\n"


@pytest.mark.parametrize(("paths", "finished", "plan"), [("D,R", 1, "DR"), ("U,R", 1, "DR"), ("D,R", 0, "UR"), ("U,R", 0, "UR")])
def test_a_log_goes_the_way_that_brings_as_many_home_as_it_says(paths: str, finished: int, plan: str) -> None:
    fields = {"start": [[1, 0], [2, 2]], "teamSize": 1, "tasks": [[0, 2, 1]], "events": [[[0, 0, "assigned"]]], "numTaskFinished": finished}
    text = json.dumps({"actionModel": "MAPF", "actualPaths": [paths]} | fields)
    (entry,) = read("planviz", Source(text, map=ROOM))
    assert entry.plan == (plan,) and entry.board.agents == (Agent((1, 0), (2, 1)),)
    assert len(entry.notes) == (paths[0] == plan[0]), "U as row + 1 is the rule, and not worth a note"


def test_a_log_that_can_be_read_two_ways_is_refused_unless_its_version_says_how() -> None:
    fields = {"actionModel": "MAPF", "start": [[1, 0]], "tasks": [[0, 1, 1]], "events": [[[0, 0, "assigned"]]], "actualPaths": ["U,R,D"]}
    with pytest.raises(BoardError, match="the plan can be read with U as row"):
        read("planviz", Source(json.dumps(fields), map=ROOM))
    assert read("planviz", Source(json.dumps(fields | {"version": "2024 LoRR"}), map=ROOM))[0].plan == ("DRU",)


@pytest.mark.parametrize(
    ("file_name", "text"),
    [
        ("s.json", '{"map_name": "m", "scen_type": "even", "type_id": 1, "agents": 2, "solution_plan": "2r\\nu2r", "lower_cost": null}'),
        ("s.json", '[{"agents": 2, "solution_plan": ["2d", "2w"], "flip_up_down": true}, {"solution_plan": "rr\\nurr"}]'),
        ("s.yaml", "---\nmap_name: m\nagent_count: 2\nsolution_plan:\n- 2r\n- u2r\n"),
        ("s.yml", "- solution_plan: |-\n    2d\n    2w\n- solution_plan: [rr, urr]\n  flip_up_down: false\n"),
    ],
)
def test_plans_in_json_and_yaml_are_read_as_the_tracker_takes_them(file_name: str, text: str) -> None:
    assert recognise(file_name, text) == "tracker"
    assert read("tracker", Source(text, map=MAP, scenario=SCENARIO))[-1].plan == ("RR", "URR")


def test_the_rows_for_the_given_scenario_are_read() -> None:
    table = 'map_name,scen_type,type_id,agents,solution_plan\nm,even,1,1,rr\nm,random,1,1,r2w\nm,random,1,2,"rr\nr"\n'
    source = Source(table, "t", MAP, "m (2).map", SCENARIO, scenario_name="M-random-1.scen.txt")
    found = read("tracker", source)
    assert [(entry.name, entry.plan) for entry in found] == [("t-2", ("R",)), ("t-3", ("RR", "R"))]
    assert found[0].notes == ("1 row for other scenarios is left out",)
    with pytest.raises(BoardError, match="the plan is for the scenario 'm-even-1', not for"):
        read("tracker", replace(source, scenario_name="m-even-2.scen"))


@pytest.mark.parametrize(
    ("rows", "plan", "said"),
    [
        ("0\tm\t3\t3\t0\t1\t1\t1\n", "urd", "the plan is valid with d down and with d up: say in a column flip_up_down"),
        (
            "0\tm\t3\t3\t0\t1\t1\t2\n0\tm\t3\t3\t2\t2\t0\t2\n",
            "ur\nll",
            "more agents arrive if u is down and d is up: say in a column flip_up_down",
        ),
    ],
)
def test_a_tracker_plan_that_can_be_read_two_ways_is_refused(rows: str, plan: str, said: str) -> None:
    with pytest.raises(BoardError, match=said):
        read("tracker", Source(plan, map=ROOM, scenario="version 1\n" + rows))


PATHS = "Agent 0: (0,0)->(0,1)->(0,2)->\nAgent 1: (1,0)->(1,0)->(0,0)->(0,1)->\n"


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (PATHS, ()),
        ("2\n" + PATHS.replace(": ", ":").replace("->\n", "\n"), ()),  # older versions begin with the number of agents
        (
            "Agent 0:(0,0)->(1,0)->(2,0)->\nAgent 1:(0,1)->(0,1)->(0,0)->(1,0)->\n",
            ("the cells are read as (x, y), not as (row, col): only so does the plan fit",),
        ),
        (
            "Agent 0: (0, 0, 0) -> (0,1,0) -> (0,2,0) -> \nAgent 1: (1,0,1) -> (1,0,0)->(0,0,0)->(0,1,0)\n",  # robots that turn
            ("the third number of a cell, a heading or a height, is passed over",),
        ),
    ],
)
def test_paths_are_read_as_row_and_column_or_the_other_way_round_as_the_map_shows(text: str, notes: tuple[str, ...]) -> None:
    board = replace(LAKE, agents=(Agent((0, 0), (0, 2)), Agent((1, 0), (0, 1))))
    assert read("paths", Source(text, map=MAP)) == [Entry("", board, ("RR", "WUR"), notes)]
    assert recognise("paths.txt", text) == "paths"


def test_paths_that_fit_both_ways_need_the_scenario() -> None:
    text, rows = "Agent 0: (0,1)->(0,2)->(1,2)->\n", "version 1\n0\tm\t3\t3\t{}\t{}\t{}\t{}\n"
    with pytest.raises(BoardError, match="give the scenario"):
        read("paths", Source(text, map=ROOM))
    (entry,) = read("paths", Source(text, map=ROOM, scenario=rows.format(1, 0, 2, 1)))
    assert entry.plan == ("RD",) and not entry.notes
    (entry,) = read("paths", Source(text, map=ROOM, scenario=rows.format(0, 1, 1, 2)))
    assert entry.plan == ("DR",) and entry.notes
    diagonal = Source("Agent 0: (1,1)->(1,2)->\n", map=ROOM, scenario=rows.format(1, 1, 1, 2))
    assert read("paths", diagonal)[0].plan == ("D",), "the goal of the scenario decides"


@pytest.mark.parametrize(
    "text",
    [
        "SFFF\nFHFH\nFFFH\nHFFG\n",
        '["SFFF", "FHFH", "FFFH", "HFFG"]',
        "['SFFF', 'FHFH', 'FFFH', 'HFFG']",
        "[\n    'SFFF',\n    'FHFH',\n    'FFFH',\n    'HFFG',\n]\n",
        json.dumps([list(row) for row in ("SFFF", "FHFH", "FFFH", "HFFG")], indent=1),
    ],
)
def test_the_map_of_frozenlake_is_read_as_people_have_it(text: str) -> None:
    (entry,) = read(recognise("lake.txt", text), Source(text))
    assert entry.board == Board(("FFFF", "FHFH", "FFFH", "HFFF"), (Agent((0, 0), (3, 3)),))
    assert json.loads(write("frozenlake", [entry], "x")["x.json"]) == ["SFFF", "FHFH", "FFFH", "HFFG"]


YAML = "map:\n  dimensions: [3, 2]\n  obstacles:\n    - [1, 1]\nagents:\n  - name: agent0\n    start: [0, 0]\n    goal: [2, 0]\n"


@pytest.mark.parametrize(
    "text",
    [
        YAML,
        "agents:\n-   goal: [2, 0]\n    name: agent0\n    start: [0, 0]\nmap:\n    dimensions: [3, 2]\n"
        "    obstacles:\n    - [1, 1] # one\n",
        "agents:\n- goal:\n  - 2\n  - 0\n  name: 'a b'\n  start: !!python/tuple\n  - 0\n  - 0\nmap:\n  dimensions:\n  - 3\n  - 2\n"
        "  obstacles:\n  - !!python/tuple [1, 1]\n",
        "{agents: [{goal: [2, 0], name: agent0, start: [0, 0]}],\n  map: {dimensions: [3, 2], obstacles: [[1,\n  1]]}}\n",
        "agents:\n- goal: [2, 0]\n  name: 3\n  start: &id001 [0, 0]\n  from: *id001\nmap:\n  dimensions: [3, 2]\n"
        "  obstacles: !!odd [[1, 1]]\n",
    ],
)
def test_an_instance_of_libmultirobotplanning_is_read_as_others_write_it(text: str) -> None:
    (entry,) = read("libmrp", Source(text))
    assert entry.board == LAKE.__class__(LAKE.rows, LAKE.agents[:1])
    assert write("libmrp", [entry], "x")["x.yaml"] == YAML and recognise("a.yml", text) == "libmrp"


def test_an_instance_that_would_take_minutes_to_read_is_refused() -> None:
    with pytest.raises(BoardError, match="the file has 500001 letters; of a YAML file at most 500000 are read"):
        read("libmrp", Source(YAML.ljust(500_001, "#")))


def test_pogemas_newer_forms_are_read() -> None:
    assert read("pogema", Source("a!A\n@#$\n"))[0].board == Board(("FFF", "FHF"), LAKE.agents[:1])
    config = {"map": [[0, 0, 0], [0, 1, 0]], "agents_xy": [[0, 0], [1, 0]], "targets_xy": [[0, 2], [1, 2]], "seed": 3}
    for text in (json.dumps(config), *(json.dumps(config | {"map": grid}) for grid in ("...\n.#.\n", ["...", ".#."]))):
        assert read(recognise("c.json", text), Source(text)) == [Entry("", LAKE)]


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
    ("tracker", "map_name,scen_type,type_id,solution_plan\nm,even,1,rr\nm,random,1,rr\n",
     "row 2 is for the scenario 'm-random-1' and row 1 for 'm-even-1': give the scenario under its own name, "
     "so that its rows can be chosen"),
    ("tracker", '[{"solution_plan": "rr"}, {"solution_plan": [1]}]', 'row 2: "solution_plan" must be a text, or a list of motion strings'),
    ("tracker", "- solution_plan: {a: b}\n", 'row 1: "solution_plan" must be a text, or a list of motion strings'),
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
    ("kei18", "map_file=m.map\nagents=9\nrandom_problem=1\n",
     "line 3: pibt2 draws the starts and goals of this instance; the file holds none"),
    ("kei18", "map_file=m.map\n0,0,2,0\n2,1,1,1\n",
     "line 3: the goal of agent 1 (1, 1) is a hole (cells are row, col); the first 1 agents make a board"),
    ("movingai", "2\n0,0,0,2\n1,0,1\n", "line 3: 'row,col,row,col' is expected, not '1,0,1'"),
    ("movingai", "2\n0,0,0,2\n", "line 1: 2 agents, but 1 rows"),
    ("kei18", "agents=3\nstarts=(0,0),\ngoals=(2,0),\n", "line 1: 3 agents, but 1 starts"),
    ("kei18", "starts=(0,0),\ngoals=(2,0),\n0:(0,1),\n", "step 0: agent 0 is on (1, 0); its start is (0, 0) (row, col)"),
    ("planviz", "{", "not a JSON board: Expecting property name enclosed in double quotes at line 1, column 2"),
    ("planviz", "[" * 200_000, "not a JSON board: a number too long, or too deeply nested"),
    ("planviz", log(actionModel="MAPF_T"),
     '"actionModel" must be "MAPF"; the plans of other models have turns, for which a board has no place'),
    ("planviz", log(start={}), '"start" must be a list'),
    ("planviz", log(teamSize=2), '"teamSize" must be a whole number, at most that of the starts, 1'),
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
    ("pogema", "a.?", "line 1, cell 3: '?' is no cell; use . (free), # (blocked), a and A (agent, target)"),
    ("pogema", "aA\n.a", "line 2, cell 2: a second 'a', the first is at (0, 0) (row, col)"),
    ("pogema", "aAb", "there is 'b' on the map but no 'B'; each agent has a small letter and each target its capital"),
    ("pogema", "aA\n.", "line 2: 1 cells in row 2; all rows are of one length, sides at most 2048"),
    ("pogema", "aA" + "." * 2047, "line 1: 2049 cells in row 1; all rows are of one length, sides at most 2048"),
    ("pogema", "..\n.@", "the map has no letters for agents and targets: POGEMA draws them from a seed of its own"),
    ("pogema", '{"map": "..", "agents_xy": null}',
     '"map", "agents_xy" and as many "targets_xy" are expected: POGEMA draws what is missing from a seed of its own'),
    ("pogema", '{"map": [[0, 0]], "agents_xy": [[0, 0]], "targets_xy": [[[0, 1], [0, 0]]]}',
     '"targets_xy", agent 0: [row, col] is expected; a board has one goal an agent'),
    ("paths", "", "the file has no line 'Agent 0: (row,col)->(row,col)->'"),
    ("paths", "Agent 1: (0,0)->", "line 1: 'Agent 0: (row,col)->(row,col)->' is expected, not 'Agent 1: (0,0)->'"),
    ("paths", "Agent 0: (0,0)->(0;1)", "line 1: '(0;1)' is no cell; cells look like (row,col) with -> between them"),
    ("paths", "Agent 0: (0,0)->(0,2)", "step 1: agent 0 goes from (0, 0) to (0, 2) (row, col), which is no neighbouring cell"),
    ("paths", "Agent 0: (0,0)->(1,1)",
     "neither as (row, col) nor as (x, y) do the paths begin at the starts of the scenario and keep to the free cells of the map"),
    ("paths", PATHS + "Agent 2: (0,2)", "the plan is for 3 agents; the scenario has 2"),
    ("libmrp", "", "'map' (dimensions, obstacles) and a list 'agents' (name, start, goal) are expected; they are missing"),
    ("libmrp", "roadmap:\n  edges: []\nagents: []",
     "'map' (dimensions, obstacles) and a list 'agents' (name, start, goal) are expected; a roadmap has no cells"),
    ("libmrp", YAML.replace("[3, 2]", "[3, 2049]"), "'dimensions' are 3 and 2049; a board has sides of 1 to 2048 cells"),
    ("libmrp", YAML.replace("[3, 2]", "[1025, 1024]"),
     "the board is 1024x1025; allowed are sides of at most 2048 cells, 1,048,576 cells in all"),
    ("libmrp", YAML.replace("[1, 1]", "[1, 2]"), "'obstacles', number 1: [1, 2] is off the map, 3 wide and 2 high"),
    ("libmrp", YAML.replace("goal: [2, 0]", "potentialGoals: []"),
     "'agents', number 1: 'start' and 'goal' are expected; a board has one goal an agent"),
    ("libmrp", YAML.replace("[2, 0]", "[2, x"), "line 9: not YAML: expected ',' or ']', but got '<stream end>'"),
    ("libmrp", YAML.replace("[2, 0]", "[2, x]"), "'agents', number 1, goal: two whole numbers are expected, like [3, 4]"),
    ("libmrp", YAML.replace("[2, 0]", "[2, 010]"), "'agents', number 1, goal: two whole numbers are expected, like [3, 4]"),
    ("libmrp", YAML.replace("  obstacles", "   obstacles"), "line 3: not YAML: expected <block end>, but found '<block mapping start>'"),
    ("libmrp", YAML + "--- {}", "the file has 2 YAML documents; an instance is one"),
    ("libmrp", YAML + "\x01", "not YAML: it has signs that no text has"),
    ("libmrp", 'map: "\\UFFFFFFFF"', "not YAML: it has signs that no text has"),
    ("libmrp", YAML.replace("[2, 0]", "[2, 2]"),
     "'agents', number 1: the goal of agent 0 (2, 2) is off the 2x3 board (cells are row, col)"),
    ("libmrp", "- " * 2000 + "x", "the file is too deeply nested"),
    ("frozenlake", "SFsG", "row 1: 's' is no cell; use S (start), F (frozen), H (hole) and G (goal)"),
    ("frozenlake", "SFGG", "line 1, cell 4: a second goal 'G' of agent 0, the first is at (0, 2)"),
    ("frozenlake", "[1]", 'a list of rows is expected, like ["SF", "FG"]'),
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
    ("text", "S F\nF X", "line 2, cell 2: 'X' is no cell; use F (frozen), H (hole), ^ v < > (one-way ice) or 0 to 4 (an agent's door); "
     "agents start on S s A B C and end on G g a b c"),
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
        ("3,0\n", "the map, line 1: the width is 0; a board has sides of 1 to 2048 cells"),
        ("type octile\nheight\n", "the map, line 2: 'height' and a number are expected, not 'height'"),
        ("type octile\nheight 2049\n", "the map, line 2: the height is 2049; a board has sides of 1 to 2048 cells"),
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


def test_a_file_with_more_agents_than_a_board_has_says_how_to_take_the_first() -> None:
    scenario = "version 1\n" + 1001 * f"{SCENARIO.splitlines()[1]}\n"
    with pytest.raises(BoardError, match="the file has 1001 agents; a board has at most 1000: --agents 1000 takes the first of them"):
        read("movingai", Source(scenario, map=MAP))
    assert read("movingai", Source(scenario, map=MAP, agents=1)) == [Entry("", LAKE).first(1)]


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
        ("pogema", Entry("b", Board(("FF",), (Agent((0, 0), (0, 1)), Agent((0, 1), (0, 0))))),
         "POGEMA's maps have one letter a cell, and a start is also a goal"),
        ("frozenlake", Entry("b", LAKE), "FrozenLake has one agent; the board has 2"),
        ("paths", Entry("b", LAKE), "board 'b' has no plan, and a paths.txt file is about one: solve the board first"),
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
    source = written_source(write(name, [for_format(name, Entry("x", LAKE, ("RR", "URR")))], "x"))
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
