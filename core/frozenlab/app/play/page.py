"""Play: how does the model plan on this board, and what is optimal?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.play import choices, planner, searching
from frozenlab.app.play.board_controls import SOLVING, choose_board
from frozenlab.app.play.optimum import known_solution, show_open_costs, solution_facts, solve_now, solver_track, warning_of
from frozenlab.app.play.planner import Planned, PlannedAnswer, ask, choose_planner, your_plan
from frozenlab.app.play.saving import save_menu
from frozenlab.app.play.state import DESK, SEARCH, lay_out, load, state, take_address, take_turn, write_address
from frozenlab.app.ui import theme
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.components.frame import shortcuts
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake.desk import board_desk
from frozenlab.app.views.lake.search import COSTS, IDEA, search_player, worth_watching
from frozenlab.app.views.lake.tracks import Track
from frozenlab.app.views.lake.view import board_facts
from frozenlab.lake.board import Board
from frozenlab.lake.config_cell import MAX_SIZE
from frozenlab.lake.rules import Paths
from frozenlab.lake.solvers.cbs import search
from frozenlab.lake.solvers.solver import Solution
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.words import OUTCOMES

MOST_SEARCHED = 60
"""Agents whose constraint tree the browser grows."""
FEW = 2
"""Boards that have room below them for the rule that the first plan breaks."""
EIGHT_HELP = (
    "Plan 1 is for the board as it is. For the others the model read the board rotated or reflected, with its agents renumbered: its "
    "answer, word for word, is about what it read. Here all plans are shown on the board as it is. The shortest valid one counts."
)


def page() -> None:
    """Draws all that is known, and only then solves or plans what takes its time."""
    problem = take_address()
    theme.question(
        "How does the model plan on this board?",
        "Agents cross a frozen lake without collisions. Plan their paths or let a model do it, and compare with the optimal plan.",
    )
    if problem:
        st.warning(plain(problem))
    st.html(f"<style>{text_of(__file__, 'play.css')}</style>")
    places, store = lay_out(), SessionStore()

    board = choose_board(store, places)
    solution = known_solution(board)
    optimum = solution.makespan if solution else None
    with places.facts:
        board_facts(board, *solution_facts(solution))
    drawing = state.play_mode == "draw"
    if (warning := warning_of(solution)) and not drawing:
        places.stage.warning(warning)

    planned = choose_planner(board, optimum, store, places)
    waiting = places.plan.empty()  # not above the board, which it would push down
    write_address(board, planned.stages_of)
    others = () if state.play_mode == "plan" else planned.tracks
    best = solver_track(board, solution)
    tracks = [*others, *your_plan(board, optimum, begun=state.play_mode == "plan"), *best]
    with places.stage:
        show_board(board, tracks, planned, solution, best[0].paths if best else None, warning)
    with places.below:
        row = st.container(horizontal=True, vertical_alignment="center", key="play_below")
        save_menu(board, tracks, row)
        shows_search = search_toggle(row)
        if (rule := broken_rule(tracks)) and (state.play_mode != "watch" or len(tracks) > FEW):  # else it stands under the board
            row.caption(f"**The rule.** {rule}")
        show_open_costs(solution)
        if state.play_planner == SEARCH:
            searching.show_found(board, solution.sum_of_costs if solution else None)
        raw_answer(planned)
    if shows_search and solution is not None:
        show_search(board, solution)
    shortcuts({"n": "play_another", "m": "play_plan"}, key="play_keys")

    if solution is None:
        solve_now(board, waiting)
    if planned.request is not None:
        ask(planned.request, board, optimum)
    if planned.search is not None:
        searching.search_now(planned.search, solution.sum_of_costs if solution else None, waiting)
    planner.load(planned.checkpoint)


def search_toggle(row: DeltaGenerator) -> bool:
    """Whether the reader wants to see the search."""
    return row.toggle(
        "Step through Conflict-Based Search", key="play_search_shown", persist_state="session",
        on_change=lambda: state.update(play_search_reveal=state.play_search_shown),
        help="How a solver finds the optimal plan of this board: its constraint tree, step by step",
    )  # fmt: skip


def show_search(board: Board, solution: Solution) -> None:
    """The constraint tree of the board, for the reader to step through in the browser."""
    st.header("How a solver finds it: Conflict-Based Search", anchor=False)
    if board.size > MAX_SIZE or board.num_agents > MOST_SEARCHED:
        st.caption(f"It is shown on boards up to {MAX_SIZE}×{MAX_SIZE} with {MOST_SEARCHED} agents.")
        return
    st.caption(IDEA)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    objective = bar.segmented_control(
        "Objective", list(COSTS), format_func=COSTS.__getitem__, default="sum_of_costs", required=True,
        key="play_search_objective", persist_state="session",
    )  # fmt: skip
    meet = any(step.node.verdict and not step.node.verdict.valid for step in search(board, objective, 1))
    bar.button("Show a board with collisions", key="play_search_board", on_click=let_them_meet, type="secondary" if meet else "primary")
    search_player(board, objective, solution, key="play_search_player", reveal=state.pop("play_search_reveal", False))


def let_them_meet() -> None:
    """Puts a random board on the page with a tree worth watching; another one each time."""
    state.update(play_source="Random", play_size=5, play_agents=3, play_holes=20, play_kind="must wait")
    for seed in count(state.get("play_search_next", 0)):
        drawn = choices.random_board(5, 3, 0.2, True, seed).board
        if worth_watching(drawn, "sum_of_costs"):
            state.play_seed, state.play_search_next, state.play_search_reveal = seed, seed + 1, True
            state.play_at_random = drawn
            return load(drawn)


def show_board(
    board: Board, tracks: Sequence[Track], planned: Planned, solution: Solution | None, ghost: Paths | None, warning: str
) -> None:
    """The board to watch, plan and draw on, with all plans under one timeline, and a choice among several answers."""
    busy = SOLVING if solution is None else "The model plans" if planned.request else "The planners search" if planned.search else ""
    greets = board == choices.FIRST_BOARD and "play_switched" not in state  # plays by itself, once
    board_desk(
        board, tracks, key=DESK, mode=state.play_mode, turn=state.play_turn, on_mode=take_turn, base=state.play_base,
        revision=state.play_revision, optimum=solution.makespan if solution else None, ghost=ghost, height=600,
        autoplay=(greets or len(tracks) > 1) and not busy, busy=busy, warning=warning, looks=state.get("play_looks", 0),
        rule=broken_rule(tracks) if len(tracks) <= FEW else "",
    )  # fmt: skip
    if len(planned.answers) > 1 and state.play_mode == "watch":
        choose_answer(planned.answers)


def choose_answer(answers: Sequence[PlannedAnswer]) -> None:
    valid, best = sum(answer.verdict.valid for answer in answers), sum(bool(answer.verdict.optimal) for answer in answers)
    signs = ["★" if answer.verdict.optimal else "✓" if answer.verdict.valid else "✗" for answer in answers]
    st.segmented_control(
        f"{valid} of {len(answers)} plans are valid (✓), {best} of them optimal (★). Choose one to watch:",
        range(len(answers)), format_func=lambda i: f"{i + 1} {signs[i]}", key="play_chosen", required=True,
        help=EIGHT_HELP if any(answer.best for answer in answers) else None,
    )  # fmt: skip


def broken_rule(tracks: Sequence[Track]) -> str:
    """The rule behind the first fault of the first plan; empty without one."""
    first = tracks[0].verdict if tracks else None
    return OUTCOMES[first.fault].rule if first is not None and first.fault is not None else ""


def raw_answer(planned: Planned) -> None:
    if planned.completion is not None:
        with st.expander("The model's answer, word for word", key="play_answer"):
            if planned.asked_on:
                st.caption(f"Asked on the board {planned.asked_on}.")
            st.code(planned.completion or "(empty)", language=None, wrap_lines=True)
