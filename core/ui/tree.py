"""How Conflict-Based Search finds a plan, step by step: the picture of its constraint tree and the words beside it. Pure, no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import plotly.graph_objects as go

from core.lake.board import Board
from core.lake.cbs import Constraint, Node, Objective, Step, search
from core.lake.solver import Solution
from core.ui.board import fault_sentence
from core.ui.figures import AFTER_COLOR, BEFORE_COLOR, CHECK_COLOR, REWARD_COLOR, Chart

MAX_NODES = 300
"""Nodes after which the search gives up on the page: a tree that can still be looked at, in under a second on any board."""
COSTS: dict[Objective, str] = {"sum_of_costs": "sum of costs", "makespan": "makespan"}
STATES = {
    "open": dict(symbol="circle", color="#D9EAF8", line=dict(width=2, color=AFTER_COLOR)),
    "expanded": dict(symbol="circle", color=BEFORE_COLOR, line=dict(width=1, color=BEFORE_COLOR)),
    "ended": dict(symbol="x", color=BEFORE_COLOR, line=dict(width=0)),
    "optimal plan": dict(symbol="circle", color=CHECK_COLOR, line=dict(width=1, color=CHECK_COLOR)),
}
"""What has become of a node, and how it is drawn."""
IDEA = (
    "The idea: let every agent take its own shortest path. Where two of them collide, split the world in two: in the one half the first "
    "agent is forbidden to be there then, in the other half the second. Plan anew, and always go on with the cheapest half."
)
_BECOMES = {"generated": "open", "pruned": "ended", "expanded": "expanded", "solved": "optimal plan"}


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

    def states(self, now: int) -> dict[int, str]:
        """What has become of each node that is there after step ``now``, by its id."""
        found: dict[int, str] = {}
        for step in self.steps[: now + 1]:
            found[step.node.id] = _BECOMES.get(step.action, found.get(step.node.id, "ended"))
        return found

    def last_step_of(self, node_id: int, now: int) -> int:
        """The last step up to ``now`` that was done to a node."""
        return max(i for i, step in enumerate(self.steps[: now + 1]) if step.node.id == node_id)


def tree_chart(found: Search, now: int) -> Chart:
    """The constraint tree after step ``now``, at the places it will have in the end. ``customdata`` of each point is the node's id."""
    states = found.states(now)
    current = found.steps[now].node
    places = found.places
    width, depth = max(x for x, _ in places) + 1, max(y for _, y in places) + 1
    size = max(5.0, min(32.0, 560 / width, 300 / depth))

    def lines(ids: Sequence[int], color: str, thickness: float) -> go.Scatter:
        x: list[float | None] = []
        y: list[float | None] = []
        for node_id in ids:
            parent = found.nodes[node_id].parent
            if parent is not None:
                x += [places[parent.id][0], places[node_id][0], None]
                y += [places[parent.id][1], places[node_id][1], None]
        return go.Scatter(x=x, y=y, mode="lines", line=dict(color=color, width=thickness), hoverinfo="skip", showlegend=False)

    figure = go.Figure([lines(list(states), "rgba(128, 148, 170, 0.55)", 1.4), lines(_lineage(current), REWARD_COLOR, 3)])
    x, y = places[current.id]
    figure.add_trace(
        go.Scatter(
            x=[x], y=[y], mode="markers", name="this step", hoverinfo="skip",
            marker=dict(symbol="circle-open", size=size + 10, color=REWARD_COLOR, line=dict(width=3)),
        )
    )  # fmt: skip
    for state, marker in STATES.items():
        ids = [node_id for node_id, its in states.items() if its == state]
        points: list[tuple[float | None, int | None]] = [places[i] for i in ids] or [(None, None)]  # or it would miss in the legend
        figure.add_trace(
            go.Scatter(
                x=[x for x, _ in points],
                y=[y for _, y in points],
                mode="markers+text" if size >= 20 and state != "ended" else "markers",
                name=state,
                marker=dict(marker, size=size * (0.6 if state == "ended" else 1)),
                text=[str(found.nodes[i].cost) for i in ids],
                textfont=dict(color="#FFFFFF" if state == "optimal plan" else "#0B1626", size=13),
                customdata=ids,
                hovertext=[_hover(found.nodes[i], state, found.objective) for i in ids],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    figure.update_xaxes(visible=False, range=[-0.9, width - 0.1])
    figure.update_yaxes(visible=False, range=[depth - 0.4, -0.6])
    figure.update_layout(
        height=440, margin=dict(l=0, r=0, t=30, b=0), dragmode=False, clickmode="event+select", hoverlabel=dict(align="left"),
        legend=dict(
            orientation="h", yanchor="bottom", y=1.0, x=0, xanchor="left", itemclick=False, itemdoubleclick=False, itemsizing="constant"
        ),
    )  # fmt: skip
    figure.update_traces(selected=dict(marker=dict(opacity=1)), unselected=dict(marker=dict(opacity=1)), selector=dict(type="scatter"))
    counts = ", ".join(f"{list(states.values()).count(state)} {state}" for state in STATES if state in states.values())
    return Chart(figure, f"Constraint tree after step {now}: {counts}. This step is about node {current.id}, cost {current.cost}.")


def _lineage(node: Node) -> list[int]:
    """The ids from ``node`` up to the root."""
    ids = [node.id]
    while node.parent is not None:
        node = node.parent
        ids.append(node.id)
    return ids


def _hover(node: Node, state: str, objective: Objective) -> str:
    rule = forbids(node.constraint) if node.constraint else "nothing is forbidden"
    cost = f"{COSTS[objective]} {node.cost}" if node.paths else "no path is left"
    return f"<b>Node {node.id}</b>, {state}<br>{rule}<br>{cost}<br>{_conflict(node)}"


def _conflict(node: Node) -> str:
    return "" if node.verdict is None else "no conflict" if node.verdict.valid else fault_sentence(node.verdict)


def forbids(constraint: Constraint) -> str:
    """A constraint in words."""
    if constraint.origin is None:
        return f"agent {constraint.agent} must not be on {constraint.cell} at step {constraint.step}"
    return f"agent {constraint.agent} must not go from {constraint.origin} to {constraint.cell} in step {constraint.step}"


def told(found: Search, now: int) -> str:
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
        return "On this board nobody meets anybody, so there is no tree to grow. Choose a board on which agents must wait, or more agents."
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
