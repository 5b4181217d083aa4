"""The door of a server that others can reach: one password, which is in the server's link too, lets people in.

Without it no page, file or WebSocket answers. On a server that only looks, each message of a visitor is looked at too: they come slowly
enough, and none clears what the server keeps for all.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from html import escape
from ipaddress import ip_address
from string import Template
from urllib.parse import urlencode

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import exists, get_instance

from frozenlab.app.allowances import FILES, MESSAGES, OF_ADDRESS, PURSE, cookie_name
from frozenlab.app.ui.components import hash_of, text_of
from frozenlab.app.ui.theme import DARK, LIGHT, variables
from frozenlab.base import look_only
from frozenlab.base.errors import LabError
from frozenlab.base.places import ASSETS
from frozenlab.jobs.machine import open_files

VARIABLE = "FROZENLAB_PASSWORD"
"""The environment variable with the password of a server. ``frozenlab app`` draws one where there is none."""
SHORTEST, UNGUESSABLE = 8, 40
"""Characters that a password has at least, and those from which on it opens also while an address waits."""
DOOR, HEALTH, UPLOADS = "door", "_stcore/health", "_stcore/upload_file"
INNER = ("_stcore/metrics", "_stcore/agent", "_stcore/script-health-check")
"""What visitors of a server that only looks do not get."""
LASTS = 14 * 24 * 3600
"""Seconds until a browser has to come in again."""
CONNECTIONS, OF_ONE = 1200, 24
"""WebSockets at once, of all visitors and of one; a page that watches has two."""
KEPT, OF_A_PAGE = 512, 4
"""Open files of a server whose visitors have left, whose pages Streamlit keeps for a while, and of an open page."""
LARGEST_UPLOAD, LEAST_UPLOAD, UPLOADED = 1.1, 1 / 16, 256
"""Megabytes: of a request with a file, which visitors' pages take up to 1 MB; that each counts at least; of all files that are kept."""
FREE, LONGEST_WAIT = 3, 300.0
"""Wrong passwords of an address before it has to wait, and the most seconds that it waits; the wait doubles from one second."""
TOGETHER, REFILL = 60, 0.1
"""Wrong passwords of all addresses together at once, and those that come back each second: 8,640 a day."""


class DoorError(LabError, ValueError):
    """A server has no password that could be used."""


def password() -> str:
    """The password of this server. Raises DoorError."""
    found = os.environ.get(VARIABLE, "")
    if not found:
        raise DoorError(f"others could reach this server, and it has no password: start it by 'frozenlab app --host', or set {VARIABLE}")
    if len(found) < SHORTEST:
        raise DoorError(f"{VARIABLE} has {len(found)} characters: take {SHORTEST} at least")
    return found


def link(app: str, word: str) -> str:
    """The address that lets people in; ``app`` is the address of the server."""
    return f"{app.rstrip('/')}/{DOOR}?{urlencode({'password': word})}"


