"""The frame of every page: the link to the view, keys that press buttons and the sheet that lists them, the message of a lost connection,
the report that a job is done, the buttons of figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import streamlit as st

from frozenlab.app.ui.components import FOCUS, NODES, component

_link = component(
    __file__,
    "link",
    '<button type="button" aria-label="Copy link to this view" title="Copy link to this view"></button><span role="status"></span>',
)
_keys = component(__file__, "keys", code=FOCUS)
_notice = component(__file__, "notice", '<button type="button" hidden></button>')
UNREACHABLE = {
    "title": "The lab's server does not answer",
    "text": "Training sessions continue without it, and nothing is lost. This page connects again by itself as soon as the server is "
    "back. If it has ended, start it again with frozenlab app.",
}
"""Shown in place of Streamlit's question about the internet."""
SHORTCUTS: dict[str, dict[str, str]] = {
    "Everywhere": {"?": "Show or hide this sheet"},
    "Boards that play": {
        "Space": "Play or pause",
        "← →": "One step back or on",
        "Home End": "To the first or the last step",
        "+ -": "Zoom in or out",
        "A": "Enter the number of an agent to show alone, in a large team",
        "C": "Show only the agents that break a rule, in a large team",
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
        "→ ↓ PgDn Space Enter": "The next scene, or the next part of this one",
        "← ↑ PgUp Backspace": "The part or the scene before",
        "Home End": "The first or the last scene",
        "0 to 9": "The scene with this number; 0 is the tenth",
        "R": "This scene again",
        "P": "Play by itself; any other key takes over",
        "F": "Full screen",
        "N": "Notes in a second window",
        "D": "Light or dark",
        "B": "Black screen, and back",
        "Escape": "Leave full screen, then the talk",
    },
}
"""Where a key works -> key -> what it does. One place for all pages; the components that listen name the same keys on their buttons."""
_sheet = component(__file__, "shortcuts", '<dialog aria-label="Keyboard shortcuts"></dialog>', code=FOCUS + NODES)
_unseen = {
    "connection": (component(__file__, "connection"), UNREACHABLE),
    "shortcuts": (_sheet, {"groups": SHORTCUTS}),
    "figure-data": (component(__file__, "figure_data"), {}),
}
"""What watches the connection, the sheet of shortcuts, and what gives every figure its buttons: container -> component and its data."""


def copy_link() -> None:
    """Draw the button. The address is read when it is pressed, with all that the page has written into it by then."""
    _link(key="copy-link", data={}, height="content", width="content")


def unseen_parts() -> None:
    """Draw the parts that take no room on a page. Called once per page, by its frame."""
    for name, (draw, data) in _unseen.items():
        with st.container(key=name):
            draw(key=f"frame-{name}", data=data)


def shortcuts(buttons: Mapping[str, str], *, key: str) -> None:
    """Let each key (a small letter) press the button with this ``key``, unless the focus is in a text input.

    Shift makes no difference. A key does nothing while its button is disabled or not on the page.
    """
    with st.container(key=f"keyboard-{key}"):
        _keys(key=key, data={"keys": dict(buttons)})


class DoneJob(TypedDict):
    """A job that has ended."""

    id: str
    title: str
    status: str


def notice(ended: Sequence[DoneJob], key: str) -> None:
    """Draw the button, and report the jobs in ``ended`` that this browser has not reported yet. The reader is asked nothing before the
    button is pressed."""
    _notice(key=key, data={"ended": list(ended)}, height="content", width="content")
