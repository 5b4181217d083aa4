"""Home: what FrozenLab is, and the sessions on this machine as cards, with a board that each learnt to solve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from itertools import zip_longest
from typing import Any
from urllib.parse import quote

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.experiment import RECORDED
from frozenlab.app.loop_picture import loop_picture, with_a_turn
from frozenlab.app.present.scenes import FILM, ends_of, twin_of
from frozenlab.app.queue import queue_line
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.frame import shortcuts
from frozenlab.app.ui.components.timeline import rates_by_stage, stage_name
from frozenlab.app.ui.figures import overall
from frozenlab.app.ui.glossary import explained, glossary
from frozenlab.app.ui.once import once
from frozenlab.app.ui.theme import Palette
from frozenlab.app.views.lake.pictures import board_svg
from frozenlab.app.views.lake.tracks import showcase
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.numbers import Interval, board_by_board, counted, paired_change, percent, unbroken
from frozenlab.engineer.engineers import who_is
from frozenlab.lake.board import Board
from frozenlab.models.training.methods import BY_NAME
from frozenlab.session.session import Session
from frozenlab.session.state import PHASE_WORDS, State
from frozenlab.tasks.lake.family import LAKE

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
    store = sessions.store()
    known = store.listed()
    found = store.sessions(st.session_state.get(SHOWN, LISTED), known)
    hero = with_a_turn(found)
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
    intervals = f"95 % intervals {was.percents} and {now.percents}, n = {now.n:,} {session.results_from}."
    words, boards = st.columns([1, 1.5], gap="large")
    with words:
        st.html(
            f'<p class="fl-note">Boards that the model solves, before and after {plural}</p>'
            f'<p class="fl-big"><span>{was.percent}</span><wbr><span class="arrow">→</span><span class="to">{now.percent}</span></p>'
            f'<p class="fl-note">{explained(f"{intervals} {change.sentence}")}</p>'
        )
        seconds = session.state().took
        took = f" in {sessions.duration(seconds)}" if seconds is not None else ""
        proposals = [proposal for stage in stages[:-1] if (proposal := session.proposal(stage)) is not None]
        rewrites = sum(bool(proposal.changes) for proposal in proposals)
        engineer = "it" if session.spec.engineer.kind == "policy" else who_is(session.spec.engineer.kind)
        st.markdown(
            f"In multi-agent path finding (MAPF) several agents cross a board at once and never meet. The model was "
            f"{BY_NAME[session.spec.training.method].learned}{took}, "
            f"and between stages **{engineer} rewrote the environment it trains on**, {rewrites} of {len(proposals)} times."
            f"{beside_twin(session)}"
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
    ended = unbroken(overall(other).percent)
    gain = paired_change(other, own)
    said = "which is clear of chance on these boards" if gain.clear else "which chance can explain"
    return f" A twin that kept its config, with the same seed and steps, ends at {ended}: {gain.points}, {said}."


def session_list(found: list[Session], total: int) -> None:
    """Those of ``found``, the newest, and a button for more of the ``total``."""
    st.header("Sessions on this machine", anchor=False)
    shown = found[: st.session_state.get(SHOWN, LISTED)]
    session_cards(shown)
    if total > len(shown) and st.button(f"Show {min(MORE, total - len(shown))} more of {total:,}", key="show-more"):
        st.session_state[SHOWN] = len(shown) + MORE
        st.rerun()


A_ROW = 4
"""Cards side by side."""
BOARD_SIDE = 96  # pixels
LINE = (150, 44)
"""Width and height of the picture of the rates, in pixels."""
EDGE = 5  # pixels, so that points and bars are seen whole


def session_cards(found: Sequence[Session]) -> None:
    """A card for each session, in rows, which a narrow screen shows one below the other. A place that is left is for the next session."""
    with st.container(key="session-cards"):
        for start in range(0, len(found), A_ROW):
            for session, place in zip_longest(found[start : start + A_ROW], st.columns(A_ROW)):
                with place.container(border=True, height="stretch", gap="small"):
                    session_card(session) if session else next_card()
                if session is None:
                    return


def next_card() -> None:
    """Where the reader's own session will stand."""
    st.markdown("**A session of your own**")
    st.caption("Choose what the model practises first, and who decides what comes next.")
    st.space("stretch")
    st.page_link(nav.path("train"), label="New session", icon=":material/tune:", query_params={"new": "1"})


