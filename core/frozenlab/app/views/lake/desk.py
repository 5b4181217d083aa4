"""The desk: one board that is watched, planned on by hand and drawn on, with a switch between the three."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import streamlit as st

from frozenlab.app.ui.components import registered, text_of
from frozenlab.app.views.lake import drawing, player, steer
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import Track
from frozenlab.lake.board import Board, BoardError, read_board
from frozenlab.lake.exits import DOORS
from frozenlab.lake.rules import Paths

Mode = Literal["watch", "plan", "draw"]
HTML = text_of(__file__, "desk.html").replace("PLAYER", player.HTML).replace("HAND", steer.BUTTONS)
HTML = HTML.replace("TOOLS", text_of(__file__, "editor.html"))
STYLE = drawing.STYLE + steer.STYLE + text_of(__file__, "editor.css", "desk.css")
CODE = player.CODE + steer.CODE + text_of(__file__, "editor.js", "desk.js")
EDITOR_SIDES = (3, 10)
"""Smallest and largest side the editor offers; a larger board keeps its size."""
MOST_DRAWN = 64
"""Sides of a board that can be drawn on: the editor has an element for each cell, which keyboard and screen reader go through."""
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

_desk = registered("desk", html=HTML, css=STYLE, js=CODE)


def board_desk(
    board: Board,
    tracks: Sequence[Track],
    *,
    key: str,
    mode: Mode,
    turn: int,
    on_mode: Callable[[], None],
    base: Board,
    revision: int,
    optimum: int | None = None,
    ghost: Paths | None = None,
    height: int = 460,
    autoplay: bool = False,
    busy: str = "",
    warning: str = "",
    looks: int = 0,
    rule: str = "",
) -> None:
    """Draws the board, for the reader to do with it what ``mode`` says, or what the switch on it says.

    :func:`frozenlab.app.views.lake.steer.steered` returns what the reader has planned, and
    :func:`drawn` what was drawn, with the same ``key``.

    Args:
        tracks, ghost, height, autoplay, busy: as for :func:`frozenlab.app.views.lake.player.board_player`.
        mode: what the script wants the reader to do; the browser's own choice counts until ``turn`` grows.
        on_mode: called when the reader has switched; :func:`mode_of` says to what.
        base, revision: what drawing began from, as for :func:`drawn`.
        optimum: the best makespan, which the score of the reader's plan is counted from; None if it is not known.
        warning: what is wrong with the board, shown over it while the reader draws.
        looks: how often the reader has asked for something to see; the window scrolls to the board when it grows.
        rule: what the first plan breaks, said below its fault; empty for nothing.
    """
    watch = player.played(board, tracks, ghost=ghost, height=height, autoplay=autoplay) | {"busy": busy, "asked": looks}
    watch["tracks"][0]["rule"] = rule
    _desk(
        key=key,
        data={
            "turn": turn,
            "mode": mode,
            "looks": looks,
            "watch": watch,
            "plan": steer.planned_on(board, optimum=optimum, ghost=ghost, height=height),
            "draw": drawn_from(base, revision, key=key, height=height, warning=warning) if board.size <= MOST_DRAWN else None,
            "drawable": MOST_DRAWN,
        },
        default={"mode": None, "plan": None, "edit": None},
        on_mode_change=on_mode,
        on_plan_change=lambda: None,
        on_edit_change=lambda: None,
    )


def mode_of(key: str, turn: int) -> Mode | None:
    """What the reader has switched to since ``turn``; None without a switch. Browsers can send anything."""
    sent: dict[str, Any] = (st.session_state.get(key) or {}).get("mode") or {}
    mode = sent.get("mode")
    return mode if sent.get("turn") == turn and mode in get_args(Mode) else None


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
    if edit.get("base") != base or len(edit.get("rows", ())) > MOST_DRAWN:
        return None
    try:
        return Board.from_dict({"map": edit["rows"], "agents": edit["agents"]})
    except (BoardError, KeyError):
        return None
