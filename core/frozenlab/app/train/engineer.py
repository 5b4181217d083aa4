"""The engineer of a new session, and what it sees."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st

from frozenlab.app.ui import api_form
from frozenlab.engineer.engineers import BY_NAME, ENGINEERS, engineer_of, titled
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES, USUAL, SectionName, help_of
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.family import Family


class ChosenEngineer(NamedTuple):
    """Who proposes, and what it sees."""

    name: str
    server: dict[str, Any] | None
    """The settings of an engineer behind an API; None for others."""
    sections: tuple[SectionName, ...]
    layouts: tuple[str, ...]

    @property
    def unnamed(self) -> bool:
        """Whether its model has no name yet."""
        return self.server is not None and not self.server["model"]

    def spec(self, begun: SessionSpec, language: dict[str, Any] | None) -> EngineerSpec:
        """Raises pydantic's ValidationError for settings that are none."""
        if self.server is not None:
            return BY_NAME[self.name].model_validate(self.server)
        engineer = engineer_of(self.name, begun.engineer)
        if language and "model" in engineer.needs:
            return engineer.model_copy(update={"guidance": language["guidance"]})
        return engineer


def engineer_fields(family: Family) -> ChosenEngineer:
    engineer = st.selectbox(
        "Who writes the next config", [one.name() for one in ENGINEERS], format_func=titled, key="form_engineer",
        help="Between two stages the engineer reads the evidence and proposes the next environment config.",
    )  # fmt: skip
    server = api_form.fields() if "network" in BY_NAME[engineer].needs else None
    sections = st.pills(
        "What it sees", NAMES, selection_mode="multi", default=USUAL, key="form_sections",
        help="Sections of the context: " + "; ".join(f"{name}: {help_of(name)}" for name in NAMES) + ".",
    )  # fmt: skip
    layouts: list[str] = []
    if family.parts:
        layouts = st.pills(
            "Layouts it may use", family.parts, selection_mode="multi", key="form_layouts",
            help="Without any, every map size keeps those of the first config. The lab model has no words for layouts: it keeps them.",
        )  # fmt: skip
    return ChosenEngineer(
        engineer, server, tuple(name for name in NAMES if name in sections), tuple(layout for layout in family.parts if layout in layouts)
    )
