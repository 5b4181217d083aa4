"""Studies: what makes a good engineer?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from core.sessions import launcher
from core.sessions.studies.report import EffectRow, MeasureReport, StudyReport, html_page, points, report_of, seeds_told
from core.sessions.studies.spec import STUDIES, StudySpec
from core.sessions.studies.store import Study, StudyError, shipped, studies
from core.ui import markup, nav, sessions, theme
from core.ui.study_figures import arms_figure, calibration_figure, effects_figure

TICK = 5.0
"""Seconds between looks at a study that runs."""
ERROR = "study_error"
"""Session-state entry: why the last thing that was asked for could not be done."""
MEASURES = ("valid", "optimal")
KIND_WORDS = {
    "sections": "sections · every combination of the three that the paper names",
    "engineers": "engineers · the checkpoint, the base, the rules, uniform and fixed",
}


@dataclass(frozen=True)
class Told:
    """A study that can be shown: one's own, or one that came with the project, of which the report is all there is."""

    id: str
    spec: StudySpec
    study: Study | None = None
    recorded: StudyReport | None = None

    def report(self) -> StudyReport | None:
        """None while no comparison is possible."""
        if self.study is None:
            return self.recorded
        return own_report(str(self.study.dir), sum(1 for _ in self.study.finished()), self.study.state().status)

    @property
    def label(self) -> str:
        kind = "recorded" if self.study is None else self.study.state().status
        return f"{self.spec.title} · {len(self.spec.arms)} arms × {len(self.spec.seeds)} seeds · {kind}"


@st.cache_data(max_entries=50, show_spinner="Counting")
def own_report(folder: str, finished: int, status: str) -> StudyReport | None:
    """Told once for each number of cells that are finished, and again at the end."""
    try:
        return report_of(Study(Path(folder)))
    except StudyError:
        return None


def everything() -> dict[str, Told]:
    """All studies, one's own first and newest first."""
    own = [Told(study.id, study.spec, study=study) for study in studies(sessions.store())]
    ours = []
    for folder in shipped():
        report = StudyReport.model_validate_json((folder / "report.json").read_text(encoding="utf-8"))
        ours.append(Told(f"recorded-{folder.name}", report.spec, recorded=report))
    return {told.id: told for told in [*own, *ours]}


# --- starting and watching -------------------------------------------------------------------------------------------


@st.dialog("Start a study", width="medium")
def start_form() -> None:
    kind = st.selectbox("What is compared", list(STUDIES), format_func=KIND_WORDS.__getitem__, key="study-kind")
    default = len(STUDIES[kind]().seeds)
    seeds = st.number_input("Seeds", 2, 50, default, key=f"study-seeds-{kind}", help="Sessions of each arm. Few seeds tell little.")
    jobs = st.number_input("Sessions at a time", 1, 64, os.cpu_count() or 1, key="study-jobs", help="One a processor core.")
    spec = STUDIES[kind](int(seeds))
    cells = len(spec.arms) * len(spec.seeds)
    st.markdown(f"**{cells} sessions** of {spec.session.stages} stages, of which arms of a seed share the first.")
    asked = st.button(
        "Start", type="primary", key="study-start", icon=":material/play_arrow:", width="stretch", on_click=start, args=(spec, int(jobs))
    )
    if asked and ERROR not in st.session_state:
        st.rerun()
    said_why()
    st.caption("The same from the command line:")
    st.code(f"frozenlab study {kind} --seeds {int(seeds)} --jobs {int(jobs)}", language="bash")


def start(spec: StudySpec, jobs: int) -> None:
    """Starts a study and goes to it, or keeps the reason why not."""
    try:
        st.query_params["study"] = launcher.start_study(spec, sessions.store(), jobs).id
    except (launcher.LaunchError, StudyError) as error:
        st.session_state[ERROR] = f"Not started: {error}."


def resume(study: Study) -> None:
    try:
        launcher.resume_study(study, sessions.store(), os.cpu_count() or 1)
    except launcher.LaunchError as error:
        st.session_state[ERROR] = f"Not started: {error}."


def halt(study: Study) -> None:
    try:
        launcher.stop(study)
    except launcher.LaunchError as error:
        st.session_state[ERROR] = f"Not stopped: {error}."


def said_why() -> None:
    """Why the last thing that was asked for could not be done."""
    if ERROR in st.session_state:
        st.error(markup.plain(st.session_state.pop(ERROR)))


@st.fragment(run_every=TICK)
def watch(study: Study, drawn: int) -> None:
    """How far a study is that runs; draws the page anew when another session is done."""
    state = study.state()
    done = sum(1 for _ in study.finished())
    running = [cell.id for cell in study.cells if (session := study.session(cell)) is not None and session.state().status == "running"]
    now = f" · now {', '.join(running)}" if running else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(key="study-progress"):
            st.progress(min(max(state.progress, 0.0), 1.0), text=f"**{done} of {len(study.cells)} sessions done**{now}")
        st.button("Stop", key="study-stop", icon=":material/stop:", on_click=halt, args=(study,), help="It can go on later.")
    if done != drawn or not state.live:
        st.rerun()


