"""The form of a new study."""

from __future__ import annotations

import shlex
from typing import Any

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.replays.form import arms_table
from frozenlab.app.train.preview import obstacles
from frozenlab.app.ui import api_form, form, markup, nav, sessions
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.base.docstrings import field_docs
from frozenlab.base.errors import one_line
from frozenlab.base.numbers import counted
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, ApiEngineer, name_of
from frozenlab.engineer.sections import NAMES
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.headroom.report import measured_before
from frozenlab.experiments.students.menu import recipes, usual_config
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import candidates, id_of
from frozenlab.experiments.studies.arms import CONTROLS, ordered, still_shown, usual_values, values_of
from frozenlab.experiments.studies.design import arm_titles, confounded
from frozenlab.experiments.studies.design import varied as varied_sections
from frozenlab.experiments.studies.grid import Arm, setting_name, value_words
from frozenlab.experiments.studies.noise import detectable_effect
from frozenlab.experiments.studies.presets import (
    ON_STUDENTS,
    PAPER_ENGINEERS,
    SEEDS,
    SMALLEST_EFFECT,
    STUDENTS_ENGINEERS,
    STUDIES,
    VARIED_SECTIONS,
    fit_for_study,
    students_study,
)
from frozenlab.experiments.studies.spec import PROMPT_TOKENS, StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.machine import cores
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.presets import PRESETS, preset_spec
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import OFFERED

KIND_WORDS = {
    "sections": "sections · every combination of some, such as the three that the paper names",
    "leave-one-out": "leave one out · all sections, and all but one",
    "one-at-a-time": "one at a time · no section, and each by itself",
    "engineers": "engineers · who writes the configs",
    "sweep": "sweep · values of one or two training settings: learning rate, steps, method, ...",
    "guard": "guard · how far a proposal may move a ratio: 0.2, 0.05 or all the way",
    "guidance": "guidance · an engineer with or without the paper's two lessons in its prompt",
    ON_STUDENTS: "students · engineers on students with a planted weakness, beside an oracle that knows it",
    "main": "main table · random, fixed and engineered environments, measured on the paper's suite",
}
BASE = "study"
"""The preset that a study runs by default."""
LIKE = "study-like"
"""Session-state entry: the :class:`StudySpec` that the form begins with, if any. Also what it calls that study among the kinds."""


def begin_like(spec: StudySpec) -> None:
    """Makes a study the beginning of the form; before that is drawn."""
    st.session_state[LIKE], st.session_state["study-kind"] = spec, LIKE


