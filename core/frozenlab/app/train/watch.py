"""A session that trains: its progress, curves, newest plan and log."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from frozenlab.app.present.fallback import recorded
from frozenlab.app.queue import done_since
from frozenlab.app.session.curves import StageCurve, training_curves, valid_by_cell
from frozenlab.app.train.first_minute import first_minute, is_first_minute
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.chart import Chart
from frozenlab.app.ui.components.live import live_beat
from frozenlab.app.ui.components.notice import DoneJob, notice
from frozenlab.app.ui.components.timeline import Mark, marks, rates_by_stage, stage_name, timeline
from frozenlab.app.ui.live.beat import beat, words
from frozenlab.app.ui.live.route import revision
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.jobs.kept import signature
from frozenlab.models.training.methods import BY_NAME
from frozenlab.session.events import event_words
from frozenlab.session.health.alerts import Alert, of_machine, of_results, of_steps, of_suite
from frozenlab.session.session import Session
from frozenlab.session.state import State
from frozenlab.session.store import OFFERED
from frozenlab.tasks.labels import cells_noun

SHOWN_EVENTS = 40
WAITED = "train_waited"
"""Session-state entry: ids of the sessions that this reader has seen running."""
CLOCK = 5.0
"""Seconds between two looks at the clock of the first minute."""


def session_view(session_id: str, drawn: str, live: bool) -> None:
    """The live part of the page. Draws the whole page again when the session's status is no longer the one that was ``drawn``.

    Args:
        live: runs again when the session has changed.
    """
    session = sessions.store().open(session_id)
    seen = revision(session)  # before anything is read: never newer than what is drawn
    state = session.state()
    mark = timeline(marks(session, state), key="train-thread", follow=True)
    progress(session, state, seen, live)
    notice_when_done(session, state)
    if is_first_minute(session, state):
        first_minute(session, state, sessions.store().sessions(OFFERED))
        event_log(session)
    else:
        measured(session, state, mark)
    sessions.problems(session)
    if sessions.status_words(session, state) != drawn:
        if state.status == "done":
            st.toast(f"{markup.plain(session.title)} is done.", icon=":material/check_circle:")
        elif state.status == "waiting":
            st.toast(f"{markup.plain(session.title)} waits for you.", icon=":material/front_hand:")
        st.rerun()


def notice_when_done(session: Session, state: State) -> None:
    """The button that lets the browser tell when jobs are done, where people wait for one; once the session has ended, what tells."""
    waited = st.session_state.setdefault(WAITED, set())
    if state.live:
        waited.add(session.id)
    if session.id not in waited:
        return
    ended = done_since(sessions.store())
    own: DoneJob = {"id": f"{session.dir}@{state.finished}", "title": session.title, "status": state.status}
    if state.finished and own["id"] not in {job["id"] for job in ended}:  # the queue hears of it when its worker is gone
        ended.append(own)
    with st.container(horizontal=True, horizontal_alignment="right"):
        notice(ended, key="train-notice")


def measured(session: Session, state: State, mark: Mark) -> None:
    """What is wrong, curves, a plan, and what was logged."""
    if found := alerts(session, state):
        told = [markup.plain(str(alert)) for alert in found]
        listed = told[0] if len(told) == 1 else "\n".join(f"- {one}" for one in told)
        st.warning(listed, icon=":material/warning:")
    left, right = st.columns([1.75, 1], gap="large")
    with left:
        curves(session, state)
    with right:
        newest_plan(session, state, mark)
    below_left, below_right = st.columns([1.75, 1], gap="large")
    with below_left:
        by_cell(session, mark)
    with below_right:
        event_log(session)


def alerts(session: Session, state: State) -> list[Alert]:
    """What is wrong with a session that trains, looked for once for all viewers."""
    measured = tuple(signature(session.stage_dir(stage) / "validation.parquet") for stage in (None, *range(session.spec.stages)))
    known, logged = (str(session.dir), state.stage), session.metrics_revision(state.stage)
    return [
        *once(lambda: of_steps(session.metrics(state.stage)), "alerts-steps", *known, logged),
        *once(lambda: [*of_results(session, state.stage), *of_suite(session, state.stage)], "alerts-results", *known, measured),
        *of_machine(session),
    ]


def progress(session: Session, state: State, seen: str, live: bool) -> None:
    """The bar, what happens now, the time left, and when the worker last reported; ``seen`` is the revision that is drawn."""
    if state.status == "done":
        first, last = (rates_by_stage(state).get(stage) for stage in (None, session.spec.stages - 1))
        if first and last:
            st.html(
                f'<p class="fl-answer">Valid plans went from {first.percent} to <b>{last.percent}</b>.</p>'
                f'<p class="fl-note">95 % intervals {first.percents} and {last.percents}, n = {last.n} {session.results_from}.</p>'
            )
        return
    if state.live:
        live_beat(session, seen, beat(session, state), live=live, every=CLOCK if is_first_minute(session, state) else None)
    else:
        st.progress(min(max(state.progress, 0.0), 1.0), text=words(session, state))
    if state.status == "stalled":
        st.warning("The worker lives but is silent. It may be swapping; stop it if it does not come back.")
    elif state.status == "crashed":
        st.error("The worker is gone without a word (killed, or the machine went down). Resume goes on from the last finished step.")
    elif state.status == "failed":
        st.error("The session failed. What it said last is in its worker.log.")
        st.code(state.error or "no reason given", language=None, wrap_lines=True)
    elif state.status == "stopped":
        st.info("Stopped. Resume goes on where it stopped.")
    elif state.status == "waiting":
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"It waits for you: what should it train on after {stage_name(state.stage).lower()}?", icon=":material/front_hand:")
            address = {"session": session.id, "stage": str(state.stage + 1)}
            st.page_link(nav.path("story"), label="Read the evidence and decide", query_params=address)
    if state.status in ("crashed", "failed"):
        recorded_instead(session)


def recorded_instead(session: Session) -> None:
    """A way on for who shows the lab to others while a live training fails."""
    other = recorded(sessions.store().sessions(OFFERED))
    if other is not None and other.id != session.id:
        st.page_link(
            nav.path("train"), label="Show the recorded session instead", icon=":material/history:", query_params={"session": other.id}
        )


def curves(session: Session, state: State) -> None:
    st.subheader(
        "Learning",
        anchor=False,
        help="Thin: single steps. Thick: a running mean. Diamonds: " + session.results_from + ", with 95 % intervals.",
    )
    checks = rates_by_stage(state)
    if not checks and all(session.metrics_revision(stage) is None for stage in range(session.spec.stages)):
        st.caption("Nothing has been measured yet.")
        return
    measured = tuple(session.metrics_revision(stage) for stage in range(session.spec.stages))  # before it is read: never newer than it
    below: Literal["reward", "loss"] = "reward" if BY_NAME[session.spec.training.method].rewards else "loss"

    def draw() -> Chart:
        stages = [
            StageCurve(stage_name(stage), session.metrics(stage), session.spec.training.steps, checks.get(stage))
            for stage in range(session.spec.stages)
        ]
        return training_curves(checks.get(None), stages, below=below)

    theme.chart(once(draw, "curves", str(session.dir), measured, tuple(checks.items()), below), "curves")


def newest_plan(session: Session, state: State, mark: Mark) -> None:
    """The last plan that the model sampled, in the chosen stage or the present one."""
    stages = [mark.id - 1] if mark.id else []
    stages += [stage for stage in range(state.stage, -1, -1) if stage not in stages]
    if state.live:
        stages.sort(reverse=True)
    for stage in stages:
        table = session.completions(stage)
        if table is not None and len(table):
            row = table.iloc[-1]
            st.subheader(
                "Newest sampled plan" if state.live else "A sampled plan",
                anchor=False,
                help="Drawn at the training temperature, mistakes and all.",
            )
            answer = Shown(row, f"{stage_name(stage).lower()}, step {int(row['training_step'])}")
            view_of(session.spec.tasks).play([answer], key="newest", height=300, autoplay=state.live)
            rewarded = BY_NAME[session.spec.training.method].rewards
            with st.expander(f"The answer, word by word (reward {row['reward']:.2f})" if rewarded else "The answer, word by word"):
                st.code(row["completion"] or " ", language=None, wrap_lines=True)
            return
    st.subheader("Newest sampled plan", anchor=False)
    st.caption("The first one comes after a few training steps.")


def by_cell(session: Session, mark: Mark) -> None:
    """Valid rate of the sampled plans by cell in the chosen stage."""
    if not mark.id:
        return
    known = str(session.dir), mark.id, session.metrics_revision(mark.id - 1)
    chart = once(lambda: cell_chart(session, mark.id - 1), "sizes", *known)
    if chart is not None:
        st.subheader(
            f"{mark.title} by {cells_noun(session.spec.initial_config.cells)}",
            anchor=False,
            help="Valid rate of the sampled training plans, a running mean over five steps.",
        )
        theme.chart(chart, "by-size")


def cell_chart(session: Session, stage: int) -> Chart | None:
    metrics = session.metrics(stage)
    return valid_by_cell(metrics, session.spec.training.steps) if len(metrics) else None


def event_log(session: Session) -> None:
    st.subheader("Log", anchor=False)
    events = [event for event in session.events()[0] if event.get("kind") != "step"][-SHOWN_EVENTS:]
    st.html(markup.log([(float(event.get("time", 0)), event_words(event)) for event in reversed(events)]))
