"""Keys that press buttons, and the button that lets the browser report when a job is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import streamlit as st

from frozenlab.app.ui.components import FOCUS, component

_keys = component(__file__, "keys", code=FOCUS)
_notice = component(__file__, "notice", '<button type="button" hidden></button>')


def shortcuts(buttons: Mapping[str, str], *, key: str) -> None:
    """Let each key (a small letter) press the button with this ``key``, unless the focus is in a text input.

    Shift makes no difference. A key does nothing while its button is disabled or not on the page.
    """
    with st.container(key=key):
        _keys(key=f"{key}-listener", data={"keys": dict(buttons)})


class DoneJob(TypedDict):
    """A job that has ended."""

    id: str
    title: str
    status: str


def notice(ended: Sequence[DoneJob], key: str) -> None:
    """Draw the button, and report the jobs in ``ended`` that this browser has not reported yet. The reader is asked nothing before the
    button is pressed."""
    _notice(key=key, data={"ended": list(ended)}, height="content", width="content")
