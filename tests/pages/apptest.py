"""Running a page without a browser."""

from __future__ import annotations

import json
import re

from streamlit.testing.v1 import AppTest

from frozenlab.app.ui import nav
from frozenlab.app.ui.plain import JOINER
from frozenlab.base import places

TIMEOUT = 600.0
"""Seconds: only a page that hangs fails."""


def open_page(name: str, **query: str) -> AppTest:
    """The page as a fresh visitor with this address sees it."""
    app = AppTest.from_file(str(places.ROOT / "streamlit_app.py"), default_timeout=TIMEOUT)
    if name != "home":
        app.switch_page(nav.path(name))
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def bare_page(name: str) -> AppTest:
    """The page by itself, without navigation, before its first run. Its sessions are those of ``FROZENLAB_SESSIONS``."""
    app = AppTest.from_file(str(places.ROOT / "pages" / f"{name}.py"), default_timeout=TIMEOUT)
    app.session_state["_nav"] = True
    return app


def words(app: AppTest) -> str:
    """Everything the page says in text elements, as a reader sees it; HTML included, that of our own components too, but without the marks
    of terms that tell their meaning."""
    return re.sub(r"</?dfn[^>]*>", "", shown(source(app)))


def source(app: AppTest) -> str:
    """The same as Markdown and HTML, with what keeps foreign words from being either."""
    parts = [
        element.value
        for kind in ("title", "subheader", "markdown", "caption", "text", "code", "info", "warning", "error")
        for element in getattr(app, kind)
    ]
    parts += [element.proto.body for element in app.get("html")]
    parts += [str(json.loads(element.proto.json).get("html", "")) for element in app.get("bidi_component") if element.proto.json]
    return "\n".join(parts)


def shown(markdown: str) -> str:
    """Escaped words as a reader sees them, see :mod:`frozenlab.app.ui.plain`."""
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", markdown.replace(JOINER, ""))