def go_on(study: Study) -> None:
    """What can be done with a study that does not run."""
    state = study.state()
    if state.status == "done":
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This study {state.status if state.status != 'queued' else 'waits'}{why}")
        st.button("Go on", key="study-go-on", icon=":material/play_arrow:", on_click=resume, args=(study,))


# --- what came out ---------------------------------------------------------------------------------------------------


def show(report: StudyReport, measure: str) -> None:
    told: MeasureReport = getattr(report, measure)
    if measure == "valid":
        st.markdown("\n".join(f"- {markup.plain(sentence)}" for sentence in report.sentences))
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Arms", anchor=False, help=f"Final {measure} rate, mean over the suite's cells: circles are seeds, diamonds means.")
        theme.chart(arms_figure(told.arms, measure), "study-arms")
    with right:
        st.subheader("Effects", anchor=False, help="Mean change over seeds with its 95 % interval. Filled: clear after Holm's correction.")
        theme.chart(effects_figure(told.effects, measure), "study-effects")
    st.dataframe(effects_table(told.effects), hide_index=True, width="stretch", key="study-table")
    st.caption(
        "Points are per cent of boards. The interval over seeds is for other training runs on the same boards, the one over boards for "
        "other boards and the same runs. More seeds: how many would probably make it clear, if mean and spread stay as they are."
    )
    if report.predictions:
        show_predictions(report)
    downloads(report)


def show_predictions(report: StudyReport) -> None:
    """How the engineers' predictions fared, beside the guess that nothing changes."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(
            "Predictions", anchor=False, help="Each claim names the valid rate that it expects of a map size after the next stage."
        )
        rows = [
            {
                "arm": one.engineer,
                "tested": one.n,
                "hits": f"{one.hits} ({100 * one.hit_low:.0f} to {100 * one.hit_high:.0f} %)",
                "no effect": one.no_effect,
                "error, points": round(100 * one.error, 1),
                "of no change": round(100 * one.naive_error, 1),
            }
            for one in report.predictions
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", key="study-predictions")
        st.caption(
            "A hit lies in the 95 % interval of what was measured. No effect: a change was expected, and the rate before lies in it. "
            "Error: mean distance of the expected rate from the measured one, and that of guessing that nothing changes."
        )
    with right:
        st.subheader("Calibration", anchor=False, help="Expected against measured; on the line the engineers were right.")
        theme.chart(calibration_figure(report.calibration), "study-calibration")


def effects_table(effects: tuple[EffectRow, ...]) -> pd.DataFrame:
    def between(low: float | None, high: float | None) -> str:
        return "" if low is None or high is None else f"{points(low)} to {points(high)}"

    return pd.DataFrame(
        [
            {
                "comparison": row.name,
                "kind": row.kind,
                "change, points": round(100 * row.mean, 2),
                "95 % over seeds": between(row.low, row.high),
                "95 % over boards": between(row.board_low, row.board_high),
                "p": row.p,
                "p after Holm": row.p_holm,
                "seeds": row.n,
                "more seeds": seeds_told(row.more_seeds),
            }
            for row in effects
        ]
    ).round(3)


def downloads(report: StudyReport) -> None:
    rows = pd.DataFrame([{"measure": name} | row.model_dump() for name in MEASURES for row in getattr(report, name).effects])
    with st.container(horizontal=True):
        for label, data, kind in (
            ("HTML report", html_page(report), "html"),
            ("CSV", rows.to_csv(index=False), "csv"),
            ("JSON", report.model_dump_json(indent=1), "json"),
        ):
            st.download_button(label, data, f"{report.id}.{kind}", on_click="ignore", key=f"study-{kind}", icon=":material/download:")


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
head, picker, action = st.columns([2.1, 1.7, 0.6], vertical_alignment="bottom")
with head:
    theme.question("What makes a good engineer?")
markup.styles()
if action.button("New study", type="primary", key="study-new", width="stretch"):
    start_form()
said_why()
found = everything()
asked = st.query_params.get("study")
if asked is not None and asked not in found:
    st.warning("There is no such study here. This is another one instead.")
current = asked if asked in found else next(iter(found))
st.session_state["study-picker"] = current
st.query_params["study"] = current


def pick() -> None:
    st.query_params["study"] = st.session_state["study-picker"]


picker.selectbox("Study", list(found), key="study-picker", format_func=lambda name: found[name].label, on_change=pick)
told = found[current]
if told.study is not None and told.study.state().live:
    watch(told.study, sum(1 for _ in told.study.finished()))
elif told.study is not None:
    go_on(told.study)
report = told.report()
if report is None:
    st.info("Nothing can be compared yet: a comparison needs a seed with all its arms finished.")
else:
    asked_measure = st.query_params.get("measure", MEASURES[0])
    measure = st.segmented_control(
        "Rate", MEASURES, default=asked_measure if asked_measure in MEASURES else MEASURES[0], required=True, key="study-measure",
        label_visibility="collapsed",
    )  # fmt: skip
    st.query_params["measure"] = measure
    took = "" if report.seconds is None else f" · {sessions.duration(report.seconds)}"
    st.caption(f"{report.finished} of {report.cells} sessions · {sessions.set_up(report.spec.session)} in each, but for its arm{took}")
    show(report, measure)
