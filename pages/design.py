"""Design: what should the model train on?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from frozenlab.lake.config import KNOBS, LAYOUTS, MAX_AGENTS, PAPER_SIZES, SCATTER, ConfigError, EnvironmentConfig, SizeConfig
from frozenlab.lake.draw.generator import GenerationError, generate, natural_wait_rate, realised, undrawable
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import judge, walk
from frozenlab.loop.store import SessionStore
from frozenlab.ui import drafts, nav, preparing, theme
from frozenlab.ui.board import Track, board_gallery, board_player
from frozenlab.ui.plain import plain
from frozenlab.ui.story import LAYOUT_WORDS, MUST_WAIT_IF, PLACEMENT_HELP, STARTS_AND_GOALS, WAIT_HELP

nav.ensure_nav()
state = st.session_state

SHOWN = 12
"""Boards of a sample that are drawn; the statistics count all of it."""
DRAWING = "Drawing boards and solving them"
DEFAULT_CELL = SizeConfig(share=0.1).settings()
NAMES = {
    "share": ("Share", "The share of all training boards that have this size. The shares sum to 100 %."),
    "hole_ratio": ("Hole ratio", "The share of the cells that are holes"),
    "wait_ratio": (
        "Wait ratio",
        "The share of the boards that must wait: they cannot be solved in the fewest steps without some agent waiting for another",
    ),
}
LAYOUT = ("Layout", "Where the holes go. Several are mixed in equal parts; the boards in **Layouts**, above, show what each looks like.")
BY_CHANCE = (
    "By chance",
    "How often a random board with these settings must wait. The generator samples until it reaches the wait ratio you set. Measured for "
    "scattered boards as the paper has them; a dash: not measured.",
)


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


@st.cache_data(max_entries=100, show_spinner=False)
def sample(config: str, n: int, seed: int) -> list[Instance]:
    return generate(EnvironmentConfig.from_json(config), n, seed, sum_of_costs=False)


if "design_exact" not in state:
    put(drafts.offered(drafts.QUICK, 2))

store = SessionStore()
theme.question(
    "What should the model train on?",
    "Turn the knobs of each map size, and see boards drawn from them. A session starts here; its engineer goes on.",
)
desk, view = theme.bench(1.25, 1)


# --- the desk -------------------------------------------------------------------------------------------------------------


def presets() -> None:
    def take() -> None:
        if state.design_preset:
            put(drafts.offered(state.design_preset, state.design_agents))
        state.design_preset = None

    st.pills(
        "Begin from", drafts.OFFERED, key="design_preset", on_change=take, format_func=lambda name: name.replace("-", " ").capitalize(),
        help="  \n".join(f"**{name}**: {words}" for name, words in drafts.OFFERED.items()),
    )  # fmt: skip


@st.cache_data(show_spinner=False)
def examples(agents: int) -> list[Instance]:
    """A board of each layout: 8 by 8 with 30 % holes."""
    configs = [EnvironmentConfig.uniform((8,), agents, 0.3, 0.0, {layout: 1.0}) for layout in LAYOUTS]
    return [generate(config, 1, seed=0)[0] for config in configs]


def layout_gallery() -> None:
    """What each layout looks like, and one choice for all sizes."""

    def lay_out_all() -> None:
        for size in state.design_sizes:
            state[slider(size, "layouts")] = state.design_all_layouts
        state.design_all_layouts = []

    menu = st.popover("Layouts", key="design_layout_menu", on_change="rerun")
    if not menu.open:
        return
    with menu:
        st.markdown("A layout says where the holes go; the hole ratio says how many there are.")
        if preparing.ready("solver", "boards"):
            with st.spinner(DRAWING, show_time=True):
                boards = [example.board for example in examples(state.design_agents)]
            pictures = [(board, f"{layout}: {LAYOUT_WORDS[layout]}") for layout, board in zip(LAYOUTS, boards, strict=True)]
            board_gallery(pictures, key="design_layouts", size=120)
        st.pills("All sizes", LAYOUTS, selection_mode="multi", key="design_all_layouts")
        st.button("Give all sizes these", on_click=lay_out_all, disabled=not state.design_all_layouts, key="design_lay_out_all")


def table() -> dict[int, str]:
    """A row of knobs a size; returns size -> why it cannot be drawn, where it cannot."""
    widths = [0.55, 1.75, 1.75, 1.85, 1.7, 1.3]
    with st.container(key="design-heads"):
        for column, (name, words) in zip(st.columns(widths)[1:], [*NAMES.values(), LAYOUT, BY_CHANCE], strict=True):
            column.markdown(name, help=words)
    wrong = {}
    for size in sorted(state.design_sizes):
        columns = st.columns(widths, vertical_alignment="center")
        columns[0].markdown(f"**{size}×{size}**")
        for column, knob in zip(columns[1:4], KNOBS, strict=True):
            key = slider(size, knob)
            state.setdefault(key, round(100 * DEFAULT_CELL[knob]))
            column.slider(
                f"{NAMES[knob][0]} of {size} by {size}", 0, most(size, knob), key=key, format="%d %%",
                label_visibility="collapsed", persist_state="session",
            )  # fmt: skip
        with columns[4]:
            layout_menu(size)
        alone = config_of(drafts.normalised({size: cells()[size]}))
        reason = undrawable(alone, size)
        with columns[5].container(key=f"design-chance-{size}"):
            if reason:
                wrong[size] = reason
                st.markdown(":red[**never**]", help=reason)
            else:
                st.markdown(chance(alone, size))
    return wrong


def chance(config: EnvironmentConfig, size: int) -> str:
    """How often a random board of a size must wait; a dash where that was not measured."""
    rate = natural_wait_rate(config, size)
    return "–" if rate is None else f"{100 * rate:.0f} %"


def layout_menu(size: int) -> None:
    """The layouts of a size: as many as are liked, in equal parts."""
    state.setdefault(slider(size, "layouts"), list(SCATTER))
    parts = layouts(size)
    names = " + ".join(parts) if len(parts) < 3 else f"{len(parts)} layouts"
    with st.popover(names, key=f"design_{size}_layout_menu", type="tertiary"):
        st.pills(
            f"Layouts of {size} by {size}", LAYOUTS, selection_mode="multi", key=slider(size, "layouts"), persist_state="session",
            help="  \n".join(f"**{layout}**: {words}" for layout, words in LAYOUT_WORDS.items()),
        )  # fmt: skip
        st.caption(", ".join(f"{part:.0%} {layout}" for layout, part in parts.items()) + " boards")


def balance(draft: drafts.Cells) -> bool:
    """The shares as a bar; returns whether they sum to 1."""
    total = sum(knobs["share"] for knobs in draft.values())
    colors = theme.palette()
    parts = "".join(
        f'<i style="flex:{max(knobs["share"], 1e-4)} 0 0" title="{size}×{size}: {knobs["share"]:.1%}"><span>{size}</span></i>'
        for size, knobs in draft.items()
    )
    st.html(f'<div class="shares" style="--part:{colors.line}" role="img" aria-label="Shares of the map sizes">{parts}</div>')
    if abs(total - 1) <= 1e-6:
        return True
    words, button = st.columns([2, 1], vertical_alignment="center")
    words.markdown(f":red[**The shares sum to {total:.0%}.**] They must sum to 100 %.")
    button.button("Normalise", on_click=lambda: put(config_of(drafts.normalised(draft))), width="stretch")
    return False


def library(config: EnvironmentConfig | None) -> None:
    """Save, load, export."""

    def take_upload() -> None:
        state.design_load_error = ""
        if state.design_upload is not None:
            try:
                put(EnvironmentConfig.from_bytes(state.design_upload.getvalue(), state.design_upload.name))
            except ConfigError as error:
                state.design_load_error = f"{state.design_upload.name}: {error}"

    def take_saved() -> None:
        state.design_load_error = ""
        if state.design_saved:
            try:
                put(EnvironmentConfig.read(drafts.shelf(store)[state.design_saved]))
            except (ConfigError, OSError) as error:
                state.design_load_error = f"{state.design_saved}: {error}"

    def keep(config: EnvironmentConfig) -> None:
        try:
            drafts.save(store, state.design_name, config)
            state.design_kept = f"Saved as {state.design_name}."
        except ConfigError as error:
            state.design_kept = str(error)

    row = st.container(horizontal=True)
    with row.popover("Load"):
        st.selectbox("Saved configs", drafts.shelf(store), index=None, key="design_saved", on_change=take_saved, placeholder="Choose one")
        st.file_uploader("A config file", type=["json", "toml"], key="design_upload", on_change=take_upload, max_upload_size=1)
    with row.popover("Save", disabled=config is None):
        st.text_input("Name", key="design_name", max_chars=63, placeholder="small-and-crowded")
        st.button("Save", on_click=keep, args=(config,), key="design_keep")
        if state.get("design_kept"):
            st.caption(state.pop("design_kept"))
    for kind, write in (("json", EnvironmentConfig.to_json), ("toml", EnvironmentConfig.to_toml)):
        row.download_button(
            f"Export {kind.upper()}",
            write(config).rstrip() + "\n" if config else "",
            f"environment.{kind}",
            f"application/{kind}",
            on_click="ignore",
            disabled=config is None,
        )
    if state.get("design_load_error"):
        st.error(plain(f"This is no environment config. {state.design_load_error}"))


with desk:
    presets()
    sizes, team = st.columns([1.7, 1])
    sizes.pills(
        "Map sizes", sorted({*PAPER_SIZES, *state.design_exact}), selection_mode="multi", key="design_sizes", persist_state="session"
    )
    team.segmented_control(
        "Agents",
        range(1, MAX_AGENTS + 1),
        key="design_agents",
        required=True,
        persist_state="session",
        help="The team on every training board",
    )
    waits, places, beside = st.columns([1.35, 1.15, 0.7], vertical_alignment="bottom")
    waits.selectbox(
        "A board must wait if",
        MUST_WAIT_IF,
        format_func=MUST_WAIT_IF.__getitem__,
        key="design_wait",
        persist_state="session",
        help=WAIT_HELP,
    )
    places.selectbox(
        "Starts and goals",
        STARTS_AND_GOALS,
        format_func=STARTS_AND_GOALS.__getitem__,
        key="design_placement",
        persist_state="session",
        help=PLACEMENT_HELP,
    )
    with beside:
        layout_gallery()
    wrong: dict[int, str] = {}
    config: EnvironmentConfig | None = None
    drawable: EnvironmentConfig | None = None  # the boards beside the knobs need no balance
    if not state.design_sizes:
        st.info("Choose at least one map size.")
    else:
        with st.container(key="design-knobs"):
            wrong = table()
        if balance(cells()):
            config = config_of(cells())
        if not wrong:
            drawable = config or config_of(drafts.normalised(cells()))
    for reason in wrong.values():
        st.error(reason[0].upper() + reason[1:])
    ready = config is not None and not wrong
    if st.button("Train with this config", type="primary", disabled=not ready, width="stretch") and config is not None:
        state.design_config = config.to_json()
        st.switch_page(nav.path("train"))
    library(config)
    below = st.container()


# --- the sample -----------------------------------------------------------------------------------------------------------


HOLES, WAITS = "hole ratio", "wait ratio"


def compare(instances: list[Instance], config: EnvironmentConfig) -> pd.DataFrame:
    """What was asked and what was drawn, one row per map size."""
    found = realised(instances)
    rows = []
    for size, asked in config.sizes.items():
        drawn = found.get(size)
        row = {"map": f"{size}×{size}", "boards": drawn.boards if drawn else 0}
        for knob, name in (("hole_ratio", HOLES), ("wait_ratio", WAITS)):
            row[name] = f"{getattr(asked, knob):.0%} → {getattr(drawn, knob):.0%}" if drawn else f"{getattr(asked, knob):.0%} → –"
        rows.append(row | {"makespan": drawn.mean_makespan if drawn else None})
    return pd.DataFrame(rows)


def caption(instance: Instance) -> str:
    board, solution = instance.board, instance.solution
    steps = "1 step" if solution.makespan == 1 else f"{solution.makespan} steps"
    return f"{board.height}×{board.width}, {steps}{', wait' if solution.needs_wait else ''}"


with view:
    top = st.container(horizontal=True, vertical_alignment="bottom")
    top.subheader("Boards drawn from it", anchor=False)
    n = top.segmented_control(
        "Boards", [12, 48, 192], default=48, required=True, key="design_n", persist_state="session", label_visibility="collapsed"
    )
    state.setdefault("design_seed", 0)

    def another() -> None:
        state.design_seed += 1

    top.button("Draw others", on_click=another, shortcut="N")
    if drawable is None:
        st.info("Boards appear here as soon as the config can be drawn.")
    else:
        if preparing.wait_for("solver", "boards"):
            st.rerun()
        try:
            with st.spinner(DRAWING, show_time=True):
                instances = sample(drawable.to_json(), n, state.design_seed)
        except GenerationError as error:
            st.error(str(error))
        else:
            hero = st.container()
            shown = instances[:SHOWN]
            longest = max(range(len(shown)), key=lambda i: shown[i].solution.makespan or 0)
            pictures = [(instance.board, caption(instance)) for instance in shown]
            chosen = shown[board_gallery(pictures, key="design_gallery", size=92, default=longest)]
            plan = chosen.solution.plan or ()
            with hero:
                verdict = judge(chosen.board, plan, chosen.solution.makespan)
                track = Track("Its optimal plan", walk(chosen.board, plan), verdict)
                board_player(chosen.board, [track], key="design_player", height=300, autoplay=True)
            with below:
                st.subheader("What was asked for, and what was drawn", anchor=False)
                st.dataframe(
                    compare(instances, drawable),
                    hide_index=True,
                    column_config={
                        HOLES: st.column_config.TextColumn(help="Asked for → drawn"),
                        WAITS: st.column_config.TextColumn(help="Asked for → drawn"),
                        "makespan": st.column_config.NumberColumn(format="%.1f", help="Mean steps of the optimal plans"),
                    },
                    alt="What was asked and what was drawn, by map size",
                )
                st.caption(
                    f"Ratios: asked for → drawn. n = {len(instances)} boards, seed {state.design_seed}. "
                    "The same config and seed give the same boards."
                )
