"""Running a page without a browser."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from frozenlab.app.ui import nav
from frozenlab.app.ui.markup import JOINER
from frozenlab.base import places
from frozenlab.base.numbers import MANY

TIMEOUT = 600.0
"""Seconds: only a page that hangs fails."""


class Page(AppTest):
    """A page of which no run may end with an exception, neither the first nor one after a click."""

    def _run(self, *given: Any, **named: Any) -> AppTest:
        super()._run(*given, **named)
        for error in self.exception:
            raise AssertionError(f"{error.message}\n" + "".join(error.stack_trace[-6:]))
        return self


def open_page(name: str, **query: str | list[str]) -> AppTest:
    """The page as a fresh visitor with this address sees it."""
    app = Page(places.ROOT / "streamlit_app.py", default_timeout=TIMEOUT)
    if name != "home":
        app.switch_page(nav.path(name))
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def bare_page(name: str) -> AppTest:
    """The page by itself, without navigation, before its first run. Its sessions are those of ``FROZENLAB_SESSIONS``."""
    app = Page(places.ROOT / "pages" / f"{name}.py", default_timeout=TIMEOUT)
    app.session_state["_nav"] = True
    return app


def button(app: AppTest, label: str) -> Button:
    return next(found for found in app.button if found.label == label)


def components(app: AppTest, entry: str) -> list[dict[str, Any]]:
    """What the page gave those of its own components that take ``entry``."""
    given = [json.loads(element.proto.json) for element in app.get("bidi_component") if element.proto.json]
    return [data for data in given if entry in data]


def words(app: AppTest) -> str:
    """Everything the page says in text elements, as a reader sees it; HTML included, that of our own components too, but without the marks
    of terms that tell their meaning."""
    return re.sub(r"</?dfn[^>]*>", "", shown(source(app)))


def source(app: AppTest, verbatim: tuple[str, ...] = ("text", "code")) -> str:
    """The same as Markdown and HTML, with what keeps foreign words from being either; spaces are spaces."""
    parts = [
        element.value
        for kind in ("title", "header", "markdown", "caption", *verbatim, "info", "warning", "error")
        for element in getattr(app, kind)
    ]
    parts += [element.proto.body for element in app.get("html")]
    parts += [str(data["html"]) for data in components(app, "html")]
    return "\n".join(parts).replace("\N{NO-BREAK SPACE}", " ")


def shown(markdown: str) -> str:
    """Escaped words as a reader sees them, see :mod:`frozenlab.app.ui.markup`."""
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", markdown.replace(JOINER, ""))


def tables(app: AppTest) -> list[pd.DataFrame]:
    """The data of the tables on the page: Streamlit's, then the lab's own (:func:`frozenlab.app.ui.markup.data_table`)."""
    bodies = [element.proto.body for element in app.get("html") if "fl-data" in element.proto.body]
    return [*(table.value for table in (*app.dataframe, *app.table)), *map(_data, bodies)]


def _data(html: str) -> pd.DataFrame:
    head, *rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]
    return pd.DataFrame([list(map(_cell, row)) for row in rows], columns=list(map(unescape, head)))


def _cell(html: str) -> float | str:
    number = re.search(r'<data value="([^"]*)"', html)
    return float(number[1]) if number else unescape(re.sub("<[^>]*>", "", html)).replace("\N{NO-BREAK SPACE}", " ")


def misprints(app: AppTest) -> list[str]:
    """What the page, its charts and its tables print in another way than :mod:`frozenlab.base.numbers`."""
    texts = [source(app, verbatim=())]
    for chart in app.get("plotly_chart"):
        texts += _strings(json.loads(chart.proto.spec or chart.proto.figure.spec))
    for frame in tables(app):
        texts += [text for column in frame.columns for text in frame[column] if isinstance(text, str)]
    texts += [f"{metric.value} {metric.delta or ''}" for metric in app.metric]
    return [wrong for text in texts for wrong in misprinted(text)]


def misprinted(text: str) -> list[str]:
    """Places with an ASCII minus, a zero with a sign, a per cent sign without its space, or decimals that do not fit their n.

    >>> misprinted("-3 points, +0.0, 85%"), misprinted("84 to 88 %, n = 448"), misprinted("84.1 to 88.7 %, n = 448: −3.1 points")
    (['-3', '+0.0', '5%'], ['84 to 88 %, n = 448'], [])
    """
    seen = re.sub(r"<(script|style|code|pre)\b.*?</\1>|<[^>]*>|`[^`]*`|%\{[^}]*\}", " ", shown(text), flags=re.DOTALL)
    wrong = re.findall(r"(?<![\w.)/#-])-\.?\d[\d.,]*|(?<![\w.])[+−]0(?:\.0+)?(?![\w.]*\d)|\d%", seen)
    for found in re.finditer(r"[\d.]+ to ([\d.]+) %[^%]{0,30}?n = ([\d,]+)", seen):
        if ("." in found[1]) != (int(found[2].replace(",", "")) >= MANY):
            wrong.append(found[0])
    return wrong


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [
            text for name, part in value.items() if name not in ("template", "bdata") and "format" not in name for text in _strings(part)
        ]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []
