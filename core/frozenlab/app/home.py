"""Home: what FrozenLab is, and the sessions on this machine."""

from __future__ import annotations

from itertools import chain

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.experiment import RECORDED
from frozenlab.app.loop_picture import complete_stage, loop_picture
from frozenlab.app.present.scenes import FILM, ends_of, twin_of
from frozenlab.app.queue import queue_line
from frozenlab.app.session.cards import session_cards
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.keys import shortcuts
from frozenlab.app.ui.figures import overall
from frozenlab.app.ui.glossary import explained, glossary
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.numbers import board_by_board, counted, paired_change, percent
from frozenlab.engineer.engineers import who_is
from frozenlab.models.training.methods import BY_NAME
from frozenlab.session.session import Session
from frozenlab.session.state import PHASE_WORDS

LEAD = "A small language model learns to lead a team across a frozen lake, and after each stage redesigns what it trains on."
LISTED = 12
"""Sessions shown before the reader asks for more."""
MORE = 24
RECORDED_ABLATION = f"{RECORDED}sections"
SHOWN = "sessions_shown"
"""Session-state entry: how many sessions the reader has asked for."""


def page() -> None:
    """What the lab is, a session that shows it, and all sessions."""
    theme.question("Can a model design what it learns from?", LEAD)
    markup.styles()
    store = sessions.store()
    known = store.listed()
    found = store.sessions(st.session_state.get(SHOWN, LISTED), known)
    done = (session for session in found if session.state().status == "done")
    hero = next((session for session in chain(done, found) if complete_stage(session) is not None), None)
    doors(hero)
    shortcuts({"p": "door-story"}, key="home-keys")
    running = store.running(known)
    if running is not None:
        under_way(running)
    queue_line(store)
    if hero is not None:
        what_training_did(hero)
        st.header("One turn of the loop", anchor=False, help=f"Real numbers of the session {hero.id}.")
        loop_picture(hero, key="loop")
    if found:
        session_list(found, len(known))
    else:
        st.info("No session has run here yet. The quick session takes under three minutes on two cores and fills this page.")
    if hero is not None:
        sessions.problems(hero)
    sessions.unreadable(store)
    glossary()


def doors(hero: Session | None) -> None:
    """The four ways into the lab."""
    with st.container(key="doors"):
        watch, learn, run, study = st.columns(4)
    with door(watch, "Watch the story", "In two minutes: a model fails, trains, and changes what it trains on."):
        nav.button(
            "Watch it", "present", query={"session": hero.id, "play": FILM} if hero else None,
            key="door-story", icon=":material/play_circle:", type="primary", disabled=hero is None, help="Key: P",
        )  # fmt: skip
        nav.button("Prepare a talk", "present", key="door-talk", icon=":material/co_present:")
    with door(learn, "Learn and play", "Steer a team past holes and each other. From zero, alone or with a class."):
        nav.button("Begin the course", "learn", key="door-learn", icon=":material/school:")
        nav.button("Play a board", "play", key="door-play", icon=":material/sports_esports:")
    with door(run, "Run an experiment", "Train the model on this machine, and choose who designs its boards."):
        sessions.start_quick_button()
        nav.button("Set one up", "train", query={"new": "1"}, key="door-train", icon=":material/tune:")
    with door(study, "Take evidence away", "Hide failures from whoever designs the boards. Do they decide worse?"):
        nav.button("Start an ablation", "studies", query={"new": "1"}, key="door-ablation", icon=":material/rule:")
        nav.button("What came of it", "studies", query={"study": RECORDED_ABLATION}, key="door-studies", icon=":material/insights:")


def door(place: DeltaGenerator, title: str, what: str) -> DeltaGenerator:
    """A card with a title and a sentence; returns the row for its buttons."""
    card = place.container(border=True, height="stretch")
    card.header(title, anchor=False)
    card.markdown(what)
    return card.container(horizontal=True)


def under_way(session: Session) -> None:
    """A line about the session that runs now."""
    state = session.state()
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{markup.plain(session.title)}** is running: {PHASE_WORDS[state.phase]}, {percent(state.progress)} done.")
        sessions.alarm_badges(state.alarms)
        st.page_link(nav.path("train"), label="Watch its curves", query_params={"session": session.id})


def what_training_did(session: Session) -> None:
    """What training did: one large number, and a board that shows it."""
    stages = [stage for stage in range(session.spec.stages) if session.results(stage) is not None]
    before, after = session.results(None), session.results(stages[-1]) if stages else None
    if before is None or after is None:
        return
    was, now, change = overall(before), overall(after), board_by_board(before, after)
    plural = f"{counted(len(stages), 'stage')} of training"
    intervals = f"95 % intervals {was.percents} and {now.percents}, n = {now.n} {session.results_from}."
    words, boards = st.columns([1, 1.5], gap="large", vertical_alignment="center")
    with words:
        st.html(
            f'<p class="fl-note">Boards that the model solves, before and after {plural}</p>'
            f'<p class="fl-big">{was.percent}<span class="arrow">→</span><span class="to">{now.percent}</span></p>'
            f'<p class="fl-note">{explained(f"{intervals} {change.sentence}")}</p>'
        )
        seconds = session.state().took
        took = f" in {sessions.duration(seconds)}" if seconds is not None else ""
        proposals = [proposal for stage in stages if (proposal := session.proposal(stage)) is not None]
        rewrites = sum(bool(proposal.changes) for proposal in proposals)
        engineer = "it" if session.spec.engineer.kind == "policy" else who_is(session.spec.engineer.kind)
        st.markdown(
            f"In multi-agent path finding (MAPF) several agents cross a board at once and never meet. The model was "
            f"{BY_NAME[session.spec.training.method].learned}{took}, "
            f"and after {rewrites} of {len(proposals)} stages **{engineer} rewrote the environment it trains on**.{beside_twin(session)}"
        )
        with st.container(horizontal=True):
            nav.button("Read its story", "story", query={"session": session.id}, key="story", icon=":material/menu_book:")
            nav.button("Watch the curves", "train", query={"session": session.id}, key="curves", icon=":material/show_chart:")
    with boards:
        view = view_of(session.spec.tasks)
        if (turned := view.turned(session)) is not None:
            first, last, stage = turned
            shown = [Shown(first, "before training"), Shown(last, f"after stage {stage}")]
            view.play(shown, key="home-board", height=300, autoplay=True)


def beside_twin(session: Session) -> str:
    """A sentence about its twin, which kept its config: whether it was the redesign. Empty without one."""
    if (twin := twin_of(session)) is None:
        return ""
    other, own = ends_of(twin)[1], ends_of(session)[1]
    gain = paired_change(other, own)
    said = "which is clear of chance on these boards" if gain.clear else "which chance can explain"
    return f" A twin that kept its config, with the same seed and steps, ends at {overall(other).percent}: {gain.points}, {said}."


def session_list(found: list[Session], total: int) -> None:
    """Those of ``found``, the newest, and a button for more of the ``total``."""
    st.header("Sessions on this machine", anchor=False)
    shown = found[: st.session_state.get(SHOWN, LISTED)]
    session_cards(shown)
    if total > len(shown) and st.button(f"Show {min(MORE, total - len(shown))} more of {total:,}", key="show-more"):
        st.session_state[SHOWN] = len(shown) + MORE
        st.rerun()
