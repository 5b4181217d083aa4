"""Studies: what makes a good engineer?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar, get_args

import pandas as pd
import streamlit as st

from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, ApiEngineer
from frozenlab.errors import LabError, one_line
from frozenlab.jobs import launcher
from frozenlab.loop.ledger import source
from frozenlab.loop.page.ledger import HELP, scores_table
from frozenlab.loop.presets import PRESETS, preset_spec
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import OFFERED
from frozenlab.studies import store as study_store
from frozenlab.studies.effects import margin_words, points
from frozenlab.studies.noise import detectable_effect
from frozenlab.studies.page.figures import Ink, arms_figure, changes_figure, curves_figure, effects_figure, sizes_figure
from frozenlab.studies.report import report_of
from frozenlab.studies.report_page import CURVES_NOTE, detectable, dose_points, html_page, interval, sizes_note
from frozenlab.studies.spec import PAPER_ENGINEERS, PROMPT_TOKENS, SEEDS, STUDIES, StudySpec
from frozenlab.studies.store import RunSettings, Study, StudyError, shipped, studies
from frozenlab.studies.tables import MEASURES, ArmRates, EffectRow, Measure, MeasureReport, StudyReport
from frozenlab.ui import api_form, markup, nav, sessions, theme
from frozenlab.ui.theme import Image

Choice = TypeVar("Choice", bound=str)
TICK = 5.0
"""Seconds between looks at a study that runs."""
ERROR = "study_error"
"""Session-state entry: why the last thing that was asked for could not be done."""
IMAGES: tuple[Image, ...] = get_args(Image)
VIEW_WORDS = {"effects": "Effects", "arms": "Learning", "sizes": "Map sizes", "predictions": "Predictions"}
KIND_WORDS = {
    "sections": "sections · every combination of the three that the paper names",
    "leave-one-out": "leave one out · all sections, and all but one",
    "one-at-a-time": "one at a time · no section, and each by itself",
    "engineers": "engineers · who writes the configs",
    "guard": "guard · how far a proposal may move a ratio: 0.2, 0.05 or all the way",
    "guidance": "guidance · an engineer that is told the paper's two lessons, or not",
}
DEFAULT_MARGIN = StudySpec.model_fields["smallest_effect"].default
BASE = "study"
"""The preset whose sessions a study runs unless it is told."""


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
    given: dict[str, Any] = {}
    if kind == "engineers":
        given["engineers"] = engineers = tuple(
            st.multiselect("Engineers", UNATTENDED, PAPER_ENGINEERS, key="study-engineers", help="The first is the reference.")
        )
        if len(engineers) < 2:
            st.info("Choose two engineers or more.")
            return
    bases = base_sessions()
    base = st.selectbox("What each session runs", list(bases), format_func=lambda name: bases[name][0], key="study-base")
    session = bases[base][1]
    few, many = st.columns(2)
    seeds = int(few.number_input("Seeds", 1, 50, SEEDS[kind], key=f"study-seeds-{kind}", help="Sessions of each arm. Few tell little."))
    jobs = int(many.number_input("Sessions at a time", 1, 64, os.cpu_count() or 1, key="study-jobs", help="One a processor core."))
    matters = few.number_input(
        "Smallest effect that matters, points", 0.1, 50.0, 1.0, 0.5, format="%.1f", key="study-matters",
        help="An effect can be shown to be smaller than this, which is a finding too.",
    )  # fmt: skip
    prediction = many.text_input(
        "What do you expect?", key="study-prediction", max_chars=4000, help="Kept in the report, where it stands before what came out."
    )
    asked: dict[str, Any] | None = None
    served = [name for name in given.get("engineers", ()) if "network" in BY_NAME[name].needs]
    if served or (kind == "guidance" and session.language is None):
        asked = api_form.fields("study-api", lessons=kind != "guidance")
        if not asked["model"]:
            st.info("Which model is the engineer? Name it as its server does.")
            return
    try:
        if asked is not None:
            api = ApiEngineer(**asked)
            given |= {"engineer": api} if kind == "guidance" else {"engineers": [api if name in served else name for name in engineers]}
        spec = STUDIES[kind](seeds, session, **given)
        spec = StudySpec.model_validate(spec.model_dump() | {"smallest_effect": matters / 100, "prediction": prediction})
    except ValueError as error:
        reason = one_line(error)
        st.error(f"This cannot run: {markup.plain(reason)}.")
        return
    ready(spec, kind, base, jobs)


def base_sessions() -> dict[str, tuple[str, SessionSpec]]:
    """What cells can run on this machine: presets, then saved sessions; by name, with what to call it."""
    presets = sorted(PRESETS, key=lambda name: name != BASE)
    found = {name: (f"preset {name} · {PRESETS[name].words}", preset_spec(name)) for name in presets}
    for session in sessions.store().sessions(OFFERED):
        found[session.id] = (f"as in {sessions.describe(session)}", session.spec.changed(parent=None))
    return {name: (words, spec) for name, (words, spec) in found.items() if not sessions.obstacles(spec)}


def ready(spec: StudySpec, kind: str, base: str, jobs: int) -> None:
    """What would run, what it would cost, and the button that starts it."""
    first, *others = [arm.name for arm in spec.arms]
    st.markdown(
        f"**{len(spec.arms) * len(spec.seeds)} sessions** of {spec.session.stages} stages: {len(spec.arms)} arms × {len(spec.seeds)} "
        "seeds. Arms of a seed share base and boards; their engineers are asked before the first stage too."
    )
    st.caption(f"Arms: **{first}**, {', '.join(others)}. Results are told from test boards that no engineer sees, others in each seed.")
    st.info(detectable_effect(spec), icon=":material/visibility:")
    if spec.requests:
        st.markdown(
            f"**{spec.requests} requests** to the API, one before the first stage and one after each; {paid(spec)}. An answer "
            "that cannot be used is asked for once more."
        )
    may = api_form.may_ask(spec.servers, "study")
    asked = st.button(
        "Start", type="primary", key="study-start", icon=":material/play_arrow:", width="stretch", on_click=start, args=(spec, jobs),
        disabled=not may,
    )  # fmt: skip
    if asked and ERROR not in st.session_state:
        st.rerun()
    sessions.said_why(ERROR)
    st.caption("The same from the command line:")
    if base == BASE and not spec.requests and not spec.prediction and spec.smallest_effect == DEFAULT_MARGIN:
        chosen = f" --engineers {','.join(arm.name for arm in spec.arms)}" if kind == "engineers" else ""
        st.code(f"frozenlab study {kind}{chosen} --seeds {len(spec.seeds)} --jobs {jobs}", language="bash")
    else:
        st.code(f"frozenlab study study.json --jobs {jobs}", language="bash")
        text = spec.model_dump_json(indent=2)
        st.download_button("Download study.json", text, "study.json", "application/json", on_click="ignore", key="study-spec")


def paid(spec: StudySpec) -> str:
    """What the requests cost at most, by the prices that are known."""
    if spec.highest_cost is None:
        return "without both prices their cost is not known"
    return f"together at most about **{spec.highest_cost:,.2f}**, for {PROMPT_TOKENS:,} tokens read and answers as long as they may be"


def start(spec: StudySpec, jobs: int) -> None:
    """Starts a study and goes to it, or keeps the reason why not."""
    try:
        st.query_params["study"] = study_store.start(spec, sessions.store(), RunSettings(jobs=jobs)).id
    except LabError as error:
        st.session_state[ERROR] = f"Not started: {error}."


def resume(study: Study) -> None:
    try:
        study_store.resume(study, sessions.store(), RunSettings(jobs=os.cpu_count() or 1))
    except LabError as error:
        st.session_state[ERROR] = f"Not started: {error}."


def halt(study: Study) -> None:
    try:
        launcher.stop(study)
    except launcher.LaunchError as error:
        st.session_state[ERROR] = f"Not stopped: {error}."


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
    may = api_form.may_ask(study.spec.servers, "study-go-on")
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This study {state.status if state.status != 'queued' else 'waits'}{why}")
        st.button("Go on", key="study-go-on", icon=":material/play_arrow:", on_click=resume, args=(study,), disabled=not may)


# --- what came out ---------------------------------------------------------------------------------------------------


def views(report: StudyReport) -> list[str]:
    """Those that the report has something for: older ones know no map sizes, and scripts predict nothing."""
    return [view for view in VIEW_WORDS if (view != "sizes" or report.valid.sizes) and (view != "predictions" or report.predictions)]


def ink() -> Ink:
    return Ink(theme.palette().text, 19 if st.session_state.get("presenter") else 14)


def show_effects(report: StudyReport, measure: Measure, image: Image) -> None:
    told = told_of(report, measure)
    left, right = st.columns([1.25, 1], gap="large")
    with left:
        st.subheader("Effects", anchor=False, help="Mean change over seeds with its 95 % interval. Filled: clear after Holm's correction.")
        if compared := tuple(row for row in told.effects if not row.alike):
            theme.chart(effects_figure(compared, measure, ink()), "study-effects", image)
    with right:
        sentences = told.sentences or (report.sentences if measure == "valid" else ())
        if sentences:
            st.subheader("In words", anchor=False)
            st.markdown("\n".join(f"- {markup.plain(sentence)}" for sentence in sentences))
    st.dataframe(effects_table(told.effects), hide_index=True, width="stretch", key="study-table")
    over = "other training runs on other boards" if report.spec.suite_by_seed else "other training runs on the same boards"
    boards = "" if report.spec.suite_by_seed else ", the one over boards for other boards and the same runs"
    smallest = margin_words(told.margin)
    st.caption(
        f"Points are per cent of boards. The interval over seeds is for {over}{boards}. p smaller: that the effect is not smaller than "
        f"{smallest} (equivalence test, after Holm). Dose: how far apart the configs were that the two sides trained on, points a knob."
    )


def show_arms(report: StudyReport, measure: Measure, image: Image) -> None:
    told = told_of(report, measure)
    if told.curves:
        st.subheader(f"How each arm learnt, {measure} plans", anchor=False)
        theme.chart(curves_figure(told.curves, measure, ink()), "study-curves", image)
        st.caption(CURVES_NOTE.format(reference=told.curves[0].arm, boards=report.results_from))
    else:
        st.caption("This report is from before learning curves were kept.")
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(
            "Where it ended", anchor=False, help=f"Final {measure} rate: circles are seeds, joined from arm to arm, diamonds means."
        )
        theme.chart(arms_figure(told.arms, measure, ink()), "study-arms", image)
    with right:
        st.subheader("Seed by seed", anchor=False, help=f"Final {measure} rate in per cent, mean over the suite's cells.")
        rates = arms_table(told.arms)
        tenths = {name: st.column_config.NumberColumn(format="%.1f") for name in rates.columns[1:]}
        st.dataframe(rates, hide_index=True, width="stretch", key="study-rates", column_config=tenths)


def show_sizes(report: StudyReport, measure: Measure, image: Image) -> None:
    told = told_of(report, measure)
    st.subheader(f"Where it makes a difference, {measure} plans", anchor=False)
    theme.chart(sizes_figure(told.sizes, measure, ink()), "study-sizes", image)
    st.caption(f"{sizes_note(report, measure)} Blue is more, orange less; a number on hover has its interval.")


def show_predictions(report: StudyReport, measure: Measure, image: Image) -> None:
    """How the engineers' predicted changes of valid rates fared, beside the guess that nothing changes."""
    left, right = st.columns([1.25, 1], gap="large")
    with left:
        st.subheader("Predictions", anchor=False, help=HELP)
        st.dataframe(scores_table(report.predictions, "arm", "seeds"), hide_index=True, width="stretch", key="study-predictions")
        st.caption(
            "Mean predicted and mean measured change of a map size's valid rate over the next stage, in points; error: root mean square of "
            "their difference, and of the measured change alone, which is the error of guessing that nothing changes. Skill: 1 less the "
            "ratio of their squares; its interval draws whole seeds anew."
        )
        whose = {row.engineer for row in report.predictions}
        st.caption(
            " ".join(dict.fromkeys(source(report.spec.spec_of(arm, report.spec.seeds[0])) for arm in report.spec.arms if arm.name in whose))
        )
    with right:
        st.subheader("Changes", anchor=False, help="Predicted against measured; on the slanted line the engineers were right.")
        theme.chart(changes_figure(report.changes), "study-changes", image)


