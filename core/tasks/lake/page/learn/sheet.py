"""The sheet to print: every exercise with its board as a picture, and room to write."""

from __future__ import annotations

import re
from html import escape

from frozenlab.tasks.lake.page.learn.chapters import CHAPTERS, Chapter
from frozenlab.tasks.lake.page.learn.exercises import Choice, OnBoard
from frozenlab.tasks.lake.view.pictures import board_svg
from frozenlab.ui.theme import LIGHT

STYLE = (
    "body { font: 11pt/1.45 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #000 }"
    "section { break-inside: avoid; margin: 0 0 1.6rem } h1 { font-size: 1.7rem } h2 { font-size: 1.15rem; margin: 0 0 .3rem }"
    ".row { display: flex; gap: 1.5rem; align-items: flex-start } .room { flex: 1 } ul { list-style: none; padding: 0 }"
    ".room i { display: block; border-bottom: 1px solid #777; height: 1.9rem } small { color: #444 }"
)
LINES = 5
"""To write on, beside each board."""


def page() -> str:
    """One HTML page that needs nothing else."""
    chapters = "".join(chapter_part(number, chapter) for number, chapter in enumerate(CHAPTERS, start=1))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>MAPF, a course</title><style>{STYLE}</style>'
        "<h1>How do many agents find their way at once?</h1><p>Name: ______________________________</p><p><small>A disc is where an agent "
        "starts, the square with its number is its goal, hatched cells are holes. Write a plan as one letter a step for "
        f"each agent: U, D, L, R, or W for a wait.</small></p>{chapters}</html>"
    )


def chapter_part(number: int, chapter: Chapter) -> str:
    exercise = chapter.exercise()
    picture = board_svg(exercise.board, size=210, colors=LIGHT) if isinstance(exercise, OnBoard) else ""
    options = "".join(f"<li>☐ {escape(option)}</li>" for option in exercise.options) if isinstance(exercise, Choice) else ""
    room = f"<ul>{options}</ul>" if options else "<i></i>" * LINES
    return (
        f"<section><h2>{number}. {escape(chapter.title)}</h2><p>{plain_text(chapter.idea)}</p><p><b>{plain_text(exercise.task)}</b></p>"
        f'<div class="row">{picture}<div class="room">{room}</div></div></section>'
    )


def plain_text(markdown: str) -> str:
    """Without marks of emphasis, which the chapters use no others than."""
    return escape(re.sub(r"\*+", "", markdown))
