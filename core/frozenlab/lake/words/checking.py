"""Plan checking in batches: thousands of answers of a language model read and judged in one call.

    checked = check(boards, completions, optimal_makespans)
    checked.valid.mean(), checked.verdict(17)

What an answer must look like is defined in answers.py, what a plan must not do in rules.py; the compiled code that does both is in
kernels/answers.py and is imported with the first call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.board import Board
from frozenlab.lake.rules import Verdict
from frozenlab.lake.solvers.solver import groups_of
from frozenlab.lake.words.answers import judge_answer


@dataclass(frozen=True)
class Checked:
    """What the rules say about ``n`` answers, as arrays with one row an answer. -1 stands for "there is none"."""

    fault: NDArray[np.int64]
    """[n] index of the first fault in :data:`frozenlab.lake.rules.FAULTS`, -1 where the plan is valid."""
    step: NDArray[np.int64]
    """[n] time step of the fault."""
    agents: NDArray[np.int64]
    """[n, 2] the first two agents at fault."""
    makespan: NDArray[np.int64]
    """[n] of valid plans."""
    sum_of_costs: NDArray[np.int64]
    """[n] of valid plans."""
    optimal: NDArray[np.int8]
    """[n] 1 where the makespan is the best possible, 0 where it is not, -1 where the plan is valid and the optimum is not known."""
    on_goal: NDArray[np.int64]
    """[n] number of agents whose motion string ends on their goal, whatever goes wrong on the way."""
    boards: Sequence[Board]
    completions: Sequence[str]
    optimal_makespans: Sequence[int | None]

    @property
    def valid(self) -> NDArray[np.bool_]:
        """[n] whether the plan has no fault."""
        return self.fault < 0

    def verdict(self, i: int) -> Verdict:
        """All there is to say about answer ``i``, by the plain Python definition."""
        return judge_answer(self.boards[i], self.completions[i], self.optimal_makespans[i])


def check(
    boards: Board | Sequence[Board], completions: Sequence[str], optimal_makespans: Sequence[int | None] | int | None = None
) -> Checked:
    """Reads and judges ``completions``.

    Args:
        boards: one for each completion, or one for all. Where the same Board object comes again, its preparation is not repeated.
        optimal_makespans: the best possible makespans where they are known; one for each completion, or one for all.

    Raises:
        ValueError: not as many boards or makespans as completions.

    Example:
        >>> board = Board.from_text("S F G")
        >>> checked = check(board, ["Agent 0: RIGHT RIGHT", "Agent 0: RIGHT"], 2)
        >>> checked.valid.tolist(), checked.verdict(1).fault
        ([True, False], 'goal_not_reached')
    """
    from frozenlab.lake.kernels.answers import check_answers

    n = len(completions)
    boards = [boards] * n if isinstance(boards, Board) else boards
    optima = [optimal_makespans] * n if optimal_makespans is None or isinstance(optimal_makespans, int) else optimal_makespans
    for name, given in (("boards", boards), ("optimal makespans", optima)):
        if len(given) != n:
            raise ValueError(f"{len(given)} {name} for {n} completions; give one for each, or one for all")

    texts = [completion.encode("utf-8", "surrogatepass") for completion in completions]
    different = {id(board): board for board in boards}
    number = {key: i for i, key in enumerate(different)}
    which = np.array([number[id(board)] for board in boards], np.int64)
    out, on_goal = np.empty((n, 6), np.int64), np.empty(n, np.int64)
    if n:
        check_answers(np.frombuffer(b"".join(texts), np.uint8), _ends(texts), which, *_pack(list(different.values())), out, on_goal)

    fault, makespan = out[:, 0], out[:, 4]
    best = np.array([-1 if makespan is None else makespan for makespan in optima], np.int64)
    optimal = np.where(fault >= 0, 0, np.where(best < 0, -1, makespan <= best)).astype(np.int8)
    return Checked(fault, out[:, 1], out[:, 2:4], makespan, out[:, 5], optimal, on_goal, boards, completions, optima)


def _pack(boards: Sequence[Board]) -> tuple[NDArray[Any], ...]:
    """The boards as the kernel takes them: their arrays one after the other, and where each ends."""
    parts: dict[int, tuple[NDArray[Any], ...]] = {}
    for places, group in groups_of(boards):
        parts |= zip(places, zip(*group[:3], strict=True), strict=True)
    exits, starts, goals = zip(*(parts[place] for place in range(len(boards))), strict=True)
    width = np.array([board.width for board in boards], np.int64)
    return np.concatenate(exits), _ends(exits), width, np.concatenate(starts), np.concatenate(goals), _ends(starts)


def _ends(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.cumsum([len(part) for part in parts], dtype=np.int64)
