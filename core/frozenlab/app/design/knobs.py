"""The knobs of every cell, and the balance of their shares."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.design import drafts
from frozenlab.app.design.controls import cells, config_of, exact, kinds, layouts, most, put, remember, slider, state
from frozenlab.app.ui import theme
from frozenlab.base import numbers
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import KNOBS, LAYOUTS, BoardKind
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.lake.draw.rates import natural_wait_rate
from frozenlab.tasks.labels import cell_label
from frozenlab.tasks.lake.drawing_words import LAYOUT_WORDS
from frozenlab.tasks.lake.words import teams_title

NAMES = {
    "share": ("Share", "The share of all training boards that are of this cell. The shares sum to 100 %."),
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


def table() -> dict[BoardKind, str]:
    """A row of knobs a cell; returns cell -> why it cannot be drawn, where it cannot."""
    widths = [0.55, 1.7, 1.7, 1.75, 1.6, 1.5]
    with st.container(key="design-heads"):
        for column, (name, words) in zip(st.columns(widths)[1:], [*NAMES.values(), LAYOUT, BY_CHANCE], strict=True):
            column.markdown(name, help=words)
    wrong = {}
    config = config_of(drafts.normalised(cells()))
    team = config.teams[0] if len(config.teams) == 1 else None
    for kind in kinds():
        if kind.agents != team:
            team = kind.agents
            st.markdown(f":small[**{teams_title((team,))}**]")
        columns, name = st.columns(widths, vertical_alignment="center"), config.name_of(kind)
        columns[0].markdown(f"**{kind.size}×{kind.size}**")
        for column, knob in zip(columns[1:4], KNOBS, strict=True):
            key = slider(kind, knob)
            state.setdefault(key, round(100 * exact(kind)[knob]))
            column.slider(
                f"{NAMES[knob][0]} of {config.describe(kind).words}", 0, most(kind, knob), key=key, format="%d %%",
                label_visibility="collapsed", persist_state="session",
            )  # fmt: skip
        with columns[4]:
            if kind.layout:
                st.markdown(kind.layout)
            else:
                layout_menu(kind, config.describe(kind).words)
        reason = undrawable(config, name)
        with columns[5].container(key=f"design-chance-{kind.agents}-{kind.layout or ''}{kind.size}"):
            if reason:
                wrong[kind] = reason
                st.markdown(":red[**never**]", help=reason)
            else:
                st.markdown(chance(config, name))
    remember()
    return wrong


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
    colors, config = theme.palette(), config_of(drafts.normalised(draft))
    parts = ""
    for kind, knobs in draft.items():
        name, share = config.name_of(kind), knobs["share"]
        parts += f'<i style="flex:{max(share, 1e-4)} 0 0" title="{cell_label(name)}: {numbers.share(share)}"><span>{name}</span></i>'
    st.html(f'<div class="shares" style="--part:{colors.line}" role="img" aria-label="Shares of the cells">{parts}</div>')
    if abs(total - 1) <= 1e-6:
        return True
    words, button = st.columns([2, 1], vertical_alignment="center")
    words.markdown(f":red[**The shares sum to {numbers.share(total)}.**] They must sum to 100 %.")
    button.button("Normalise", on_click=lambda: put(config_of(drafts.normalised(draft))), width="stretch")
    return False
