"""The preset that a new session begins with."""

from __future__ import annotations

import streamlit as st

from frozenlab.session.presets import PRESETS as SESSION_PRESETS
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec


def chosen_name() -> str:
    return st.session_state.get("form_preset", next(iter(SESSION_PRESETS)))


def chosen_preset() -> SessionSpec:
    return preset_spec(chosen_name(), method=st.session_state["form_method"])
