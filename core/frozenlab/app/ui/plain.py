"""Foreign text (of models, files and users) for ``st.markdown`` and similar calls."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"https?:(?=//)|www(?=\.)|@", re.IGNORECASE)
"""The beginnings of texts that Streamlit turns into links, escaped or not."""
JOINER = "\u2060"
"""Has no width and breaks no line; an address that contains it is not a link."""


def plain(text: str) -> str:
    """The text without any Markdown: it is shown to the letter, and its addresses are not links."""
    text = ADDRESS.sub(rf"\g<0>{JOINER}", text)
    return "".join("\\" + letter if letter in r"\`*_{}[]()<>#+-.!|~$:&" else letter for letter in text)
