"""The exact solver as a teacher: from where a plan of the policy leads, it shows how to go on (DAgger, Ross et al. 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenlab.lake.board import FROZEN, Agent, Board, Plan
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, judge_paths, walk
from frozenlab.lake.solvers.solver import solve_all
from frozenlab.tasks.lake.dialects import parse_plan, render_plan
from frozenlab.tasks.task import Attempt, Mended, Teacher


class Solver(Teacher[Instance]):
    """Cuts each plan at some time step before its first fault, and goes home from there by an optimal plan."""

    def mend(self, attempts: Sequence[Attempt[Instance]]) -> list[Mended | None]:
        return solved(attempts, [cut(attempt.task.board, attempt.text, attempt.rng) for attempt in attempts])

    def answers(self, attempts: Sequence[Attempt[Instance]]) -> list[Mended | None]:
        """The plan that each board was drawn with: to solve it again can take minutes on a crowded corridor."""
        return [going_on(Cut("", attempt.task.board), attempt.task.solution.plan, attempt.rng) for attempt in attempts]

    def wrong_answers(self, attempts: Sequence[Attempt[Instance]]) -> list[Mended | None]:
        """Optimal plans of the boards with nothing on them but plain ice: holes, one-way ice and doors are overlooked."""
        boards = [attempt.task.board for attempt in attempts]
        return solved(attempts, [Cut("", Board.known_good((FROZEN * b.width,) * b.height, b.agents)) for b in boards])


class Cut(NamedTuple):
    """A plan up to some time step."""

    kept: str
    """Its words until then."""
    state: Board
    """The board with the agents where they are then."""


def solved(attempts: Sequence[Attempt[Instance]], cuts: Sequence[Cut]) -> list[Mended | None]:
    """Each attempt goes on from its cut by an optimal plan."""
    solutions = solve_all([state for _, state in cuts])
    return [going_on(start, found.plan, own.rng) for own, start, found in zip(attempts, cuts, solutions, strict=True)]


def going_on(start: Cut, plan: Plan | None, rng: np.random.Generator) -> Mended | None:
    """What is kept, and a variant of a plan that goes on from there."""
    return None if plan is None else Mended(start.kept, render_plan(vary(start.state, padded(walk(start.state, plan)), rng)))


def cut(board: Board, text: str, rng: np.random.Generator) -> Cut:
    """A written plan, cut at a random time step before its first fault."""
    words = text.split()
    whole = len(words) // board.num_agents * board.num_agents
    answer = parse_plan(board, " ".join(words[:whole]), finished=True)
    legal = 0
    if answer.paths:
        verdict = judge_paths(board, answer.paths)
        steps = len(answer.paths[0]) - 1
        legal = steps if verdict.valid or verdict.fault == "goal_not_reached" else max(0, (verdict.step or 0) - 1)
    kept = int(rng.integers(legal + 1))
    if not answer.paths or not kept:
        return Cut("", board)
    agents = tuple(Agent(path[kept], agent.goal) for path, agent in zip(answer.paths, board.agents, strict=True))
    # agents may stand on goals, one-way ice and doors by now
    return Cut(" ".join(words[: kept * board.num_agents]), Board.known_good(board.rows, agents))


def padded(paths: Paths) -> Paths:
    """The paths, each waiting at its end until all have ended."""
    steps = max(map(len, paths))
    return tuple(path + path[-1:] * (steps - len(path)) for path in paths)


def vary(board: Board, paths: Paths, rng: np.random.Generator) -> Paths:
    """Another plan of the same length: neighbouring moves of an agent are exchanged at random places where that stays legal.

    A solver breaks ties one way; a model trained on its plans alone becomes so sure of them that reinforcement learning finds nothing to
    explore. WAITs stay where they are.
    """
    varied = [list(path) for path in paths]
    steps = len(varied[0]) - 1
    if steps < 2:
        return paths
    tries = 2 * steps * len(varied)
    for t, i in zip(rng.integers(1, steps, tries).tolist(), rng.integers(len(varied), size=tries).tolist(), strict=True):
        before, here, after = varied[i][t - 1 : t + 2]
        there = (before[0] + after[0] - here[0], before[1] + after[1] - here[1])
        if before == after or here in (before, after, there) or not (board.leads(before, there, i) and board.leads(there, after, i)):
            continue
        others = [path for j, path in enumerate(varied) if j != i]
        met = any(path[t] == there for path in others)
        swapped = any((path[t - 1], path[t]) == (there, before) or (path[t], path[t + 1]) == (after, there) for path in others)
        if not met and not swapped:
            varied[i][t] = there
    return tuple(map(tuple, varied))
