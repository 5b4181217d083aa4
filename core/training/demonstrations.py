"""What the lab model learns from before any reinforcement learning: solved boards in many guises, as token sequences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frozenlab.lake.board import Agent, Board, Cell
from frozenlab.lake.rules import Paths
from frozenlab.policy.lab.plan_dialect import render_board, render_plan
from frozenlab.policy.lab.vocabulary import END, WORDS

ID_OF = {word: i for i, word in enumerate(WORDS)}


@dataclass(frozen=True)
class Example:
    """One prompt with the completion to be learnt, as token ids."""

    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    """Ends with the end token."""

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.completion)


def to_example(prompt: str, completion: str) -> Example:
    """Prompt and completion (without its end token) as token ids. Raises KeyError for a word outside the vocabulary."""
    return Example(tuple(ID_OF[word] for word in prompt.split()), tuple(ID_OF[word] for word in [*completion.split(), END]))


def padded(paths: Paths) -> Paths:
    """The paths, each waiting at its end until all have ended."""
    steps = max(map(len, paths))
    return tuple(path + path[-1:] * (steps - len(path)) for path in paths)


def disguise(board: Board, paths: Paths, rng: np.random.Generator) -> tuple[Board, Paths]:
    """The same task in another guise: the square board turned or mirrored (8 symmetries), the agents renumbered."""
    turns, mirrored, last = int(rng.integers(4)), bool(rng.integers(2)), board.height - 1
    order = rng.permutation(board.num_agents)

    def move(cell: Cell) -> Cell:
        r, c = cell
        if mirrored:
            r, c = c, r
        for _ in range(turns):
            r, c = c, last - r
        return r, c

    holes = {move(hole) for hole in board.holes}
    rows = tuple("".join("H" if (r, c) in holes else "F" for c in range(board.width)) for r in range(board.height))
    agents = tuple(Agent(move(board.agents[i].start), move(board.agents[i].goal)) for i in order)
    return Board(rows, agents), tuple(tuple(map(move, paths[i])) for i in order)


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
        if before == after or here in (before, after, there) or board.is_hole(there):
            continue
        others = [path for j, path in enumerate(varied) if j != i]
        met = any(path[t] == there for path in others)
        swapped = any((path[t - 1], path[t]) == (there, before) or (path[t], path[t + 1]) == (after, there) for path in others)
        if not met and not swapped:
            varied[i][t] = there
    return tuple(map(tuple, varied))


def guise(board: Board, paths: Paths, rng: np.random.Generator) -> tuple[Board, Paths]:
    """A solved board as it is shown once: disguised, and every other time with a varied plan. ``paths`` are of equal length."""
    board, paths = disguise(board, paths, rng)
    return board, vary(board, paths, rng) if rng.random() < 0.5 else paths


def plan_example(board: Board, paths: Paths) -> Example:
    """The board as prompt, the plan as completion."""
    return to_example(render_board(board), render_plan(paths))
