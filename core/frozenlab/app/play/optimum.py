"""What the exact solver knows of the board: facts above the player, and warnings."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import allowances
from frozenlab.app.play.state import state
from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.share import decode, encode
from frozenlab.app.views.lake.tracks import Track, followed
from frozenlab.app.views.lake.view import MUST_WAIT
from frozenlab.lake.board import Board
from frozenlab.lake.planners import PLANNERS
from frozenlab.lake.solvers.solver import Solution, is_joint, solve

QUICK_CELLS, QUICK_AGENTS = 100, 5
"""Boards up to here are solved at once; larger ones are shown before they are solved."""
COSTS_OPEN = (
    "The best makespan is proven. The best sum of costs is open: its solver gave up on this board. It is only sure to finish on boards up "
    "to 10×10 with 5 agents."
)
WARNINGS = {
    "unsolvable": "This board cannot be solved: no plan brings all agents to their goals. Freeze a hole or move a goal.",
    "undecided": "The solver found no plan within its budget, and no proof that there is none. Plans are still judged.",
}
"""By the status of a solution."""


@st.cache_data(max_entries=500, show_spinner=False)
def solution_of(code: str, sum_of_costs: bool) -> Solution:
    board = decode(code)
    if not is_quick(board):
        allowances.spend(allowances.SOLVED)
    return solve(board, sum_of_costs=sum_of_costs)


def is_quick(board: Board) -> bool:
    return board.height * board.width <= QUICK_CELLS and board.num_agents <= QUICK_AGENTS


def known_solution(board: Board) -> Solution | None:
    """The solution of the board on the page; None where it takes its time, and the page shows the board first."""
    wanted = board, preparing.ready("costs")
    quick = is_quick(board) and preparing.ready("solver")
    if quick and state.get("play_solution", (None,))[0] != wanted:
        state.play_solution = wanted, solution_of(encode(board), wanted[1])
    known, solution = state.get("play_solution", (None, None))
    return solution if known == wanted else None


def solve_now(board: Board, waiting: DeltaGenerator) -> None:
    """Solves a board that took too long to wait for, and draws the page again."""
    preparing.wait_for("solver", *(() if is_joint(board) else ("large", "planners")), place=waiting)
    with_costs = preparing.ready("costs")
    state.play_solution = (board, with_costs), solution_of(encode(board), with_costs)
    st.rerun()


def solver_track(board: Board, solution: Solution | None) -> list[Track]:
    """The optimal plan, or the best one that is known; empty without one."""
    if solution is None or solution.plan is None:
        return []
    label = "Exact solver"
    if solution.planner != "exact":
        label = f"Solver: {PLANNERS[solution.planner].title}"
    return [Track(label, *followed(board, solution.plan, solution.makespan))]


def solution_facts(solution: Solution | None) -> tuple[str, str, str]:
    """Best makespan, best sum of costs and whether the board must wait; always three texts, so the board under them stays in its place."""
    if solution is None:
        return "…", "…", "…"
    if solution.status == "solved":
        costs = f"{solution.sum_of_costs:,}" if solution.sum_of_costs else "–"
        return f"{solution.makespan:,}", costs, MUST_WAIT[solution.needs_wait]
    if solution.bounds:
        return "{:,} to {:,}".format(*solution.bounds), "–", "–"
    return "none" if solution.status == "unsolvable" else "unknown", "–", "–"


def show_open_costs(solution: Solution | None) -> None:
    """Why the best sum of costs is not among the facts."""
    if solution is not None and solution.status == "solved" and solution.sum_of_costs is None:
        if preparing.ready("costs"):
            st.caption(COSTS_OPEN)
        preparing.announce("costs", what="The best sum of costs is still to come.")


def warning_of(solution: Solution | None) -> str:
    """Why no plan of the solver is shown; empty where one is."""
    return WARNINGS.get(solution.status, "") if solution is not None else ""
