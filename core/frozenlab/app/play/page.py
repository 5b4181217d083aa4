"""Play: how does the model plan on this board, and what is optimal?"""

from __future__ import annotations

from itertools import count

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.play import choices, planner
from frozenlab.app.play.board_controls import choose_board
from frozenlab.app.play.optimum import known_solution, show_facts, show_open_costs, solve_now, solver_track, warning_of
from frozenlab.app.play.planner import ask, choose_planner, your_plan
from frozenlab.app.play.player import broken_rule, raw_answer, show_board, take_along
from frozenlab.app.play.state import lay_out, load, state, take_address, write_address
from frozenlab.app.ui import theme
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.components.keys import shortcuts
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake.search import COSTS, IDEA, search_player, worth_watching
from frozenlab.lake.board import Board
from frozenlab.lake.solvers.solver import Solution
from frozenlab.session.store import SessionStore


def page() -> None:
    """Draws all that is known, and only then solves or plans what takes its time."""
    problem = take_address()
    theme.question(
        "How does the model plan on this board?",
        "A team crosses a frozen lake, and no two may meet. Plan it yourself or let a model do it, and compare with the optimal plan.",
    )
    if problem:
        st.warning(plain(problem))
    st.html(f"<style>{text_of(__file__, 'play.css')}</style>")
    places, store = lay_out(), SessionStore()

    board = choose_board(store, places)
    solution = known_solution(board)
    optimum = solution.makespan if solution else None
    with places.facts:
        show_facts(board, solution)
    drawing = state.play_mode == "draw"
    if (warning := warning_of(solution)) and not drawing:
        places.stage.warning(warning)
    with places.below if drawing else places.stage:  # nothing may move the board while the reader draws on it
        show_open_costs(solution)

    planned = choose_planner(board, optimum, store, places)
    write_address(board, planned.stages_of)
    others = () if state.play_mode == "plan" else planned.tracks
    tracks = [*others, *your_plan(board, optimum), *solver_track(board, solution)]
    with places.stage:
        show_board(board, tracks, planned, solution, warning)
    with places.below:
        broken_rule(tracks)
        row = st.container(horizontal=True, vertical_alignment="center")
        take_along(board, tracks, row)
        raw_answer(planned.completion)
    if search_toggle(row) and solution is not None:
        show_search(board, solution)
    shortcuts({"n": "play_another", "m": "play_plan"}, key="play_keys")

    if solution is None:
        solve_now(board, places.waiting)
    if planned.request is not None:
        ask(planned.request, board, optimum)
    planner.load(planned.checkpoint)


def search_toggle(row: DeltaGenerator) -> bool:
    """Whether the reader wants to see the search."""
    return row.toggle(
        "How a solver finds it", key="play_search_shown", persist_state="session", on_change=reveal,
        help="Step by step through the constraint tree of Conflict-Based Search on this board",
    )  # fmt: skip


def reveal() -> None:
    state.play_search_reveal = state.play_search_shown


def show_search(board: Board, solution: Solution) -> None:
    """The constraint tree of the board, for the reader to step through in the browser."""
    st.subheader("How a solver finds it: Conflict-Based Search", anchor=False)
    st.caption(IDEA)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    objective = bar.segmented_control(
        "Objective", list(COSTS), format_func=COSTS.__getitem__, default="sum_of_costs", required=True,
        key="play_search_objective", persist_state="session",
    )  # fmt: skip
    bar.button("Show a board on which they meet often", key="play_search_board", on_click=let_them_meet)
    search_player(board, objective, solution, key="play_search_player", reveal=state.pop("play_search_reveal", False))


def let_them_meet() -> None:
    """Puts a random board on the page with a tree worth watching; another one each time."""
    state.update(play_source="Random", play_size=5, play_agents=3, play_holes=20, play_kind="must wait")
    for seed in count(state.get("play_search_next", 0)):
        drawn = choices.random_board(5, 3, 0.2, True, seed).board
        if worth_watching(drawn, "sum_of_costs"):
            state.play_seed, state.play_search_next, state.play_search_reveal = seed, seed + 1, True
            return load(drawn)
