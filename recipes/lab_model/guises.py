"""Solved boards in many guises, from which the lab model learns to plan before any reinforcement learning."""

from __future__ import annotations

import numpy as np

from frozenlab.lake.board import MOVES, Agent, Board, Cell
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.rules import Paths
from frozenlab.models.training.runs.sft import Example, to_example
from frozenlab.tasks.lake.dialects import render_board, render_plan
from frozenlab.tasks.lake.teacher import vary

STEPS = list(MOVES.values())[: len(ARROWS)]


def disguise(board: Board, paths: Paths, rng: np.random.Generator) -> tuple[Board, Paths]:
    """The same task in another guise: the square board turned or mirrored (8 symmetries), the agents renumbered, with their doors."""
    turns, mirrored, last = int(rng.integers(4)), bool(rng.integers(2)), board.height - 1
    order = rng.permutation(board.num_agents)

    def move(cell: Cell) -> Cell:
        r, c = cell
        if mirrored:
            r, c = c, r
        for _ in range(turns):
            r, c = c, last - r
        return r, c

    def ice(letter: str) -> str:
        if letter in ARROWS:
            here, there = move((0, 0)), move(STEPS[ARROWS.index(letter)])
            return ARROWS[STEPS.index((there[0] - here[0], there[1] - here[1]))]
        return DOORS[order.tolist().index(int(letter))] if letter in DOORS else letter

    letters = {move((r, c)): ice(letter) for r, row in enumerate(board.rows) for c, letter in enumerate(row)}
    rows = tuple("".join(letters[r, c] for c in range(board.width)) for r in range(board.height))
    agents = tuple(Agent(move(board.agents[i].start), move(board.agents[i].goal)) for i in order)
    return Board(rows, agents), tuple(tuple(map(move, paths[i])) for i in order)


def guise(board: Board, paths: Paths, rng: np.random.Generator) -> tuple[Board, Paths]:
    """A solved board as it is shown once: disguised, and every other time with a varied plan. ``paths`` are of equal length."""
    board, paths = disguise(board, paths, rng)
    return board, vary(board, paths, rng) if rng.random() < 0.5 else paths


def plan_example(board: Board, paths: Paths) -> Example:
    """The board as prompt, the plan as completion."""
    return to_example(render_board(board), render_plan(paths))
