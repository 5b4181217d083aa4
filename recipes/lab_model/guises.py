"""Solved boards in many guises, from which the lab model learns to plan before any reinforcement learning."""

from __future__ import annotations

import numpy as np

from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths
from frozenlab.models.training.runs.sft import Example, to_example
from frozenlab.tasks.lake.dialects import render_board, render_plan
from frozenlab.tasks.lake.guises import Guise
from frozenlab.tasks.lake.teacher import vary


def disguise(board: Board, paths: Paths, rng: np.random.Generator) -> tuple[Board, Paths]:
    """The same task in another guise: the board turned or mirrored (8 symmetries), the agents renumbered, with their doors."""
    drawn = Guise(int(rng.integers(4)), bool(rng.integers(2)), tuple(rng.permutation(board.num_agents).tolist()))
    return drawn.board(board), drawn.paths(board, paths)


def guise(board: Board, paths: Paths, rng: np.random.Generator) -> tuple[Board, Paths]:
    """A solved board as it is shown once: disguised, and every other time with a varied plan. ``paths`` are of equal length."""
    board, paths = disguise(board, paths, rng)
    return board, vary(board, paths, rng) if rng.random() < 0.5 else paths


def plan_example(board: Board, paths: Paths) -> Example:
    """The board as prompt, the plan as completion."""
    return to_example(render_board(board), render_plan(paths))
