"""Boards drawn from the config: pictures, the chosen one played, and the requested and drawn ratios."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from frozenlab.app import allowances
from frozenlab.app.design.controls import kinds, rearrange, slider, state
from frozenlab.app.ui import markup, nav
from frozenlab.app.views.lake import preparing
from frozenlab.app.views.lake.pictures import board_gallery
from frozenlab.app.views.lake.player import board_player
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import Track
from frozenlab.base.errors import GenerationError
from frozenlab.base.numbers import counted, share
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS
from frozenlab.lake.draw.generator import generate, realised
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import judge, walk
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.lake.words import LAYOUT_WORDS

SHOWN = 12
"""Boards of a sample that are drawn; the statistics count all of it."""
HOLES, WAITS = "hole ratio", "wait ratio"
DRAWING = "Drawing boards and solving them"


def drawn_boards(config: EnvironmentConfig | None) -> list[Instance] | None:
    """Pictures of boards drawn from ``config`` (None: it cannot be drawn), and the player of the chosen one. Returns all drawn boards."""
    top = st.container(horizontal=True, vertical_alignment="bottom")
    top.header("Boards drawn from it", anchor=False)
    n = top.segmented_control(
        "Boards", [12, 48, 192], default=48, required=True, key="design_n", persist_state="session", label_visibility="collapsed"
    )
    state.setdefault("design_seed", 0)
    top.button("Draw others", on_click=draw_others, shortcut="N")
    if config is None:
        st.info("Boards appear here as soon as the config can be drawn.")
        return None
    if preparing.wait_for("solver", "boards"):
        st.rerun()
    try:
        with st.spinner(DRAWING, show_time=True):
            instances = sample(config.to_json(), n, state.design_seed)
    except (GenerationError, allowances.LimitError) as error:
        st.error(str(error))
        return None
    show_boards(instances[:SHOWN])
    return instances


def draw_others() -> None:
    state.design_seed += 1


@st.cache_data(max_entries=100, show_spinner=False)
def sample(config: str, n: int, seed: int) -> list[Instance]:
    allowances.spend(allowances.DRAWN, n)
    return generate(EnvironmentConfig.from_json(config), n, seed, sum_of_costs=False)


def show_boards(shown: list[Instance]) -> None:
    """Pictures to choose from, and above them the optimal plan of the chosen board; at first the board with the longest one."""
    hero = st.container()
    longest = max(range(len(shown)), key=lambda i: shown[i].solution.makespan or 0)
    pictures = [(instance.board, caption(instance)) for instance in shown]
    chosen = shown[board_gallery(pictures, key="design_gallery", size=92, default=longest)]
    plan = chosen.solution.plan or ()
    verdict = judge(chosen.board, plan, chosen.solution.makespan)
    track = Track("Its optimal plan", walk(chosen.board, plan), verdict)
    with hero:
        board_player(chosen.board, [track], key="design_player", height=300, autoplay=True)
        address = {"board": encode(chosen.board)}
        nav.button("Play this board", "play", query=address, key="design-play", type="tertiary", icon=":material/sports_esports:")


def caption(instance: Instance) -> str:
    board, solution = instance.board, instance.solution
    return f"{board.height}×{board.width}, {counted(solution.makespan or 0, 'step')}{', wait' if solution.needs_wait else ''}"


def comparison(instances: list[Instance], config: EnvironmentConfig) -> None:
    """What the config asks for, and what was drawn."""
    st.header("What was asked for, and what was drawn", anchor=False)
    hints = {HOLES: "Asked for → drawn", WAITS: "Asked for → drawn", "makespan": "Mean steps of the optimal plans"}
    markup.data_table("What was asked and what was drawn", compare(instances, config), hints=hints, decimals={"makespan": 1})
    st.caption(
        f"Ratios: asked for → drawn. n = {len(instances)} boards, seed {state.design_seed}. The same config and seed give the same boards."
    )


def compare(instances: list[Instance], config: EnvironmentConfig) -> pd.DataFrame:
    """What was asked and what was drawn, one row per cell."""
    found = realised(instances)
    rows = []
    for name, asked in config.cells.items():
        drawn = found.get(name)
        row = {"map": cell_label(name), "boards": drawn.boards if drawn else 0}
        for knob, name in (("hole_ratio", HOLES), ("wait_ratio", WAITS)):
            row[name] = f"{share(getattr(asked, knob))} → {share(getattr(drawn, knob)) if drawn else '–'}"
        rows.append(row | {"makespan": drawn.mean_makespan if drawn else None})
    return pd.DataFrame(rows)


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
        off = not state.design_all_layouts or bool(state.design_apart)
        st.button("Give all sizes these", on_click=lay_out_all, disabled=off, key="design_lay_out_all")
