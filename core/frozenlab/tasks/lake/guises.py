"""A board in other guises: turned or mirrored, its agents renumbered. It stays the same task, and a plan is as good in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from frozenlab.base import seeds
from frozenlab.base.numbers import listed
from frozenlab.lake.board import MOVES, Agent, Board, Cell
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths
from frozenlab.lake.words.reading import Answer
from frozenlab.tasks.task import SeenAs

GUISES = 8
"""Turns and mirror images of a board, the board as it is among them."""
STEPS = list(MOVES.values())[: len(ARROWS)]


@dataclass(frozen=True)
class Guise:
    """One way to look at boards with so many agents."""

    turns: int
    """Quarter turns, 0 to 3."""
    mirrored: bool
    """Whether rows and columns change places before the turns."""
    order: tuple[int, ...]
    """Agent 0 of the guise is this agent of the board, and so on."""

    @property
    def words(self) -> str:
        """How it shows a board, after "on the board"; empty where it leaves it as it is."""
        mirrored, turned = "mirrored along its diagonal" * self.mirrored, f"turned by {90 * self.turns}° clockwise" * bool(self.turns)
        words = " and ".join(filter(None, [mirrored, turned]))
        if moved := [(str(old), str(new)) for new, old in enumerate(self.order) if new != old]:
            old, new = map(listed, zip(*moved, strict=True))
            words += f", with agents {old} renumbered {new}"
        return words

    @property
    def undone(self) -> Guise:
        """The guise in which a board in this one is as it was. A mirror image is undone by itself."""
        return Guise(self.turns if self.mirrored else -self.turns % 4, self.mirrored, tuple(map(self.order.index, range(len(self.order)))))

    def board(self, board: Board) -> Board:
        """A board as it is seen in this guise, doors with their agents."""
        shape = board.height, board.width
        height, width = shape[::-1] if (self.turns + self.mirrored) % 2 else shape
        letters = {self._move((r, c), shape): self._ice(letter) for r, row in enumerate(board.rows) for c, letter in enumerate(row)}
        rows = tuple("".join(letters[r, c] for c in range(width)) for r in range(height))
        agents = (board.agents[i] for i in self.order)
        return Board(rows, tuple(Agent(self._move(agent.start, shape), self._move(agent.goal, shape)) for agent in agents))

    def paths(self, board: Board, paths: Paths) -> Paths:
        """Paths on a board as they are seen in this guise, legal or not, also where they leave the board."""
        shape = board.height, board.width
        return tuple(tuple(self._move(cell, shape) for cell in paths[i]) for i in self.order)

    def _move(self, cell: Cell, shape: tuple[int, int]) -> Cell:
        (r, c), (height, width) = cell, shape
        if self.mirrored:
            r, c, height, width = c, r, width, height
        for _ in range(self.turns):
            r, c, height, width = c, height - 1 - r, width, height
        return r, c

    def _ice(self, letter: str) -> str:
        if letter in ARROWS:
            here, there = (self._move(cell, (1, 1)) for cell in ((0, 0), STEPS[ARROWS.index(letter)]))
            return ARROWS[STEPS.index((there[0] - here[0], there[1] - here[1]))]
        return DOORS[self.order.index(int(letter))] if letter in DOORS else letter


def guises(agents: int, n: int, seed: int) -> list[Guise]:
    """The first ``n`` guises of boards with so many agents, at most GUISES. The first leaves a board as it is; in each of the others the
    agents have an order drawn from ``seed``."""
    keys = min(agents, len(DOORS))  # agents without a key trade no places with those that may have one
    found = [Guise(0, False, tuple(range(agents)))]
    for number in range(1, n):
        order = seeds.rng(seed, "guises/order", agents, number).permutation(keys).tolist()
        found.append(Guise(number % 4, number >= 4, (*order, *range(keys, agents))))
    return found


def seen_as(task: Instance, n: int, seed: int) -> list[SeenAs[Instance, Answer]]:
    """A board in its first ``n`` guises. They come without a solution: who answers in them can check a plan by the rules alone."""
    found = []
    for guise in guises(task.board.num_agents, n, seed):
        board = guise.board(task.board)
        found.append(SeenAs(Instance.unsolved(board), partial(as_told, guise.undone, board)))
    return found


def as_told(undone: Guise, board: Board, answer: Answer) -> Answer:
    """An answer to ``board``, which is in some guise, as one to the board as it is."""
    return answer if answer.paths is None else Answer(undone.paths(board, answer.paths))
