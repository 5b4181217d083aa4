"""The sheet of shortcuts names the keys that the pages listen to: all of them, and no other."""

from __future__ import annotations

import re

import pytest

from frozenlab.app.ui.components.frame import SHORTCUTS
from frozenlab.base import places

SIGNS = {
    "arrowleft": "←", "arrowright": "→", "arrowup": "↑", "arrowdown": "↓", " ": "space", "pageup": "pgup", "pagedown": "pgdn",
    "home": "home", "end": "end", "enter": "enter", "escape": "escape", "backspace": "backspace",
}  # fmt: skip
"""A key's name in the browser, in small letters -> how the sheet writes it."""
LISTENERS = {
    "Boards that play": "core/frozenlab/app/views/lake/player.js",
    "Steering a team": "core/frozenlab/app/views/lake/steer.js",
    "Editing a board": "core/frozenlab/app/views/lake/editor.js",
    "Conflict-Based Search": "core/frozenlab/app/views/lake/search.js",
    "In a talk": "core/frozenlab/app/present/deck/deck.js",
}
WHERE = r"^  key\(event\) \{\n.*?^  \}\n|mark\.onkeydown = .*?\n.*?\n|^const (?:NEXT|SHORTCUTS) = .*?\n"
"""The places of a script where it says which keys it takes."""


def listened_to(script: str) -> set[str]:
    code = "".join(re.findall(WHERE, script, re.MULTILINE | re.DOTALL))
    named = [quoted or name for quoted, name in re.findall(r'"([^"]+)"|\b(\w+): ', code)]
    return {SIGNS.get(name.lower(), name) for name in named if name.lower() in SIGNS or re.fullmatch(r"[a-z?+-]", name)}


def on_the_sheet(group: str) -> set[str]:
    words = re.sub(r"\d to 9", "", " ".join(SHORTCUTS[group])).lower().split()
    return {word.rsplit("+", 1)[-1] if word.startswith("ctrl+") else word for word in words}


@pytest.mark.parametrize("group", LISTENERS)
def test_the_sheet_names_every_key_of_a_script_and_no_other(group: str) -> None:
    script = (places.ROOT / LISTENERS[group]).read_text(encoding="utf-8")
    assert on_the_sheet(group) == listened_to(script)
    for first in "01":
        assert (f"[{first}-9]" in script) == (f"{first} to 9" in SHORTCUTS[group])


def test_the_sheet_names_the_keys_that_press_buttons() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (places.PACKAGE / "app").rglob("*.py"))
    pressed = {key for told in re.findall(r"shortcuts\(\{(.*?)\}", pages) for key in re.findall(r'"(\w)":', told)}
    assert pressed == {key.lower() for group in SHORTCUTS if group not in LISTENERS for key in SHORTCUTS[group]} - {"?"}
