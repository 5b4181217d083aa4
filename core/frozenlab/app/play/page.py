"""Play: how does the model plan on this board, and what is optimal?"""

from __future__ import annotations

import streamlit as st

from frozenlab.app.play.board_controls import choose_board
from frozenlab.app.play.optimum import known_solution, show_facts, show_open_costs, solve_now, solver_track, warning_of
from frozenlab.app.play.planner import ask, choose_planner, load, your_plan
from frozenlab.app.play.player import broken_rule, raw_answer, show_board, take_along
from frozenlab.app.play.search import search_toggle, show_search
from frozenlab.app.play.state import lay_out, state, take_address, write_address
from frozenlab.app.ui import theme
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.components.keys import shortcuts
from frozenlab.app.ui.plain import plain
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
    load(planned.checkpoint)
