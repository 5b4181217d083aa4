"""The rules of a board in words, with two plans on a board on which two agents must cross."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.tracks import Track
from frozenlab.lake.board import read_board
from frozenlab.lake.rules import judge, walk

CROSSING = read_board("F s F\nS F G\nF g F")
BEST = 3
"""Steps of the optimal plan on CROSSING."""


def crossing() -> None:
    """The rules next to a collision on CROSSING and the plan that avoids it."""
    words, boards = st.columns([1, 1.3], gap="large", vertical_alignment="center")
    words.markdown(
        "- Each agent (a disc) has a goal: the square with its number.\n"
        "- All agents move at the same time. In one step each goes to a neighbouring cell, or waits.\n"
        "- An agent on its goal stays there, and still blocks the cell.\n"
        "- On some boards cells have an *arrow*, the only way to leave them, or are a *door*, which opens only for the agent with its "
        "number.\n"
        "- A plan is **valid** if every agent ends on its goal and nothing below goes wrong. It is **optimal** if no valid plan has fewer "
        "steps; the exact solver proves that.\n\n"
        "On this board both agents want the cell in the middle. At the left they collide; at the right one of them waits for a step."
    )
    plans = (("both go at once", ("RR", "DD")), ("agent 1 waits", ("RR", "WDD")))
    tracks = [Track(label, walk(CROSSING, plan), judge(CROSSING, plan, BEST)) for label, plan in plans]
    with boards:
        board_player(CROSSING, tracks, key="help-board", height=260, autoplay=True)
