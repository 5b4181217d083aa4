"""Running a page without a browser."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from core.ui import nav

TIMEOUT = 120.0


def open_page(name: str, **query: str) -> AppTest:
    """The page as a fresh visitor with this address sees it."""
    app = AppTest.from_file(str(nav.ROOT / "streamlit_app.py"), default_timeout=TIMEOUT)
    if name != "home":
        app.switch_page(nav.path(name))
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def words(app: AppTest) -> str:
    """Everything the page says in text elements, HTML included, that of our own components too."""
    parts = [
        element.value
        for kind in ("title", "subheader", "markdown", "caption", "text", "code", "info", "warning", "error")
        for element in getattr(app, kind)
    ]
    parts += [element.proto.body for element in app.get("html")]
    parts += [str(json.loads(element.proto.json).get("html", "")) for element in app.get("bidi_component") if element.proto.json]
    return "\n".join(parts)
