"""Results that are computed once for all viewers, because a page runs again at every click of each viewer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

import streamlit as st

Result = TypeVar("Result")
MOST = 300
"""Number of results to keep."""


def once(make: Callable[[], Result], what: str, *of: Hashable) -> Result:
    """The result of ``make``, computed now or in an earlier call. All callers share it and must not change it.

    Args:
        what: its name, one for each place in the code that asks.
        of: everything it depends on; files by their revision (:meth:`frozenlab.loop.session.Session.revision`).
    """
    return cast(Result, _kept(what, of, make))


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _kept(what: str, of: tuple[Hashable, ...], _make: Callable[[], object]) -> object:
    return _make()
