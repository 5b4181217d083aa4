"""The sheet to print: every exercise with all that its answer needs, and room to write."""

from __future__ import annotations

import re
from html import escape

from frozenlab.app.learn import boards, pictures, planners
from frozenlab.app.learn.address import Lesson
from frozenlab.app.learn.chapters import Chapter
from frozenlab.app.learn.exercises import TEAM_TASK, Bounding, Estimate, Exercise, OnBoard, OneStep, OnPlan, Question, Searching, Steering
from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.theme import LIGHT
from frozenlab.app.views.lake.pictures import board_svg
from frozenlab.app.views.lake.search import COSTS
from frozenlab.app.views.lake.tracks import fault_sentence
from frozenlab.base.files import as_html
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths
from frozenlab.lake.solvers.cbs import search

STYLE = text_of(__file__, "sheet.css")
LINES = 5
"""To write on, where there is nothing to fill in."""
CELL = (28, 42)
"""Pixels of a cell of a board, at least and at most; a board of a few cells has the largest."""
WIDEST = 320
"""Pixels of a board that need not be larger for its cells to be seen."""


def page(lesson: Lesson) -> str:
    """One HTML page that needs nothing else: the course, and the boards of a lesson."""
    chapters = "".join(chapter_part(number, chapter) for number, chapter in enumerate(lesson.chapters, start=1))
    own = "".join(own_part(number, board) for number, board in enumerate(lesson.boards, start=1))
    of_class = f" &emsp; Class: {escape(lesson.class_name)}" if lesson.class_name else ""
    return as_html(
        "MAPF, a course",
        STYLE,
        f"<h1>How do many agents find their way at once?</h1><p>Name: ______________________________{of_class}</p>"
        "<p><small>A disc is where an agent starts, the square with its number is its goal, hatched cells are holes. Cell (2, 3) is in row "
        "2 and column 3; both count from 0. Write a plan as one letter a step for each agent: U, D, L, R, or W for a wait.</small></p>"
        f"{chapters}{own}",
    )


def answers(lesson: Lesson) -> str:
    """One HTML page for the teacher: an answer to each exercise, and the question to put to the class with what an answer has to say."""
    chapters = "".join(
        section(f"{number}. {chapter.title}", "", chapter.exercise().task, told(chapter))
        for number, chapter in enumerate(lesson.chapters, start=1)
    )
    own = "".join(
        section(f"Your board {number}", "", TEAM_TASK, f"<p>{escape(Steering(TEAM_TASK, board).answer())}</p>")
        for number, board in enumerate(lesson.boards, start=1)
    )
    return as_html("MAPF, answers", STYLE, f"<h1>Answers, for the teacher</h1>{chapters}{own}")


def told(chapter: Chapter) -> str:
    asked = f"<i>To ask:</i> {escape(chapter.ask)} <i>To hear:</i> {escape(chapter.hear)}"
    return f"<p>{plain_text(chapter.exercise().answer())}</p><p>{asked}</p>"


def chapter_part(number: int, chapter: Chapter) -> str:
    exercise = chapter.exercise()
    work = {"spacetime": what_is_taken, "model": what_it_wrote, "engineer": what_it_read}.get(chapter.name, lambda: work_of(exercise))()
    options = "".join(f"<li>☐ {escape(option)}</li>" for option in exercise.options) if isinstance(exercise, Question) else ""
    return section(f"{number}. {chapter.title}", chapter.idea, task_of(exercise), work + (f"<ul>{options}</ul>" if options else ""))


def own_part(number: int, board: Board) -> str:
    """One of the teacher's boards."""
    exercise = Steering(TEAM_TASK, board)
    return section(f"Your teacher's board {number}", "", exercise.task, work_of(exercise))


def section(title: str, idea: str, task: str, work: str) -> str:
    """``work`` is finished HTML."""
    said = f"<p>{plain_text(idea)}</p>" if idea else ""
    return f"<section><h2>{escape(title)}</h2>{said}<p><b>{plain_text(task)}</b></p>{work}</section>"


def task_of(exercise: Exercise) -> str:
    """What to do on paper, where nothing can be pressed."""
    if isinstance(exercise, Searching):
        return "You are the search. The root is done. Fill in its two children, and tick the one that has to be expanded next."
    return exercise.task


