"""The Play page without a browser: every way to choose a board, the optimum, and who plans."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from frozenlab.app.benchmark.measure import checkpoints
from frozenlab.app.play import choices, planner, searching
from frozenlab.app.play.planner import PlannedAnswer
from frozenlab.app.play.state import DESK
from frozenlab.app.views.lake.desk import mode_of
from frozenlab.app.views.lake.search import worth_watching
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.board import Agent, Board, read_board
from frozenlab.lake.planners import PLANNERS, Found
from frozenlab.lake.planners.lacam import LaCAM
from frozenlab.lake.rules import Verdict, judge, judge_paths, walk
from frozenlab.lake.solvers.solver import Solution, solve
from frozenlab.models.folders import ADAPTER, ADAPTER_CONFIG, LAB_MODEL, PLANNER, policy_folder
from frozenlab.models.policy import Completion, Sampling
from frozenlab.session.planner import Planner, PlannerError
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Checkpoint
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.dialects import render_plan
from frozenlab.tasks.lake.guises import guises
from frozenlab.tasks.lake.words import OUTCOMES
from tests.builders import build_session
from tests.lake.boards import connected_board, reachable_board
from tests.pages.apptest import bare_page, button, components, shown, source, words

SMALL = read_board("S F G\nF F F\ng F s")
ONE_WAY = Board(("F>F",), (Agent((0, 0), (0, 2)),))
WALLED = read_board("S H G\nF H F\nF H F")


@pytest.fixture
def page() -> AppTest:
    return bare_page("play")


def on(page: AppTest, board: Board, **chosen: Any) -> AppTest:
    """The page, opened by the address of a board and of what is ``chosen``."""
    page.query_params["board"] = encode(board)
    for name, value in chosen.items():
        page.query_params[name] = value
    return page.run()


def paste(page: AppTest, text: str) -> None:
    page.segmented_control(key="play_source").set_value("Import").run()
    page.text_area(key="play_text").set_value(text).run()
    button(page, "Use this board").click().run()


def players(at: AppTest) -> list[dict]:
    """What the board players of the page were given."""
    return [*(data["watch"] for data in components(at, "watch")), *components(at, "tracks")]


def desk(at: AppTest) -> dict:
    """What the board on which one watches, plans and draws was given."""
    [found] = components(at, "watch")
    return found


def board(at: AppTest) -> Board:
    return at.session_state["play_board"]


def test_it_opens_on_a_board_with_its_optimum_and_puts_it_into_the_address(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []
    monkeypatch.setattr(Planner, "warm_up", lambda self, checkpoint: loaded.append(checkpoint))
    page.run()
    assert [path.name for path in loaded] == ["lab-model"], "while the reader looks"
    assert board(page) == choices.FIRST_BOARD
    assert page.query_params["board"] == encode(choices.FIRST_BOARD)
    (player,) = players(page)
    assert [track["outcome"] for track in player["tracks"]] == ["optimal"]
    assert player["autoplay"]
    assert "must wait</dfn> if <dfn" in source(page)
    page.session_state["play_switched"] = True
    assert not players(page.run())[0]["autoplay"], "it has played"


def is_lively(board: Board) -> bool:
    """Whether holes make an agent go round, no shortest paths of all agents fit together, and every fastest plan makes an agent wait."""
    solution = solve(board, sum_of_costs=True)
    ways = [(agent, board.distances_to_goal(i)[agent.start]) for i, agent in enumerate(board.agents)]
    goes_round = any(steps > abs(a.start[0] - a.goal[0]) + abs(a.start[1] - a.goal[1]) for a, steps in ways)
    return goes_round and (solution.sum_of_costs or 0) > sum(steps for _, steps in ways) and bool(solution.needs_wait)


def tells_planners_apart(board: Board, seed: int) -> bool:
    """Whether the base of the session that is offered first breaks a rule and its last stage does not, LaCAM pays more than the
    smallest sum of costs, and the constraint tree can be watched."""
    if not worth_watching(board, "sum_of_costs"):
        return False
    if LaCAM().plan(board, 5, seed, lambda found: None).cost == solve(board, sum_of_costs=True).sum_of_costs:
        return False
    _, [base, *_, last] = next(iter(choices.staged(SessionStore()).values()))
    [before], [after] = (planner.plans(Planner.shared(), checkpoint.path, board) for checkpoint in (base, last))
    return not before.verdict.valid and after.verdict.valid


def test_the_first_board_is_the_first_lively_one_of_its_controls_on_which_planners_differ() -> None:
    def drawn(seed: int) -> Board:
        return choices.random_board(choices.FIRST_SIZE, choices.FIRST_TEAM, choices.FIRST_HOLES / 100, None, seed).board

    lively = (seed for seed in range(999) if is_lively(drawn(seed)))
    assert next(seed for seed in lively if tells_planners_apart(drawn(seed), seed)) == choices.FIRST_SEED
    assert drawn(choices.FIRST_SEED) == choices.FIRST_BOARD


def test_an_address_without_a_board_is_reported_and_not_fatal(page: AppTest) -> None:
    page.query_params["board"] = "<script>"
    page.run()
    assert "holds no board" in page.warning[0].value
    assert board(page) == choices.FIRST_BOARD


def test_random_boards_follow_the_controls_and_the_seed(page: AppTest) -> None:
    page.run()
    page.slider(key="play_size").set_value(4).run()
    first = board(page)
    assert (first.height, first.width, first.num_agents) == (4, 4, choices.FIRST_TEAM)
    page.button(key="play_another").click().run()
    assert board(page) != first and page.session_state["play_seed"] == choices.FIRST_SEED + 1
    page.number_input(key="play_seed").set_value(choices.FIRST_SEED).run()
    assert board(page) == first and not page.warning
    page.slider(key="play_size").set_value(3).run()
    page.slider(key="play_agents").set_value(5).run()
    assert "5 agents" in page.warning[0].value, "there is no room for them"


@pytest.mark.parametrize("waits", ["any", "must wait"])
def test_random_boards_have_the_layout_that_is_chosen(page: AppTest, waits: str) -> None:
    page.run()
    page.selectbox(key="play_kind").set_value(waits).run()
    page.selectbox(key="play_layout").set_value("doors").run()
    assert any(door in board(page).to_text() for door in "01"), board(page).to_text()


def test_a_pasted_board_is_read_or_its_error_shown(page: AppTest) -> None:
    paste(page.run(), "S F X")
    assert shown(page.error[0].value).startswith("Line 1, cell 3: 'X' is no cell; use F (frozen), H (hole)")
    assert board(page) == choices.FIRST_BOARD
    paste(page, json.dumps(SMALL.to_dict()))
    assert board(page) == SMALL and not page.error
    paste(page, "a.B\n.#.\nb.A")
    assert board(page) == read_board("S F g\nF H F\ns F G") and not page.error, "as another tool writes it"


GOLDEN = Path(__file__).parents[1] / "lake" / "golden"


def bring(at: AppTest, *names: str) -> None:
    """Uploads golden files on the Import tab."""
    at.segmented_control(key="play_source").set_value("Import").run()
    at.file_uploader(key="play_files").set_value([(name, (GOLDEN / name).read_bytes(), "text/plain") for name in names]).run()


def test_a_file_of_another_tool_is_brought_with_its_map_and_its_plan_is_judged(page: AppTest) -> None:
    bring(page.run(), "demo_tunnel.txt")
    assert "the map is missing" in page.error[0].value and board(page) == choices.FIRST_BOARD
    bring(page, "demo_tunnel.txt", "tunnel.map")
    assert not page.error and (board(page).height, board(page).num_agents) == (6, 4)
    page.number_input(key="play_file_agents").set_value(2).run()
    assert not page.error and (board(page).height, board(page).num_agents) == (6, 2)
    brought, solver = players(page)[0]["tracks"]
    assert brought["label"] == "demo_tunnel.txt" and brought["outcome"] == "suboptimal" and solver["outcome"] == "optimal"
    assert any("judged here" in caption.value for caption in page.caption)


def test_of_a_file_with_many_boards_one_is_chosen(page: AppTest, tmp_path: Path) -> None:
    page.run()
    page.segmented_control(key="play_source").set_value("Import").run()
    lines = "".join(json.dumps({"id": name, **b.to_dict()}) + "\n" for name, b in (("one", SMALL), ("two", choices.FIRST_BOARD)))
    page.file_uploader(key="play_files").set_value([("suite.jsonl", lines.encode(), "")]).run()
    assert board(page) == SMALL
    page.selectbox(key="play_entry").set_value(1).run()
    assert board(page) == choices.FIRST_BOARD


def test_the_board_and_a_plan_are_taken_to_other_tools(page: AppTest) -> None:
    on(page, SMALL)

    def downloads() -> list[str]:
        return [shown(button.label) for button in page.download_button]

    assert "Download board-movingai.zip" in downloads()
    page.selectbox(key="play_export").set_value("planviz").run()
    assert page.selectbox(key="play_export_plan").options == ["Exact solver"] and "Download board-planviz.zip" in downloads()
    page.session_state["play_board"] = WALLED
    on(page, WALLED)
    warned = " ".join(warning.value for warning in page.warning)
    assert "Not for this board" in warned and "cannot be solved" in warned and players(page)
    page.selectbox(key="play_export").set_value("movingai")
    page.session_state["play_board"] = ONE_WAY
    assert any("*MovingAI scenario and map* has no one-way ice" in warning.value for warning in on(page, ONE_WAY).warning)


def test_planners_search_the_board_and_are_compared(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second finds nothing in its time, which is said; later the reader ends its search, which is no result."""

    def nothing(self: LaCAM, board: Board, seconds: float, seed: int, report: Any) -> Found:
        return Found(lower_bound=6, seconds=seconds)

    monkeypatch.setattr(LaCAM, "plan", nothing)
    on(page, SMALL).segmented_control(key="play_planner").set_value("Search").run()
    page.multiselect(key="play_searchers").set_value(["pibt", "lacam"]).run()
    button(page, "Let them search").click().run()
    assert not page.error and not page.exception
    (player,) = players(page)
    pibt, lacam, exact = player["tracks"]
    assert (pibt["label"], lacam["label"], exact["label"]) == ("PIBT", "LaCAM", "Exact solver")
    assert pibt["outcome"] in ("optimal", "suboptimal") and lacam["paths"] is None
    table = source(page)
    assert "no plan in 5.0 s" in table and "the smallest" in table
    page.session_state["play_board"] = choices.FIRST_BOARD
    page.run()
    assert "no plan in 5.0 s" not in source(page), "it was another board"
    monkeypatch.setattr(LaCAM, "plan", lambda *_: st.rerun())  # what a click does to a script that runs
    button(page, "Let them search").click().run()
    assert [track["label"] for track in players(page)[0]["tracks"]] == ["PIBT", "Exact solver"] and "no plan in" not in source(page)


