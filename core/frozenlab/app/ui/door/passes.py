"""Passes, which a browser keeps as a cookie, and links, which become one. Both are signed with the key of their role."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from frozenlab.app.ui.door.ways import Ways
from frozenlab.base.roles import Person, Role

COOKIE, DOOR = "frozenlab_pass", "door"
"""The cookie of a pass, and the path of the door below the address of the app."""
LASTS = 14 * 24 * 3600
"""Seconds until somebody has to come in again."""
PASS = re.compile(r"(viewer|operator)\.([A-Za-z0-9_-]{16})\.(\d{1,12})\.([A-Za-z0-9_-]{43})")
LINK = re.compile(r"([vo])([A-Za-z0-9_-]{43})")
LETTERS = {Role.VIEWER: "v", Role.OPERATOR: "o"}


class Pass(NamedTuple):
    """Whose browser it is."""

    role: Role
    id: str
    """Random, one for each time that somebody came in."""
    since: int
    """Unix time."""


def issue(role: Role, ways: Ways, held: str = "") -> str:
    """A pass, as a cookie holds it; whoever comes in again as what they are, with the pass that they ``held``, stays the same person."""
    before = read(held, ways)
    stays = before is not None and before.role is role and before.id not in LEFT
    person = Pass(role, before.id if before is not None and stays else secrets.token_urlsafe(12), int(time.time()))
    return f"{role}.{person.id}.{person.since}.{_signature(ways.keys[role], f'pass {person.id} {person.since}')}"


def read(text: str, ways: Ways) -> Pass | None:
    """What a cookie says; None if it is no pass, is signed with another key, or is too old."""
    found = PASS.fullmatch(text)
    if not found:
        return None
    role, name, since, signature = Role(found[1]), found[2], int(found[3]), found[4]
    key = ways.keys.get(role)
    if key is None or not hmac.compare_digest(signature, _signature(key, f"pass {name} {since}")):
        return None
    return Pass(role, name, since) if -60 < time.time() - since < LASTS else None


def link(role: Role, ways: Ways) -> str:
    """The word in an address that lets its reader in."""
    return LETTERS[role] + _signature(ways.keys[role], "link")


def link_address(app: str, role: Role, ways: Ways) -> str:
    """The link that lets people in as ``role``; ``app`` is the address of the app, with a slash at the end."""
    return f"{app}{DOOR}?{urlencode({'key': link(role, ways)})}"


def role_of_link(text: str, ways: Ways) -> Role | None:
    """Whom a link lets in; None if it is none."""
    found = LINK.fullmatch(text)
    role = next((role for role, letter in LETTERS.items() if found and letter == found[1]), None)
    return role if role is not None and role in ways.keys and hmac.compare_digest(text, link(role, ways)) else None


def _signature(key: bytes, of: str) -> str:
    return urlsafe_b64encode(hmac.digest(key, of.encode(), "sha256")).decode().rstrip("=")


class Left:
    """The ids of passes and accounts with which somebody logged out, so that a copy of one opens nothing. The last ``most`` are known,
    until the server ends."""

    def __init__(self, most: int = 10_000) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._most, self._lock = most, threading.Lock()

    def add(self, id: str) -> None:
        with self._lock:
            self._ids[id] = None
            while len(self._ids) > self._most:
                self._ids.popitem(last=False)

    def __contains__(self, id: str) -> bool:
        return id in self._ids


LEFT = Left()
"""Those of this server."""


def bearer(cookies: Mapping[str, str], ways: Ways) -> Person | None:
    """Whose pass comes with a request; None if there is none that holds."""
    held = read(cookies.get(COOKIE, ""), ways)
    return None if held is None or held.id in LEFT else Person(held.role, held.id)
