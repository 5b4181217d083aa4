"""Small pictures of boards to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256

import streamlit as st

from frozenlab.app.ui.components import text_of
from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.board import Board

_gallery = st.components.v2.component(
    "frozenlab_gallery",
    html=text_of(__file__, "gallery.html"),
    css=text_of(__file__, "gallery.css"),
    js=drawing.CODE + text_of(__file__, "gallery.js"),
)


def board_gallery(
    boards: Sequence[tuple[Board, str]], *, key: str, size: int = 104, default: int = 0, on_pick: Callable[[int], None] | None = None
) -> int:
    """Small pictures of boards, each with a caption, to choose one from; returns the index of the chosen one.

    Args:
        boards: at least one board, with its caption.
        size: of each picture, in CSS pixels at a root size of 16 px.
        default: the board that is chosen at first, and again when other boards are shown.
        on_pick: called with the index of a clicked board, for a page that keeps the choice itself as ``default``.
    """
    codes = [[encode(board), caption] for board, caption in boards]
    batch = sha256(json.dumps(codes).encode()).hexdigest()[:16]
    picked = (st.session_state.get(key) or {}).get("picked") or {}
    index = picked.get("index") if picked.get("batch") == batch else None
    selected = index if on_pick is None and isinstance(index, int) and 0 <= index < len(boards) else default

    def picked_one() -> None:
        chosen = st.session_state[key]["picked"]
        if on_pick is not None and chosen["batch"] == batch and 0 <= int(chosen["index"]) < len(boards):
            on_pick(int(chosen["index"]))

    _gallery(
        key=key,
        data={
            "batch": batch,
            "items": [{"board": drawing.plain_board(board), "caption": caption} for board, caption in boards],
            "selected": selected,
            "size": size,
            "colors": drawing.COLORS,
        },
        default={"picked": None},
        on_picked_change=picked_one,
    )
    return selected
