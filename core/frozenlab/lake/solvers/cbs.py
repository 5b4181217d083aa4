"""Conflict-Based Search, written to be read and to be watched at work (Sharon, Stern, Felner and Sturtevant 2015).

The idea: let every agent take its own shortest path. Where two of them collide, split the world in two: in one half the first agent is
forbidden to be there then, in the other half the second. Plan the forbidden agent anew, and go on with the cheapest half. The halves
form a binary *constraint tree*; the first node without a collision that comes up as the cheapest is an optimal plan, because every valid
plan obeys the constraints of some open node and none of those is cheaper.

:func:`search` yields each thing it does, so that a page can show the tree as it grows. On boards with corridors the tree explodes, and on
boards without a solution it never ends; then the search gives up and says so. The compiled solver (solver.py) decides those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

from frozenlab.lake.board import MOVES, Board, Cell
from frozenlab.lake.rules import Path, Paths, Verdict, judge_paths

Objective = Literal["sum_of_costs", "makespan"]


@dataclass(frozen=True)
class Constraint:
    """``agent`` must not be on ``cell`` at ``step``; with ``origin``, only not come there from that cell."""

    agent: int
    step: int
    cell: Cell
    origin: Cell | None = None


@dataclass(frozen=True)
class Node:
    """One node of the constraint tree: what is forbidden, and the agents' shortest paths that obey it."""

    id: int
    """Counted in the order of generation; the root is 0."""
    parent: Node | None
    constraint: Constraint | None
    """What this node forbids on top of its parent; None at the root."""
    paths: Paths | None
    """None where an agent has no path any more (the node is pruned)."""
    cost: int
    """The least that any plan within these constraints costs; 0 without paths."""
    verdict: Verdict | None
    """The rules' word on the paths: valid, or the first conflict, which is the one to split on; None without paths."""

    def constraints(self) -> list[Constraint]:
        """All that is forbidden here, from the root down."""
        above = self.parent.constraints() if self.parent else []
        return [*above, self.constraint] if self.constraint else above


@dataclass(frozen=True)
class Step:
    """One thing that the search did."""

    action: Literal["generated", "pruned", "expanded", "solved", "gave_up", "no_plan"]
    """``solved``, ``gave_up`` (the limit of nodes) and ``no_plan`` (proven) end the search."""
    node: Node
    """The node it was done to; the last one expanded for ``gave_up`` and ``no_plan``."""
    open: int
    """Nodes that wait to be expanded after this step."""


def search(board: Board, objective: Objective = "sum_of_costs", max_nodes: int = 2000) -> Iterator[Step]:
    """Searches the constraint tree, cheapest node first, and yields every step.

    Args:
        objective: what is cheap: a small sum of costs, or a small makespan.
        max_nodes: generated nodes after which the search gives up.
    """
    distances = [board.distances_to_goal(i) for i in range(board.num_agents)]

    def node_of(id: int, parent: Node | None, constraint: Constraint | None) -> Node:
        """Plans all agents at the root, and below it only the agent that has a new constraint."""
        node = Node(id, parent, constraint, None, 0, None)
        paths: list[Path | None] = list(parent.paths) if parent and parent.paths else [None] * board.num_agents
        for i in range(board.num_agents) if constraint is None else [constraint.agent]:
            paths[i] = shortest_path(board, i, distances[i], node.constraints())
        found = tuple(path for path in paths if path is not None)
        if len(found) < board.num_agents:
            return node
        costs = [len(path) - 1 for path in found]
        return Node(id, parent, constraint, found, sum(costs) if objective == "sum_of_costs" else max(costs), judge_paths(board, found))

    node = node_of(0, None, None)
    generated = 1
    # Of equally cheap nodes the newest comes first: where cost does not rise, the search goes down rather than across.
    queue = [(node.cost, -node.id, node)] if node.paths else []
    if node.paths:
        yield Step("generated", node, 1)
    while queue:
        *_, node = heappop(queue)
        assert node.verdict is not None
        if node.verdict.valid:
            yield Step("solved", node, len(queue))
            return
        if generated + 2 > max_nodes:
            yield Step("gave_up", node, len(queue))
            return
        yield Step("expanded", node, len(queue))
        for constraint in split(node):
            child = node_of(generated, node, constraint)
            generated += 1
            if child.paths is not None:
                heappush(queue, (child.cost, -child.id, child))
            yield Step("generated" if child.paths else "pruned", child, len(queue))
    yield Step("no_plan", node, 0)


def split(node: Node) -> tuple[Constraint, Constraint]:
    """The two ways out of the first conflict of ``node``: the one agent keeps off, or the other does."""
    assert node.paths is not None and node.verdict is not None and node.verdict.step is not None
    constraints = []
    for i in node.verdict.agents:
        path, step = node.paths[i], node.verdict.step
        before, now = (path[min(t, len(path) - 1)] for t in (step - 1, step))  # on the goal once the path has ended
        constraints.append(Constraint(i, step, now, before if node.verdict.fault == "edge_conflict" else None))
    return constraints[0], constraints[1]


def shortest_path(board: Board, agent: int, distance: dict[Cell, int], constraints: Sequence[Constraint]) -> Path | None:
    """The shortest path of one agent, alone on the board, that obeys ``constraints``; None if there is none (A* over cells and steps).

    It ends where the agent is on its goal for good, so no later constraint may forbid the goal.

    Args:
        distance: steps to the agent's goal from every cell that can reach it.
        constraints: those of other agents do not matter.
    """
    start, goal = board.agents[agent].start, board.agents[agent].goal
    mine = [constraint for constraint in constraints if constraint.agent == agent]
    forbidden = {(constraint.step, constraint.origin, constraint.cell) for constraint in mine}
    last = max((constraint.step for constraint in mine), default=0)
    free_from = max((constraint.step + 1 for constraint in mine if constraint.cell == goal and constraint.origin is None), default=0)
    queue: list[tuple[int, int, Path]] = [(distance[start], distance[start], (start,))] if start in distance else []
    seen: set[tuple[Cell, int]] = set()
    while queue:
        _, _, path = heappop(queue)
        here, step = path[-1], len(path) - 1
        if here == goal and step >= free_from:
            return path
        if (here, min(step, last)) in seen:  # after the last constraint one step is like another
            continue
        seen.add((here, min(step, last)))
        for dr, dc in MOVES.values():
            there = (here[0] + dr, here[1] + dc)
            if there in distance and board.leads(here, there, agent) and not {(step + 1, None, there), (step + 1, here, there)} & forbidden:
                heappush(queue, (step + 1 + distance[there], distance[there], (*path, there)))
    return None
