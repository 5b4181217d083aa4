"""The knobs of every map size, and the balance of their shares."""

from __future__ import annotations

import streamlit as st

from frozenlab.lake.config import KNOBS, LAYOUTS, SCATTER, EnvironmentConfig
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.lake.draw.rates import natural_wait_rate
from frozenlab.tasks.lake.page.design import drafts
from frozenlab.tasks.lake.page.design.controls import DEFAULT_CELL, cells, config_of, layouts, most, put, slider, state
from frozenlab.tasks.lake.view.words import LAYOUT_WORDS
from frozenlab.ui import theme

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


def table() -> dict[int, str]:
    """A row of knobs a size; returns size -> why it cannot be drawn, where it cannot."""
    widths = [0.55, 1.7, 1.7, 1.75, 1.6, 1.5]
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
