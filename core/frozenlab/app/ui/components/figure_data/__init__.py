"""Buttons beside the camera of every figure, which save it as PNG, and its data as CSV. All of it happens in the browser, on a click."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui.components import text_of

_figure_data = st.components.v2.component("frozenlab_figure_data", html="<span></span>", js=text_of(__file__, "figure_data.js"))


def figure_data() -> None:
    """Give every figure of the page its buttons. Called once per page, by its frame."""
    with st.container(key="figure-data"):
        _figure_data(key="figure-data-buttons", data={})
