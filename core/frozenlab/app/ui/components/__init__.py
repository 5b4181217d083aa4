"""The components of all pages: JavaScript, CSS and HTML that Python shows in the browser (plain, without a build step)."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def hash_of(text: str) -> str:
    """How a Content-Security-Policy names a script or a style that a page holds."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def text_of(python_file: str, *names: str) -> str:
    """The texts of the files ``names`` in the folder of ``python_file`` (a module's ``__file__``), one after the other."""
    return "".join((Path(python_file).parent / name).read_text(encoding="utf-8") for name in names)


def component(python_file: str, name: str, html: str = "<span></span>", *, styles: str = "", code: str = "") -> ComponentRenderer:
    """The component of ``name.js`` and ``name.css`` (if there is one) in the folder of ``python_file``.

    Args:
        styles: CSS that goes before its own.
        code: JavaScript that goes before its own.
    """
    if (Path(python_file).parent / f"{name}.css").exists():
        styles += text_of(python_file, f"{name}.css")
    return registered(name, html=html, css=styles, js=code + text_of(python_file, f"{name}.js"))


def registered(name: str, *, js: str, html: str = "<span></span>", css: str = "") -> ComponentRenderer:
    """A component of Streamlit that shows no outdated update last. The default export of ``js`` is a function without a name."""
    return st.components.v2.component(f"frozenlab_{name}", html=html, css=css or None, js=newest_last(js))


def newest_last(js: str) -> str:
    """The module of a component with an export that keeps its updates in their order, as ``newest_last.js`` says."""
    return js.replace("export default function (", "function showUpdate(") + text_of(__file__, "newest_last.js")


FOCUS = text_of(__file__, "focus.js")
"""JavaScript: where the keyboard focus is."""
NODES = text_of(__file__, "nodes.js")
"""JavaScript: makes HTML elements."""
