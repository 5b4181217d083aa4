"""Design: what should the model train on?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from frozenlab.app.design import drafts
from frozenlab.app.design.controls import cells, config_of, exact, kinds, layouts, most, put, rearrange, remember, slider, state
from frozenlab.app.design.sample import comparison, drawn_boards, layout_gallery
from frozenlab.app.ui import nav, refusals, theme
from frozenlab.app.ui.components import NODES, component
from frozenlab.app.ui.markup import plain
from frozenlab.base import numbers
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import KNOBS, LAYOUTS, MAX_AGENTS, BoardKind
from frozenlab.lake.config_file import ConfigError
from frozenlab.lake.draw.feasible import natural_wait_rate, undrawable
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import cell_label
from frozenlab.tasks.lake.words import LAYOUT_WORDS, MUST_WAIT_IF, PLACEMENT_HELP, STARTS_AND_GOALS, WAIT_HELP, teams_title

NAMES = {
    "share": ("Share", "The share of all training boards that are of this cell. The shares sum to 100 %."),
    "hole_ratio": ("Hole ratio", "The share of the cells that are holes"),
    "wait_ratio": (
        "Wait ratio",
        "The share of the boards that must wait: they cannot be solved in the fewest steps without some agent waiting for another",
    ),
}
LAYOUT = ("Layout", "Where the holes go. Several are mixed in equal parts; the boards in **Layouts**, above, show what each looks like.")
ERROR = "design_error"
"""Session-state entry: why a config was not saved or renamed."""
BY_CHANCE = (
    "By chance",
    "How often a random board with these settings must wait. The generator samples until it reaches the wait ratio you set. Measured for "
    "scattered boards as the paper has them; a dash: not measured.",
)

_knobs = component(__file__, "knobs", '<div class="knobs"></div>', code=NODES)


def page() -> None:
    """The knobs at the left, boards drawn from them at the right."""
    problem = take_address()
    store = SessionStore()
    theme.question(
        "What should the model train on?",
        "A model practises on frozen lakes that a team has to cross. Choose their sizes, holes and crowds, and see some drawn.",
    )
    desk, view = theme.bench(1.25, 1)
    with desk:
        if problem:
            st.warning(plain(problem))
        begin, train = st.columns([2.3, 1], vertical_alignment="bottom")
        with begin:
            presets()
        rules_of_drawing()
        config, drawable = knobs()
        if config is not None:
            nav.put("config", None if config == drafts.offered(drafts.QUICK, ()) else drafts.encode(config))
        if (
            train.button("Train with this config", type="primary", disabled=config is None or drawable is None, width="stretch")
            and config is not None
        ):
            state.design_config = config.to_json()
            st.switch_page(nav.path("train"))
        library(store, config)
        below = st.container()
    with view:
        instances = drawn_boards(drawable)
    if instances is not None and drawable is not None:
        with below:
            comparison(instances, drawable)


def take_address() -> str:
    """Sets the controls to the config of the address, or to the usual one where nothing else is on the page. Returns what is wrong with the
    address."""
    problem, code = "", st.query_params.get("config")
    if (nav.arrived() or "design_exact" not in state) and code:
        try:
            put(drafts.decode(code))
        except ConfigError as error:
            problem = f"The address holds no config: {error}. Here is another one."
    if "design_exact" not in state:
        put(drafts.offered(drafts.QUICK, ()))
    return problem


def rules_of_drawing() -> None:
    """What holds for all boards: sizes, teams, waits, starts and goals, layouts."""
    sizes, team = st.columns([1.7, 1])
    offered = sorted({*PAPER_SIZES, *(kind.size for kind in state.design_exact)})
    sizes.pills("Map sizes", offered, selection_mode="multi", key="design_sizes", persist_state="session")
    team.pills(
        "Agents", range(1, MAX_AGENTS + 1), selection_mode="multi", key="design_teams", on_change=rearrange, persist_state="session",
        help="How many agents a training board has. With several teams, each has shares of its own for every size that has a row "
        "for each agent.",
    )  # fmt: skip
    waits, places, layouts = st.columns([1.35, 1.15, 0.7], vertical_alignment="bottom")
    waits.selectbox(
        "A board must wait if", MUST_WAIT_IF, format_func=MUST_WAIT_IF.__getitem__, key="design_wait", persist_state="session",
        help=WAIT_HELP,
    )  # fmt: skip
    places.selectbox(
        "Starts and goals", STARTS_AND_GOALS, format_func=STARTS_AND_GOALS.__getitem__, key="design_placement", persist_state="session",
        help=PLACEMENT_HELP,
    )  # fmt: skip
    with layouts:
        layout_gallery()


def knobs() -> tuple[EnvironmentConfig | None, EnvironmentConfig | None]:
    """A row of knobs for each cell. Returns the config, None while its shares are out of balance, and the config that boards are drawn
    from, None where some cannot be drawn."""
    if not kinds():
        st.info(f"Choose at least one {'number of agents' if state.design_sizes else 'map size'}.")
        return None, None
    with st.container(key="design-knobs", gap="xsmall"):
        wrong = table()
    config = config_of(cells()) if balance(cells()) else None
    for reason in wrong.values():
        st.error(reason[0].upper() + reason[1:])
    return config, None if wrong else config or config_of(drafts.normalised(cells()))


def presets() -> None:
    def take() -> None:
        if state.design_preset:
            put(drafts.offered(state.design_preset, state.design_teams))
        state.design_preset = None

    st.pills(
        "Begin from", drafts.OFFERED, key="design_preset", on_change=take, format_func=lambda name: name.replace("-", " ").capitalize(),
        help="  \n".join(f"**{name}**: {words}" for name, words in drafts.OFFERED.items()),
    )  # fmt: skip


def library(store: SessionStore, config: EnvironmentConfig | None) -> None:
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
        with refusals.keeping_reason(ERROR, "Not saved"):
            name = drafts.named(state.design_name)
            replaced = ", in place of the one of that name" if name in drafts.shelf(store) else ""
            drafts.save(store, name, config)
            state.design_kept = f"Saved as {name}{replaced}."

    row = st.container(horizontal=True)
    with row.popover("Load"):
        st.selectbox("Saved configs", drafts.shelf(store), index=None, key="design_saved", on_change=take_saved, placeholder="Choose one")
        shelf_actions(store)
        st.file_uploader("A config file", type=["json", "toml"], key="design_upload", on_change=take_upload, max_upload_size=1)
    saves = refusals.changes(disabled=config is None)
    with row.popover("Save", **saves):
        st.text_input("Name", key="design_name", max_chars=63, placeholder="small-and-crowded")
        st.button("Save", on_click=keep, args=(config,), key="design_keep", **saves)
    for kind, write in (("json", EnvironmentConfig.to_json), ("toml", EnvironmentConfig.to_toml)):
        row.download_button(
            f"Export {kind.upper()}", partial(file_text, write, config), f"environment.{kind}", f"application/{kind}",
            on_click="ignore", disabled=config is None,
        )  # fmt: skip
    refusals.show_reason(ERROR)
    if state.get("design_kept"):
        st.success(plain(state.pop("design_kept")))
    if state.get("design_load_error"):
        st.error(plain(f"This is no environment config. {state.design_load_error}"))


def shelf_actions(store: SessionStore) -> None:
    """What can be done with the saved config that was chosen: another name, or no place on the shelf. It stays on the page."""
    if not (chosen := state.get("design_saved")):
        return

    def rename() -> None:
        with refusals.keeping_reason(ERROR, "Not renamed"):
            state.design_saved = drafts.rename(store, chosen, state[key])
            state.design_kept = f"Renamed: {chosen} is {state.design_saved} now."

    def remove() -> None:
        drafts.shelf(store)[chosen].unlink(missing_ok=True)
        state.design_saved, state.design_kept = None, f"{chosen} is deleted. The page still shows it; Save puts it back."

    key = f"design_name_of_{chosen}"
    st.text_input("Another name", chosen, key=key, max_chars=63)
    with st.container(horizontal=True):
        st.button("Rename", on_click=rename, key="design_rename", icon=":material/edit:", **refusals.changes())
        st.button("Delete", on_click=remove, key="design_remove", icon=":material/delete:", **refusals.changes())


def file_text(write: Callable[[EnvironmentConfig], str], config: EnvironmentConfig | None) -> str:
    return write(config).rstrip() + "\n" if config else ""


def table() -> dict[BoardKind, str]:
    """A row of knobs a cell; returns cell -> why it cannot be drawn, where it cannot."""
    widths = [0.7, 5, 1.5, 1.6]
    with st.container(key="design-heads"):
        size, turned, *others = st.columns(widths)
        places = (size, *turned.columns(len(KNOBS)), *others)
        for place, (name, words) in zip(places, [("Size", None), *NAMES.values(), LAYOUT, BY_CHANCE], strict=True):
            place.markdown(name, help=words)
    wrong = {}
    config = config_of(drafts.normalised(cells()))
    team = config.teams[0] if len(config.teams) == 1 else None
    for kind in kinds():
        if kind.agents != team:
            team = kind.agents
            st.markdown(f":small[**{teams_title((team,))}**]")
        columns, name = st.columns(widths, vertical_alignment="center"), config.name_of(kind)
        columns[0].markdown(f"**{kind.size}×{kind.size}**")
        with columns[1]:
            bars(kind, config.describe(kind).words)
        with columns[2]:
            if kind.layout:
                st.markdown(kind.layout)
            else:
                layout_menu(kind, config.describe(kind).words)
        reason = undrawable(config, name)
        with columns[3].container(key=f"design-chance-{kind.agents}-{kind.layout or ''}{kind.size}"):
            if reason:
                wrong[kind] = reason
                st.markdown(":red[**never**]", help=reason)
            else:
                st.markdown(chance(config, name))
    remember()
    return wrong


def bars(kind: BoardKind, words: str) -> None:
    """The knobs of a cell, as bars to drag; the session state holds what they say."""
    key = slider(kind, "bars")

    def turn() -> None:
        for knob, value in state[key].turned.items():
            state[slider(kind, knob)] = min(max(int(value), 0), most(kind, knob))

    for knob in KNOBS:
        state.setdefault(slider(kind, knob), round(100 * exact(kind)[knob]))
    knobs = [
        {"knob": knob, "name": NAMES[knob][0], "says": f"{NAMES[knob][0]} of {words}", "value": state[slider(kind, knob)]}
        | {"most": most(kind, knob)}
        for knob in KNOBS
    ]
    _knobs(key=key, data={"knobs": knobs}, on_turned_change=turn, height="content")


def chance(config: EnvironmentConfig, name: str) -> str:
    """How often a random board of a cell must wait; a dash where that was not measured."""
    rate = natural_wait_rate(config, name)
    return "–" if rate is None else numbers.percent(rate)


def layout_menu(kind: BoardKind, words: str) -> None:
    """The layouts that a cell mixes: as many as are liked, in equal parts."""
    state.setdefault(slider(kind, "layouts"), list(layouts(kind)))
    parts = layouts(kind)
    names = " + ".join(parts) if len(parts) < 3 else f"{len(parts)} layouts"
    with st.popover(names, key=slider(kind, "layout_menu"), type="tertiary"):
        st.pills(
            f"Layouts of {words}", LAYOUTS, selection_mode="multi", key=slider(kind, "layouts"), persist_state="session",
            help="  \n".join(f"**{layout}**: {words}" for layout, words in LAYOUT_WORDS.items()),
        )  # fmt: skip
        st.caption(", ".join(f"{numbers.share(part)} {layout}" for layout, part in parts.items()) + " boards")


def balance(draft: drafts.Cells) -> bool:
    """The shares as a bar; returns whether they sum to 1."""
    total = sum(knobs["share"] for knobs in draft.values())
    config, parts = config_of(drafts.normalised(draft)), ""
    for kind, knobs in draft.items():
        name, share = cell_label(config.name_of(kind)), knobs["share"]
        parts += f'<i style="flex:{max(share, 1e-4)} 0 0" title="{name}: {numbers.share(share)}"><span>{name}</span></i>'
    st.html(f'<p class="fl-label">Shares of all boards</p><div class="shares" role="img" aria-label="Shares of the cells">{parts}</div>')
    if abs(total - 1) <= 1e-6:
        return True
    words, button = st.columns([2, 1], vertical_alignment="center")
    words.markdown(f":red[**The shares sum to {numbers.share(total)}.**] They must sum to 100 %.")
    button.button("Normalise", on_click=lambda: put(config_of(drafts.normalised(draft))), width="stretch")
    return False
