"""Countdown as a task family."""

from __future__ import annotations

from typing import Any

from frozenlab.tasks.countdown import answer as answers
from frozenlab.tasks.countdown import drawing, words
from frozenlab.tasks.countdown.answer import Answer
from frozenlab.tasks.countdown.config import CountdownConfig, CountdownSuite
from frozenlab.tasks.countdown.dialects.lab import CountdownInLabWords
from frozenlab.tasks.countdown.dialects.plain import CountdownInPlainText
from frozenlab.tasks.countdown.drawing import CountdownTask, DrawnTasks
from frozenlab.tasks.countdown.teacher import Enumeration
from frozenlab.tasks.family import TaskFamily


class Countdown(TaskFamily[CountdownTask, Answer]):
    """A few numbers and a target, with the fewest steps certified by enumeration."""

    name = "countdown"
    aim = words.AIM
    knobs = words.KNOBS
    outcomes = words.OUTCOMES
    columns = answers.COLUMNS
    task_columns = ("numbers", "target")
    config_type = CountdownConfig
    suite_type = CountdownSuite
    realised_type = DrawnTasks
    plain: CountdownInPlainText = CountdownInPlainText()
    lab: CountdownInLabWords = CountdownInLabWords()
    teacher: Enumeration = Enumeration()

    # what other modules have functions for
    draw = staticmethod(drawing.draw)
    suite = staticmethod(drawing.suite)
    realised = staticmethod(drawing.realised)
    judge = staticmethod(answers.judge)
    row = staticmethod(answers.row)
    unsound = staticmethod(answers.unsound)
    statistics = staticmethod(words.statistics)
    case = staticmethod(words.case)
    scope = staticmethod(words.scope)
    title = staticmethod(words.title)
    cell_label = staticmethod(words.cell_label)
    cells_noun = staticmethod(words.cells_noun)

    def named_suites(self) -> dict[str, CountdownSuite]:
        return {self.name: drawing.NAMED}

    def ready_made(self) -> dict[str, Any]:
        return {self.name: CountdownConfig()}


COUNTDOWN = Countdown()
