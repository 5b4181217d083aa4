"""A session that trains: its progress, curves, newest plan and log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from frozenlab.app.present.scenes import recorded
from frozenlab.app.queue import done_since
from frozenlab.app.session.curves import StageCurve, curve_controls, training_curves, valid_by_cell
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.frame import DoneJob, notice
from frozenlab.app.ui.components.timeline import Mark, marks, rates_by_stage, stage_name, timeline
from frozenlab.app.ui.figures import Chart
from frozenlab.app.ui.live import beat, live_beat, revision, words
from frozenlab.app.ui.once import once
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.files import signature
from frozenlab.models.training.methods import BY_NAME
from frozenlab.session.health.alerts import Alert, of_machine, of_results, of_steps, of_suite
from frozenlab.session.session import Session
from frozenlab.session.state import Phase, State, event_words
from frozenlab.session.store import OFFERED
from frozenlab.tasks.families import cells_noun

SHOWN_EVENTS = 40
STOPPING = "train_stopping"
"""Session-state entry: the address of the session that the reader may want to stop. A page that is drawn anew, and a part of it that finds
the question gone, asks again: a click can come together with a look of the live part."""
WAITED = "train_waited"
"""Session-state entry: ids of the sessions that this reader has seen running."""
CLOCK = 5.0
"""Seconds between two looks at the clock of the first minute."""
PHASES: tuple[Phase, ...] = ("starting", "baseline", "asking", "generating")
"""Before the first training step, in their order."""


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
    asked_to_stop = st.session_state.get(STOPPING) == session_id
    if (asked_to_stop or sessions.status_words(session, state) != drawn) and not nav.in_dialog():
        if state.status == "done":
            st.toast(f"{markup.plain(session.title)} is done.", icon=":material/check_circle:")
        elif state.status == "waiting":
            st.toast(f"{markup.plain(session.title)} waits for you.", icon=":material/front_hand:")
        st.rerun()


def notice_when_done(session: Session, state: State) -> None:
    """The button that allows browser notifications, where people wait for a job; the notification once the session has ended."""
    waited = st.session_state.setdefault(WAITED, set())
    if state.live:
        waited.add(session.id)
    if session.id not in waited:
        return
    ended = done_since(sessions.store())
    own: DoneJob = {"id": f"{session.dir}@{state.finished}", "title": session.title, "status": state.status}
    if state.finished and own["id"] not in {job["id"] for job in ended}:  # the queue hears of it when its worker is gone
        ended.append(own)
    with st.container(horizontal=True, horizontal_alignment="right", key="train-told"):
        notice(ended, key="train-notice")


def measured(session: Session, state: State, mark: Mark) -> None:
    """What is wrong, curves, a plan, and what was logged."""
    if sentences := [markup.plain(str(alert)) for alert in alerts(session, state)]:
        listed = sentences[0] if len(sentences) == 1 else "\n".join(f"- {sentence}" for sentence in sentences)
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
            of = f"{last.n:,} {session.results_from}"  # the timeline above has the intervals
            markup.answer(f"On {of}, valid plans went from {first.percent} to <b>{last.percent}</b>.")
        return
    if state.live:
        live_beat(session, seen, beat(session, state), live=live, every=CLOCK if is_first_minute(session, state) else None)
    else:
        st.progress(min(max(state.progress, 0.0), 1.0), text=words(session, state))
    if state.status == "stalled":
        st.warning("The worker lives but is silent. It may be swapping; stop it if it does not come back.")
    elif state.status == "crashed":
        st.error("The worker died (killed, or the machine restarted). Resume continues from the last finished step.")
    elif state.status == "failed":
        st.error("The session failed. What it said last is in its worker.log.")
        st.code(state.error or "no reason given", language=None, wrap_lines=True)
    elif state.status == "stopped":
        st.info("Stopped. Resume continues from there.")
    elif state.status == "waiting":
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"It waits for you: what should it train on after {stage_name(state.stage).lower()}?", icon=":material/front_hand:")
            address = {"session": session.address, "stage": str(state.stage + 1)}
            st.page_link(nav.path("story"), label="Read the evidence and decide", query_params=address)
    if state.status in ("crashed", "failed"):
        recorded_instead(session)


def recorded_instead(session: Session) -> None:
    """A link for presenters whose live training fails."""
    other = recorded(sessions.store().sessions(OFFERED))
    if other is not None and other.id != session.id:
        st.page_link(
            nav.path("train"), label="Show the recorded session instead", icon=":material/history:", query_params={"session": other.id}
        )


def curves(session: Session, state: State) -> None:
    st.header(
        "Learning",
        anchor=False,
        help="Thin: single steps. Thick: a running mean. Diamonds: " + session.results_from + ", with 95 % intervals.",
    )
    checks = rates_by_stage(state)
    if not checks and all(session.metrics_revision(stage) is None for stage in range(session.spec.stages)):
        st.caption("Nothing has been measured yet.")
        return
    measured = tuple(session.metrics_revision(stage) for stage in range(session.spec.stages))  # before it is read: never newer than it
    known = str(session.dir), measured
    tables = once(lambda: [session.metrics(stage) for stage in range(session.spec.stages)], "curve tables", *known)
    usual = "reward" if BY_NAME[session.spec.training.method].rewards else "loss"
    figure = st.container()
    below, smooth = curve_controls(tables, usual)

    def draw() -> Chart:
        steps = session.spec.training.steps
        stages = [StageCurve(stage_name(stage), table, steps, checks.get(stage)) for stage, table in enumerate(tables)]
        return training_curves(checks.get(None), stages, session.suite, smooth, below)

    with figure:
        theme.chart(once(draw, "curves", *known, tuple(checks.items()), below, smooth), "curves")


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
            st.header(
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
    st.header("Newest sampled plan", anchor=False)
    st.caption("The first one comes after a few training steps.")


def by_cell(session: Session, mark: Mark) -> None:
    """Valid rate of the sampled plans by cell in the chosen stage."""
    if not mark.id:
        return
    known = str(session.dir), mark.id, session.metrics_revision(mark.id - 1)
    chart = once(lambda: cell_chart(session, mark.id - 1), "sizes", *known)
    if chart is not None:
        st.header(
            f"{mark.title} by {cells_noun(session.spec.initial_config.cells)}",
            anchor=False,
            help="Valid rate of the sampled training plans, a running mean over five steps.",
        )
        theme.chart(chart, "by-size")


def cell_chart(session: Session, stage: int) -> Chart | None:
    metrics = session.metrics(stage)
    return valid_by_cell(metrics, session.spec.training.steps) if len(metrics) else None


def event_log(session: Session) -> None:
    st.header("Log", anchor=False)
    events = [event for event in session.events() if event.get("kind") != "step"][-SHOWN_EVENTS:]
    st.html(markup.log([(float(event.get("time", 0)), event_words(event)) for event in reversed(events)]))


def is_first_minute(session: Session, state: State) -> bool:
    """Whether a live session has nothing to draw yet."""
    return state.live and state.stage == 0 and state.phase in PHASES and session.metrics(0).empty


def first_minute(session: Session, state: State, known: Sequence[Session]) -> None:
    """The steps at the left; at the right a board of another session of ``known``, before and after its training."""
    left, right = st.columns([1, 1.35], gap="large")
    with left:
        st.header("Before the first step", anchor=False)
        st.html(markup.steps(steps(session, state)))
    with right:
        finished = (found for found in known if found.id != session.id and found.state().status == "done")
        example = next((found for found in finished if turned_board(str(found.dir)) is not None), None)
        if example is not None:
            show_example(example)


def steps(session: Session, state: State) -> list[tuple[str, str, markup.StepState, str]]:
    """Title, explanation, state and clock of each step."""
    training, spec = session.spec.training, session.spec
    suites = [tasks for tasks in spec.held_out if tasks]
    planned = suites[-1] if session.validation(None) is not None else suites[0]  # one suite after the other
    measured, boards = " and ".join(f"{n:,}" for n in suites), training.steps * training.boards_per_step
    words: dict[Phase, tuple[str, str]] = {
        "starting": ("Load the model", "The worker process starts, and the model's weights are read."),
        "baseline": (
            "Validate the base",
            f"The model before training plans {measured} held-out boards. Every later stage is compared with that.",
        ),
        "asking": ("Ask the engineer", "It reads where the base fails and may change the first config."),
        "generating": (
            "Draw the boards of stage 1",
            f"{boards:,} boards are drawn from the first config and solved; none of them is held out.",
        ),
    }
    now = PHASES.index(state.phase)
    return [
        (*words[phase], "done" if place < now else "now" if place == now else "next", clock(state, planned) if place == now else "")
        for place, phase in enumerate(PHASES)
        if phase != "asking" or spec.ask_first
    ]


def clock(state: State, tasks: int) -> str:
    """How long the present step has taken, and how far it is if that is known."""
    since = state.phase_since or state.started
    taken = sessions.duration(max(0.0, time.time() - since)) if since else ""
    if state.phase == "baseline" and state.phase_done:
        return f"{round(state.phase_done * tasks):,} of {tasks:,} boards · {taken}"
    return taken


@st.cache_data(max_entries=64, show_spinner=False)
def turned_board(folder: str) -> tuple[pd.Series, pd.Series, int] | None:
    """The board that shows best what the training of a session did, as :meth:`frozenlab.app.views.view.View.turned` returns it."""
    session = Session(Path(folder))
    return view_of(session.spec.tasks).turned(session)


def show_example(session: Session) -> None:
    turned = turned_board(str(session.dir))
    assert turned is not None
    before, after, stage = turned
    st.header("Meanwhile: what training can do", anchor=False)
    shown = [Shown(before, "before training"), Shown(after, f"after stage {stage}")]
    view_of(session.spec.tasks).play(shown, key="first-minute", height=300, autoplay=True)
    st.caption(
        f"A {session.suite} board of another session, {markup.plain(session.title)}. This session's own plans are shown when it trains."
    )
