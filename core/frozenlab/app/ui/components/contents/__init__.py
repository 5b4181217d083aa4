"""The contents of a page in parts: a bar that stays in reach, with the parts, of which one is shown, and the stages before and after."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from frozenlab.app.ui.components import NODES, text_of
from frozenlab.app.ui.components.timeline import Mark

PART = "part"
"""The part of the page that is shown, in the address."""

_contents = st.components.v2.component(
    "frozenlab_contents",
    html='<nav class="contents"></nav>',
    css=text_of(__file__, "contents.css"),
    js=NODES + text_of(__file__, "contents.js"),
)


def contents(parts: Mapping[str, str], before: Mark | None, chosen: Mark, after: Mark | None, *, key: str, default: str) -> str:
    """Draw the bar; return the part that is shown: the one in the address, else ``default``.

    A click on a part or a stage puts it into the address (``?part=``, ``?stage=``), as the thread of stages does.

    Args:
        parts: name in the address -> title.
    """
    asked = st.query_params.get(PART)
    shown = asked if asked is not None and asked in parts else default

    def picked() -> None:
        st.query_params["stage"] = str(int(st.session_state[key].picked))

    def opened() -> None:
        st.query_params[PART] = str(st.session_state[key].opened)

    with st.container(key=f"{key}-place"):
        _contents(
            key=key,
            data={
                "stages": [{"id": mark.id, "title": mark.title} if mark else None for mark in (before, chosen, after)],
                "parts": [{"id": part, "title": title} for part, title in parts.items()],
                "open": shown,
            },
            on_picked_change=picked,
            on_opened_change=opened,
            height="content",
        )
    return shown
