"""How a solver finds the optimal plan: Conflict-Based Search, step by step."""

from __future__ import annotations

from itertools import count

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.play import choices
from frozenlab.app.play.state import load, state
from frozenlab.app.views.lake.search import COSTS, IDEA, search_player, worth_watching
from frozenlab.lake.board import Board
from frozenlab.lake.solvers.solver import Solution


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
