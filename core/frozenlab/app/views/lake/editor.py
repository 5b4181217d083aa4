"""Drawing a board: paint holes, one-way ice and doors, drag starts and goals. A hand of the desk."""

from __future__ import annotations

from typing import Any

import streamlit as st

from frozenlab.app.ui.components import text_of
from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.board import MAX_SIDE, Board, BoardError, read_board
from frozenlab.lake.exits import DOORS

EDITOR_SIDES = (3, 10)
"""Smallest and largest side the editor offers; a larger board keeps its size."""
TOOLS = text_of(__file__, "editor.html")
STYLE = text_of(__file__, "editor.css")
CODE = text_of(__file__, "editor.js")
"""JavaScript; that of the player has to stand before it."""
TEMPLATES: dict[str, Board] = {
    "corridor": read_board("""
        H H H H H H H
        S g F F F G s
        H H H F H H H
    """),
    "swap": read_board("""
        g S s G
        F F F F
    """),
    "room": read_board("""
        S F F H F F g
        F F F H F F F
        F F F F F F F
        F F F H F F F
        s F F H F F G
    """),
    "roundabout": read_board("""
        H H S H H
        H F F F H
        s F H F G
        H F F F H
        H H g H H
    """),
    "bottleneck": read_board("""
        S F H H F g
        F F H H F G
        s F F F F a
        A F H H F F
    """),
}
"""Name -> board: two agents head on with one way to dodge; neighbours who swap; a door between two rooms; a ring; one way for three."""


def drawn_from(board: Board, revision: int, *, key: str, height: int, warning: str) -> dict[str, Any]:
    """What the browser's part takes, as for :func:`drawn`; ``height`` and ``warning`` as for the desk."""
    return {
        "base": base_of(board, revision),
        "board": drawing.plain_board(drawn(board, revision, key=key)),
        "sides": [EDITOR_SIDES[0], max(EDITOR_SIDES[1], board.height, board.width)],
        "doors": DOORS,
        "templates": {name: drawing.plain_board(template) for name, template in TEMPLATES.items()},
        "height": height,
        "warning": warning,
        "colors": drawing.COLORS,
    }


def drawn(board: Board, revision: int, *, key: str) -> Board:
    """What the reader has made of ``board`` by now.

    The browser holds the truth while it edits: late echoes of the script never undo a stroke. It takes ``board`` again when ``board`` or
    ``revision`` changes, so pass the board that was loaded, not the one this function returned; raise ``revision`` to reset.
    """
    edit = (st.session_state.get(key) or {}).get("edit") or {}
    return _read_edit(edit, base_of(board, revision)) or board


def base_of(board: Board, revision: int) -> str:
    """What a drawing was begun from."""
    return f"{revision}:{encode(board)}"


def _read_edit(edit: dict[str, Any], base: str) -> Board | None:
    """The board that the browser sent, or None if it belongs to another base or breaks the rules of a board."""
    if edit.get("base") != base or len(edit.get("rows", ())) > MAX_SIDE:
        return None
    try:
        return Board.from_dict({"map": edit["rows"], "agents": edit["agents"]})
    except (BoardError, KeyError):
        return None