@nav.dialog("Start a study", width="medium")
def start_form() -> None:
    like: StudySpec | None = st.session_state.get(LIKE)
    words = ({LIKE: f"as in {like.title} · its {len(like.arms)} arms"} if like else {}) | KIND_WORDS
    kind = st.selectbox("What is compared", list(words), format_func=words.__getitem__, key="study-kind", **KEPT)
    form.open_file(
        "Open a study file", StudySpec, begin_like, "the spec of a study", "study.json as this form saves it, or from a study's folder.",
        key="study-file", type="tertiary",
    )  # fmt: skip
    like = like if kind == LIKE else None
    own = f"{kind}-{like.title}" if like else kind
    given: dict[str, Any] = {}
    if kind in VARIED_SECTIONS:
        sections = st.multiselect(
            "Sections that are on or off", NAMES, list(VARIED_SECTIONS[kind]), key=f"study-sections-{kind}", **KEPT,
            help="All others are the same in every arm.",
        )  # fmt: skip
        if not sections:
            st.info("Choose a section.")
            return
        given["varied"] = ordered(sections)
    if kind == ON_STUDENTS:
        given["recipes"] = pick_students()
        if len(given["recipes"]) < 2:
            return
    if kind in ("engineers", ON_STUDENTS):
        usual = STUDENTS_ENGINEERS if kind == ON_STUDENTS else PAPER_ENGINEERS
        given["engineers"] = engineers = tuple(
            st.multiselect(
                "Engineers", UNATTENDED, usual, key=f"study-{kind}-asked", **KEPT, format_func=name_of, help="The first is the reference."
            )
        )
        if len(engineers) < 2:
            st.info("Choose two engineers or more.")
            return
        given["controls"] = tuple(
            st.multiselect(
                "Controls of the first", list(CONTROLS), ["blind"] if kind == ON_STUDENTS else [], key=f"study-{kind}-controls", **KEPT,
                format_func=lambda name: f"{name} · {CONTROLS[name]}", help="Each is one more arm, made of the first engineer.",
            )
        )  # fmt: skip
    base, session = (kind, None) if kind == ON_STUDENTS else pick_session(like)
    texts = sweep_fields(session, base) if session is not None and kind == "sweep" else {}
    if kind == "sweep" and not texts:
        st.info("Choose a training setting.")
        return
    few, many = st.columns(2)
    seeds = few.number_input(
        "Seeds", 1, 50, len(like.seeds) if like else SEEDS[kind], key=f"study-seeds-{own}", **KEPT,
        help="Sessions of each arm. With few, only large effects can be seen.",
    )  # fmt: skip
    first = 0
    if like:
        first = many.number_input(
            "First seed", 0, 2**31 - 51, like.seeds[0], key=f"study-first-{own}", **KEPT,
            help="Other seeds repeat that study with other boards and other chance.",
        )  # fmt: skip
    jobs = int(many.number_input("Sessions at a time", 1, 64, cores(), key="study-jobs", **KEPT, help="One per processor core."))
    matters = few.number_input(
        "Smallest effect that matters, points", 0.1, 50.0, 100 * (like.smallest_effect if like else usual_margin(kind)), 0.5,
        format="%.1f", key=f"study-matters-{own}", **KEPT,
        help="An effect can be shown to be smaller than this, which is a finding too.",
    )  # fmt: skip
    prediction = many.text_input(
        "What do you expect?", key="study-prediction", **KEPT, max_chars=4000, help="Kept in the report, above the result."
    )
    asked: dict[str, Any] | None = None
    served = [name for name in given.get("engineers", ()) if "network" in BY_NAME[name].needs]
    if served or (kind == "guidance" and session is not None and session.language is None):
        asked = api_form.fields("study-api", lessons=kind != "guidance")
        if not asked["model"]:
            st.info("Which model is the engineer? Name it as its server does.")
            return
    try:
        if texts:
            given["varied"] = {setting: values_of(setting, text) for setting, text in texts.items()}
        if asked is not None:
            api = ApiEngineer(**asked)
            given |= {"engineer": api} if kind == "guidance" else {"engineers": [api if name in served else name for name in engineers]}
        if like and session is not None:
            made = again(like, range(first, first + seeds), session)
        else:
            made = students_study(seeds, **given) if session is None else STUDIES[kind](seeds, session, **given)
        arms = pick_arms(made)
        if len(arms) < 2:
            st.info("Choose two arms or more.")
            return
        left = {arm.name for arm in arms}
        primary = [one for one in made.primary if {one.arm, one.than} <= left]
        title = many.text_input("Title", key=f"study-title-{own}", **KEPT, max_chars=120, placeholder=made.title).strip() or made.title
        spec = made.changed(title=title, arms=arms, primary=primary, smallest_effect=matters / 100, prediction=prediction)
        if session is not None and (test := spec.session.test) is not None:
            boards = few.number_input(
                "Test boards of each cell", 1, 10_000, test.boards_per_cell, key=f"study-test-{base}", **KEPT,
                help="No engineer sees them; results come from them. They are measured before training and after every stage.",
            )  # fmt: skip
            spec = spec.changed(session=spec.session.changed(test=test.model_copy(update={"boards_per_cell": boards})))
    except ValueError as error:
        reason = one_line(error)
        st.error(f"This cannot run: {markup.plain(reason)}.")
        return
    if kind in VARIED_SECTIONS:
        arms_table(spec.arms, spec.session.sections)
    usual_test = session is None or spec.session.test == (session.test or session.suite)
    ready(spec, kind, base if usual_test and (spec.title, spec.arms) == (made.title, made.arms) else "", jobs)


