"""Measuring a checkpoint from the Benchmark page: the form, and what is under way. The worker goes on when page and server are closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from frozenlab.app.experiment import delete_button, error_of, halt, undo_line
from frozenlab.app.ui import markup, nav, refusals, sessions
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.app.ui.live import keep_current
from frozenlab.base.numbers import percent
from frozenlab.engineer.sentences import capitalised
from frozenlab.experiments.benchmark.report import Report, best_of
from frozenlab.experiments.benchmark.task import Evaluation, task_for
from frozenlab.experiments.students.store import Student
from frozenlab.jobs.state import WorkerState
from frozenlab.models.fetching import SOURCES, ready
from frozenlab.models.folders import PLANNER, PLANNER_TITLE, nowhere
from frozenlab.session.runs import by_name
from frozenlab.session.store import OFFERED, SessionStore
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE

ERROR = error_of(Evaluation.kind)


class Checkpoint(NamedTuple):
    """What can be measured."""

    label: str
    family: Family
    """Of the tasks that it was trained on: it is measured on suites of these."""


def checkpoints(store: SessionStore) -> dict[str, Checkpoint]:
    """Everything that can be measured, as :func:`frozenlab.experiments.benchmark.task.task_for` names it."""
    found = {"lab-model": Checkpoint("Lab model, as shipped", LAKE)}
    found |= {name: Checkpoint(f"{source.title}, as published", LAKE) for name, source in SOURCES.items() if ready(name)}
    found |= {PLANNER: Checkpoint(PLANNER_TITLE, LAKE)} if nowhere(PLANNER) is None else {}
    found |= {
        student.name: Checkpoint(f"Student: {student.title}", student.recipe.family) for student in Student.all(store) if student.ready
    }
    for title, session in by_name(store.sessions(OFFERED)).items():
        for checkpoint in session.checkpoints():
            if checkpoint.stage is not None:
                label = f"{title}, {checkpoint.label}"
                found[f"{session.id}:{checkpoint.stage + 1}"] = Checkpoint(label, session.spec.tasks)
    return found


@nav.dialog("Measure a checkpoint", width="medium")
def form(store: SessionStore, reports: Sequence[Report]) -> None:
    """Which checkpoint on which suite."""
    known = checkpoints(store)
    model = st.selectbox("Checkpoint", known, format_func=lambda name: known[name].label, key="measure-model", **KEPT)
    family = known[model].family
    suite = st.selectbox("Suite", list(family.named_suites()), format_func=family.suite_label, key="measure-suite", **KEPT)
    guises = family.guises if family.guises > 1 and several(family.guises) else 1
    spec = family.named_suites()[suite]
    tasks = family.suite_total(spec)
    expected = (
        f"Up to {tasks:,} held-out tasks ({family.suite_scope(spec)}), {'one answer' if guises == 1 else f'{guises} answers'} to each."
    )
    if newest := max(reports, key=lambda report: report.created, default=None):
        seconds = newest.seconds / newest.n / newest.guises * tasks * guises
        expected += f" About {sessions.duration(seconds)}, judging by the last result, and as long as the tasks take to draw."
    st.caption(expected)
    asked = st.button(
        "Start", type="primary", key="measure-start", icon=":material/play_arrow:", width="stretch",
        on_click=start, args=(model, suite, store, guises), **refusals.changes(),
    )  # fmt: skip
    if asked:
        if ERROR not in st.session_state:
            st.rerun()
        refusals.show_reason(ERROR)
    st.caption("The same from the command line:")
    st.code(f"frozenlab evaluate {model} --suite {suite}" + f" --guises {guises}" * (guises > 1), language="bash")


def several(guises: int) -> bool:
    """Whether each board is to be answered in so many guises."""
    return st.toggle(
        capitalised(best_of(guises)), key="measure-guises", **KEPT,
        help=f"Each board is answered {guises} times: rotated, reflected and with its agents renumbered. The shortest legal plan counts. "
        "Any planner can check itself whether a plan is legal; that takes no solver. The result is a row of its own and says so.",
    )  # fmt: skip


def start(model: str, suite: str, store: SessionStore, guises: int = 1) -> None:
    """Starts to measure, or keeps the reason why not."""
    with refusals.keeping_reason(ERROR, "Not started"):
        Evaluation.start(task_for(model, suite, store, guises=guises), store)


def button(store: SessionStore, reports: Sequence[Report]) -> None:
    """Opens the form."""
    if st.button("Measure", type="primary", key="measure", width="stretch", help="Measures a checkpoint on a suite, in the background."):
        form(store, reports)


Add = Callable[[str, str], None]
"""Called with a result that has just come, and its suite."""


def under_way(store: SessionStore, add: Add) -> None:
    """The evaluations that wait, run, or ended without a result; looks again by itself while one runs."""
    refusals.show_reason(ERROR)
    undo_line("evaluation", ERROR)
    found = Evaluation.all(store)
    live = [evaluation for evaluation in found if evaluation.state().live]
    if found:
        st.fragment(_list)(store, [evaluation.id for evaluation in found], live, add)


def _list(store: SessionStore, drawn: Sequence[str], drawn_live: Sequence[Evaluation], add: Add) -> None:
    """Draws the whole page again when an evaluation has changed since it was drawn; a finished one is then among the results."""
    for evaluation in drawn_live:
        keep_current(evaluation)
    found = Evaluation.all(store)
    for evaluation in found:
        _row(evaluation, evaluation.state())
    still = [evaluation.id for evaluation in found if evaluation.state().live]
    if nav.in_dialog():
        return
    if still != [evaluation.id for evaluation in drawn_live]:
        for evaluation in drawn_live:
            if (evaluation.dir / "report.json").exists():
                st.toast(f"{markup.plain(evaluation.title)} is measured.", icon=":material/check_circle:")
                add(evaluation.id, evaluation.spec.suite)
        st.rerun()
    if {*drawn} - {evaluation.id for evaluation in found}:  # one was deleted: the page says so, with a way back
        st.rerun()


def _row(evaluation: Evaluation, now: WorkerState) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container(key=f"measuring-{evaluation.id}"):
            if now.live:
                left = f" · about {sessions.duration(now.seconds_left)} left" if now.seconds_left is not None else ""
                what = "waits to start" if now.status == "queued" else percent(now.progress)
                st.progress(min(max(now.progress, 0.0), 1.0), text=f"**Measuring {markup.plain(evaluation.title)}** · {what}{left}")
            else:
                why = f": {markup.plain(now.error)}" if now.error else "."
                st.markdown(f"**{markup.plain(evaluation.title)}** was not measured, it {ENDED.get(now.status, now.status)}{why}")
        if now.live:
            st.button(
                "Cancel", key=f"cancel-{evaluation.id}", icon=":material/stop:", on_click=halt, args=(evaluation,),
                **refusals.changes(),
            )  # fmt: skip
        else:
            delete_button(evaluation, f"delete-{evaluation.id}", ERROR)


ENDED = {"stopped": "was cancelled", "failed": "failed", "crashed": "was ended from outside"}
