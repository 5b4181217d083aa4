"""The button that lets the browser tell the reader when a job is done, also while another tab is in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import streamlit as st

from frozenlab.app.ui.components import text_of

_notice = st.components.v2.component(
    "frozenlab_notice",
    html='<button type="button" hidden></button>',
    css=text_of(__file__, "notice.css"),
    js=text_of(__file__, "notice.js"),
)


class DoneJob(TypedDict):
    """A job that has ended."""

    id: str
    title: str
    status: str


def notice(ended: Sequence[DoneJob], key: str) -> None:
    """Draw the button, and tell of the jobs in ``ended`` that this browser was not told of yet. Nothing is asked of the reader before the
    button is pressed."""
    _notice(key=key, data={"ended": list(ended)}, height="content", width="content")
