"""The desk: one board that is watched, planned on by hand and drawn on, with a switch between the three."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import streamlit as st

from frozenlab.app.ui.components import text_of
from frozenlab.app.views.lake import drawing, editor, player, steer
from frozenlab.app.views.lake.tracks import Track
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths

Mode = Literal["watch", "plan", "draw"]
HTML = text_of(__file__, "desk.html").replace("PLAYER", player.HTML).replace("HAND", steer.BUTTONS).replace("TOOLS", editor.TOOLS)
STYLE = drawing.STYLE + steer.STYLE + editor.STYLE + text_of(__file__, "desk.css")
CODE = player.CODE + steer.CODE + editor.CODE + text_of(__file__, "desk.js")

_desk = st.components.v2.component("frozenlab_desk", html=HTML, css=STYLE, js=CODE)


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
) -> None:
    """Draws the board, for the reader to do with it what ``mode`` says, or what the switch on it says.

    :func:`frozenlab.app.views.lake.steer.steered` returns what the reader has planned, and
    :func:`frozenlab.app.views.lake.editor.drawn` what was drawn, with the same ``key``.

    Args:
        tracks, ghost, height, autoplay, busy: as for :func:`frozenlab.app.views.lake.player.board_player`.
        mode: what the script wants the reader to do; the browser's own choice counts until ``turn`` grows.
        on_mode: called when the reader has switched; :func:`mode_of` says to what.
        base, revision: what drawing began from, as for :func:`frozenlab.app.views.lake.editor.drawn`.
        optimum: the best makespan, which the score of the reader's plan is counted from; None if it is not known.
        warning: what is wrong with the board, shown over it while the reader draws.
    """
    _desk(
        key=key,
        data={
            "turn": turn,
            "mode": mode,
            "watch": player.played(board, tracks, ghost=ghost, height=height, autoplay=autoplay) | {"busy": busy},
            "plan": steer.planned_on(board, optimum=optimum, ghost=ghost, height=height),
            "draw": editor.drawn_from(base, revision, key=key, height=height, warning=warning),
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
