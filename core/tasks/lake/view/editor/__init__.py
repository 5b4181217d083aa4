"""The board editor: paint holes, one-way ice and doors, drag starts and goals."""

from __future__ import annotations

from typing import Any

import streamlit as st

from frozenlab.lake.board import MAX_SIDE, Board, BoardError
from frozenlab.tasks.lake.view import drawing
from frozenlab.tasks.lake.view.editor.templates import TEMPLATES
from frozenlab.tasks.lake.view.share import encode
from frozenlab.ui.components import text_of

EDITOR_SIDES = (3, 10)
"""Smallest and largest side the editor offers; a larger board keeps its size."""

_editor = st.components.v2.component(
    "frozenlab_editor",
    html=text_of(__file__, "editor.html"),
    css=drawing.STYLE + text_of(__file__, "editor.css"),
    js=drawing.CODE + text_of(__file__, "editor.js"),
)


def board_editor(board: Board, *, key: str, revision: int = 0, height: int = 460) -> Board:
    """An editor that starts from ``board``; returns the board as edited so far.

    The browser holds the truth while it edits: late echoes of the script never undo a stroke. It takes ``board`` again when ``board`` or
    ``revision`` changes, so pass the board that was loaded, not the one this function returned; raise ``revision`` to reset.
    """
    base = f"{revision}:{encode(board)}"
    edit = (st.session_state.get(key) or {}).get("edit") or {}
    current = _read_edit(edit, base) or board
    _editor(
        key=key,
        data={
            "base": base,
            "board": drawing.plain_board(current),
            "sides": [EDITOR_SIDES[0], max(EDITOR_SIDES[1], board.height, board.width)],
            "templates": {name: drawing.plain_board(template) for name, template in TEMPLATES.items()},
            "height": height,
            "colors": drawing.COLORS,
        },
        default={"edit": None},
        on_edit_change=lambda: None,
    )
    return current


def _read_edit(edit: dict[str, Any], base: str) -> Board | None:
    """The board that the browser sent, or None if it belongs to another base or breaks the rules of a board."""
    if edit.get("base") != base or len(edit.get("rows", ())) > MAX_SIDE:
        return None
    try:
        return Board.from_dict({"map": edit["rows"], "agents": edit["agents"]})
    except (BoardError, KeyError):
        return None
