"""What each layout looks like, and one choice of layouts for all map sizes."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.design.controls import kinds, rearrange, slider, state
from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.gallery import board_gallery
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.instance import Instance
from frozenlab.tasks.lake.drawing_words import LAYOUT_WORDS

DRAWING = "Drawing boards and solving them"


@st.cache_data(show_spinner=False)
def examples(agents: int) -> list[Instance]:
    """A board of each layout: 8 by 8 with 30 % holes."""
    configs = [EnvironmentConfig.uniform((8,), agents, 0.3, 0.0, {layout: 1.0}) for layout in LAYOUTS]
    return [generate(config, 1, seed=0)[0] for config in configs]


def layout_gallery() -> None:
    """What each layout looks like, and one choice for all sizes."""

    def lay_out_all() -> None:
        for kind in kinds():
            state[slider(kind, "layouts")] = state.design_all_layouts
        state.design_all_layouts = []

    menu = st.popover("Layouts", key="design_layout_menu", on_change="rerun")
    if not menu.open:
        return
    with menu:
        st.markdown("A layout says where the holes go and whether there is one-way ice or doors; the hole ratio counts the holes.")
        if preparing.ready("solver", "boards"):
            with st.spinner(DRAWING, show_time=True):
                boards = [example.board for example in examples(max(state.design_teams, default=2))]
            pictures = [(board, f"{layout}: {LAYOUT_WORDS[layout]}") for layout, board in zip(LAYOUTS, boards, strict=True)]
            board_gallery(pictures, key="design_layouts", size=120)
        st.pills(
            "Cells of their own", LAYOUTS, selection_mode="multi", key="design_apart", on_change=rearrange, persist_state="session",
            help="Each of these layouts gets cells with a share and ratios of its own, evidence and claims too. Without any, a cell mixes "
            "layouts. The lab model as engineer has no words for layouts.",
        )  # fmt: skip
        st.pills("All sizes", LAYOUTS, selection_mode="multi", key="design_all_layouts")
        st.button(
            "Give all sizes these",
            on_click=lay_out_all,
            disabled=not state.design_all_layouts or bool(state.design_apart),
            key="design_lay_out_all",
        )
