"""Watching the plans, and taking them elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.play import choices
from frozenlab.app.play.board_controls import SOLVING
from frozenlab.app.play.planner import Planned, PlannedAnswer
from frozenlab.app.play.state import DESK, state, take_turn
from frozenlab.app.ui import nav, theme
from frozenlab.app.ui.markup import plain
from frozenlab.app.ui.qr import qr_code
from frozenlab.app.views.lake.desk import board_desk
from frozenlab.app.views.lake.pictures import board_gif, board_svg
from frozenlab.app.views.lake.share import decode, encode
from frozenlab.app.views.lake.tracks import Track
from frozenlab.lake.board import START_LETTERS, Board, BoardError
from frozenlab.lake.formats import FORMATS
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.solvers.solver import Solution
from frozenlab.tasks.lake.words import OUTCOMES

FIRST_PLAN = "The model plans"


def show_board(board: Board, tracks: Sequence[Track], planned: Planned, solution: Solution | None, warning: str) -> None:
    """The board to watch, plan and draw on, with all plans under one timeline, and a choice among several answers."""
    busy = SOLVING if solution is None else FIRST_PLAN if planned.request else ""
    board_desk(
        board,
        tracks,
        key=DESK,
        mode=state.play_mode,
        turn=state.play_turn,
        on_mode=take_turn,
        base=state.play_base,
        revision=state.play_revision,
        optimum=solution.makespan if solution else None,
        ghost=walk(board, solution.plan) if solution is not None and solution.plan else None,
        height=600,
        autoplay=len(tracks) > 1 and not busy,
        busy=busy,
        warning=warning,
    )
    if len(planned.answers) > 1 and state.play_mode == "watch":
        choose_answer(planned.answers)


def choose_answer(answers: Sequence[PlannedAnswer]) -> None:
    valid, best = sum(answer.verdict.valid for answer in answers), sum(bool(answer.verdict.optimal) for answer in answers)
    signs = ["★" if answer.verdict.optimal else "✓" if answer.verdict.valid else "✗" for answer in answers]
    st.segmented_control(
        f"{valid} of {len(answers)} answers are valid (✓), {best} optimal (★). Choose one to watch:",
        range(len(answers)), format_func=lambda i: f"{i + 1} {signs[i]}", key="play_chosen", required=True,
    )  # fmt: skip


def broken_rule(tracks: Sequence[Track]) -> None:
    """The rule behind the first fault of the first plan."""
    first = tracks[0].verdict if tracks else None
    if first is not None and first.fault is not None:
        st.caption(f"**The rule.** {OUTCOMES[first.fault].rule}")


def take_along(board: Board, tracks: Sequence[Track], row: DeltaGenerator) -> None:
    """The address of the board, and the board and its plans as files."""
    code = encode(board)
    with row.popover("Share"):
        st.write("This address opens this board:")
        address = nav.address(board=code)
        st.code(address, language=None, wrap_lines=True)
        qr_code(address)
    row.download_button("JSON", lambda: json.dumps(board.to_dict()), "board.json", "application/json", on_click="ignore")
    if board.num_agents <= len(START_LETTERS):
        row.download_button("Text", lambda: board.to_text() + "\n", "board.txt", "text/plain", on_click="ignore")
    with row.popover("Export"):
        export_controls(board, tracks)
    if tracks:
        colors = theme.palette()
        row.download_button(
            "SVG", lambda: board_svg(board, tracks[0].paths, size=600, colors=colors), "board.svg", "image/svg+xml", on_click="ignore"
        )
        row.download_button("GIF", lambda: board_gif(board, tracks, colors), "plans.gif", "image/gif", on_click="ignore")


def export_controls(board: Board, tracks: Sequence[Track]) -> None:
    name = st.selectbox("For", choices.EXPORTS, format_func=choices.EXPORTS.__getitem__, key="play_export", persist_state="session")
    plans = {track.label: track.paths for track in tracks} if FORMATS[name].plans else {}
    paths = plans[st.selectbox("Plan", plans, key="play_export_plan")] if plans else None
    try:
        file_name, data = exported(encode(board), paths, name)
        st.download_button(f"Download {plain(file_name)}", lambda: data, file_name, on_click="ignore", width="stretch")
    except BoardError as error:
        st.warning(plain(f"Not for this board: {error}"))


@st.cache_data(max_entries=50, show_spinner=False)
def exported(code: str, paths: Paths | None, name: str) -> tuple[str, bytes]:
    return choices.export(decode(code), paths, name)


def raw_answer(completion: str | None) -> None:
    if completion is not None:
        with st.expander("The model's answer, to the letter"):
            st.code(completion or "(empty)", language=None, wrap_lines=True)