def usual_margin(kind: str) -> float:
    """The smallest effect that matters, unless another one is given."""
    return SMALLEST_EFFECT if kind == ON_STUDENTS else float(StudySpec.model_fields["smallest_effect"].default)


def pick_students() -> dict[str, Recipe]:
    """The recipes of the students that are chosen, by their names; it says so where there are too few."""
    made = {student.name: student for student in candidates(sessions.store())}
    if len(made) < 2:
        st.info("This needs two students or more that came out as planned. Each takes about a minute to make:")
        axes = [recipe.title for recipe in recipes(usual_config()) if recipe.misled]
        st.code("\n".join(f"frozenlab students make {id_of(title)}" for title in axes), language="bash")
        return {}
    first = next(iter(made.values())).recipe.config
    alike = [name for name, student in made.items() if student.recipe.config.cells.keys() == first.cells.keys()]
    chosen = st.multiselect(
        "Students", list(made), alike, key="study-students", **KEPT, format_func=lambda name: made[name].title,
        help="Each begins a session with every arm and seed. They are the unit of the statistics.",
    )  # fmt: skip
    if len(chosen) < 2:
        st.info("Choose two students or more.")
    return {name: made[name].recipe for name in chosen}


def again(like: StudySpec, seeds: range, session: SessionSpec) -> StudySpec:
    """The same study with these seeds, and with another session if it is another one."""
    kept = tuple(seeds) if (len(seeds), seeds[0]) != (len(like.seeds), like.seeds[0]) else like.seeds
    return like.changed(seeds=kept, session=session if session == like.session else fit_for_study(session, like.arms))


def pick_session(like: StudySpec | None = None) -> tuple[str, SessionSpec]:
    """What each cell runs: its name, and the session."""
    bases = ({LIKE: ("as in that study", like.session)} if like else {}) | base_sessions()
    key = f"study-base-{like.title}" if like else "study-base"
    base = st.selectbox("What each session runs", list(bases), format_func=lambda name: bases[name][0], key=key, **KEPT)
    return base, bases[base][1]


def sweep_fields(session: SessionSpec, base: str) -> dict[str, str]:
    """The training settings that are varied, and the values of each as they were written; ``base`` is the name of the session."""
    settings = st.multiselect(
        "Training settings", list(TrainingSettings.model_fields), ["learning_rate"], key="study-varied", **KEPT, max_selections=2,
        format_func=setting_name, help="Two make a grid: each value of one with each of the other.",
    )  # fmt: skip
    return {
        setting: st.text_input(
            f"Values of {setting_name(setting)}", ", ".join(map(value_words, usual_values(setting, session.training))),
            key=f"study-values-{base}-{setting}", **KEPT, max_chars=300,
            help=f"With commas between them; the first is the reference. {field_docs(TrainingSettings)[setting]}",
        )
        for setting in settings
    }  # fmt: skip


def pick_arms(spec: StudySpec) -> list[Arm]:
    """The arms that are left of a study after some are removed."""
    names = [arm.name for arm in spec.arms]
    kept = st.multiselect(
        "Arms", names, names, key=f"study-arms-{'-'.join(names)}", **KEPT, format_func=arm_titles(spec).__getitem__,
        help="The first is the reference. Any can be removed.",
    )  # fmt: skip
    return [arm for arm in spec.arms if arm.name in kept]


def base_sessions() -> dict[str, tuple[str, SessionSpec]]:
    """What cells can run on this machine: presets, then saved sessions; by name, with what to call it."""
    presets = sorted(PRESETS, key=lambda name: name != BASE)
    found = {name: (f"preset {name} · {PRESETS[name].words}", preset_spec(name)) for name in presets}
    saved = sessions.store().sessions(OFFERED)
    for session, words in zip(saved, sessions.described(saved), strict=True):
        found[session.id] = (f"as in {words}", session.spec.changed(parent=None))
    return {name: (words, spec) for name, (words, spec) in found.items() if not obstacles(spec)}


