"""A model's answer to a board: the paths it wrote, or the fault that prevented reading it."""

from __future__ import annotations

from dataclasses import dataclass

from frozenlab.lake.board import Board
from frozenlab.lake.rules import Fault, Paths, Verdict, judge_paths


@dataclass(frozen=True)
class Answer:
    """A parsed completion. Exactly one of the two fields is set."""

    paths: Paths | None = None
    """The cells of each agent at time 0, 1, 2, ...; time 0 is the start."""
    fault: Fault | None = None
    """``parse_error``, ``truncated`` or ``missing_agent``: why there are no paths."""


def judge_answer(board: Board, answer: Answer, optimal_makespan: int | None = None) -> Verdict:
    """The verdict on an answer: its own fault if it could not be read, otherwise that of :func:`judge_paths` on its paths."""
    if answer.paths is not None:
        return judge_paths(board, answer.paths, optimal_makespan)
    return Verdict(answer.fault, optimal=False, on_goal=(False,) * board.num_agents)