def test_table_line_and_chart_of_planners_count_from_the_best_bound_that_is_proven() -> None:
    history = [Found(), Found(("",), 22, 9, 15, seconds=0.1), Found(("",), 20, 8, 15, seconds=0.2)]
    assert set(searching.PROMISES) == set(PLANNERS)
    assert searching.words(history[1], 20).endswith("at most 1.10 times the smallest")
    proven, open_ = (20, "the smallest", "20: proved smallest"), (None, "at most 1.33 times the smallest", "lower bound 15")
    for smallest, quality, label in (proven, open_):
        bound = searching.best_bound([history], smallest)
        chart = searching.improvement({"lns": history}, smallest)
        assert searching.figures(history, bound)[2] == quality and chart.alt.endswith(f"{quality}.")
        assert chart.figure.layout.annotations[0].text.startswith(label) and chart.figure.layout.shapes[0].y0 == bound
        assert (chart.figure.layout.yaxis.tick0, chart.figure.layout.yaxis.dtick) == (0, {20: 1, 15: 2}[bound]), "round figures"


def test_a_search_asked_for_while_the_board_is_solved_comes_after_it(page: AppTest) -> None:
    page.session_state["play_planner"], page.session_state["play_searchers"] = "Search", ["pibt"]
    page.session_state["play_search_asked"] = True
    on(page, Board(("F" * 12,) * 12, (Agent((0, 0), (11, 11)),)))
    assert [track["label"] for track in players(page)[0]["tracks"]] == ["PIBT", "Exact solver"]
    assert not page.session_state["play_search_asked"]


