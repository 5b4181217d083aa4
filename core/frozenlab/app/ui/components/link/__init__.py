"""The button that copies the address of what the page shows, which stands in the frame of every page."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui.components import text_of

_link = st.components.v2.component(
    "frozenlab_link",
    html='<button type="button" aria-label="Copy link to this view" title="Copy link to this view"></button><span role="status"></span>',
    css=text_of(__file__, "link.css"),
    js=text_of(__file__, "link.js"),
)


def copy_link() -> None:
    """Draw the button. The address is read when it is pressed, with all that the page has written into it by then."""
    _link(key="copy-link", data={}, height="content", width="content")
