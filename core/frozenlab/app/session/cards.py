"""The sessions of a list as cards: what each is, how its valid rate went from stage to stage, and a board that it learnt to solve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from urllib.parse import quote

import pandas as pd
import streamlit as st

from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.timeline import rates_by_stage, stage_name
from frozenlab.app.ui.once import once
from frozenlab.app.ui.theme import Palette
from frozenlab.app.views.lake.pictures import board_svg
from frozenlab.app.views.lake.tracks import showcase
from frozenlab.base.numbers import Interval, percent
from frozenlab.lake.board import Board
from frozenlab.session.session import Session
from frozenlab.session.state import PHASE_WORDS, State
from frozenlab.tasks.lake.family import LAKE

A_ROW = 3
"""Cards side by side."""
BOARD_SIDE = 96  # pixels
LINE = (150, 44)
"""Width and height of the picture of the rates, in pixels."""
EDGE = 5  # pixels, so that points and bars are seen whole


def session_cards(found: Sequence[Session]) -> None:
    """A card for each session, in rows, which a narrow screen shows one below the other."""
    with st.container(key="session-cards"):
        for start in range(0, len(found), A_ROW):
            for session, place in zip(found[start : start + A_ROW], st.columns(A_ROW), strict=False):
                with place.container(border=True, height="stretch", gap="small"):
                    session_card(session)


def session_card(session: Session) -> None:
    state = session.state()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{markup.plain(session.title)}**", width="content")
        sessions.status_badge(session, state)
    st.caption(f"{markup.plain(sessions.set_up(session.spec))} · {sessions.ago(session.created)} · `{session.id}`")
    rates = rates_by_stage(state)
    if rates:
        st.html(f'<div class="fl-card">{board_picture(session, rates)}<div>{result(session, rates)}</div></div>')
    else:
        st.caption("no results yet")
    if state.live:
        under_way(state)
    with st.container(horizontal=True):
        if rates:
            st.page_link(nav.path("story"), label="Story", icon=":material/menu_book:", query_params={"session": session.id})
        st.page_link(nav.path("train"), label="Curves", icon=":material/show_chart:", query_params={"session": session.id})


def under_way(state: State) -> None:
    with st.container(horizontal=True):
        st.caption(f"{PHASE_WORDS[state.phase]}, {percent(state.progress)}", width="content")
        sessions.alarm_badges(state.alarms)


def result(session: Session, rates: Mapping[int | None, Interval]) -> str:
    """The first and the newest rate in figures, and all of them as a line."""
    newest = list(rates.values())[-1]
    first = rates.get(None, newest)
    words = f"{first.percent} → {newest.percent}</b> valid" if len(rates) > 1 else f"{newest.percent}</b> valid before training"
    said = f"Valid plans: {', '.join(f'{stage_name(stage).lower()} {rate.percent}' for stage, rate in rates.items())}."
    line = image(sparkline(list(rates.values()), theme.palette()), said) if len(rates) > 1 else ""
    return f"<p><b>{words}</p>{line}<small>now {newest.percents}, n = {newest.n} {session.suite} boards</small>"


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
