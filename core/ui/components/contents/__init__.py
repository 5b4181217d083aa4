"""The contents of a long page: a bar that stays in reach, with a link to each section and the stages before and after."""

from __future__ import annotations

import streamlit as st

from frozenlab.ui.components import NODES, text_of
from frozenlab.ui.components.timeline import Mark

_contents = st.components.v2.component(
    "frozenlab_contents",
    html='<nav class="contents"></nav>',
    css=text_of(__file__, "contents.css"),
    js=NODES + text_of(__file__, "contents.js"),
)


class Contents:
    """Collects the headings of a page as they are drawn, and links them in a bar above."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.place = st.container(key=f"{key}-place")
        self.sections: list[tuple[str, str]] = []

    def heading(self, title: str, anchor: str, short: str = "", help: str | None = None) -> None:
        """A section's heading.

        Args:
            anchor: its name in the address, behind ``#``.
            short: what the bar calls it, if not by its title.
        """
        st.subheader(title, anchor=anchor, help=help)
        self.add(short or title, anchor)

    def add(self, title: str, anchor: str) -> None:
        """Add a heading that was drawn elsewhere."""
        self.sections.append((anchor, title))

    def show(self, chosen: Mark, before: Mark | None, after: Mark | None) -> None:
        """Draw the bar. A click on a stage puts the stage into the address (``?stage=``), as the thread of stages does."""

        def picked() -> None:
            st.query_params["stage"] = str(int(st.session_state[self.key].picked))

        steps = [{"id": mark.id, "title": mark.title} if mark else None for mark in (before, chosen, after)]
        with self.place:
            _contents(
                key=self.key,
                data={"stages": steps, "sections": [{"anchor": anchor, "title": title} for anchor, title in self.sections]},
                on_picked_change=picked,
                height="content",
            )
