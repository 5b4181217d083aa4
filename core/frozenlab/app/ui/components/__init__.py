"""The components of all pages: JavaScript, CSS and HTML that Python shows in the browser (plain, without a build step)."""

from __future__ import annotations

from pathlib import Path


def text_of(python_file: str, *names: str) -> str:
    """The texts of the files ``names`` in the folder of ``python_file`` (a module's ``__file__``), one after the other."""
    return "".join((Path(python_file).parent / name).read_text(encoding="utf-8") for name in names)


FOCUS = text_of(__file__, "focus.js")
"""JavaScript: where the keyboard focus is."""
NODES = text_of(__file__, "nodes.js")
"""JavaScript: makes HTML elements."""
