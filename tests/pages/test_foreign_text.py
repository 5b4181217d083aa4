"""Words of a model or of a stranger's folder stay words: whatever a field says, no page makes an image, a link or an element of it.

The same folders are opened in Chromium by ``tests/browser/test_foreign_text.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest

from frozenlab.session.store import SessionStore
from tests.marked import FORMS, Marker, strangers
from tests.pages.apptest import open_page

TRAP = "trap.test"
PLAIN = {
    *(f"Selectbox.{name}" for name in ("options", "raw_value")), *(f"MultiSelect.{name}" for name in ("options", "raw_values")),
    *(f"{box}.{name}" for box in ("TextInput", "TextArea", "NumberInput") for name in ("default", "value", "placeholder")),
    "Code.code_text", "Text.body", "PlotlyChart.alt",
}  # fmt: skip
"""Fields that Streamlit shows as text, letter by letter."""
VISITS: list[dict[str, str]] = [
    {"name": "train", "session": "damaged"},
    {"name": "story", "session": "language", "stage": "1", "part": "wrote"},
    {"name": "story", "session": "lab", "stage": "1", "evidence": "first"},
    {"name": "studies", "study": "mine", "view": "predictions"},
    {"name": "replay", "replay": "mine"},
    {"name": "benchmark", "suite": "marked", "boards": "theirs~3~all~all~~~"},
]


@pytest.fixture(scope="module", params=FORMS)
def marked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Marker]:
    marker = Marker(request.param, TRAP)
    return strangers(tmp_path_factory.mktemp("strangers"), marker), marker


@pytest.mark.parametrize("visit", VISITS, ids=lambda visit: "-".join(visit.values()))
def test_no_page_makes_anything_of_it(visit: dict[str, str], marked: tuple[Path, Marker], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, marker = marked
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(folder))
    monkeypatch.setattr("frozenlab.base.places.SESSIONS", folder / "recorded")
    monkeypatch.setattr("frozenlab.experiments.benchmark.results.SHIPPED", folder / "shipped")
    monkeypatch.setattr("frozenlab.experiments.replays.store.Replay.shipped", list)
    if "evidence" in visit:
        visit = visit | {"evidence": SessionStore(folder).open("lab").context(0).lines[0].id}
    assert not (found := made_of(open_page(**visit), marker)), found


def made_of(app: AppTest, marker: Marker) -> str:
    """The fields in which a browser would make more of a mark than words, each on a line."""
    found = {f"{where}: {marker.place(text)}: {text[:200]}" for where, text in texts(app) if is_made_of(where, text)}
    return "\n".join(sorted(found))


def texts(app: AppTest) -> Iterator[tuple[str, str]]:
    """Every string that the page sends to the browser, with the name of its field."""

    def within(message: Message) -> Iterator[tuple[str, str]]:
        for field, value in message.ListFields():
            name = f"{type(message).__name__}.{field.name}"
            for part in [value] if isinstance(value, (str, Message)) else value if hasattr(value, "__iter__") else []:
                if isinstance(part, str):
                    yield name, part
                elif isinstance(part, Message):
                    yield from within(part)

    def nodes(node: Any) -> Iterator[Any]:
        yield node
        for child in getattr(node, "children", {}).values():
            yield from nodes(child)

    for node in nodes(app._tree):
        if isinstance(getattr(node, "proto", None), Message):
            yield from within(node.proto)


def is_made_of(where: str, text: str) -> bool:
    """Whether a browser would make more of the mark than words."""
    if "trap" not in text or where in PLAIN or where.endswith((".id", ".key", ".element_id")):
        return False
    if where == "BidiComponent.json":
        value = json.loads(text)
        return isinstance(value, dict) and has_element(str(value.get("html", "")))
    if where in ("Html.body", "PlotlyChart.spec"):
        return has_element(text)
    tokens = [inner for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text) for inner in [token, *(token.children or [])]]
    return any(
        token.type in ("image", "link_open", "html_inline", "html_block") and "trap" in str((token.attrs, token.content))
        for token in tokens
    )


def has_element(html: str) -> bool:
    """Whether there is an element in the HTML that the mark is in charge of: what it loads, leads to or runs."""

    class Elements(HTMLParser):
        found = False

        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            harmless = {"title", "alt", "aria-label"}
            self.found |= any("trap" in f"{name} {value}" for name, value in attributes if name not in harmless)

    parser = Elements()
    parser.feed(html)
    return parser.found
