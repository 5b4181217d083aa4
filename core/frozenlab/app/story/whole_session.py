"""The session as a whole: its forks, its path through the config space, and its rates over all stages."""

from __future__ import annotations

from functools import partial

import streamlit as st

from frozenlab.app.session import evidence
from frozenlab.app.session.board_by_board import board_by_board
from frozenlab.app.session.curves import rates_over_stages
from frozenlab.app.story.branches import Branch, branches_figure, family, parted
from frozenlab.app.story.config_map import SHADE_HELP, SHADES, axes_of, map_figure, stops
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.once import once
from frozenlab.base.numbers import percent
from frozenlab.session.session import Session
from frozenlab.tasks.labels import cells_noun

MOST_DIFFERENCES = 6
"""Differences between a fork's config and its parent's that are listed."""


def show_branches(session: Session) -> None:
    """The session with its forks, and with the sessions that it was forked from."""
    branches = family(session, sessions.store())
    if len(branches) == 1:
        return
    st.subheader("Branches", anchor=False, help="Forks share everything up to the stage where they part. Intervals: 95 %, held-out boards.")
    drawn, listed = st.columns([1.5, 1], gap="large")
    with drawn:
        theme.chart(branches_figure(branches, session.id), "branches")
    with listed:
        for branch in branches:
            parts = "the first session" if branch.stage is None else f"parts after {stage_name(branch.stage).lower()}"
            here = " · shown here" if branch.session.id == session.id else ""
            address = {"session": branch.session.id} | ({} if branch.stage is None else {"stage": str(branch.stage + 1)})
            st.page_link(nav.path("story"), label=f"{markup.plain(branch.name)} · {parts}{here}", query_params=address)
            if branch.stage is not None:
                compare_branch(branch, next(known.session for known in branches if known.session.id == branch.parent))


def compare_branch(branch: Branch, parent: Session) -> None:
    """How a fork went on from its parent, and what came of it on the same boards."""
    if differences := parted(branch, parent):
        st.caption(f"Then it trained with {', '.join(differences[:MOST_DIFFERENCES])}{', ...' if differences[MOST_DIFFERENCES:] else '.'}")
    there, here = (session.results(branch.session.spec.stages - 1) for session in (parent, branch.session))
    if there is not None and here is not None:
        change = board_by_board(there, here)
        st.caption(
            f"At the end {percent(change.after, change.n)} are valid instead of {percent(change.before, change.n)}. {change.sentence}"
        )


def show_map(moment: Moment) -> None:
    """Where the engineer has led the session."""
    session = moment.session
    axes = axes_of(session.spec.initial_config)
    paths = once(lambda: [stops(session, pair) for pair in axes], "story stops", moment.revision)
    if len({stop.stage for path in paths for stop in path}) < 2:
        return
    st.subheader(
        "The path through the config space", anchor=False,
        help="A point is a stage; arrows lead from stage to stage, and this stage is ringed. Click a point for its boards. " + SHADE_HELP,
    )  # fmt: skip
    asked = st.query_params.get("shade")
    shade = st.segmented_control(
        "Colour", SHADES, default=asked if asked in SHADES else SHADES[0], required=True, key="map-shade", label_visibility="collapsed"
    )
    if shade != SHADES[0] or asked is not None:
        st.query_params["shade"] = shade
    charts = once(
        lambda: [map_figure(path, pair, shade, moment.stage) for path, pair in zip(paths, axes, strict=True)],
        "story map", *moment.key, shade,
    )  # fmt: skip
    for key, drawn in zip(("config-map", *(f"config-map-{number}" for number in range(2, len(charts) + 1))), charts, strict=True):
        theme.chart(drawn, key, on_select=partial(follow_point, key), selection_mode="points")


def follow_point(chart: str) -> None:
    """A click on a point opens the boards that were drawn there."""
    points = st.session_state[chart]["selection"]["points"]
    if points:
        stage, cell, *_ = points[0]["customdata"]
        st.query_params["stage"], st.query_params[evidence.ASKED] = str(int(stage) + 1), f"S{cell}"


def show_stages(moment: Moment) -> None:
    """Valid rates of each cell over all stages."""
    session = moment.session
    moments = moment.every
    if len(moments) > 1:
        st.subheader(
            f"The whole session by {cells_noun(session.spec.initial_config.cells)}", anchor=False,
            help="Valid rate before training (0) and after each stage, with 95 % intervals.",
        )  # fmt: skip
        theme.chart(once(lambda: rates_over_stages(moments), "story stages", moment.revision), "over-stages")