def work_of(exercise: Exercise) -> str:
    """The board of an exercise, and room for the answer."""
    if isinstance(exercise, Searching):
        return first_nodes(exercise)
    if isinstance(exercise, OnPlan):
        return beside(numbered(exercise.board, exercise.paths()), written(exercise.paths()) + line("") * 2)
    if isinstance(exercise, Bounding):
        runs = {factor: exercise.run(factor) for factor in exercise.factors}
        rows = (f"<tr><td>{w:g}</td><td>{run.nodes}</td><td>{run.cost}</td><td>{run.lower_bound}</td></tr>" for w, run in runs.items())
        head = "<tr><th>w</th><th>nodes expanded</th><th>sum of costs</th><th>no plan costs less than</th></tr>"
        return beside(numbered(exercise.board), f"<table>{head}{''.join(rows)}</table>{line('') * 2}")
    if isinstance(exercise, Estimate):
        return "".join(line(f"{case}:") for case in exercise.truths)
    board = exercise.board if isinstance(exercise, OnBoard) else None
    labels = [f"Agent {i}:" for i in range(board.num_agents)] if board and isinstance(exercise, (Steering, OneStep)) else [""] * LINES
    return beside(numbered(board) if board else "", "".join(map(line, labels)))


def first_nodes(exercise: Searching) -> str:
    """The root of the constraint tree with its paths and its first conflict, and its children to be filled in."""
    root = next(search(exercise.board, exercise.objective)).node
    assert root.paths is not None and root.verdict is not None
    measure = COSTS[exercise.objective]
    known = f"<p><b>Root</b>, {measure} {root.cost}</p>{written(root.paths)}<p>First conflict: {escape(fault_sentence(root.verdict))}</p>"
    blanks = (line("Agent"), line("must not be on cell"), line("at step"), line("Its new path:"), line(""), line(f"The {measure}:"))
    children = "".join(
        f'<div class="node"><b>Child {number}</b> &emsp; ☐ is expanded next{"".join(blanks)}{line("First conflict that is left:")}</div>'
        for number in (1, 2)
    )
    return f'{beside(numbered(exercise.board, root.paths), known)}<div class="nodes">{children}</div>'


def written(paths: Paths) -> str:
    return "".join(f"<p>Agent {i}: {' '.join(map(str, path))}</p>" for i, path in enumerate(paths))


def what_is_taken() -> str:
    """The board on which agent 1 has planned, and the table of its row to be filled in."""
    start, path = boards.RESERVED.agents[0].start, planners.paths_in_time()[1]
    return beside(numbered(boards.RESERVED, ((start,), path)), planners.time_table(solved=False))


def what_it_wrote() -> str:
    """The recorded answer of the model before training, beside its board."""
    first, _ = pictures.before_and_after()
    head = "".join(f"<th>agent {i}</th>" for i in range(first.board.num_agents))
    rows = "".join(
        f"<tr><td>{step}</td>{''.join(f'<td>{escape(word)}</td>' for word in words)}</tr>"
        for step, words in enumerate(pictures.by_step(first), start=1)
    )
    heading = "What it wrote before training; r4c3 is row 4, column 3"
    return beside(numbered(first.board), f"<p>{heading}</p><table><tr><th>step</th>{head}</tr>{rows}</table>")


def what_it_read() -> str:
    """The lines of evidence that the engineer read."""
    return "".join(f"<p>{escape(evidence.id)}: {escape(evidence.text)}</p>" for evidence in pictures.decision().failures)


def beside(left: str, right: str) -> str:
    return f'<div class="row">{left}<div class="room">{right}</div></div>'


def line(label: str) -> str:
    """To write on."""
    return f'<div class="line"><span>{escape(label)}</span><i></i></div>'


def numbered(board: Board, paths: Paths | None = None) -> str:
    """The board, and ``paths`` as lines, with the numbers of its rows and columns."""
    side = max(board.height, board.width)
    picture = board_svg(board, paths, size=min(max(WIDEST, CELL[0] * side), CELL[1] * side), colors=LIGHT)
    return f'<div class="board"><b></b>{numbers(board.width)}{numbers(board.height, "down")}{picture}</div>'


def numbers(count: int, kind: str = "") -> str:
    return f'<div class="{kind}">{"".join(f"<span>{number}</span>" for number in range(count))}</div>'


def plain_text(markdown: str) -> str:
    """Without marks of emphasis, which the chapters use no others than."""
    return escape(re.sub(r"\*+", "", markdown))
