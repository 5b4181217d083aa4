"""Present: a session as a talk, scene by scene over the whole screen."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from frozenlab.app.present.deck import deck, html_file, talk
from frozenlab.app.present.scenes import (
    LONGEST_NOTE,
    NAMES,
    PARTS,
    Preparation,
    Scene,
    TalkError,
    chosen,
    kept_scenes,
    prepare,
    prepared,
    recorded,
)
from frozenlab.app.ui import markup, nav, refusals, sessions, theme
from frozenlab.app.ui.components.keys import shortcuts
from frozenlab.app.ui.markup import plain
from frozenlab.session.session import Session
from frozenlab.session.store import OFFERED

LEAD = "A story in scenes, one per screen: what failed, what the model read and wrote, and what came of it."
PLAYS = "play"
"""The entry of the address that opens the deck."""


def page() -> None:
    """Choose a session and its scenes; then the deck."""
    head, picker = st.columns([2.4, 1], vertical_alignment="bottom")
    with head:
        theme.question("How do I show this in a talk?", LEAD)
    markup.styles()
    store = sessions.store()
    found = store.sessions(OFFERED)
    if not found:
        sessions.nothing_yet("No session has run yet.")
        return
    with picker:
        session = sessions.session_picker(found)
    shown, scenes, says = story(session, found)
    if not scenes:
        st.info(plain(f"{says} There is no recorded session to fall back to."))
        return
    if says:
        st.warning(plain(says))
    preparation = prepared(shown, store)
    data = talk(
        shown, list(chosen(scenes, list(preparation.scenes))), preparation.notes, says=says,
        leave=f"present?{urlencode({'session': session.address})}",
    )  # fmt: skip
    if st.query_params.get(PLAYS):
        deck(shown, data, key=f"deck-{shown.address}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Present", type="primary", icon=":material/play_circle:", key="present-go", on_click=begin, help="Key: P")
        st.download_button(
            "One HTML file", lambda: html_file(shown.spec.tasks, data | {"leave": None}), f"{shown.id}.html", "text/html",
            on_click="ignore", icon=":material/download:", help="Plays the whole talk without a server and without a network.",
        )  # fmt: skip
        st.page_link(nav.path("story"), label="Read the story instead", query_params={"session": shown.address})
    st.caption(
        "→ or space goes on, ← goes back, **F** fills the screen, **N** opens your notes in a second window, **D** turns light and dark, "
        "**Escape** leaves."
    )
    shortcuts({"p": "present-go"}, key="present-keys")
    form(shown, scenes, preparation)


def begin() -> None:
    st.query_params[PLAYS] = "1"


def story(session: Session, found: list[Session]) -> tuple[Session, list[Scene], str]:
    """The session that is shown, its scenes, and what to say if it is another: one that has no story, because it still trains, failed or
    was stopped, gives way to the newest recorded one."""
    try:
        return session, kept_scenes(session), ""
    except TalkError as reason:
        other = recorded(found)
        if other is None:
            return session, [], f"{reason}."
        says = f"{session.title} ({session.state().status}) has no story yet: this is the recorded session {other.id}."
        return other, kept_scenes(other), says


def form(session: Session, scenes: list[Scene], preparation: Preparation) -> None:
    """Which scenes, in which order, and what to say."""
    st.subheader("Your scenes and notes", anchor=False)
    how = "Tick what you want to show, number it in your order, and press a cell twice to write a note. All of it is kept at once."
    allowed = refusals.changes(how)
    st.caption(allowed["help"])
    key, begun = f"present-scenes-{session.address}", f"present-begun-{session.address}"
    if key not in st.session_state:  # the reader has just come: what is written from now on counts from these rows
        st.session_state[begun] = rows_of(scenes, preparation)
    edited = st.data_editor(
        st.session_state[begun], key=key, hide_index=True, width="stretch", column_order=("scene", "show", "place", "notes"),
        disabled=allowed["disabled"],
        column_config={
            "scene": st.column_config.TextColumn("Scene", disabled=True, width="medium"),
            "show": st.column_config.CheckboxColumn("Show", width="small"),
            "place": st.column_config.NumberColumn("Place", min_value=1, max_value=len(NAMES), step=1, width="small"),
            "notes": st.column_config.TextColumn("Notes, for your eyes only", max_chars=LONGEST_NOTE, width="large"),
        },
    )  # fmt: skip
    wanted = preparation_of(edited)
    if not wanted.scenes:
        st.warning("A talk needs a scene: tick one.")
    elif wanted != preparation and not allowed["disabled"]:
        prepare(session, sessions.store(), wanted)
        st.rerun()


def rows_of(scenes: list[Scene], preparation: Preparation) -> list[dict]:
    """A row for each scene that there is: those that are shown in their order, then the others."""
    there = {scene["name"] for scene in scenes}
    titles = {part.name: part.title for part in PARTS if part.name in there}
    order = [*(name for name in preparation.scenes if name in titles), *(name for name in titles if name not in preparation.scenes)]
    return [
        {
            "name": name,
            "scene": titles[name],
            "show": name in preparation.scenes,
            "place": place,
            "notes": preparation.notes.get(name, ""),
        }
        for place, name in enumerate(order, start=1)
    ]


def preparation_of(rows: list[dict]) -> Preparation:
    """The rows of the table, by place; equal places keep the table's order."""
    ordered = sorted(rows, key=lambda row: row["place"] or len(NAMES))
    shown = tuple(row["name"] for row in ordered if row["show"])
    return Preparation(scenes=shown, notes={row["name"]: row["notes"] for row in rows if row["notes"]})
