"""Keys that press buttons: one listener per page, because Streamlit's own shortcuts are off while a widget has the focus."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from frozenlab.app.ui.components import FOCUS, text_of

_keys = st.components.v2.component("frozenlab_keys", html="<span></span>", js=FOCUS + text_of(__file__, "keys.js"))


def shortcuts(buttons: Mapping[str, str], *, key: str) -> None:
    """Let each key (a small letter) press the button with this ``key``, unless the focus is in a text input.

    Shift makes no difference. A key does nothing while its button is disabled or not on the page.
    """
    with st.container(key=key):
        _keys(key=f"{key}-listener", data={"keys": dict(buttons)})
