"""The message of a page that has lost its connection to the server."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui.components import text_of

UNREACHABLE = {
    "title": "The lab's server does not answer",
    "text": "Sessions that are training go on without it, and nothing is lost. This page connects again by itself as soon as the server is "
    "back. If it has ended, start it again with frozenlab app.",
}
"""Shown in place of Streamlit's question about the internet."""

_connection = st.components.v2.component("frozenlab_connection", html="<span></span>", js=text_of(__file__, "connection.js"))


def connection() -> None:
    """Watch the connection. Called once per page, by its frame."""
    with st.container(key="connection"):
        _connection(key="connection-words", data=UNREACHABLE)