def session_card(session: Session) -> None:
    state = session.state()
    st.markdown(f"**{markup.plain(session.title)}**")
    words, color, _ = sessions.status_look(session, state)
    began = sessions.ago(session.created).replace(" ", "\N{NO-BREAK SPACE}")
    st.caption(f"{markup.plain(sessions.set_up(session.spec))} · {began} :{color}-badge[{words}]")
    rates = rates_by_stage(state)
    if rates:
        st.html(f'<div class="fl-card">{board_picture(session, rates)}<div>{result(session, rates)}</div></div>')
    else:
        st.caption("no results yet")
    if state.live:
        phase_line(state)
    st.space("stretch")  # the ways on stand at the foot of all cards of a row
    of_it: dict[str, Any] = dict(query_params={"session": session.id}, help=f"Session {session.id}")
    with st.container(horizontal=True):
        if rates:
            st.page_link(nav.path("story"), label="Story", icon=":material/menu_book:", **of_it)
        st.page_link(nav.path("train"), label="Curves", icon=":material/show_chart:", **of_it)


def phase_line(state: State) -> None:
    with st.container(horizontal=True):
        st.caption(f"{PHASE_WORDS[state.phase]}, {percent(state.progress)}", width="content")
        sessions.alarm_badges(state.alarms)


def result(session: Session, rates: Mapping[int | None, Interval]) -> str:
    """The first and the newest rate in figures, and all of them as a line."""
    newest = list(rates.values())[-1]
    first = rates.get(None, newest)
    words, when = (f"{first.percent} → {newest.percent}", "") if len(rates) > 1 else (newest.percent, " before training")
    said = f"Valid plans: {', '.join(f'{stage_name(stage).lower()} {rate.percent}' for stage, rate in rates.items())}."
    line = image(sparkline(list(rates.values()), theme.palette()), said) if len(rates) > 1 else ""
    return f"<p><b>{words}</b></p>{line}<small>{newest.percents} valid{when},<br>n = {newest.n:,} {session.suite} boards</small>"


def sparkline(rates: Sequence[Interval], colors: Palette) -> str:
    """Rates and their intervals from left to right as an SVG. From the lowest bound to the highest: it shows the course, not the size."""
    wide, high = LINE
    low, top = min(rate.low for rate in rates), max(rate.high for rate in rates)

    def x(place: int) -> float:
        return EDGE + place * (wide - 2 * EDGE) / (len(rates) - 1)

    def y(value: float) -> float:
        return high - EDGE - (value - low) / ((top - low) or 1) * (high - 2 * EDGE)

    bars = "".join(f"M{x(n):.1f} {y(rate.low):.1f}V{y(rate.high):.1f}" for n, rate in enumerate(rates))
    line = " ".join(f"{x(n):.1f},{y(rate.value):.1f}" for n, rate in enumerate(rates))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" fill="none">'
        f'<path d="{bars}" stroke="{colors.blue}" stroke-opacity=".35" stroke-width="3"/>'
        f'<polyline points="{line}" stroke="{colors.blue}" stroke-width="2" stroke-linejoin="round"/>'
        f'<circle cx="{x(len(rates) - 1):.1f}" cy="{y(rates[-1].value):.1f}" r="4" fill="{colors.accent}"/></svg>'
    )


def board_picture(session: Session, rates: Mapping[int | None, Interval]) -> str:
    """The board that shows best what its training did, as it was solved before; empty where there is none."""
    newest, colors = list(rates)[-1], theme.palette()
    if session.spec.tasks is not LAKE or newest is None:
        return ""
    board = once(lambda: showcase_board(session, newest), "session card", str(session.dir), session.suite, newest)
    return image(board_svg(board, size=BOARD_SIDE, colors=colors), "") if board else ""


def showcase_board(session: Session, newest: int) -> Board | None:
    """The board that the session failed on before training and solves after the stage ``newest``. Only a few columns are read: the tables
    of all sessions of a list would take a page's time."""
    columns = ["board_id", "board", "size", "agents", "needs_wait", "outcome"]
    read = partial(pd.read_parquet, columns=columns)
    paths = [session.stage_dir(stage) / f"{session.suite}.parquet" for stage in (None, newest)]
    before, after = (session.files.read(path, partial(read, path)) for path in paths)
    if before is None or after is None or (name := showcase(before, after)) is None:
        return None
    return Board.from_dict(json.loads(before.loc[before["board_id"] == name, "board"].iloc[0]))


def image(svg: str, said: str) -> str:
    """An SVG as a picture of a page, with what it shows in words; without words it is an ornament."""
    return f'<img src="data:image/svg+xml,{quote(svg)}" alt="{escape(said)}">'
