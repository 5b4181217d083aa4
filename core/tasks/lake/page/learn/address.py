"""What the address of the course holds: the chapter, the progress, the class, and the boards that a teacher has chosen."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import streamlit as st

from frozenlab.lake.board import Board, BoardError
from frozenlab.tasks.lake.view.share import decode
from frozenlab.ui import nav

OWN = "boards"
"""The name of the chapter with the teacher's boards, and of the entry that holds them."""
MOST_BOARDS = 12


@dataclass(frozen=True)
class Lesson:
    """A course as one link opens it."""

    class_name: str = ""
    boards: tuple[Board, ...] = ()


def lesson() -> Lesson:
    """Raises BoardError if the boards of the address cannot be read."""
    codes = [code for code in st.query_params.get(OWN, "").split(".") if code]
    return Lesson(st.query_params.get("class", ""), tuple(map(decode, codes[:MOST_BOARDS])))


def done() -> list[str]:
    """Names of the chapters whose exercise is solved."""
    return [name for name in st.query_params.get("done", "").split(".") if name]


def solve(name: str) -> None:
    """Notes a solved exercise."""
    if name not in done():
        st.query_params["done"] = ".".join([*done(), name])


def link(class_name: str, codes: list[str]) -> str:
    """The teacher's link: the course for a class, with boards of its own."""
    return nav.address(**{name: value for name, value in (("class", class_name), (OWN, ".".join(codes))) if value})


def codes_in(text: str) -> list[str]:
    """The codes of the boards in a text: codes, or links to Play, one a line. Raises BoardError for a line that holds no board, and for
    more than MOST_BOARDS."""
    codes = []
    for line in filter(None, map(str.strip, text.splitlines())):
        code = parse_qs(urlsplit(line).query).get("board", [line])[0]
        try:
            decode(code)
        except BoardError as error:
            raise BoardError(f"{line[:60]!r} holds no board: {error}. Copy the link of a board from the page Play") from None
        codes.append(code)
    if len(codes) > MOST_BOARDS:
        raise BoardError(f"{len(codes)} boards are too many for a lesson: {MOST_BOARDS} at most")
    return codes
