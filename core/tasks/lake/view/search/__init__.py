"""How Conflict-Based Search finds a plan, step by step: its constraint tree, with an explanation of each step.

The page hands the whole search to the browser (:func:`search_player`), which steps through it without asking the server again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

from frozenlab.lake.board import Board
from frozenlab.lake.formats.entry import plan_of
from frozenlab.lake.solvers.cbs import Constraint, Node, Objective, Step, search
from frozenlab.lake.solvers.solver import Solution
from frozenlab.tasks.lake.view import drawing, player
from frozenlab.tasks.lake.view.tracks import Track, fault_sentence, plain_track
from frozenlab.ui.components import text_of
from frozenlab.ui.figures import AFTER_COLOR, BEFORE_COLOR, CHECK_COLOR, REWARD_COLOR

MAX_NODES = 300
"""Nodes after which the search gives up on the page: a tree that can still be looked at, in under a second on any board."""
COSTS: dict[Objective, str] = {"sum_of_costs": "sum of costs", "makespan": "makespan"}
STATES = {"open": "open", "expanded": "expanded", "ended": "ended", "optimal": "optimal plan"}
"""What has become of a node: as the browser calls it -> in words."""
_TREE_COLORS = {"open": AFTER_COLOR, "expanded": BEFORE_COLOR, "optimal": CHECK_COLOR, "now": REWARD_COLOR}
IDEA = (
    "The idea: let every agent take its own shortest path. Where two of them collide, split the world in two: in the one half the first "
    "agent is forbidden to be there then, in the other half the second. Plan again, and always continue with the cheapest half."
)
WORTH_WATCHING = range(7, 26)
"""So many nodes show what the search does, and fit on a screen with their costs."""

_search = st.components.v2.component(
    "frozenlab_search",
    html=text_of(__file__, "search.html").replace("PLAYER", player.HTML),
    css=drawing.STYLE + text_of(__file__, "search.css"),
    js=player.CODE + text_of(__file__, "search.js"),
)


@dataclass(frozen=True)
class Search:
    """The whole of one search, to be stepped through."""

    board: Board
    objective: Objective
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, board: Board, objective: Objective) -> Search:
        return cls(board, objective, tuple(search(board, objective, MAX_NODES)))

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes, in the order of their ids."""
        return list({step.node.id: step.node for step in self.steps}.values())

    @cached_property
    def places(self) -> list[tuple[float, int]]:
        """Where each node is drawn: leaves side by side, every other node above the middle of its children; and its depth."""
        children: list[list[int]] = [[] for _ in self.nodes]
        depths = [0] * len(self.nodes)
        for node in self.nodes[1:]:
            assert node.parent is not None
            children[node.parent.id].append(node.id)
            depths[node.id] = depths[node.parent.id] + 1
        across = [0.0] * len(self.nodes)
        leaves = 0
        stack = [0]
        while stack:
            node_id = stack.pop()
            stack += reversed(children[node_id])
            if not children[node_id]:
                across[node_id] = leaves
                leaves += 1
        for node_id in reversed(range(len(self.nodes))):
            if children[node_id]:
                across[node_id] = sum(across[child] for child in children[node_id]) / len(children[node_id])
        return list(zip(across, depths, strict=True))

    @property
    def worth_watching(self) -> bool:
        """Whether there is something to see, and an end to it."""
        return len(self.nodes) in WORTH_WATCHING and self.steps[-1].action == "solved"


def search_player(found: Search, solution: Solution, *, key: str, reveal: bool = False) -> None:
    """The constraint tree as it grows and the plan of the node that each step is about, with buttons, a slider and arrow keys to step.

    Args:
        solution: what the exact solver says of the board, for a search that has given up.
        reveal: whether the window scrolls to it.
    """
    last = len(found.steps) - 1
    explanations = [explained(found, now) for now in range(last + 1)]
    explanations[last] = "\n".join(filter(None, (explanations[last], ending(found, solution))))
    _search(
        key=key,
        data={
            "board": drawing.plain_board(found.board),
            "nodes": [_plain_node(node, place, found) for node, place in zip(found.nodes, found.places, strict=True)],
            "steps": [
                {"action": step.action, "node": step.node.id, "open": step.open, "words": words}
                for step, words in zip(found.steps, explanations, strict=True)
            ],
            "measure": COSTS[found.objective],
            "names": STATES,
            "reveal": reveal,
            "colors": drawing.COLORS,
            "tree": _TREE_COLORS,
        },
    )


