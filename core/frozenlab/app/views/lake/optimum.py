"""The optimal plan of a board, solved once for all readers."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.share import decode
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.solvers.solver import solve


def optimal_paths(code: str) -> Paths | None:
    """The paths of an optimal plan for the board of a code (:mod:`frozenlab.app.views.lake.share`); None if none was found, or if
    the solver is still being compiled, which is announced."""
    if not preparing.ready("solver"):
        preparing.announce("solver", what="The optimal plan is still to come.")
        return None
    return _optimal_paths(code)


@st.cache_data(max_entries=256, show_spinner="Solving the board")
def _optimal_paths(code: str) -> Paths | None:
    board = decode(code)
    plan = solve(board).plan
    return None if plan is None else walk(board, plan)
