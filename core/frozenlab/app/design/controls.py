"""The config that the controls of the Design page hold."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.design import drafts
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import KNOBS, SCATTER, BoardKind, CellConfig

state = st.session_state

DEFAULT_CELL = CellConfig(size=6, share=0.1).settings()


def slider(kind: BoardKind, knob: str) -> str:
    """The key of a widget."""
    return f"design_{kind.agents}@{kind.layout or ''}{kind.size}_{knob}"


def put(config: EnvironmentConfig) -> None:
    """Sets every control to ``config``."""
    state.design_teams, state.design_sizes = list(config.teams), list(config.sizes)
    state.design_apart = list(config.kept_layouts) if config.keeps_layouts_apart else []
    state.design_wait = config.wait_definition
    state.design_placement = config.placement
    state.design_exact = state.design_known = drafts.cells_of(config)
    state.design_absent = [kind for kind in all_kinds() if kind not in state.design_exact]
    for kind, settings in state.design_exact.items():
        for knob in KNOBS:
            state[slider(kind, knob)] = round(100 * settings[knob])
        state[slider(kind, "layouts")] = list(drafts.layouts_of(settings))


def all_kinds() -> list[BoardKind]:
    """Every team on every size, and in every layout that is kept apart."""
    layouts = state.design_apart or [None]
    return [
        BoardKind(team, size, layout) for team in sorted(state.design_teams) for size in sorted(state.design_sizes) for layout in layouts
    ]


def kinds() -> list[BoardKind]:
    """The cells of the config; one that was loaded need not have every team on every size."""
    return [kind for kind in all_kinds() if kind not in state.design_absent]


def cells() -> drafts.Cells:
    """What the controls say now."""
    return {kind: {knob: value(kind, knob) for knob in KNOBS} | layouts(kind) for kind in kinds()}


def config_of(draft: drafts.Cells) -> EnvironmentConfig:
    return drafts.config_of(draft, state.design_wait, state.design_placement)


def remember() -> None:
    """Keeps the cells as they are, for those that begin like them."""
    state.design_known = state.design_known | cells()


def rearrange() -> None:
    """Other teams, or other layouts kept apart: new cells begin like the old ones of their size, and the shares are scaled.

    Of several teams, each has the sizes with a row for every agent, as in the paper.
    """
    state.design_absent = [kind for kind in all_kinds() if kind.size < kind.agents and len(state.design_teams) > 1]
    if kinds():
        put(config_of(drafts.normalised(cells())))


def exact(kind: BoardKind) -> dict[str, float]:
    """What a cell was set to; a new one begins like the cell of its size with the nearest team."""
    known = state.design_known
    like = [other for other in known if other.size == kind.size]
    nearest = min(like, key=lambda other: (abs(other.agents - kind.agents), other.layout != kind.layout), default=None)
    settings = state.design_exact.get(kind) or (known[nearest] if nearest else DEFAULT_CELL)
    return settings if kind.layout is None else {knob: settings[knob] for knob in KNOBS}


def layouts(kind: BoardKind) -> dict[str, float]:
    """The parts of the layouts that a cell mixes."""
    if kind.layout:
        return {}
    parts = drafts.layouts_of(exact(kind)) or SCATTER
    return drafts.mixed(parts, state.get(slider(kind, "layouts"), list(parts)) or list(SCATTER))


def most(kind: BoardKind, knob: str) -> int:
    """The end of a slider, in percent. Boards beyond 60 % holes hardly exist, but a config that was loaded may ask for them."""
    return 60 if knob == "hole_ratio" and exact(kind)[knob] <= 0.6 else 100


def value(kind: BoardKind, knob: str) -> float:
    settings = exact(kind)
    return drafts.turned(settings[knob], state.get(slider(kind, knob), round(100 * settings[knob])))