def _plain_node(node: Node, place: tuple[float, int], found: Search) -> dict[str, Any]:
    """A node as the browser takes it; its paths as letters, which are a tenth as long as cells."""
    track = plain_track(found.board, Track(f"Node {node.id}", node.paths, node.verdict))
    del track["paths"]
    return track | {
        "parent": None if node.parent is None else node.parent.id,
        "x": place[0],
        "depth": place[1],
        "cost": node.cost,
        "moves": None if node.paths is None else plan_of(node.paths),
        "forbids": len(node.constraints()),
        "hover": _hover(node, found.objective),
    }


def _hover(node: Node, objective: Objective) -> list[str]:
    rule = forbids(node.constraint) if node.constraint else "nothing is forbidden"
    cost = f"{COSTS[objective]} {node.cost}" if node.paths else "no path is left"
    return [rule, cost, *filter(None, [_conflict(node)])]


def _conflict(node: Node) -> str:
    return "" if node.verdict is None else "no conflict" if node.verdict.valid else fault_sentence(node.verdict)


def forbids(constraint: Constraint) -> str:
    """A constraint in words."""
    if constraint.origin is None:
        return f"agent {constraint.agent} must not be on {constraint.cell} at step {constraint.step}"
    return f"agent {constraint.agent} must not go from {constraint.origin} to {constraint.cell} in step {constraint.step}"


def explained(found: Search, now: int) -> str:
    """What the search does in step ``now``, and why, for somebody who sees it for the first time."""
    step = found.steps[now]
    node, cost = step.node, COSTS[found.objective]
    if step.action == "generated" and node.constraint is None:
        text = f"Every agent takes its own shortest path, as if it were alone. That is the root of the tree, with a {cost} of {node.cost}. "
        return text + ("Nobody is in anybody's way." if node.verdict and node.verdict.valid else f"But: {_conflict(node)}")
    if step.action == "generated" and node.parent is not None and node.constraint is not None:
        more = node.cost - node.parent.cost
        paid = f"which makes the {cost} {node.cost}, {more} more" if more else f"which costs no more: the {cost} stays {node.cost}"
        rest = "No conflict is left, so this is a valid plan" if node.verdict and node.verdict.valid else f"What is left: {_conflict(node)}"
        rest = rest.removesuffix(".")
        return f"Child of node {node.parent.id}: {forbids(node.constraint)}. It takes its next best path, {paid}. {rest}."
    if step.action == "pruned" and node.constraint is not None:
        return f"{forbids(node.constraint).capitalize()} any more. No path to its goal is left, so this branch ends here."
    if step.action == "expanded":
        return (
            f"Node {node.id} is the cheapest that is open. {_conflict(node)} One of the two has to keep off, and we do not know which: "
            "so the node gets two children, one for each."
        )
    if step.action == "solved":
        return (
            f"Node {node.id} is the cheapest that is open, and has no conflict. So its plan is optimal, with a {cost} of {node.cost}: "
            "constraints never make a plan cheaper, so no other open node can lead to a better one."
        )
    if step.action == "gave_up":
        return f"The tree has grown to {len(found.nodes)} nodes, and the cheapest open one still has a conflict. The search gives up here."
    if node.paths is None:
        return "Some agent cannot reach its goal even if it is alone: there is no plan, and nothing to search."
    return "Every branch has ended: there is no plan."


def ending(found: Search, solution: Solution) -> str:
    """How the search ends, and what the exact solver says; empty where the tree tells it all."""
    last = found.steps[-1]
    if last.action == "solved" and last.node.parent is None:
        return "On this board nobody meets anybody, so there is no tree to grow."
    if last.action != "gave_up":
        return ""
    explodes = (
        "**The tree explodes.** In narrow passages agents get into each other's way again and again, and every meeting doubles the tree. "
        f"So much it has shown: no plan has a smaller {COSTS[found.objective]} than {last.node.cost}. "
    )
    if solution.status == "unsolvable":
        return (
            "**The tree has no end.** The exact solver has proven that this board has no solution. Conflict-Based Search alone can never "
            "find that out: there is always one more step to forbid."
        )
    best = solution.sum_of_costs if found.objective == "sum_of_costs" else solution.makespan
    if solution.status == "solved" and best is not None:
        return f"{explodes}The exact solver, which goes about it in another way, knows: it is {best}."
    return explodes