def ready(spec: StudySpec, kind: str, base: str, jobs: int) -> None:
    """What would run, how long, what it would cost, and the button that starts it. ``base`` is the preset that its sessions are, if any."""
    reference = arm_titles(spec)[spec.arms[0].name]
    stages = counted(spec.session.stages, "stage")
    st.markdown(
        f"**{len(spec.cells)} sessions** of {stages}: {spec.size_in_words}. Arms of a seed share base and boards; their engineers are "
        "asked before the first stage too."
    )
    seen = still_shown(spec.arms)
    st.caption(f"The reference is **{reference}**. {seen} Results come from test boards that no engineer sees; each seed has its own.")
    if (pace := Study.pace(spec, sessions.store())) is not None:
        st.markdown(f"**{markup.plain(spec.effort(pace, jobs))}**.")
    else:
        st.caption("No session on this machine shows yet how long that takes.")
    st.info(detectable_effect(spec), icon=":material/visibility:")
    if mixed := confounded(spec):
        st.warning("  \n".join(map(markup.plain, mixed)), icon=":material/call_split:")
    if spec.trains_alike and (known := measured_before(spec.session, sessions.store(), spec.students)):
        say = st.info if known.something else st.warning
        say(f"Measured before ({markup.plain(known.title)}): {markup.plain(known.verdict)}", icon=":material/landscape:")
    if spec.requests:
        st.markdown(
            f"**{spec.requests} requests** to the API, one before the first stage and one after each; {paid(spec)}. An answer "
            "that cannot be used is asked for once more."
        )
    may = api_form.may_ask(spec.servers, "study")
    experiment.start_button(Study, spec, RunSettings(jobs=jobs), may)
    if base in (BASE, ON_STUDENTS) and not spec.requests and not spec.prediction and spec.smallest_effect == usual_margin(kind):
        options = [*options_of(spec, kind), "--seeds", str(len(spec.seeds)), "--jobs", str(jobs)]
        st.code(shlex.join(["frozenlab", "study", kind, *options]), language="bash")
    else:
        st.code(f"frozenlab study study.json --jobs {jobs}", language="bash")
        text = spec.model_dump_json(indent=2)
        st.download_button("Download study.json", lambda: text, "study.json", "application/json", on_click="ignore", key="study-spec")


def options_of(spec: StudySpec, kind: str) -> list[str]:
    """The students, engineers, controls, sections and training settings of a study, as options of the command line; the study students has
    a control by default."""
    controls = [arm.name for arm in spec.arms if arm.name in CONTROLS]
    asked = [arm.name for arm in spec.arms if arm.engineer is not None and arm.name not in CONTROLS]
    named = {"students": spec.students, "engineers": asked, "controls": controls}
    given = [name for name, values in named.items() if values or (name == "controls" and kind == ON_STUDENTS)]
    varied = {setting: dict.fromkeys(str((arm.training or {})[setting]) for arm in spec.arms) for setting in spec.arms[0].training or ()}
    sections = varied_sections(spec.sections_of())
    if kind in VARIED_SECTIONS and {*sections} != {*VARIED_SECTIONS[kind]}:
        named["sections"], given = sections, [*given, "sections"]
    words = [word for name in given for word in (f"--{name}", ",".join(named[name]))]
    return words + [word for setting, values in varied.items() for word in ("--vary", f"{setting}={','.join(values)}")]


def paid(spec: StudySpec) -> str:
    """What the requests cost at most, by the prices that are known."""
    if spec.highest_cost is None:
        return "without both prices their cost is not known"
    return f"together at most about **{spec.highest_cost:,.2f}**, for {PROMPT_TOKENS:,} tokens read and answers as long as they may be"
