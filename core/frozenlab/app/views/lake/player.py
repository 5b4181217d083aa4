"""The player: animates plans on a board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frozenlab.app.ui.components import FOCUS, registered, text_of
from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake.tracks import Track, margin_of, packed, plain_track
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths

SAVING = text_of(__file__, "save.js")
"""JavaScript: saves what a player shows."""
CODE = FOCUS + drawing.CODE + drawing.ENGINE + text_of(__file__, "zoom.js") + SAVING + text_of(__file__, "player.js")
HTML = text_of(__file__, "player.html")

_player = registered("player", html=HTML, css=drawing.STYLE, js=CODE + text_of(__file__, "player_component.js"))


def board_player(
    board: Board,
    tracks: Sequence[Track],
    *,
    key: str,
    ghost: Paths | None = None,
    height: int = 460,
    autoplay: bool = False,
    loop: bool = False,
    busy: str = "",
    axes: bool = False,
    tail: int | None = None,
) -> None:
    """Draws ``board`` once a track, side by side, and animates all of them under one timeline.

    The first fault of a track is ringed on the board, marked on the timeline and said in words; what follows it is drawn faint.

    Args:
        tracks: what to animate; without any, the board stands still with its agents on their starts.
        key: identity of this player; it keeps playing while the same key shows the same data.
        ghost: the optimal plan, which the reader can lay over every other plan.
        height: of each board at most, in CSS pixels at a root size of 16 px (it grows with presenter mode, and shrinks with the window).
        autoplay: starts when new data arrive (never for readers who asked for reduced motion).
        loop: every plan stops at its first fault, and all begin again after a pause.
        busy: what goes on just now, in words that stand over the boards.
        axes: whether the rows and columns are numbered.
        tail: steps that trails go back; None: to the start, if the team is small.
    """
    more = {"loop": loop, "busy": busy, "axes": axes, "tail": tail}
    _player(key=key, data=played(board, tracks, ghost=ghost, height=height, autoplay=autoplay) | more)


def played(
    board: Board, tracks: Sequence[Track], *, ghost: Paths | None = None, height: int = 460, autoplay: bool = False
) -> dict[str, Any]:
    """What the player takes, as for :func:`board_player`."""
    shown = [plain_track(board, track, short=len(tracks) > 1) for track in tracks or [Track("", None)]]
    everything = [path for paths in [*(track["paths"] for track in shown), ghost] if paths for path in paths]
    margin = margin_of(board, shown)
    for track in shown:
        track["paths"] = packed(track["paths"])
    return {
        "board": drawing.plain_board(board),
        "tracks": shown,
        "ghost": packed(ghost),
        "steps": max((len(path) - 1 for path in everything), default=0),
        "begin": 0,
        "margin": margin,
        "height": height,
        "autoplay": autoplay,
        "busy": "",
        "colors": drawing.COLORS,
    }
