"""What becomes of a plan where an agent is late: by the clock, and in order."""

from __future__ import annotations

from collections.abc import Sequence

from frozenlab.lake.board import Cell
from frozenlab.lake.rules import Path, Paths


def by_the_clock(paths: Paths, agent: int, step: int, late: int = 1) -> Paths:
    """The paths where an agent stands still for some steps before this step of its plan, and nobody else takes notice."""
    path = paths[agent]
    held = (*path[: step + 1], *[path[min(step, len(path) - 1)]] * late, *path[step + 1 :])
    return tuple(held if i == agent else other for i, other in enumerate(paths))


def in_order(paths: Paths, agent: int, step: int, late: int = 1) -> Paths:
    """The paths where the same agent is late and all keep the plan's order instead of its times: an agent enters a cell only when those who
    stand there earlier in the plan have left it, at the same step at the earliest (Hönig, Kiesel, Tinka, Durham and Ayanian 2019, the
    action dependency graph). Nobody meets, whoever is late, and all arrive.

    Args:
        paths: of a plan without a conflict.
        step: the agent stands still ``late`` steps before it goes on from this place of its plan.
    """
    moves = [distinct(path) for path in paths]
    before = leaves(moves)
    done, places = [0] * len(paths), [[path[0]] for path in paths]
    held = [late if i == agent else 0 for i in range(len(paths))]
    while any(at + 1 < len(path) for at, path in zip(done, moves, strict=True)):
        waits = {i for i, path in enumerate(moves) if done[i] + 1 == len(path)}
        if held[agent] and done[agent] + 1 < len(moves[agent]) and moves[agent][done[agent]][1] >= step:
            held[agent] -= 1
            waits.add(agent)
        while True:  # who follows one that stands still stands still, too
            blocked = {
                i for i in range(len(paths)) if i not in waits
                and any(done[j] + (j not in waits) <= place for j, place in before[i, done[i] + 1])
            }  # fmt: skip
            if not blocked:
                break
            waits |= blocked
        for i in range(len(paths)):
            done[i] += i not in waits
            places[i].append(moves[i][done[i]][0])
    return tuple(map(tuple, places))


def distinct(path: Path) -> list[tuple[Cell, int]]:
    """The cells of a path without its waits, each with the step at which the plan is there first."""
    return [(cell, step) for step, cell in enumerate(path) if step == 0 or cell != path[step - 1]]


def leaves(moves: Sequence[Sequence[tuple[Cell, int]]]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each agent and place of its path: the other agents that have been in that cell before, each with its place there."""
    return {
        (i, place): [
            (j, other)
            for j, path in enumerate(moves) if j != i
            for other, (there, when) in enumerate(path) if there == cell and when < step
        ]
        for i, own in enumerate(moves) for place, (cell, step) in enumerate(own)
    }  # fmt: skip
