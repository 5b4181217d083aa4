"""Choosing the board: at random, from a session, or from a text or file. What the reader draws begins with it."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import allowances
from frozenlab.app.play import choices
from frozenlab.app.play.state import DESK, Places, load, look, show, state
from frozenlab.app.ui import nav
from frozenlab.app.ui.markup import plain
from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.desk import drawn
from frozenlab.app.views.lake.tracks import recorded
from frozenlab.base.errors import GenerationError, LabError
from frozenlab.engineer.sentences import capitalised
from frozenlab.lake.board import MAX_TEAM, Board
from frozenlab.lake.config import PAPER_SIZES
from frozenlab.lake.config_cell import LAYOUTS, MAX_AGENTS
from frozenlab.session.runs import by_name
from frozenlab.session.store import OFFERED, SessionStore
from frozenlab.tasks.lake.words import LAYOUT_WORDS, OUTCOMES

SOURCES = ("Random", "Session", "Import")
SOLVING = "Solving"
KINDS = {"any": None, "must wait": True, "need not wait": False}
BY_PEN = (
    "Press and drag over cells to **paint** what is chosen below the board: holes, one-way ice or doors. Painting the same again gives "
    "plain ice. **Drag** a disc (start) or a square (goal) to another cell. Keys: arrows, space to paint, enter to pick up and put down, "
    "**Ctrl+Z** to undo."
)
PASTED = "the text"
"""The name of what is pasted, where files have theirs."""


def choose_board(store: SessionStore, places: Places) -> Board:
    """The controls at the left, and the board."""
    with places.board:
        name = st.empty()
        source = st.segmented_control(
            "Where the board comes from", SOURCES, default=SOURCES[0], required=True, key="play_source", persist_state="session",
            label_visibility="collapsed", width="stretch", on_change=lambda: state.update(play_source_new=True),
        )  # fmt: skip
        hint, new = st.empty(), state.pop("play_source_new", False)
        if source == "Random":
            random_controls(places.actions, new)
        elif source == "Session":
            session_controls(store, new)
        else:
            import_controls()
    if draws := state.play_mode == "draw":
        state.play_board = drawn(state.play_base, state.play_revision, key=DESK)
    if state.play_base != state.play_board:
        state.play_by_hand = state.play_board
        if not draws:
            load(state.play_board)
    by_hand = state.get("play_by_hand") == state.play_board
    name.header("Board, drawn by hand" if by_hand else "Board", anchor=False, help=BY_PEN if draws else None)
    if source == "Random" and state.play_board != state.get("play_at_random", choices.FIRST_BOARD):
        hint.caption("What you turn here draws another board in its place.")
    return state.play_board


def random_controls(actions: DeltaGenerator, new: bool) -> None:
    """How a board is drawn; one that is ``new`` to the reader draws one at once."""

    def want() -> None:
        state.play_draw = True

    def another() -> None:
        state.play_seed += 1
        want()
        look()

    keep: dict[str, Any] = {"on_change": want, "persist_state": "session"}
    sizes, teams = st.columns(2)
    sizes.slider("Map size", PAPER_SIZES[0], PAPER_SIZES[-1], choices.FIRST_SIZE, key="play_size", help="Cells along each side", **keep)
    teams.slider("Agents", 1, MAX_AGENTS, choices.FIRST_TEAM, key="play_agents", **keep)
    holes, more = st.columns(2, vertical_alignment="bottom")
    holes.slider("Hole ratio", 0, 50, choices.FIRST_HOLES, format="%d %%", key="play_holes", help="Share of cells that are holes", **keep)
    with more.popover("More", width="stretch", help="Waits, layout and seed"):
        kind = st.selectbox(
            "Waits", KINDS, key="play_kind", help="Whether every plan of the fewest steps makes some agent wait for another", **keep
        )
        st.selectbox(
            "Layout", LAYOUTS, key="play_layout", help="  \n".join(f"**{name}**: {words}" for name, words in LAYOUT_WORDS.items()), **keep
        )
        st.number_input("Seed", 0, 2**31 - 1, choices.FIRST_SEED, key="play_seed", help="The same seed gives the same board", **keep)
    actions.button("Another board", on_click=another, key="play_another", help="Draws the board of the next seed. Key: N")
    if state.pop("play_draw", False) or new:
        draw_at_random(KINDS[kind])


def draw_at_random(needs_wait: bool | None) -> None:
    preparing.wait_for("solver", "boards")
    try:
        with st.spinner(SOLVING, show_time=True):
            allowances.spend(allowances.DRAWN, allowances.ONE_BY_ONE)
            holes, layout = state.play_holes / 100, state.play_layout
            load(choices.random_board(state.play_size, state.play_agents, holes, needs_wait, state.play_seed, layout).board)
            state.play_at_random = state.play_board
    except GenerationError as error:
        st.warning(plain(f"No such board: {error}"))
    except allowances.LimitError as error:
        st.warning(plain(f"No other board: {error}"))


def session_controls(store: SessionStore, new: bool) -> None:
    """A board that a session has validated, with the recorded answer; where they are ``new`` to the reader, one that was not solved."""
    sessions = by_name(store.sessions(OFFERED))
    if not sessions:
        st.info("No session has run yet.")
        st.page_link(nav.path("train"), label="Start one")
        return
    session = sessions[st.selectbox("Session", sessions, key="play_session", persist_state="session")]
    tables = choices.validations(session)
    if not tables:
        st.info("This session has not validated yet.")
        return
    of_session = st.container()
    with st.popover("Which boards", width="stretch"):
        left, right = st.columns(2)  # so low that it opens below its button
        label = left.selectbox("Validation", tables, key="play_validation")
        table = tables[label]
        teams, sizes = sorted(table["agents"].unique()), sorted(table["size"].unique())
        outcomes = [name for name in OUTCOMES if (table["outcome"] == name).any()]
        team = left.selectbox("Agents", ["all", *teams], key="play_filter_agents")
        size = right.selectbox("Map size", ["all", *sizes], key="play_filter_size")
        outcome = right.selectbox(
            "Outcome", ["all", *outcomes], key="play_filter_outcome",
            format_func=lambda name: OUTCOMES[name].label if name in OUTCOMES else name,
        )  # fmt: skip
    for column, wanted in (("agents", team), ("size", size), ("outcome", outcome)):
        if wanted != "all":
            table = table[table[column] == wanted]
    rows = {row["board_id"]: row for _, row in table.iterrows()}

    def pick() -> None:
        if state.play_row is not None:
            show(recorded(rows[state.play_row], f"{session.title}, {label}"))

    if new and rows:
        state.play_row = next((name for name, row in rows.items() if not row["valid"]), next(iter(rows)))
        pick()
    of_session.selectbox(
        f"Board (of {len(rows)})", rows, index=None, placeholder="Choose a board", key="play_row", on_change=pick,
        format_func=lambda name: f"{name} · {OUTCOMES[rows[name]['outcome']].label}",
    )  # fmt: skip


def import_controls() -> None:
    if not state.get("play_files"):
        st.text_area(
            "Text or JSON", height=220, max_chars=700_000, placeholder=f"For example:\n{choices.FIRST_BOARD.to_text()}", key="play_text",
            help="Rows of cells with spaces between them: F frozen, H hole, starts S s A B C, goals G g a b c. Or one JSON board.",
        )  # fmt: skip
        st.button("Use this board", on_click=lambda: bring({PASTED: state.play_text.encode()}), width="stretch")
        if state.get("play_paste_error"):
            st.error(plain(capitalised(state.play_paste_error.removeprefix(f"{PASTED}: ")) + "."))
    st.file_uploader(
        "Files", choices.UPLOADS, accept_multiple_files=True, key="play_files", on_change=bring_files, max_upload_size=8,
        help=f"Of FrozenLab, {', '.join(choices.EXPORTS.values())}. Where a file only names its map or scenario, add that file, too.",
    )  # fmt: skip
    if state.play_files:
        st.number_input(
            "Agents to take", 1, MAX_TEAM, None, placeholder="all", key="play_file_agents", on_change=bring_files,
            help="The first so many agents of the file. A MovingAI scenario lists a thousand, one a row",
        )  # fmt: skip
    name, found = state.get("play_brought") or ("", [])
    if len(found) > 1:
        st.selectbox(
            f"Board (of {len(found)})", range(len(found)), format_func=lambda i: found[i].name or f"number {i + 1}", key="play_entry",
            on_change=lambda: take(found[state.play_entry], name),
        )  # fmt: skip
    for note in found[state.play_entry or 0].notes if found else ():
        st.info(plain(note[0].upper() + note[1:] + "."))
    if state.get("play_files") and state.get("play_paste_error"):
        st.error(plain(state.play_paste_error))


def bring(files: dict[str, bytes], agents: int | None = None) -> None:
    """Puts the first board of some files on the page, or keeps the reason why not."""
    state.play_paste_error, state.play_brought, state.play_entry = "", None, 0
    try:
        allowances.spend(allowances.BROUGHT)
        state.play_brought = name, found = choices.bring(files, agents)
        take(found[0], name)
    except LabError as error:
        state.play_paste_error = str(error)


def bring_files() -> None:
    state.play_paste_error = ""
    if state.play_files:
        bring({file.name: file.getvalue() for file in state.play_files}, state.get("play_file_agents"))


def take(entry: choices.Entry, file_name: str) -> None:
    load(entry.board)
    if entry.plan is not None:
        show(choices.from_file(entry, file_name))
