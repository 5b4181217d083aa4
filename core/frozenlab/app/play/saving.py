"""One menu to take the board and its plans along: pictures, films, files of other tools, and the address."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.play import choices
from frozenlab.app.play.state import state
from frozenlab.app.ui import nav, theme
from frozenlab.app.ui.components import component
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake.pictures import board_gif, boards_svg
from frozenlab.app.views.lake.player import SAVING
from frozenlab.app.views.lake.share import LONGEST_ADDRESS, decode, encode
from frozenlab.app.views.lake.tracks import Track
from frozenlab.engineer.hosts import on_this_machine
from frozenlab.lake.board import Board, BoardError
from frozenlab.lake.config_cell import MAX_SIZE
from frozenlab.lake.formats import FORMATS
from frozenlab.lake.rules import Paths

_from_browser = component(
    __file__, "saving", '<div class="saving"><button type="button">PNG</button><button type="button"></button></div>', code=SAVING
)


def save_menu(board: Board, tracks: Sequence[Track], row: DeltaGenerator) -> None:
    """The board as it stands and its plans, to save and to share."""
    left, right = row.popover("Save and share", icon=":material/download:").columns([3, 2], gap="large")
    with left:
        pictures(board, tracks)
        files(board, tracks)
    with right:
        address(board)


def pictures(board: Board, tracks: Sequence[Track]) -> None:
    """What the browser shows, as a picture and a film, and all plans as a drawing and an animation."""
    st.markdown("**Picture and film**")
    row = st.container(horizontal=True)
    with row:
        _from_browser(key="play_saving", data={"film": bool(tracks) and state.play_mode != "draw"}, width="content", height="content")
    if tracks and board.size <= MAX_SIZE:
        colors = theme.palette()
        row.download_button("SVG", lambda: boards_svg(board, tracks, colors), "board.svg", "image/svg+xml", on_click="ignore")
        row.download_button("GIF", lambda: board_gif(board, tracks, colors), "board.gif", "image/gif", on_click="ignore")


def files(board: Board, tracks: Sequence[Track]) -> None:
    """The board for this lab and for the tools of others."""
    st.markdown("**File**")
    row = st.container(horizontal=True)
    row.download_button("JSON", lambda: json.dumps(board.to_dict()), "board.json", "application/json", on_click="ignore")
    if board.has_letters:
        row.download_button("Text", lambda: board.to_text() + "\n", "board.txt", "text/plain", on_click="ignore")
    name = st.selectbox("For a tool", choices.EXPORTS, format_func=choices.EXPORTS.__getitem__, key="play_export", persist_state="session")
    plans = {track.label: track.paths for track in tracks} if FORMATS[name].plans else {}
    paths = plans[st.selectbox("Plan", plans, key="play_export_plan")] if plans else None
    if board.size > MAX_SIZE and not st.button("Write the file", key="play_export_write", width="stretch"):
        return
    if board.is_furnished and not FORMATS[name].furnished:
        st.warning(f"The format *{FORMATS[name].title}* has no one-way ice and no doors, and this board has some. JSON keeps them.")
        return
    try:
        file_name, data = exported(encode(board), paths, name)
        st.download_button(f"Download {plain(file_name)}", lambda: data, file_name, on_click="ignore", width="stretch")
    except BoardError as error:
        st.warning(plain(f"Not for this board: {error}."))


@st.cache_data(max_entries=50, show_spinner=False)
def exported(code: str, paths: Paths | None, name: str) -> tuple[str, bytes]:
    return choices.export(decode(code), paths, name)


def address(board: Board) -> None:
    """A link that opens this board, and its QR code."""
    st.markdown("**Link to this board**")
    code = encode(board)
    if len(code) <= LONGEST_ADDRESS:
        nav.show_address(link := nav.address(board=code))
        if on_this_machine(link):
            st.caption("It opens on this machine only, so not on a phone.")
    else:
        st.write("This board is too large for a link. Save its JSON file instead: **Import** opens it.")
