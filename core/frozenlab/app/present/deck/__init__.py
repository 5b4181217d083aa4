"""The deck that plays a talk: on a page of the app, and in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from frozenlab.app.present.scenes import FILM, REHEARSE, Scene
from frozenlab.app.ui.components import hash_of, registered, text_of
from frozenlab.app.ui.components.frame import SHORTCUTS
from frozenlab.app.ui.nav import qr_picture
from frozenlab.app.ui.theme import DARK, LIGHT
from frozenlab.app.views.views import VIEWS, view_of
from frozenlab.session.session import Session
from frozenlab.tasks.family import Family

HTML = text_of(__file__, "deck.html")
STYLE = text_of(__file__, "deck.css")
CODE = text_of(__file__, "deck.js")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; script-src"
"""The Content-Security-Policy of a talk in one file, but for the hash of its only script."""

_decks = {
    name: registered(
        f"deck_{name}",
        html=HTML.replace("PLAYER", view.player.html),
        css=view.player.style + STYLE,
        js=view.player.code + CODE + text_of(__file__, "deck_component.js"),
    )
    for name, view in VIEWS.items()
}


def talk(
    session: Session,
    scenes: Sequence[Scene],
    notes: Mapping[str, str],
    *,
    says: str = "",
    leave: str | None = None,
    ways: Mapping[str, str] | None = None,
    play: str = "",
    how: str = "",
    minutes: int = 5,
) -> dict[str, Any]:
    """What the deck takes.

    Args:
        play: the address of the page Play, for the QR code of a board; empty where phones do not reach it.
        minutes: how long it is to take.
        how: FILM or REHEARSE, if it is not shown by hand.
        notes: scene name -> what the speaker wants to say.
        says: a line at the foot of every scene.
        leave: the address that Escape leads to; None where there is none.
        ways: where a film leads at its end: what to call it -> its address.
    """
    return {
        "id": session.id,
        "title": session.title,
        "scenes": [with_code(scene, play) for scene in scenes],
        "notes": dict(notes),
        "says": says,
        "colors": {"light": asdict(LIGHT), "dark": asdict(DARK)},
        "leave": leave,
        "ways": dict(ways or {}),
        "keys": SHORTCUTS["In a talk"],
        "alone": how == FILM,
        "rehearses": how == REHEARSE,
        "minutes": minutes,
    }


def with_code(scene: Scene, play: str) -> Scene:
    """The scene with the QR code of the board that it offers to play."""
    if not scene.get("plays") or not play:
        return scene
    address = f"{play}?{urlencode(scene['plays'])}"
    say = f"Scan the code to play this board yourself while I sum up. {scene['say']}"
    return scene | {"qr": qr_picture(address), "address": address, "say": say}


def deck(session: Session, data: Mapping[str, Any], *, key: str) -> None:
    """Plays a talk over the whole window."""
    _decks.get(session.spec.tasks.name, next(iter(_decks.values())))(key=key, data=dict(data))


@cache
def font_face() -> str:
    """The font of the app, which Streamlit brings (Source Sans, SIL Open Font License), for a file that has no server."""
    [font] = (Path(st.__file__).parent / "static/static/media").glob("SourceSansVF-Upright*.woff2")
    data = base64.b64encode(font.read_bytes()).decode()
    return f'@font-face{{font-family:"Source Sans";font-weight:200 900;src:url(data:font/woff2;base64,{data}) format("woff2")}}'


def html_file(family: Family, data: Mapping[str, Any]) -> str:
    """One HTML page that plays the talk without a server and without a network."""
    player = view_of(family).player
    plain = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # so that no text of a model ends the element
    style = font_face() + (player.style + STYLE).replace(":host,", "")
    code = f"{player.code}\n{CODE}\nnew Deck(document.body).show(JSON.parse(document.getElementById('talk').textContent));"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY} {hash_of(code)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(str(data["title"]))}</title><link rel="icon" href="data:,"><style>html{{color-scheme:light dark}}{style}</style>'
    )
    body = (
        f'{HTML.replace("PLAYER", player.html)}<script type="application/json" id="talk">{plain}</script>'
        f'<script type="module">{code}</script>'
    )
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
