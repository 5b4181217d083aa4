"""Conflict-Based Search, watched or done by hand: the constraint tree as it grows, and the plans of its nodes.

The browser runs the search (:mod:`frozenlab.app.views.lake.drawing`), so a step asks nothing of the server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from frozenlab.app.ui.components import registered, text_of
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, CHECK_COLOR, REWARD_COLOR
from frozenlab.app.views.lake import drawing, player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import SENTENCES
from frozenlab.lake.board import Board
from frozenlab.lake.solvers.cbs import Objective, search
from frozenlab.lake.solvers.solver import Solution
from frozenlab.tasks.lake.words import OUTCOMES

MAX_NODES = 300
"""Nodes after which the search gives up on the page: a tree that can still be looked at, in under a second on any board."""
COSTS: dict[Objective, str] = {"sum_of_costs": "sum of costs", "makespan": "makespan"}
STATES = {"open": "open", "expanded": "expanded", "ended": "ended", "optimal": "optimal plan"}
"""What has become of a node: as the browser calls it -> in words."""
_TREE_COLORS = {"open": AFTER_COLOR, "expanded": BEFORE_COLOR, "optimal": CHECK_COLOR, "now": REWARD_COLOR}
IDEA = (
    "The idea: let every agent take its own shortest path. Where two of them collide, branch: in one branch the first agent must not be "
    "there at that step, in the other the second. Plan that agent again, and always continue with the cheapest open node."
)
WORTH_WATCHING = range(7, 26)
"""So many nodes show what the search does, and fit on a screen with their costs."""
CODE = player.CODE + text_of(__file__, "words.js", "search.js")

_search = registered(
    "search",
    html=text_of(__file__, "search.html").replace("PLAYER", player.HTML),
    css=drawing.STYLE + text_of(__file__, "search.css"),
    js=CODE + text_of(__file__, "search_component.js"),
)


@dataclass(frozen=True)
class Solved:
    """How a learner came to the end of a search."""

    cost: int
    wrong: int
    """Nodes that were chosen although a cheaper one was open."""
    nodes: int
    """In the tree."""


def worth_watching(board: Board, objective: Objective) -> bool:
    """Whether there is something to see in the search of a board, and an end to it."""
    steps = list(search(board, objective, WORTH_WATCHING.stop))
    return len({step.node.id for step in steps}) in WORTH_WATCHING and steps[-1].action == "solved"


def search_player(
    board: Board, objective: Objective, solution: Solution, *, key: str, choosing: bool = False, reveal: bool = False, height: int = 384
) -> Solved | None:
    """The constraint tree as it grows and the plan of the node that each step is about, with buttons, a slider and arrow keys to step.

    Args:
        solution: what the exact solver says of the board, for a search that has given up.
        choosing: whether it begins with a tree that the reader grows, node by node.
        reveal: whether the window scrolls to it.
        height: of a plan's board at most, as for :func:`frozenlab.app.views.lake.player.board_player`.

    Returns:
        How the reader has solved the board, once that is so.
    """
    base = f"{encode(board)}:{objective}"
    best = solution.sum_of_costs if objective == "sum_of_costs" else solution.makespan
    _search(
        key=key,
        data={
            "base": base,
            "board": drawing.plain_board(board),
            "objective": objective,
            "measure": COSTS[objective],
            "most": MAX_NODES,
            "choosing": choosing,
            "axes": choosing,
            "solver": {"status": solution.status, "best": best},
            "sentences": SENTENCES,
            "outcomes": {name: outcome.label for name, outcome in OUTCOMES.items()},
            "names": STATES,
            "reveal": reveal,
            "height": height,
            "colors": drawing.COLORS,
            "tree": _TREE_COLORS,
        },
        default={"solved": None},
        on_solved_change=lambda: None,
    )
    return solved_of((st.session_state.get(key) or {}).get("solved"), base)


def solved_of(sent: Any, base: str) -> Solved | None:
    """What the browser has sent of this search; None if that is nothing."""
    if not isinstance(sent, dict) or sent.get("base") != base:
        return None
    figures = [sent.get(name) for name in ("cost", "wrong", "nodes")]
    return Solved(*figures) if all(type(figure) is int for figure in figures) else None  # type: ignore[arg-type]
