"""Kernels that are still compiled on a new machine: which pages need some, how far they are, and going on when they are there."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.ui import nav
from frozenlab.app.views.lake.share import decode
from frozenlab.lake.kernels.cache import Group, Progress, progress
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.solvers.solver import solve

WORDS: dict[Group, str] = {
    "solver": "The solver is",
    "judge": "The judge of plans is",
    "boards": "The generator of boards is",
    "costs": "The solver of the sum of costs is",
    "large": "The solver of large boards is",
    "planners": "The planners are",
}
LOOK = 0.3
"""Seconds between two looks while a page waits."""
_seen: set[Group] = set()
"""Groups that were ready when this server last looked; they stay so."""


def ready(*groups: Group) -> bool:
    """Whether none of these kernels is being compiled: they are there, or the first to need them compiles them."""
    return unfinished(*groups) is None


def unfinished(*groups: Group) -> tuple[Group, Progress] | None:
    """The first of the groups that is being compiled, and how far it is."""
    for group in groups:
        if group not in _seen:
            found = progress(group)
            if found is not None and not found.done:
                return group, found
            _seen.add(group)
    return None


def words(group: Group, found: Progress) -> str:
    """``The solver is being compiled, once on this machine: 12 of 30 functions, 8 s.``"""
    how_far = f"{found.kernels} of {found.of} functions, " if found.of else ""
    return f"{WORDS[group]} being compiled, once on this machine: {how_far}{found.seconds:.0f} s."


def wait_for(*groups: Group, place: DeltaGenerator | None = None) -> bool:
    """Says in ``place`` how far the kernels of these groups are until they are ready. Returns whether there was something to wait for."""
    found = unfinished(*groups)
    if found is None:
        return False
    bar = (place or st).empty()
    while found is not None:
        group, how_far = found
        bar.progress(how_far.kernels / max(how_far.of, how_far.kernels, 1), text=words(group, how_far))
        time.sleep(LOOK)
        found = unfinished(*groups)
    bar.empty()
    return True


def announce(*groups: Group, what: str) -> None:
    """Says in small print that ``what`` is still to come, and draws the page again when it is there. Nothing if the kernels are ready."""
    if not ready(*groups):
        st.fragment(_announcement, run_every=1.0)(groups, what)


def _announcement(groups: tuple[Group, ...], what: str) -> None:
    found = unfinished(*groups)
    if found is None:
        nav.draw_anew()
    else:
        st.caption(f"{what} {words(*found)}")


def optimal_paths(code: str) -> Paths | None:
    """The paths of an optimal plan for the board of a code (:mod:`frozenlab.app.views.lake.share`); None if none was found, or if
    the solver is still being compiled, which is announced."""
    if not ready("solver"):
        announce("solver", what="The optimal plan is still to come.")
        return None
    return _optimal_paths(code)


@st.cache_data(max_entries=256, show_spinner="Solving the board")
def _optimal_paths(code: str) -> Paths | None:
    board = decode(code)
    plan = solve(board).plan
    return None if plan is None else walk(board, plan)
