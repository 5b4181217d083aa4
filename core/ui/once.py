"""What is drawn or counted once for all who look: a page runs anew at every click of every reader."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

import streamlit as st

Result = TypeVar("Result")
MOST = 300
"""Results that are kept."""


def once(make: Callable[[], Result], what: str, *of: Hashable) -> Result:
    """What ``make`` gives, or gave to somebody before. All who ask share it and must not change it.

    Args:
        what: its name, one for each place in the code that asks.
        of: everything it depends on; files by their revision (:meth:`frozenlab.loop.store.Session.revision`).
    """
    return cast(Result, _kept(what, of, make))


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _kept(what: str, of: tuple[Hashable, ...], _make: Callable[[], object]) -> object:
    return _make()
