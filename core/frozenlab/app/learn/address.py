"""What the address of the course holds: the chapter, the progress, the class, and the boards that a teacher has chosen.

The menu leads to pages whose addresses hold nothing of it, and back to the bare course. So the session keeps it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import streamlit as st

from frozenlab.app.learn.chapters import BY_NAME, CHAPTERS, Chapter
from frozenlab.app.learn.records import class_named
from frozenlab.app.ui import nav
from frozenlab.app.views.lake.share import decode, encode
from frozenlab.lake.board import Board, BoardError

OWN = "boards"
"""The name of the chapter with the teacher's boards, and of the entry that holds them."""
TEACHERS = "Your teacher's boards"
"""What learners read there."""
MOST_BOARDS = 12
CLASS, PLAN, CHAPTER, DONE = nav.CLASS, "chapters", "chapter", "done"
"""Names of the other entries."""
LINK = (CLASS, PLAN, OWN)
"""What a teacher's link holds."""
_KEPT, _SEEN = "learn-address", "learn-address-seen"
"""Session-state entries: what the address holds, and whether it has held a chapter during this visit."""


@dataclass(frozen=True)
class Lesson:
    """A course as one link opens it."""

    class_name: str = ""
    boards: tuple[Board, ...] = ()
    chapters: tuple[Chapter, ...] = CHAPTERS
    """In the teacher's order."""


def keep() -> None:
    """Writes back what the address has lost since the reader left the course, and keeps what it holds now. Class, chapters and boards are
    one link: a link with any of them takes the place of all. A chapter that was solved stays solved. The chapter comes back only to
    those who come from another page: an address that has lost it since is where the browser's Back leads, to the first chapter."""
    kept: dict[str, str] = st.session_state.get(_KEPT, {})
    now = st.query_params.to_dict()
    if now.keys() & set(LINK):
        kept = {name: value for name, value in kept.items() if name not in LINK}
    solved = dict.fromkeys([*names_in(kept.get(DONE, "")), *names_in(now.get(DONE, ""))])
    whole = {name: value for name, value in (kept | now | {DONE: ".".join(solved)}).items() if value}
    seen = not nav.arrived() and st.session_state.get(_SEEN, False)
    st.session_state[_SEEN] = seen or CHAPTER in now
    for name in (*LINK, *(() if seen else (CHAPTER,)), DONE):
        if name in whole and whole[name] != now.get(name):
            st.query_params[name] = whole[name]
    note()


def note() -> None:
    """Keeps what the address holds."""
    now = st.query_params
    st.session_state[_KEPT] = {name: now[name] for name in (*LINK, CHAPTER, DONE) if name in now}


def names_in(text: str) -> list[str]:
    return [name for name in text.split(".") if name]


def lesson() -> Lesson:
    """Raises BoardError if the boards of the address cannot be read."""
    codes = names_in(st.query_params.get(OWN, ""))
    plan = chapters_in(st.query_params.get(PLAN, ""))
    return Lesson(class_named(st.query_params.get(CLASS, "")), tuple(map(decode, codes[:MOST_BOARDS])), plan)


def chapters_in(text: str) -> tuple[Chapter, ...]:
    """The chapters whose names are in an address; all of them if it names none."""
    return tuple(BY_NAME[name] for name in dict.fromkeys(names_in(text)) if name in BY_NAME) or CHAPTERS


def done() -> list[str]:
    """Names of the chapters whose exercise is solved."""
    return names_in(st.query_params.get(DONE, ""))


def solve(name: str) -> None:
    """Notes a solved exercise."""
    if name not in done():
        st.query_params[DONE] = ".".join([*done(), name])
        note()


def link(lesson: Lesson) -> str:
    """The teacher's link: the course for a class, with chapters and boards of the teacher's choice."""
    plan = "" if lesson.chapters == CHAPTERS else ".".join(chapter.name for chapter in lesson.chapters)
    entries = zip(LINK, (lesson.class_name, plan, ".".join(map(encode, lesson.boards))), strict=True)
    return nav.address("learn", **{name: value for name, value in entries if value})


def boards_in(text: str) -> tuple[Board, ...]:
    """The boards in a text: their codes, or links to Play, one a line. Raises BoardError for a line that holds no board, and for more than
    MOST_BOARDS."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        code = parse_qs(urlsplit(line).query).get("board", [line])[0]
        try:
            found.append(decode(code))
        except BoardError as error:
            raise BoardError(f"{line[:60]!r} holds no board: {error}. Copy the link of a board from the page Play") from None
    if len(found) > MOST_BOARDS:
        raise BoardError(f"{len(found)} boards are too many for a lesson: {MOST_BOARDS} at most")
    return tuple(found)