def told_of(report: StudyReport, measure: Measure) -> MeasureReport:
    return report.valid if measure == "valid" else report.optimal


def arms_table(arms: tuple[ArmRates, ...]) -> pd.DataFrame:
    rates = [{f"seed {seed}": 100 * rate for seed, rate in arm.by_seed.items()} | {"mean": 100 * arm.mean} for arm in arms]
    return pd.DataFrame([{"arm": arm.arm} | row for arm, row in zip(arms, rates, strict=True)])


def effects_table(effects: tuple[EffectRow, ...]) -> pd.DataFrame:
    """Without the columns that no row has anything for."""
    rows = [
        {
            "comparison": row.name,
            "kind": row.kind,
            "change, points": "no contrast" if row.alike else points(row.mean),
            "95 % over seeds": interval(row.low, row.high),
            "95 % over boards": interval(row.board_low, row.board_high),
            "p": row.p,
            "p after Holm": row.p_holm,
            "p smaller": row.p_smaller_holm,
            "dose": dose_points(row.dose),
            "seeds": row.n,
        }
        for row in effects
    ]
    table = pd.DataFrame(rows).round(3)
    return table.drop(columns=[name for name in ("95 % over boards", "dose") if (table[name] == "-").all()])


def downloads(report: StudyReport, view: str) -> Image:
    """The report in whole, the figures of this view, and what its pictures are saved as, which is returned."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, data, kind in (
            ("HTML report", html_page(report), "html"),
            ("JSON", report.model_dump_json(indent=1), "json"),
            (f"CSV of {VIEW_WORDS[view].lower()}", rows_of(report, view).to_csv(index=False), "csv"),
        ):
            name = f"{report.id}-{view}.csv" if kind == "csv" else f"{report.id}.{kind}"
            st.download_button(label, data, name, on_click="ignore", key=f"study-{kind}", icon=":material/download:")
        return chosen("image", IMAGES, "The camera saves a picture as", {image: image.upper() for image in IMAGES}, visible=True)


def rows_of(report: StudyReport, view: str) -> pd.DataFrame:
    """What a view shows, for both measures, as one table."""
    if view == "predictions":
        return pd.DataFrame([row.model_dump() for row in report.changes])
    rows: list[dict[str, Any]] = []
    for measure in MEASURES:
        told, of = told_of(report, measure), {"measure": measure}
        if view == "arms":
            moments = [(curve.arm, point.trained, point.by_seed) for curve in told.curves for point in curve.points]
            moments = moments or [(arm.arm, report.spec.session.stages, arm.by_seed) for arm in told.arms]
            rows += [
                of | {"arm": arm, "trained": trained, "seed": seed, "rate": rate}
                for arm, trained, rates in moments
                for seed, rate in rates.items()
            ]
        else:
            rows += [of | row.model_dump() for row in (told.effects if view == "effects" else told.sizes)]
    return pd.DataFrame(rows)


def chosen(name: str, options: Sequence[Choice], label: str, words: dict[str, str], visible: bool = False) -> Choice:
    """A choice that stands in the address."""
    key, asked = f"study-{name}", st.query_params.get(name)
    if st.session_state.get(key) not in options:  # another study had other options
        st.session_state[key] = asked if asked in options else options[0]
    choice = st.segmented_control(
        label, options, required=True, key=key, format_func=lambda option: words.get(option, option),
        label_visibility="visible" if visible else "collapsed",
    )  # fmt: skip
    assert choice is not None  # it is required
    st.query_params[name] = choice
    return choice


# --- the page --------------------------------------------------------------------------------------------------------

nav.ensure_nav()
head, picker, action = st.columns([2.1, 1.7, 0.6], vertical_alignment="bottom")
with head:
    theme.question("What makes a good engineer?")
markup.styles()
if action.button("New study", type="primary", key="study-new", width="stretch"):
    start_form()
sessions.said_why(ERROR)
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
    answer, controls, body, foot = st.container(), st.container(horizontal=True), st.container(), st.container()
    with controls:
        view = chosen("view", views(report), "What to look at", VIEW_WORDS)
        measure = chosen("measure", MEASURES, "Rate", {})
    with foot:
        image = downloads(report, view)
    with answer:
        took = "" if report.seconds is None else f" · {sessions.duration(report.seconds)}"
        facts = f"{report.finished} of {report.cells} sessions · {sessions.set_up(report.spec.session)} in each, but for its arm{took}"
        first = " ".join([report.beforehand, detectable(told_of(report, measure))]).strip()
        st.html(
            f'<p class="fl-note">{escape(first)}</p><p class="fl-answer">{escape(told_of(report, measure).verdict)}</p>'
            f'<p class="fl-note">{escape(facts)} · {escape(report.results_from)}</p>'
        )
        if report.missing:
            st.caption(f"This is an earlier study: {'; '.join(report.missing)}.")
        if report.spec.prediction:
            st.caption(f"Written before it ran: {markup.plain(report.spec.prediction)}")
    with body:
        {"effects": show_effects, "arms": show_arms, "sizes": show_sizes, "predictions": show_predictions}[view](report, measure, image)
