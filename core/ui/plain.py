"""Words that are none of the app's, as text for ``st.markdown`` and its like."""

from __future__ import annotations


def plain(text: str) -> str:
    """The text in which markdown has nothing to find: words of a model or a file stay words."""
    return "".join("\\" + letter if letter in r"\`*_{}[]()<>#+-.!|~$:&" else letter for letter in text)