class Door:
    """Lets in who has the password, and gives each browser an id. ``base`` is the path that the app is served below."""

    def __init__(self, app: ASGIApp, password: str, base: str = "") -> None:
        self.app, self.password, self.base = app, password, f"/{base.strip('/')}/".replace("//", "/")
        self.tries, self.connected = Tries(), Counter[str]()
        self.most_connected = max(OF_ONE, min(CONNECTIONS, (open_files() - KEPT) // OF_A_PAGE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(self.base)
        if scope["type"] not in ("http", "websocket") or (path == HEALTH and scope["type"] == "http"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        visitor = self.visitor(connection)
        if scope["type"] == "http" and path == DOOR:
            await self.come_in(connection, visitor)(scope, receive, send)
        elif visitor is None and scope["type"] == "http":
            to = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            await self.page(safe(to), 401)(scope, receive, send)
        elif why := self.refusal(path, visitor, scope):
            await PlainTextResponse(*why)(scope, receive, send)
        elif scope["type"] == "http" or not look_only.on():
            await self.app(scope, receive, send)
        else:
            await self.talk(visitor or "", scope, receive, send)

    def visitor(self, connection: HTTPConnection) -> str | None:
        """The id that a browser was given; None if it was given none here."""
        held = connection.cookies.get(cookie_name(), "")
        name = held.partition(".")[0]
        return name if hmac.compare_digest(held.encode(), self.cookie(name).encode()) else None

    def cookie(self, visitor: str) -> str:
        return f"{visitor}.{hmac.digest(self.password.encode(), visitor.encode(), 'sha256').hex()}"

    def refusal(self, path: str, visitor: str | None, scope: Scope) -> tuple[str, int] | None:
        """Why a request is not answered, and the status that says so."""
        if visitor is None:
            return "the password is missing", 403
        if not look_only.on():
            return None
        if scope["type"] == "websocket":
            full = self.connected.total() >= self.most_connected or self.connected[visitor] >= OF_ONE
            return ("too many open pages", 429) if full else None
        if path.startswith(INNER):
            return look_only.WHY, 403
        return upload_refusal(HTTPConnection(scope), visitor) if path.startswith(UPLOADS) and scope["method"] == "PUT" else None

    def come_in(self, connection: HTTPConnection, visitor: str | None) -> Response:
        """To where they wanted, with a cookie; the password leaves the address. Or the page that asks for it."""
        asked, to = connection.query_params.get("password"), safe(connection.query_params.get("to", self.base))
        address = network(connection.client.host if connection.client else "?")
        if asked is None:
            return self.page(to, 200)
        wait = self.tries.wait(address)
        if wait and len(self.password) < UNGUESSABLE:
            return self.page(to, 429, f"There were too many wrong passwords. Wait {wait + 1:.0f} s before you try again.", wait)
        if not hmac.compare_digest(asked.encode(), self.password.encode()):
            self.tries.wrong(address)
            return self.page(to, 401, "This password opens nothing.")
        self.tries.right(address)
        reply = RedirectResponse(to, 303, {"Cache-Control": "no-store"})
        if visitor is None:  # a browser that follows the link again stays the same visitor
            value = self.cookie(secrets.token_urlsafe(12))
            # Lax, so that a link in a mail opens the lab: opening a page changes nothing.
            reply.set_cookie(
                cookie_name(), value, LASTS, path=self.base, httponly=True, samesite="lax", secure=connection.url.scheme in ("https", "wss")
            )
        return reply

    async def talk(self, visitor: str, scope: Scope, receive: Receive, send: Send) -> None:
        """A WebSocket of a visitor."""

        async def received() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                while wait := PURSE.spend(MESSAGES, visitor):
                    await asyncio.sleep(wait)
                if not clears_cache(message.get("bytes") or b""):
                    return message

        self.connected[visitor] += 1
        try:
            await self.app(scope, received, send)
        finally:
            self.connected[visitor] -= 1
            self.connected += Counter()  # drops those with none

    def page(self, to: str, status: int, wrong: str = "", wait: float = 0.0) -> Response:
        """The page that asks for the password. ``to``: where it leads; ``wrong``: why it did not lead there."""
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
        alert = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
        icon = (ASSETS / "icon.svg").read_text(encoding="utf-8")
        html = PAGE.substitute(style=STYLE, icon=icon, alert=alert, door=escape(self.base + DOOR), to=escape(to))
        return HTMLResponse(html, status, headers | ({"Retry-After": f"{wait + 1:.0f}"} if wait else {}))


def upload_refusal(upload: HTTPConnection, visitor: str) -> tuple[str, int] | None:
    """Why a file of a visitor is not taken: Streamlit keeps files in memory as long as their page is open."""
    length = upload.headers.get("content-length", "")
    if not re.fullmatch("[0-9]{1,12}", length):
        return "the length of the file is missing", 411
    size = max(LEAST_UPLOAD, int(length) / 2**20)
    if size > LARGEST_UPLOAD:
        return "visitors' files have 1 MB at most", 413
    address = network(upload.client.host if upload.client else "?")
    full = kept_uploads() + size > UPLOADED or PURSE.spend(FILES, visitor, size) or PURSE.spend(OF_ADDRESS, address, size)
    return ("too many uploads for now", 429) if full else None


def kept_uploads() -> float:
    """Megabytes of the files that Streamlit keeps."""
    kept = get_instance().uploaded_file_mgr.get_stats() if exists() else {}
    return sum(getattr(stat, "byte_length", 0) for stats in kept.values() for stat in stats) / 2**20


def clears_cache(message: bytes) -> bool:
    """Whether a message of Streamlit's protocol clears what the server keeps for all."""
    read = BackMsg()
    try:
        read.ParseFromString(message)
    except Exception:  # whatever protobuf raises: Streamlit, which reads it next, ends the connection
        return False
    return read.WhichOneof("type") == "clear_cache"


def safe(to: str) -> str:
    """An address below this server; ``/`` in the place of any other."""
    fine = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable() and len(to) <= 2000
    return to if fine else "/"


def network(address: str) -> str:
    """The address, or the network of 64 bits of an IPv6 address, all of which one machine may have."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    return found.exploded[:19] if found.version == 6 and found.ipv4_mapped is None else str(found)


class Tries:
    """The wrong passwords of the last ``remembered`` addresses."""

    def __init__(self, remembered: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._left, self._since = float(TOGETHER), clock()
        self._remembered, self._clock = remembered, clock

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0: now."""
        now = self._clock()
        wrong, last = self._wrong.get(address, (0, now))
        self._left, self._since = min(TOGETHER, self._left + (now - self._since) * REFILL), now
        return max(0.0, last + delay(wrong) - now, (1 - self._left) / REFILL)

    def wrong(self, address: str) -> None:
        now = self._clock()
        before, last = self._wrong.pop(address, (0, now))
        self._wrong[address] = ((1 if now - last > delay(before) + LONGEST_WAIT else before + 1), now)
        self._left -= 1
        while len(self._wrong) > self._remembered:
            self._wrong.popitem(last=False)

    def right(self, address: str) -> None:
        self._wrong.pop(address, None)


def delay(wrong: int) -> float:
    """Seconds to wait after so many wrong passwords."""
    return 0.0 if wrong < FREE else min(LONGEST_WAIT, 2.0 ** min(wrong - FREE, 30))


STYLE = (
    f":root{{color-scheme:light dark;{variables(LIGHT)}}}@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
    f"{text_of(__file__, 'door.css')}"
)
PAGE = Template(text_of(__file__, "door.html"))
POLICY = f"default-src 'none'; style-src {hash_of(STYLE)}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of the page of the door: plain HTML without scripts, which loads nothing."""
