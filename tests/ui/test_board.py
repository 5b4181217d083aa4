"""The Python half of the board components: marks of faults, sentences, edits from the browser, pictures."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest
from PIL import Image

from frozenlab.app.ui.theme import DARK, LIGHT, Palette
from frozenlab.app.views.lake import tracks
from frozenlab.app.views.lake.desk import _read_edit
from frozenlab.app.views.lake.pictures import _trails, board_gif, board_svg, boards_svg
from frozenlab.app.views.lake.view import LakeView
from frozenlab.lake.board import read_board
from frozenlab.lake.picture import board_image
from frozenlab.lake.rules import FAULTS, Paths, Verdict, judge_paths, walk
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.lake.words import OUTCOMES

BOARD = read_board("S F F\nH F F\ng s G")


def marked(*motions: str) -> tuple[Verdict, dict | None]:
    paths = walk(BOARD, motions)
    verdict = judge_paths(BOARD, paths)
    return verdict, tracks._mark(tracks.complete(BOARD, paths), verdict)


def test_a_valid_plan_has_no_mark() -> None:
    verdict, mark = marked("RRDD", "L")
    assert verdict.valid and mark is None
    assert "after 4 steps" in tracks.fault_sentence(verdict)


@pytest.mark.parametrize(
    ("motions", "time", "marks"),
    [
        (("D", "L"), 1, [(1, 0)]),  # into the hole
        (("U", "L"), 1, [(-1, 0)]),  # off the board: half a cell beside it is still seen
        (("RD", "WU"), 2, [(1, 1)]),  # both on one cell
        (("RDD", "WWU"), 2.5, [(1.5, 1.0)]),  # they swap: halfway, in time and place
        (("RR", "L"), 2, [(0, 2)]),  # not on the goal
    ],
)
def test_the_first_fault_is_marked_where_it_happens(motions: tuple[str, ...], time: float, marks: list) -> None:
    verdict, mark = marked(*motions)
    assert mark == {"time": time, "marks": marks}
    assert verdict.fault in FAULTS


def test_an_agent_without_a_path_stands_on_its_start() -> None:
    paths: Paths = (((0, 0), (0, 1)), ())
    assert tracks.complete(BOARD, paths) == (((0, 0), (0, 1)), ((2, 1),))
    verdict = judge_paths(BOARD, paths)
    assert tracks._mark(tracks.complete(BOARD, paths), verdict) == {"time": 0, "marks": [(2, 1)]}
    assert tracks.fault_sentence(verdict) == "The answer gives agent 1 no path."
    assert tracks.names(range(431)) == "431 agents"
    assert tracks.fault_sentence(Verdict("missing_agent")) == "The answer does not give every agent a path.", "a reader does not say which"


def test_an_answer_that_was_cut_off_shows_its_last_words() -> None:
    cut = tracks.Track("Model", None, Verdict(fault="truncated"), completion="moves " + "r0c2 r1c0 r2c0 " * 9)
    assert tracks.plain_track(BOARD, cut)["last_words"] == "… r0c2 r1c0 r2c0 r0c2 r1c0 r2c0 …"
    assert tracks.plain_track(BOARD, replace(cut, verdict=Verdict(fault="missing_agent")))["last_words"] == ""


def test_a_room_sees_how_far_an_answer_came_that_was_cut_off_unless_it_breaks_a_rule() -> None:
    words = {"r0c1 r1c1 r0c0 r1c2 r0c1": [(0, 0), (0, 1), (0, 0)], "r0c1 r1c1 r1c0 r1c1": None, "walk on": None}
    for completion, path in words.items():
        cut = tracks.Recorded("Model", None, Verdict(fault="truncated"), completion=completion, board_id="", board=BOARD)
        shown = tracks.plain_track(BOARD, tracks.begun(cut))
        assert shown["badge"] == "cut off before its end" and bool(shown["last_words"]) == (path is None)
        assert (shown["paths"] and list(shown["paths"][0]), shown["fault"]) == (path, path and {"time": 2, "marks": []})


def test_a_path_far_off_the_board_is_drawn_at_its_edge() -> None:
    paths = tracks.complete(BOARD, (((0, 0), (-1, 0), (-7, 0)), ((2, 1),)))
    assert paths is not None and paths[0] == ((0, 0), (-1, 0), (-1, 0))


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_words_and_a_colour(fault: str) -> None:
    sentence = tracks.fault_sentence(Verdict(fault, 3, (0, 1), (1, 2)))  # type: ignore[arg-type]
    assert sentence.endswith(".") and "None" not in sentence
    assert fault in OUTCOMES and not OUTCOMES[fault].valid and OUTCOMES[fault].rule


def edit(**changes: object) -> dict:
    return {"base": "x", "seq": 1, "rows": ["FFF", "FHF", "FFF"], "agents": [{"start": [0, 0], "goal": [2, 2]}]} | changes


def test_an_edit_of_the_same_base_is_read() -> None:
    board = _read_edit(edit(), "x")
    assert board is not None and board.holes == ((1, 1),)


@pytest.mark.parametrize(
    "broken",
    [
        edit(base="another"),  # a late echo of a board that is no longer the one
        edit(rows=["FFF", "FF"]),
        edit(agents=[{"start": [0, 0], "goal": [0, 1]}, {"start": [0, 0], "goal": [2, 2]}]),
        edit(agents=[{"start": [1, 1], "goal": [0, 0]}]),
        edit(rows=["F" * 3] * 900),
        {},
    ],
)
def test_an_edit_that_is_no_board_is_not_taken(broken: dict) -> None:
    assert _read_edit(broken, "x") is None


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_the_picture_is_well_formed_and_shows_everything(colors: Palette) -> None:
    svg = ElementTree.fromstring(board_svg(BOARD, walk(BOARD, ("RRDD", "L")), colors=colors))
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{space}circle")) == BOARD.num_agents
    assert len(svg.findall(f"{space}polyline")) == 2 * BOARD.num_agents  # each path on its outline
    assert sum(rect.get("fill") == "url(#hatch)" for rect in svg.findall(f"{space}rect")) == 1
    assert svg.get("width") == "120"


def test_trails_leave_the_middle_of_the_cells_only_where_agents_share_an_edge() -> None:
    apart, shared = _trails([((0, 0), (0, 1), (0, 1), (1, 1)), ((2, 0), (2, 1))]), _trails([((0, 0), (0, 1)), ((0, 1), (0, 0))])
    assert [place for trail in apart for place in trail if all(at % 1 for at in place)] == []
    assert [sorted({r for r, _ in trail}) for trail in shared] == [[-0.065, 0], [0, 0.065]]
    follows = ((0, 0), (0, 1), (0, 1), (0, 1)), ((1, 0), (1, 0), (0, 0), (0, 1))
    beside = [min(r for r, _ in next(_trails(follows, time))) for time in (1, 2, 2.5, 3)]
    assert beside == [0, 0, -0.0325, -0.065], "the first makes room while the second comes"


@pytest.mark.parametrize(("path", "step"), [([(0, 0), (-1, 0), (0, 0)], 1), ([(0, 0), (0, 1), (-9, 40)], 2), ([(0, 0), (2, 1)], 1)])
def test_a_still_picture_shows_a_fault_also_beside_the_board(path: list, step: int) -> None:
    verdict = judge_paths(BOARD, (tuple(path), ((2, 1),)))
    assert verdict.step == step
    row = {"board": json.dumps(BOARD.to_dict()), "board_id": "b", "paths": json.dumps([path, [(2, 1)]]), "completion": ""}
    row |= {name: getattr(verdict, name) for name in ("fault", "step", "makespan", "sum_of_costs", "optimal")}
    row |= {"cell": json.dumps(verdict.cell), "fault_agents": json.dumps(verdict.agents)}
    svg = ElementTree.fromstring(LakeView(LAKE).still(pd.Series(row))["svg"])
    left, top, wide, high = (float(number) for number in str(svg.get("viewBox")).split())
    [ring] = [circle for circle in svg.iter("{http://www.w3.org/2000/svg}circle") if circle.get("fill") == "none"]
    x, y, r = (float(ring.get(name, "")) for name in ("cx", "cy", "r"))
    assert left <= x - r and x + r <= left + wide and top <= y - r and y + r <= top + high


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_a_trail_passes_behind_the_number_of_a_goal(colors: Palette) -> None:
    """A disc of ice is drawn under each number, after all trails."""
    board, paths = read_board("S s F g G"), walk(read_board("S s F g G"), ("RRRR", "W"))
    parts, space = list(ElementTree.fromstring(board_svg(board, paths, colors=colors))), "{http://www.w3.org/2000/svg}"
    discs = {n: disc for n, part in enumerate(parts) for disc in part.findall(f"{space}circle")}
    assert [(float(disc.get("cx", 0)), disc.get("fill")) for disc in discs.values()] == [(4.5, colors.ice), (3.5, colors.ice)]
    assert min(discs) > max(n for n, part in enumerate(parts) if part.tag == f"{space}polyline")
    image = Image.open(BytesIO(board_gif(board, [tracks.Track("", paths)], colors, side=516)))
    image.seek(image.n_frames - 1)
    (x, y), blue = (384, 115), (0x00, 0x72, 0xB2)  # the middle of goal 1, the colour of agent 0; a cell has 100 pixels
    near = [image.convert("RGB").crop((x - r, y - 20, x + r, y + 20)).getcolors(1 << 16) for r in (12, 60)]
    assert [any(max(abs(a - b) for a, b in zip(color, blue, strict=True)) < 40 for _, color in found) for found in near] == [False, True]


def test_one_way_ice_and_doors_are_in_every_picture_and_edit() -> None:
    board = read_board("S > F\nH 1 v\ng s G")
    svg = board_svg(board, colors=LIGHT)
    assert "rotate(90)" in svg and "rotate(180)" in svg
    assert len(ElementTree.fromstring(svg).findall("{http://www.w3.org/2000/svg}g")) == 2 * board.num_agents + 1
    plain = read_board("S F F\nH F F\ng s G")
    starts = [agent.start for agent in board.agents]
    differ = (board_image(board, starts) != board_image(plain, starts)).any(axis=2)
    assert {(r // 48, c // 48) for r, c in zip(*differ.nonzero(), strict=True)} == {(0, 1), (1, 1), (1, 2)}
    agents = [{"start": list(agent.start), "goal": list(agent.goal)} for agent in board.agents]
    assert _read_edit({"base": "x", "seq": 1, "rows": list(board.rows), "agents": agents}, "x") == board


def test_paths_of_a_table_are_read() -> None:
    assert tracks.paths_from_json("[[[0, 0], [0, 1]]]") == (((0, 0), (0, 1)),)
    assert tracks.paths_from_json("null") is tracks.paths_from_json(None) is None


def test_the_gif_moves_and_loops() -> None:
    paths = walk(BOARD, ("RRDD", "L"))
    shown = [tracks.Track("Model", paths, judge_paths(BOARD, paths)), tracks.Track("No plan", None)]
    image = Image.open(BytesIO(board_gif(BOARD, shown, LIGHT, side=120)))
    assert image.format == "GIF" and image.n_frames == 4 * 4 + 1 and image.info["loop"] == 0
    assert image.width > 2 * 120


def test_the_gif_holds_at_a_fault_and_says_it_from_then_on() -> None:
    paths = walk(BOARD, ("RDR", "WUW"))  # they meet in step 2
    image = Image.open(BytesIO(board_gif(BOARD, [tracks.Track("Model", paths, judge_paths(BOARD, paths))], LIGHT)))
    held, below = [], []
    for n in range(image.n_frames):
        image.seek(n)
        held.append(image.info["duration"])
        foot = image.convert("L").crop((0, image.height - 24, image.width, image.height))
        below.append(len(foot.getcolors()) > 1)
    assert [n / 4 for n, duration in enumerate(held) if duration == 1500] == [0, 2, 3]
    assert below.index(True) / 4 == 2


def test_the_drawing_has_all_plans_with_their_names_and_faults() -> None:
    shown = [
        tracks.Track(name, paths := walk(BOARD, plan), judge_paths(BOARD, paths))
        for name, plan in (("A & B", ("RD", "WU")), ("C", ("RRDD", "L")))
    ]
    svg = ElementTree.fromstring(boards_svg(BOARD, shown, LIGHT))
    texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text") if not str(text.text).isdecimal()]
    assert texts == ["A & B · two agents on one cell", "Step 2: agents 0 and 1 are both on (1, 1).", "C · valid", "4 steps, sum of costs 5"]
    assert sum(circle.get("stroke") == LIGHT.accent for circle in svg.iter("{http://www.w3.org/2000/svg}circle")) == 1


@pytest.mark.parametrize(("boards", "columns", "rows"), [(1, 1, 1), (3, 3, 1), (4, 2, 2), (5, 3, 2), (6, 3, 2)])
def test_more_than_three_boards_stand_in_two_rows(boards: int, columns: int, rows: int) -> None:
    svg = ElementTree.fromstring(boards_svg(BOARD, [tracks.Track("", None)] * boards, LIGHT, side=100))
    assert round(int(svg.get("width", 0)) / 105) == columns and round(int(svg.get("height", 0)) / 120) == rows


def test_boards_of_any_shape_are_drawn() -> None:
    svg = board_svg(read_board("S G\nF F\nF F\nF F"), colors=LIGHT)
    assert 'width="60" height="120"' in svg


def test_the_gif_rings_the_fault_in_the_accent_colour() -> None:
    paths = walk(BOARD, ("D", "L"))
    image = Image.open(BytesIO(board_gif(BOARD, [tracks.Track("Model", paths, judge_paths(BOARD, paths))], LIGHT, side=240)))
    image.seek(image.n_frames - 1)
    accent = tuple(int(LIGHT.accent[i : i + 2], 16) for i in (1, 3, 5))
    assert any(max(abs(a - b) for a, b in zip(color, accent, strict=True)) < 12 for _, color in image.convert("RGB").getcolors(1 << 16))


def test_paths_of_single_steps_are_sent_as_letters() -> None:
    jump = ((0, 0), (2, 2))
    assert tracks.packed((((0, 0), (0, 1), (0, 1)), ((3, 3),), jump)) == [((0, 0), "RW"), ((3, 3), ""), jump]
    assert tracks.packed(None) is None
