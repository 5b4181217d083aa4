"""The board on the Play page, which the browser session keeps, and the places of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.play import choices
from frozenlab.app.ui import nav, theme
from frozenlab.app.views.lake import desk
from frozenlab.app.views.lake.share import LONGEST_ADDRESS, decode, encode
from frozenlab.app.views.lake.tracks import Recorded
from frozenlab.lake.board import Board, BoardError

state = st.session_state
SINGLE_MODEL, EVERY_STAGE, SEARCH, RECORDED = "Model", "Every stage", "Search", "Recorded"
"""Who plans."""
EVERY_STAGE_CODE = "stages"
"""EVERY_STAGE in the address."""
DESK = "play_desk"
"""The key of the board, on which the reader watches, plans and draws."""


def turn_to(mode: desk.Mode) -> None:
    """Switches what is done with the board."""
    state.play_mode, state.play_turn = mode, state.get("play_turn", 0) + 1


def look() -> None:
    """Brings the board into view, for a reader who has asked for something to see on it."""
    state.play_looks = state.get("play_looks", 0) + 1


def take_turn() -> None:
    """Keeps what the reader has switched to."""
    state.play_mode = desk.mode_of(DESK, state.play_turn) or state.play_mode
    state.play_switched = True


def load(board: Board) -> None:
    """Makes ``board`` the one on the page, and the one that the editor starts from."""
    state.play_board = state.play_base = board
    state.play_revision = state.get("play_revision", 0) + 1
    if board.size > desk.MOST_DRAWN and state.get("play_mode") == "draw":
        turn_to("watch")


def show(answer: Recorded) -> None:
    """Puts a recorded answer and its board on the page."""
    load(answer.board)
    state.play_recorded = answer
    state.play_planner = RECORDED
    turn_to("watch")


def take_address() -> str:
    """Loads the board of the address, or the first board where nothing else is on the page. Returns what is wrong with the address."""
    problem = ""
    if "play_mode" not in state:
        turn_to("watch")
    code = st.query_params.get("board")
    fresh = nav.arrived() or "play_board" not in state
    if fresh:
        take_choices()
    if fresh and code:
        try:
            load(decode(code))
        except BoardError as error:
            problem = f"The address holds no board: {error}. Here is another one."
    if "play_board" not in state:
        load(choices.FIRST_BOARD)
    return problem


def take_choices() -> None:
    """What the address says of who plans and of what the reader does with the board."""
    if (mode := st.query_params.get("mode")) in get_args(desk.Mode):
        turn_to(mode)  # type: ignore[arg-type]
    if st.query_params.get("plan") == EVERY_STAGE_CODE:
        state.play_planner, state.play_stages_asked = EVERY_STAGE, st.query_params.get("of")


def write_address(board: Board, stages_of: str | None) -> None:
    """The board, who plans (``stages_of``: the session all of whose stages do) and what the reader does.
    What is usual is left out, and a board that is too large for an address."""
    nav.put("board", code if len(code := encode(board)) <= LONGEST_ADDRESS else None)
    nav.put("mode", None if state.play_mode == "watch" else state.play_mode)
    nav.put("plan", EVERY_STAGE_CODE if stages_of else None)
    nav.put("of", stages_of)


@dataclass(frozen=True)
class Places:
    """Where the parts of the page go."""

    facts: DeltaGenerator
    actions: DeltaGenerator
    """Buttons that ask for another board or another plan; at the lower edge of a phone."""
    stage: DeltaGenerator
    below: DeltaGenerator
    """Under the player."""
    board: DeltaGenerator
    plan: DeltaGenerator


def lay_out() -> Places:
    presenting = state.get("presenter")
    with st.container(key="play_presented" if presenting else "play_bench"):
        controls, hero = theme.bench(1, 3)
    top = hero.container(horizontal=True, vertical_alignment="center", key="play_top")
    facts, actions = top.container(), top.container(horizontal=True, width="content", key="play_actions")
    stage = hero.container()
    board, plan = controls.columns(2, gap="large") if presenting else (controls, controls)
    return Places(facts, actions, stage, hero, board, plan)
