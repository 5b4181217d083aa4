"""The frame of every page: the link to the view, the sheet of shortcuts, the message of a lost connection, the buttons of figures."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui.components import FOCUS, NODES, text_of

_link = st.components.v2.component(
    "frozenlab_link",
    html='<button type="button" aria-label="Copy link to this view" title="Copy link to this view"></button><span role="status"></span>',
    css=text_of(__file__, "link.css"),
    js=text_of(__file__, "link.js"),
)
UNREACHABLE = {
    "title": "The lab's server does not answer",
    "text": "Training sessions continue without it, and nothing is lost. This page connects again by itself as soon as the server is "
    "back. If it has ended, start it again with frozenlab app.",
}
"""Shown in place of Streamlit's question about the internet."""
_connection = st.components.v2.component("frozenlab_connection", html="<span></span>", js=text_of(__file__, "connection.js"))
SHORTCUTS: dict[str, dict[str, str]] = {
    "Everywhere": {"?": "Show or hide this sheet"},
    "Boards that play": {
        "Space": "Play or pause",
        "← →": "One step back or on",
        "Home End": "To the first or the last step",
        "+ -": "Zoom in or out",
    },
    "Steering a team": {
        "← ↑ → ↓": "Move the chosen agent",
        "W": "Let it wait for a step",
        "0 to 9": "Choose an agent",
        "Backspace": "Take its last step back",
        "Ctrl+Z": "Undo",
        "Ctrl+Shift+Z Ctrl+Y": "Redo",
    },
    "Editing a board": {
        "← ↑ → ↓": "Go to a cell",
        "Space": "Paint it",
        "Enter": "Pick up a start or goal, and put it down",
        "Escape": "Leave it where it was",
        "Ctrl+Z": "Undo",
        "Ctrl+Shift+Z Ctrl+Y": "Redo",
    },
    "Conflict-Based Search": {
        "← →": "One step back or on",
        "Home End": "To the root or the end",
        "Enter Space": "Choose a node of the tree",
    },
    "Play": {"N": "Another board", "M": "Let the model plan"},
    "Home, Train, Story and Present": {"P": "Begin the talk"},
    "In a talk": {
        "?": "Show or hide these keys",
        "→ ↓ PgDn Space Enter": "The next scene",
        "← ↑ PgUp Backspace": "The scene before",
        "Home End": "The first or the last scene",
        "R": "This scene again",
        "F": "Full screen",
        "N": "Notes in a second window",
        "D": "Light or dark",
        "Escape": "Leave full screen, then the talk",
    },
}
"""Where a key works -> key -> what it does. One place for all pages; the components that listen name the same keys on their buttons."""
_shortcuts = st.components.v2.component(
    "frozenlab_shortcuts",
    html='<dialog aria-label="Keyboard shortcuts"></dialog>',
    css=text_of(__file__, "shortcuts.css"),
    js=FOCUS + NODES + text_of(__file__, "shortcuts.js"),
)
_figure_data = st.components.v2.component("frozenlab_figure_data", html="<span></span>", js=text_of(__file__, "figure_data.js"))


def copy_link() -> None:
    """Draw the button. The address is read when it is pressed, with all that the page has written into it by then."""
    _link(key="copy-link", data={}, height="content", width="content")


def connection() -> None:
    """Watch the connection. Called once per page, by its frame."""
    with st.container(key="connection"):
        _connection(key="connection-words", data=UNREACHABLE)


def shortcut_sheet() -> None:
    """Makes the sheet ready. Once a page, by the frame."""
    with st.container(key="shortcuts"):
        _shortcuts(key="shortcut-sheet", data={"groups": SHORTCUTS})


def figure_data() -> None:
    """Give every figure of the page its buttons. Called once per page, by its frame."""
    with st.container(key="figure-data"):
        _figure_data(key="figure-data-buttons", data={})
