"""The environment config of the first stage."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.session.config_tables import config_list
from frozenlab.app.train.student import FROM_STUDENT, config_of
from frozenlab.app.ui import markup
from frozenlab.base.cells import Config
from frozenlab.base.errors import LabError
from frozenlab.experiments.students.store import Student
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec

FROM_PRESET, FROM_DESIGN, FROM_FILE = "the preset that it begins with", "the Design page", "a file"


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
    source = st.selectbox("Taken from", sources, key="form_source", format_func=lambda name: titles.get(name, name))
    config: Config | None = begun.initial_config
    try:
        if source == FROM_STUDENT:
            config = config_of(student) if student else None
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
