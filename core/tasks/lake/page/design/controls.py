"""The config that the controls of the Design page hold."""

from __future__ import annotations

import streamlit as st

from frozenlab.lake.config import KNOBS, SCATTER, EnvironmentConfig, SizeConfig
from frozenlab.tasks.lake.page.design import drafts

state = st.session_state

DEFAULT_CELL = SizeConfig(share=0.1).settings()


def slider(size: int, knob: str) -> str:
    return f"design_{size}_{knob}"


def put(config: EnvironmentConfig) -> None:
    """Sets every control to ``config``."""
    state.design_agents = config.agents
    state.design_wait = config.wait_definition
    state.design_placement = config.placement
    state.design_sizes = list(config.sizes)
    state.design_exact = drafts.cells_of(config)
    for size, settings in state.design_exact.items():
        for knob in KNOBS:
            state[slider(size, knob)] = round(100 * settings[knob])
        state[slider(size, "layouts")] = list(drafts.layouts_of(settings))


def cells() -> drafts.Cells:
    """What the controls say now."""
    return {size: {knob: value(size, knob) for knob in KNOBS} | layouts(size) for size in sorted(state.design_sizes)}


def config_of(draft: drafts.Cells) -> EnvironmentConfig:
    return drafts.config_of(state.design_agents, draft, state.design_wait, state.design_placement)


def layouts(size: int) -> dict[str, float]:
    exact = drafts.layouts_of(state.design_exact.get(size, DEFAULT_CELL))
    return drafts.mixed(exact, state.get(slider(size, "layouts"), list(exact)) or list(SCATTER))


def most(size: int, knob: str) -> int:
    """The end of a slider, in percent. Boards beyond 60 % holes hardly exist, but a config that was loaded may ask for them."""
    return 60 if knob == "hole_ratio" and state.design_exact.get(size, DEFAULT_CELL)[knob] <= 0.6 else 100


def value(size: int, knob: str) -> float:
    exact = state.design_exact.get(size, DEFAULT_CELL)[knob]
    return drafts.turned(exact, state.get(slider(size, knob), round(100 * exact)))
