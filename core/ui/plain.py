"""Words that are none of the app's, as text for ``st.markdown`` and its like."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"https?:(?=//)|www(?=\.)|@", re.IGNORECASE)
"""Where what Streamlit makes a link of begins, escaped or not."""
JOINER = "\u2060"
"""Takes no room and breaks no line; an address with it in is none."""


def plain(text: str) -> str:
    """The text in which markdown has nothing to find: words of a model or a file stay words, and their addresses no links."""
    text = ADDRESS.sub(rf"\g<0>{JOINER}", text)
    return "".join("\\" + letter if letter in r"\`*_{}[]()<>#+-.!|~$:&" else letter for letter in text)
