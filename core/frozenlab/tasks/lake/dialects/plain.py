"""Boards in plain text, for language models."""

from __future__ import annotations

from frozenlab.lake.instance import Instance
from frozenlab.lake.words import answers
from frozenlab.lake.words.reasoning import reasoning
from frozenlab.tasks.lake.answer import Answer
from frozenlab.tasks.lake.dialects.reading import parse_answer
from frozenlab.tasks.task import Demonstration, Dialect


class BoardsInPlainText(Dialect[Instance, Answer]):
    """The question of the public benchmark, with the rules; answers are read in whatever form they come."""

    def prompt(self, task: Instance) -> str:
        return answers.prompt(task.board)

    def read(self, task: Instance, text: str, finished: bool) -> Answer:
        return parse_answer(task.board, text, finished)

    def demonstrate(self, task: Instance) -> Demonstration | None:
        plan = task.solution.plan
        return None if plan is None else Demonstration(reasoning(task.board, plan), answers.write_answer(plan))
