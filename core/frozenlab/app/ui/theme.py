"""The look: colours that charts and boards share, the page frame, presenter mode.

Streamlit's own colours are in ``.streamlit/config.toml``; what is here serves figures, pictures and the board component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.components.frame import copy_link, unseen_parts
from frozenlab.app.ui.glossary import explained
from frozenlab.base.places import ASSETS

if TYPE_CHECKING:  # the server starts with this module, and figures take pandas and Plotly along
    from frozenlab.app.ui.figures import Chart

ABOUT = (
    "**FrozenLab**: a language model learns multi-agent path finding by reinforcement learning, and between training stages "
    "it redesigns the environment it trains on."
)
"""An entry of the menu, because Streamlit hides an empty menu, and the choice of light and dark with it."""

IMAGE_WIDTH = 1400
"""Size in pixels of a saved figure, before scaling."""


@dataclass(frozen=True)
class Palette:
    """Colours of one theme for figures and pictures."""

    ground: str
    """The page."""
    surface: str
    """Cards and quiet boxes on the page."""
    line: str
    text: str
    muted: str
    """Notes and captions: quieter than ``text``, still readable on ground and surface."""
    accent: str
    on_accent: str
    """Letters on a button that is filled with ``accent``."""
    good: str
    blue: str
    """The opposite of ``accent``, for changes in the other direction."""
    ice: str
    """A frozen cell."""
    edge: str
    """The line around a cell."""
    hole: str
    """A hole, hatched with ``hatch``."""
    hatch: str
    outline: str
    """Letters on the ice, and the edge of agents, goals and trails, which is seen where an agent's colour is near that of the ice."""


LIGHT = Palette(
    ground="#FBFDFF",
    surface="#E9F2F9",
    line="#CFDFEC",
    text="#10233F",
    muted="#536780",
    accent="#B53C0A",
    on_accent="#FFFFFF",
    good="#007A58",
    blue="#0072B2",
    ice="#DCEBF7",
    edge="#6F869F",
    hole="#3D5672",
    hatch="#5F7A96",
    outline="#10233F",
)
DARK = Palette(
    ground="#0A1A2F",
    surface="#12294A",
    line="#284567",
    text="#E6F0FA",
    muted="#9DB3CB",
    accent="#F2793A",
    on_accent="#0A1A2F",
    good="#4FCBA4",
    blue="#56B4E9",
    ice="#A5BFD8",
    edge="#5E86B3",
    hole="#071221",
    hatch="#2D4666",
    outline="#0A1A2F",
)


def variables(colors: Palette) -> str:
    """The colours as CSS variables: ``--fl-on-accent:#FFFFFF;``."""
    return "".join(f"--fl-{name.replace('_', '-')}:{color};" for name, color in asdict(colors).items())


def palette() -> Palette:
    """The colours of the theme that the browser shows now."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def frame() -> None:
    """Page config, logo, link to the view and presenter toggle, the frame of every page. Called once by the entry point."""
    st.set_page_config(
        page_title="FrozenLab", page_icon=str(ASSETS / "icon.svg"), layout="wide", menu_items={"Get help": help_page(), "About": ABOUT}
    )
    mode = "dark" if st.context.theme.type == "dark" else "light"
    st.logo(str(ASSETS / f"logo-{mode}.svg"), size="large")
    with st.container(key="frame", width="content", horizontal=True, vertical_alignment="center", gap="small"):
        copy_link()
        presenting = st.toggle(
            "Presenter",
            key="presenter",
            bind="query-params",
            help="Larger letters and boards, for a projector. Part of the address. The menu comes back at the upper edge of the window.",
        )
    unseen_parts()
    files = ("app.css", *["presenter.css"] * presenting, "records.css")
    st.html(f"<style>:root{{{variables(palette())}}}{text_of(__file__, *files)}</style>")


def help_page() -> str | None:
    """The address of the Help page, which Streamlit's menu wants whole; None where no browser has told this page's own."""
    return urljoin(st.context.url, "help") if st.context.url else None


def question(text: str, lead: str = "") -> None:
    """The heading of a page: the question it answers, and one sentence below it, which presenter mode hides."""
    st.title(text, anchor=False)
    if lead:
        under_question(lead)


def under_question(lead: str) -> None:
    """The sentence below the heading, for readers who are new to the field. Where controls stand beside the heading, it goes below
    both."""
    if not st.session_state.get("presenter"):
        st.html(f'<p class="lead">{explained(lead)}</p>')


def head(text: str, lead: str, *widths: float) -> list[DeltaGenerator]:
    """The heading of a page and its sentence. Returns the places of controls in the line of the heading, of which a narrow screen shows
    the sentence, and the page's finding, first. ``widths``: of the heading's place and of theirs."""
    with st.container(key="head"):
        heading, *places = st.columns(widths, vertical_alignment="center")
        with heading:
            question(text)
        if lead:
            under_question(lead)
    return places


def bench(controls: float, hero: float) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The two columns of a page: controls on the left, content on the right. In presenter mode the controls are below."""
    if not st.session_state.get("presenter"):
        left, right = st.columns([controls, hero], gap="large")
        return left, right
    above, below = st.container(), st.container()
    return below, above


def places(count: int, across: int) -> list[DeltaGenerator]:
    """So many places in rows, at most ``across`` side by side."""
    return [place for _ in range(-(-count // across)) for place in st.columns(min(count, across))][:count]


def facts(entries: Sequence[tuple[str, str, str]]) -> None:
    """A row of figures: (value, name, help on hover) each. All three are shown as text, the terms of a name with their meanings."""
    cells = "".join(
        f'<div><b title="{escape(help_, quote=True)}">{escape(value)}</b><span>{explained(name)}</span></div>'
        for value, name, help_ in entries
    )
    st.html(f'<div class="facts">{cells}</div>')


def chart(drawn: Chart, key: str, **options: Any) -> None:
    """A figure with a text alternative, below its legend, which takes the lines that it needs. The only tools of its toolbar are Plotly's
    camera, which saves the figure as shown as SVG, and the buttons that save it as PNG and its data as CSV
    (:mod:`frozenlab.app.ui.components.frame`)."""
    if drawn.legend:
        words = "".join(f'<span><i style="color:{escape(color)}">{sign}</i> {escape(name)}</span>' for color, sign, name in drawn.legend)
        st.html(f'<p class="fl-legend" aria-hidden="true">{words}</p>')
    size = {"width": IMAGE_WIDTH, "height": drawn.figure.layout.height, "scale": 1}
    config: dict[str, Any] = {"displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]]}
    config |= {"toImageButtonOptions": {"format": "svg", "filename": f"frozenlab-{key}"} | size}
    st.plotly_chart(drawn.settled, key=key, alt=drawn.alt, config=config, **options)
