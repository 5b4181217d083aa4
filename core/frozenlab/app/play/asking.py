"""Asking a checkpoint for plans of the board on the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from frozenlab.lake.board import Board
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, Verdict
from frozenlab.models.policy import GREEDY, Sampling
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.planner import Planner
from frozenlab.tasks.lake.answer import judge_answer
from frozenlab.tasks.lake.family import LAKE


@dataclass(frozen=True)
class PlannedAnswer:
    """One answer of a checkpoint to a board."""

    completion: str
    paths: Paths | None
    """The plan; None if the completion could not be parsed."""
    verdict: Verdict


def plans(
    planner: Planner,
    checkpoint: Path,
    board: Board,
    sampling: Sampling = GREEDY,
    *,
    language: LanguageSettings | None = None,
    optimum: int | None = None,
) -> list[PlannedAnswer]:
    """The plans of the policy in ``checkpoint`` for a board.

    Args:
        language: the settings of a language model; None for a lab model.
        optimum: the best makespan, if that is known.

    Raises:
        PlannerError: the planning process failed, or the checkpoint cannot be read.
        DialectError, BoardError: the dialect has no words for the board.
    """
    task = Instance.unsolved(board)
    dialect = LAKE.plain if language else LAKE.lab
    limit = language.max_tokens if language else LAKE.lab.limit(task)
    answers = []
    for written in planner.answer(checkpoint, dialect.prompt(task), limit, sampling, language=language):
        answer = dialect.read(task, written.text, written.finished)
        answers.append(PlannedAnswer(written.text, answer.paths, judge_answer(board, answer, optimum)))
    return answers
