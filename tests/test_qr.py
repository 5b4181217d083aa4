"""QR codes of addresses."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from urllib.parse import unquote

import pytest
import segno

from frozenlab.app.ui.nav import show_address


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    shown: list[str] = []
    monkeypatch.setattr("streamlit.html", shown.append)
    monkeypatch.setattr("streamlit.caption", shown.append)
    return shown


def test_an_address_becomes_the_picture_of_its_code(said: list[str]) -> None:
    show_address("http://lab.example/play?board=abc")
    [html] = said
    picture = re.search(r'src="([^"]+)"', html)
    assert picture and 'alt="QR code of the address"' in html
    expected = BytesIO()
    segno.make_qr("http://lab.example/play?board=abc", error="l").save(expected, kind="svg", border=3, dark="#000", light="#fff")
    head, content = picture[1].split(",", 1)
    svg = base64.b64decode(content).decode() if "base64" in head else unquote(content)
    path = re.compile(r'd="M[^"]+"')
    assert path.findall(svg.replace("'", '"'))[-1] == path.findall(expected.getvalue().decode())[-1]


def test_an_address_that_is_too_long_is_said(said: list[str]) -> None:
    show_address("x" * 4000)
    assert said == ["The address is too long for a QR code."]
