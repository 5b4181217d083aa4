"""Actions that may be refused: a callback keeps the reason, and the page shows it when it runs again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st

from frozenlab.app.ui import markup
from frozenlab.base import look_only
from frozenlab.base.errors import LabError

WHY = f"{look_only.WHY[0].upper()}{look_only.WHY[1:]}."


def changes(hint: str | None = None, disabled: bool = False) -> dict[str, Any]:
    """``disabled`` and ``help`` of a button that changes something: grey on a server that only looks, else as given."""
    return {"disabled": True, "help": WHY} if look_only.on() else {"disabled": disabled, "help": hint}


@contextmanager
def keeping_reason(key: str, failed: str = "") -> Iterator[None]:
    """Keep the reason why the block was refused in the session-state entry ``key``, after what ``failed``: ``Not started: ...``."""
    try:
        yield
    except LabError as error:
        st.session_state[key] = f"{failed}: {error}." if failed else str(error)


def show_reason(key: str) -> None:
    """Show the reason that a callback has kept, once."""
    if key in st.session_state:
        st.error(markup.plain(st.session_state.pop(key)))