def test_a_plan_is_judged_once_however_often_the_page_runs(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[Board] = []

    def counted(board: Board, *given: Any) -> Verdict:
        judged.append(board)
        return judge_paths(board, *given)

    monkeypatch.setattr("frozenlab.app.views.lake.tracks.judge_paths", counted)
    alone = Board(("F" * 11,) * 2, (Agent((1, 7), (0, 2)),))
    on(page, alone)
    assert desk(page.run())["watch"]["tracks"][0]["outcome"] == "optimal" and judged == [alone]


def test_a_board_beyond_the_exact_search_shows_between_what_its_optimum_lies(page: AppTest) -> None:
    rng = random.Random(0)
    crowded = (reachable_board(rng, 16, 16, 12, 100) for _ in range(40))
    unsure, bounds = next((board, solution.bounds) for board in crowded if (solution := solve(board)).bounds)
    assert not on(page, unsure).warning
    assert any(f"{bounds[0]} to {bounds[1]}" in str(element.value) for element in (*page.markdown, *page.get("html")))
    (player,) = players(page)
    assert [track["outcome"] for track in player["tracks"]] == ["valid"]


def test_a_board_too_large_for_an_address_is_planned_and_taken_as_a_file(page: AppTest) -> None:
    large = connected_board(random.Random(3), 200, 200, 300, 8_000)
    paste(page.run(), json.dumps(large.to_dict()))
    assert not page.exception and board(page) == large
    assert "board" not in page.query_params and any("too large for a link" in str(text.value) for text in page.markdown)
    [track] = players(page)[0]["tracks"]
    assert (track["label"], track["outcome"]) in (("Solver: LaCAM", "valid"), ("Solver: LaCAM", "optimal"))
    assert desk(page)["draw"] is None, "too large for the editor"
    assert button(page, "Let the model plan").disabled and "reads boards up to 10×10" in page.info[0].value


def test_your_plan_is_compared_with_the_optimum(page: AppTest) -> None:
    on(page, SMALL)
    page.session_state["play_mode"] = "plan"
    given = desk(page.run())["plan"]
    assert given["optimum"] == 2 and given["plan"] == [] and given["ghost"], "the browser counts from the optimum"

    def sent(plan: list[str]) -> list[str]:
        page.session_state[DESK] = {"plan": {"base": given["base"], "plan": plan}}
        return [caption.value for caption in page.run().caption]

    assert not any("The rule." in caption for caption in sent(["RR", "LL"]))
    assert any("stay on the board" in caption for caption in sent(["RR", "RL"]))
    assert not any("The rule." in caption for caption in sent(["RR", "LX"])), "what is no plan is not taken"


def answer(board: Board, motions: tuple[str, ...], makespan: int | None) -> PlannedAnswer:
    return PlannedAnswer(" ".join(motions), walk(board, motions), judge(board, motions, makespan))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict]:
    """A planner that answers without a model; the requests it got."""
    requests: list[dict] = []

    def plans(planner: Planner, checkpoint: Path, board: Board, sampling: Sampling, **settings: Any) -> list[PlannedAnswer]:
        requests.append({"board": board, **asdict(sampling), **settings})
        if len(requests) == 3:
            raise PlannerError("it died")
        written = [("RR", "LL"), ("RR", "L"), ("RRW", "WLL")][: sampling.completions]
        return [answer(board, motions, settings["optimum"]) for motions in written]

    monkeypatch.setattr(planner, "plans", plans)
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").touch()
    monkeypatch.setattr(choices, "policy_folder", lambda name: model)
    return requests


