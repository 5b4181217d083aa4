"""What a person has entered into a form and not sent yet: it outlives a reload of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from frozenlab.app.ui.components import component

Entry = Callable[[Any], Any]
"""Makes what a browser kept a value that the input can take. Raises TypeError or ValueError if there is none."""
KEPT: dict[str, Any] = {"persist_state": "session"}
"""Options of an input that another part of the page, another page or a closed dialog does not empty."""
LONGEST = 500
_draft = component(__file__, "draft")


def keep_draft(name: str, entries: Mapping[str, Entry]) -> None:
    """Keep the inputs with these keys in the browser; the first run after a reload puts what it kept into them. Called after they are
    drawn, each with ``KEPT``."""
    state = st.session_state
    values = {key: state[key] for key in entries if key in state}
    changed = values != state.setdefault(f"{name}-first", values)
    touched = state[f"{name}-touched"] = changed or begun(name)

    def take() -> None:
        state[f"{name}-touched"] = True
        with suppress(TypeError, ValueError):
            kept = dict(json.loads(state[f"draft-{name}"].found))
            for key in entries.keys() & kept.keys():
                with suppress(TypeError, ValueError):
                    state[key] = entries[key](kept[key])

    with st.container(key=f"draft-place-{name}"):
        data = {"name": name, "values": values if changed else None, "fresh": not touched}
        _draft(key=f"draft-{name}", data=data, on_found_change=take)


def begun(name: str) -> bool:
    """Whether something was entered since the page was loaded."""
    return bool(st.session_state.get(f"{name}-touched"))


def forget_draft(keys: Iterable[str]) -> None:
    """The inputs begin anew, once what they held was sent."""
    for key in keys:
        st.session_state.pop(key, None)


def per_cent(kept: Any) -> float | None:
    """A number from 0 to 100, or none."""
    return None if kept is None else min(max(float(kept), 0.0), 100.0)


def text(kept: Any) -> str:
    return str(kept)[:LONGEST]


def some_of(options: Collection[str]) -> Entry:
    """Those of the options that were kept."""
    return lambda kept: [one for one in kept if one in options]


def one_of(options: Collection[str]) -> Entry:
    """One of the options."""
    return lambda kept: next(one for one in options if one == kept)
