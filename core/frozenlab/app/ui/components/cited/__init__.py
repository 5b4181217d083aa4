"""Pieces of HTML in which evidence ids can be clicked."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.markup import RECORDS

_cited = st.components.v2.component(
    "frozenlab_cited", html='<div class="cited"></div>', css=RECORDS + text_of(__file__, "cited.css"), js=text_of(__file__, "cited.js")
)


def cited(html: str, *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show a piece of :mod:`frozenlab.app.ui.markup`; ``on_pick`` is called with the clicked evidence id."""

    def picked() -> None:
        on_pick(str(st.session_state[key].picked))

    _cited(key=key, data={"html": html}, on_picked_change=picked, height="content")
