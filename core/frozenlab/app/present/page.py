"""Present: a session as a talk, scene by scene over the whole screen."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from frozenlab.app.present.deck import deck, html_file, talk
from frozenlab.app.present.scenes import (
    KEPT,
    LIVE,
    NAMES,
    QUESTION,
    REHEARSE,
    SHOWN,
    USUAL,
    Preparation,
    Scene,
    TalkError,
    chosen,
    ends_of,
    judged_stages,
    live_scene,
    prepare,
    prepared,
    recorded,
    scenes_for,
)
from frozenlab.app.present.strip import film_strip
from frozenlab.app.ui import live, nav, refusals, sessions, theme
from frozenlab.app.ui.components.frame import shortcuts
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.markup import plain
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import Shown, turned_tasks
from frozenlab.app.views.views import view_of
from frozenlab.engineer.hosts import on_this_machine
from frozenlab.session.session import Session
from frozenlab.session.store import OFFERED
from frozenlab.tasks.families import cell_label

LEAD = "A story in scenes, one per screen: a board that fails, what the model read and wrote, and what happened."
PLAYS = "play"
"""The entry of the address that opens the deck, and says how."""
CUTS = {
    2: ("opening", "tries", "failed", "wrote", "solved", "whole", "models", "closing"),
    5: USUAL,
    10: NAMES,
}
"""Ready-made choices of scenes, by the minutes that they take."""
MOST_BOARDS = 100
ERROR = "talk_error"
AGAIN = "talk_again"
"""How often the standard talk was taken again: a new film strip shows it."""


def page() -> None:
    """Choose a session and its scenes; then the deck."""
    head, picker = st.columns([2.4, 1], vertical_alignment="bottom")
    with head:
        theme.question("How do I show this in a talk?", LEAD)
    store = sessions.store()
    found = store.sessions(OFFERED)
    if not found:
        sessions.nothing_yet("No session has run yet.")
        return
    asked = st.query_params.get("session")
    with picker:
        session = sessions.session_picker(found)
    missed = asked is not None and st.query_params["session"] != asked  # the picker says so too, but a deck lies over it
    if st.query_params.get(PLAYS) == LIVE:
        st.fragment(show_live)(session, found)
        return
    if session.state().live:
        st.button("Show it live", type="primary", icon=":material/podcasts:", key="present-live", on_click=begin, args=(LIVE,))
    shown, scenes, says = told(session, found)
    if shown is None:
        st.info(plain(f"{says} There is no recorded session to fall back to."))
        return
    if says:
        st.warning(plain(says))
    preparation = prepared(shown, store)
    how = st.query_params.get(PLAYS, "")
    if how and missed:
        says = f"There is no session of that name here: this is {shown.title}."
    data = talk(
        shown, chosen(scenes, preparation.scenes), preparation.notes, says=says,
        leave=leave(session), ways=ways(scenes), play=page_of_play(), how=how, minutes=preparation.minutes,
    )  # fmt: skip
    if how:
        deck(shown, data, key=f"deck-{shown.address}")
        return
    actions(shown, data, preparation, next((one for one in found if one.state().live), None))
    form(shown, scenes, preparation)


def actions(session: Session, data: dict[str, Any], preparation: Preparation, training: Session | None) -> None:
    """What can be done with the talk.

    Args:
        training: a session that can be shown live.
    """
    allowed = refusals.changes()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Present", type="primary", icon=":material/play_circle:", key="present-go", on_click=begin, args=(SHOWN,), help="Key: P")
        st.button(
            "Rehearse", icon=":material/timer:", key="present-rehearse", on_click=begin, args=(REHEARSE,),
            help="The same, and the time of each scene is kept in this browser.",
        )  # fmt: skip
        st.download_button(
            "One HTML file", lambda: html_file(session.spec.tasks, data | {"leave": None, "ways": {}, "alone": False, "rehearses": False}),
            f"{session.id}.html", "text/html",
            on_click="ignore", icon=":material/download:", help="Plays the whole talk without a server and without a network.",
        )  # fmt: skip
        with st.popover("Title, change, board", icon=":material/tune:"):
            about(session, preparation, fixed=allowed["disabled"])
        if preparation != Preparation():
            icon = ":material/restart_alt:"
            st.button("Back to the standard talk", icon=icon, key="present-standard", on_click=standard, args=(session,), **allowed)
        st.page_link(nav.path("story"), label="Read the story instead", query_params={"session": session.address})
        page, parts = ("train", {}) if training is None else ("present", {"session": training.address, PLAYS: LIVE})
        says = "None trains now: start one here, then come back." if training is None else training.title
        st.page_link(nav.path(page), label="Show a training session live", query_params=parts, help=says)
    shortcuts({"p": "present-go"}, key="present-keys")


def leave(session: Session) -> str:
    """The address that Escape leads to."""
    return f"present?{urlencode({'session': session.address})}"


def ways(scenes: list[Scene]) -> dict[str, str]:
    """Where a film leads at its end."""
    plays: dict[str, str] = next((scene["plays"] for scene in scenes if scene.get("plays")), {})
    return ({"Play this board": f"play?{urlencode(plays)}"} if plays else {}) | {"Begin the course": "learn"}


def page_of_play() -> str:
    """The address of Play, where other machines reach this server; empty where only this one does."""
    here = (st.context.url or "").split("?")[0]
    return f"{here.rpartition('/')[0]}/play" if here and not on_this_machine(here) else ""


def begin(how: str) -> None:
    st.query_params[PLAYS] = how


def show_live(session: Session, found: list[Session]) -> None:
    """A session that trains on one screen, which follows it. Until it has a plan of its own, one that failed before a recorded training is
    shown."""
    live.keep_current(session)
    state = session.state()
    scene = live_scene(session) | {"sentence": live.at_work(session, state)}
    if scene.get("boards") == [] and (other := recorded(found)) is not None:
        view = view_of(other.spec.tasks)
        if (turned := view.turned(other)) is not None:
            scene |= {"boards": [view.plain([Shown(turned[0], "recorded, untrained")])]}
    deck(session, talk(session, [scene], {}, leave=leave(session)), key=f"live-deck-{session.address}")


def told(session: Session, found: list[Session]) -> tuple[Session | None, list[Scene], str]:
    """The session whose story is told, its scenes, and what to say if it is another one: one that has no story, because it still trains,
    failed or was stopped, gives way to the newest recorded one. None: there is none either."""
    try:
        return session, scenes_for(session, prepared(session, sessions.store())), ""
    except TalkError as reason:
        other = recorded(found)
        if other is None:
            return None, [], f"{reason}."
        says = f"{session.title} ({session.state().status}) has no story yet: this is {other.title}, which is recorded."
        return other, scenes_for(other, prepared(other, sessions.store())), says


def form(session: Session, scenes: list[Scene], preparation: Preparation) -> None:
    """Which scenes the talk has, in which order, and what to say."""
    allowed = refusals.changes()
    if allowed["disabled"]:
        st.caption(allowed["help"])
    refusals.show_reason(ERROR)
    key = f"present-strip-{session.address}-{st.session_state.get(AGAIN, 0)}"

    def take() -> None:
        decided = st.session_state[key].prepared
        keep(session, {name: decided[name] for name in ("scenes", "notes", "minutes", "own")})

    if not preparation.scenes:
        st.warning("A talk needs a scene: tick one.")
    film_strip(
        session,
        scenes,
        preparation.scenes,
        preparation.notes,
        preparation.minutes,
        CUTS,
        fixed=allowed["disabled"],
        key=key,
        on_change=take,
    )
    twin(session, next((scene["twin"] for scene in scenes if "twin" in scene), None))
    st.caption(
        "What you change is kept for this session, for everybody who shows it. In a talk → or space goes on, ← goes back, **P** plays by "
        "itself, **F** fills the screen, **N** opens your notes in a second window, **D** turns light and dark, **B** blackens the screen, "
        "a digit leads to that scene, **?** shows all keys, **Escape** leaves."
    )


def about(session: Session, preparation: Preparation, *, fixed: bool) -> None:
    """The title, the change that the talk is about, and the board that it begins and ends with."""
    title, of_stage, of_board = (f"present-{what}-{session.address}" for what in ("title", "stage", "board"))
    st.session_state.setdefault(title, preparation.title)
    st.text_input(
        "Title", key=title, max_chars=200, placeholder=QUESTION, disabled=fixed,
        on_change=lambda: keep(session, {"title": st.session_state[title]}),
    )  # fmt: skip
    stages = judged_stages(session)
    if len(stages) > 1:
        st.session_state.setdefault(of_stage, preparation.stage if preparation.stage in stages else stages[0])
        st.selectbox(
            "The change", stages, key=of_stage, format_func=lambda stage: f"proposed after {stage_name(stage).lower()}", disabled=fixed,
            on_change=lambda: keep(session, {"stage": st.session_state[of_stage]}),
        )  # fmt: skip
    boards = once(lambda: boards_of(session), "talk boards", session.revision())
    if len(boards) > 1:
        st.session_state.setdefault(of_board, preparation.board if preparation.board in boards else "")
        st.selectbox(
            "The board", ["", *boards], key=of_board, format_func=lambda one: boards.get(one, "the one that shows most"), disabled=fixed,
            help="It fails before training and is solved in the end.",
            on_change=lambda: keep(session, {"board": st.session_state[of_board]}),
        )  # fmt: skip


def boards_of(session: Session) -> dict[str, str]:
    """The boards that the session fails on before training and solves in the end: id -> what to call one."""
    before, after = ends_of(session)
    cells = dict(zip(before["board_id"], before["config_cell"], strict=True))
    return {name: f"{cell_label(str(cells[name]))} · {name}" for name in turned_tasks(before, after)[:MOST_BOARDS]}


def twin(session: Session, name: str | None) -> None:
    """The session of this id, which kept its config and answers whether it was the redesign; None: the way to one."""
    if name is not None:
        st.caption(
            f"Its twin that kept its config, for the scene *Was it the redesign?*: {plain(sessions.store().open(name).title)} · `{name}`"
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            "Would it have learned as much without the engineer? A twin with the same seed and steps, which keeps its config, answers that."
        )
        if st.button("Run the twin", key="present-twin", icon=":material/call_split:", **refusals.changes()):
            sessions.start([session.spec.changed(engineer=KEPT, title=f"{session.spec.title or session.id}, config kept"[:120])])


def standard(session: Session) -> None:
    """Takes the standard talk again; for callbacks."""
    keep(session, Preparation().model_dump())
    for what in ("title", "stage", "board"):
        st.session_state.pop(f"present-{what}-{session.address}", None)
    st.session_state[AGAIN] = st.session_state.get(AGAIN, 0) + 1


def keep(session: Session, changes: dict[str, Any]) -> None:
    """Keeps what was decided; for callbacks."""
    store = sessions.store()
    try:
        prepare(session, store, Preparation.model_validate(prepared(session, store).model_dump() | changes))
    except (ValueError, OSError) as error:
        st.session_state[ERROR] = f"Not kept: {error}."