def test_the_model_plans_and_its_answers_are_shown(page: AppTest, asked: list[dict]) -> None:
    on(page, SMALL)

    def let_it_plan() -> None:
        button(page, "Let the model plan").click().run()

    let_it_plan()
    assert asked[0]["completions"] == 1 and asked[0]["temperature"] == 0 and asked[0]["optimum"] == 2
    assert [track["outcome"] for track in players(page)[0]["tracks"]] == ["optimal", "optimal"]
    page.segmented_control(key="play_way").set_value("Sampled").run()
    page.slider(key="play_count").set_value(3).run()
    let_it_plan()
    assert "2 of 3 plans are valid" in page.segmented_control(key="play_chosen").label
    page.segmented_control(key="play_chosen").set_value(1).run()
    assert players(page)[0]["tracks"][0]["badge"] == "ends away from its goal"
    let_it_plan()
    assert "it died" in page.error[0].value


def test_the_best_of_8_guises_is_shown_and_how_many_of_them_are_valid(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = guises(2, 8, seed=0)
    written = [("RRW", "WLL"), ("RR", "L"), ("RR", "LL"), *[("RR", "L")] * 5]
    texts = iter(render_plan(look.paths(SMALL, walk(SMALL, plan))) for look, plan in zip(looks, written, strict=True))
    monkeypatch.setattr(Planner, "answer", lambda *_, **__: [Completion(next(texts), 5, True)])
    on(page, SMALL).segmented_control(key="play_way").set_value("Best of 8").run()
    button(page, "Let the model plan").click().run()
    chosen = page.segmented_control(key="play_chosen")
    assert "2 of 8 plans are valid (✓), 1 of them optimal" in chosen.label and chosen.value == 2
    [track, _] = players(page)[0]["tracks"]
    assert track["label"] == "Lab model, as shipped, best of 8" and track["outcome"] == "optimal"
    assert track["paths"] == [[[0, 0], "RR"], [[2, 2], "LL"]], "as it is on the board"
    assert f"Asked on the board {looks[2].words}." in words(page) and "180°" in looks[2].words
    chosen.set_value(0).run()
    assert "Asked on the board" not in words(page), "it read the board as it is"


def test_every_stage_plans_side_by_side(page: AppTest, asked: list[dict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"before": None, "after 1": 0, "after": 1}
    whole = [Checkpoint(label=name, stage=stage, path=tmp_path / name) for name, stage in names.items()]
    found = {"ours": ("Ours (ours)", [whole[0], whole[2]])}
    monkeypatch.setattr(choices, "staged", lambda store: found)
    on(page, SMALL)
    page.segmented_control(key="play_planner").set_value("Every stage").run()
    page.session_state["play_mode"] = "plan"
    button(page, "Let them plan").click().run()
    assert page.session_state["play_mode"] == "watch", "who asks wants to see"
    assert [track["label"] for track in players(page)[0]["tracks"]] == ["base", "stage 2", "Exact solver"]
    assert "No checkpoint was kept of stage 1." in [caption.value for caption in page.caption]
    assert [request["completions"] for request in asked] == [1, 1]
    assert {name: page.query_params[name] for name in ("plan", "of")} == {"plan": "stages", "of": "ours"}
    found["whole"] = "Whole (whole)", whole
    assert page.run().selectbox(key="play_stages_of").options == ["Whole (whole)", "Ours (ours)"], "first where nothing was lost"


def test_an_address_opens_every_stage_and_what_is_done_with_it(page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = Checkpoint(label="before", stage=None, path=tmp_path)
    monkeypatch.setattr(choices, "staged", lambda store: {name: (f"{name.title()} ({name})", [base]) for name in ("theirs", "ours")})
    on(page, SMALL, mode="draw", plan="stages", of="ours")
    assert page.segmented_control(key="play_planner").value == "Every stage"
    assert page.selectbox(key="play_stages_of").value == "ours"
    assert desk(page)["mode"] == "draw"
    page.segmented_control(key="play_planner").set_value("Model").run()
    assert page.query_params["mode"] == "draw" and "plan" not in page.query_params and "of" not in page.query_params


def test_no_session_with_checkpoints_is_said(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "staged", lambda store: {})
    page.run()
    page.segmented_control(key="play_planner").set_value("Every stage").run()
    assert any("kept its checkpoints" in info.value for info in page.info)


def test_what_the_reader_planned_is_watched_beside_the_solver(page: AppTest) -> None:
    page.query_params["board"] = encode(SMALL)
    page.session_state["play_mode"], page.session_state["play_turn"] = "plan", 1
    given = desk(page.run())["plan"]
    page.session_state[DESK] = {"plan": {"base": given["base"], "plan": ["RR", "LL"]}, "mode": {"turn": 1, "mode": "watch"}}
    page.session_state["play_mode"] = "watch"
    page.run()
    assert [track["label"] for track in players(page)[0]["tracks"]] == ["Your plan", "Exact solver"]
    page.session_state[DESK] = {"plan": {"base": given["base"], "plan": ["RR", "L"]}, "mode": None}
    assert [track["label"] for track in players(page.run())[0]["tracks"]] == ["Exact solver"], "it has not come to its end"
    page.session_state[DESK] = {"plan": {"base": given["base"], "plan": ["RRDD", "W"]}, "mode": None}
    yours, _ = players(page.run())[0]["tracks"]
    assert (yours["label"], yours["outcome"], yours["fault"]) == ("Your plan", "fault", {"time": 4, "marks": [[2, 2]]})
    assert yours["caption"] == "Step 4: agents 0 and 1 are both on (2, 2)." and yours["rule"].startswith("Two agents never stand")
    assert not any("The rule." in caption.value for caption in page.caption), "it stands below the fault"


@pytest.mark.parametrize("sent", [None, {"turn": 0, "mode": "draw"}, {"turn": 1, "mode": "rob"}, {"mode": "draw"}])
def test_a_switch_that_is_late_or_makes_no_sense_is_not_taken(sent: dict | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {"key": {"mode": sent}})
    assert mode_of("key", 1) is None


def test_an_answer_of_another_board_is_not_shown(page: AppTest, asked: list[dict]) -> None:
    on(page, SMALL)
    button(page, "Let the model plan").click().run()
    page.slider(key="play_size").set_value(4).run()
    assert len(players(page)[0]["tracks"]) == 1 and len(asked) == 1


def test_drawing_takes_the_board_of_the_browser(page: AppTest) -> None:
    on(page, SMALL)
    page.session_state["play_mode"] = "draw"
    editor = desk(page.run())["draw"]
    page.session_state[DESK] = {
        "edit": {"base": editor["base"], "seq": 1, "rows": ["FFF", "FHF", "FFF"], "agents": editor["board"]["agents"]}
    }
    page.run()
    assert board(page).holes == ((1, 1),) and page.query_params["board"] == encode(board(page))
    page.session_state["play_mode"] = "watch"
    page.run()
    assert board(page).holes == ((1, 1),), "what was drawn is watched"


def test_a_recorded_answer_is_shown_with_the_verdict_on_record(page: AppTest, tmp_path: Path) -> None:
    session = build_session(tmp_path)
    page.run()
    page.segmented_control(key="play_source").set_value("Session").run()
    page.selectbox(key="play_session").set_value(session.title).run()
    page.selectbox(key="play_filter_size").set_value(5).run()
    row = session.validation(2).query("size == 5").iloc[0]
    page.selectbox(key="play_row").set_value(row["board_id"]).run()
    assert board(page) == Board.from_dict(json.loads(row["board"]))
    recorded, solver = players(page)[0]["tracks"]
    assert recorded["badge"] == OUTCOMES[row["outcome"]].label and solver["outcome"] == "optimal"
    assert any(row["completion"] in code.value for code in page.code)


def test_a_team_without_letters_is_shown_all_the_same(page: AppTest) -> None:
    crowd = Board(("F" * 8,) * 3, tuple(Agent((0, i), (2, i)) for i in range(7)))
    assert board(on(page, crowd)) == crowd and players(page)


HEAD_ON = read_board("S g F G s\nH H F H H")


def searches(at: AppTest) -> list[dict]:
    """What the search players of the page were given."""
    return components(at, "measure")


def test_the_browser_gets_what_the_search_needs(page: AppTest) -> None:
    assert not searches(on(page, HEAD_ON))
    page.toggle(key="play_search_shown").set_value(True).run()
    (search,) = searches(page)
    assert search["objective"] == "sum_of_costs" and search["solver"] == {"status": "solved", "best": 9} and search["reveal"]
    page.segmented_control(key="play_search_objective").set_value("makespan").run()
    assert [(one["measure"], one["reveal"]) for one in searches(page)] == [("makespan", False)], "the window scrolls once"


def test_a_board_on_which_they_meet_often_comes_with_its_controls(page: AppTest) -> None:
    page.run()
    page.toggle(key="play_search_shown").set_value(True).run()
    page.button(key="play_search_board").click().run()
    shown = board(page)
    assert worth_watching(shown, "sum_of_costs")
    page.number_input(key="play_seed").set_value(page.session_state["play_seed"] + 1).run()
    page.number_input(key="play_seed").set_value(page.session_state["play_seed"] - 1).run()
    assert board(page) == shown, "the controls say how it was drawn"
    page.button(key="play_search_board").click().run()
    assert board(page) != shown and worth_watching(board(page), "sum_of_costs")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """What the board was given, each time that it was drawn."""
    given: list[dict] = []
    monkeypatch.setattr("frozenlab.app.views.lake.desk._desk", lambda *, data, **how: given.append(data["watch"]))
    return given


def test_the_board_stays_while_the_model_plans(page: AppTest, asked: list[dict], seen: list[dict], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page has shown by the time the model is asked."""
    answers = planner.plans

    def plans(planner: Planner, checkpoint: Path, board: Board, sampling: Sampling, **settings: Any) -> list[PlannedAnswer]:
        seen.append({"plans": encode(board)})
        return answers(planner, checkpoint, board, sampling, **settings)

    monkeypatch.setattr(planner, "plans", plans)
    on(page, SMALL)
    page.toggle(key="play_follow").set_value(True).run()
    page.segmented_control(key="play_way").set_value("Sampled").run()
    at = [n for n, data in enumerate(seen) if "plans" in data]
    assert len(at) == 2
    for n in at:
        before, after = seen[n - 1], seen[n + 1]
        assert before["busy"] == "The model plans" and len(before["tracks"]) == 2 and not before["autoplay"]
        assert before["board"] == after["board"] and not after["busy"] and after["autoplay"]
    assert seen[at[0] - 1]["tracks"][0]["paths"] is None, "nothing is planned yet"
    assert seen[at[1] - 1]["tracks"][0]["paths"], "what was planned stays until there is more"


def test_a_large_board_is_shown_before_it_is_solved(page: AppTest, seen: list[dict]) -> None:
    on(page, Board(("F" * 12,) * 12, (Agent((0, 0), (11, 11)),)))
    assert seen[0]["busy"].startswith("Solving") and not seen[-1]["busy"] and seen[-1]["tracks"][0]["outcome"] == "optimal"


def test_an_open_sum_of_costs_is_explained(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.play.optimum.solve", lambda board, **how: Solution("solved", makespan=2, plan=("RR", "LL")))
    on(page, read_board("S F G\nH F F\ng F s"))
    assert any("gave up on this board" in caption.value for caption in page.caption)


def test_a_model_that_was_fetched_can_be_asked_like_any_other(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.models.folders.ASSETS", store.root / "assets")
    (shipped := policy_folder(PLANNER)).mkdir(parents=True)
    policy_folder("lab-model").symlink_to(LAB_MODEL)
    (shipped / ADAPTER).touch()
    (shipped / ADAPTER_CONFIG).write_text('{"base_model_name_or_path": "smollm2"}')
    store.create(preset_spec("smollm2"), "trained")
    store.create(preset_spec("smollm2").changed(policy="smollm2"), "from-published")
    lab_model, *of_sessions = choices.models(store)
    published, taught = "SmolLM2-135M-Instruct, as published", "SmolLM2, taught to plan"
    assert not {published, taught} & {*choices.models(store), *(one.label for one in checkpoints(store).values())}
    (store.root / "models" / "smollm2").mkdir(parents=True)
    (store.root / "models" / "smollm2" / "model.safetensors").touch()
    found = choices.models(store)
    assert list(found) == [lab_model, published, taught, *of_sessions], "the base of a session is no other"
    assert [one.label for one in checkpoints(store).values()][:3] == [lab_model, published, taught], "and so on the Benchmark page"
    assert found[taught].language == preset_spec("smollm2").language
    language = found[published].language
    assert language is not None and (language.lora, language.max_tokens, language.question) == (None, 240, "full")
