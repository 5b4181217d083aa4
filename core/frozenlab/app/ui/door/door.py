"""The door itself: what stands before everything else of a server that others can reach.

Nobody passes without a pass: no page, no file, no WebSocket. A password, a link or an account gives one. While somebody is inside, each
message of a viewer is looked at too: they come slowly enough, and none clears what the server keeps for all.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from frozenlab.app.ui.door import login, passes
from frozenlab.app.ui.door.accounts import Account, Accounts
from frozenlab.app.ui.door.addresses import shared
from frozenlab.app.ui.door.passes import DOOR
from frozenlab.app.ui.door.tries import Tries
from frozenlab.app.ui.door.ways import DoorError, Ways
from frozenlab.base.limits import Allowance, Purse
from frozenlab.base.roles import Person, Role

LEAVE, ACCOUNT = f"{DOOR}/leave", f"{DOOR}/account"
"""Paths of the door, below the address of the app."""
OPEN = ("_stcore/health",)
"""What answers everybody."""
OPERATORS = ("_stcore/metrics", "_stcore/agent", "_stcore/script-health-check")
"""What answers operators only."""
UPLOADS = "_stcore/upload_file"
LOGIN, LOGOUT = "auth/login", "auth/logout"
ACCOUNTS = (LOGIN, LOGOUT, "oauth2callback")
"""Streamlit's own paths for signing in with an account; whom they let in is decided here."""
MOST_ASKED = 4096
"""Bytes of a form that is sent to the door."""
TRYING = 8
"""Passwords that wait to be checked, at most: each takes the server 0.1 s."""
MESSAGES = Allowance("messages", 60, 600)
FILES = Allowance("uploads", 20, 10)
CONNECTIONS, AT_ONE, OF_ONE = 1200, 600, 24
"""WebSockets at once, those of viewers from one address, and those of one viewer; a page that watches has two."""


class Door:
    """Lets in who may come in, and says who they are.

    Args:
        ways: the ways in, asked at each request, so that a changed password holds at once.
        base: the path that the app is served below.
        allowed: whether a viewer may send a message of Streamlit's protocol.
    """

    def __init__(
        self, app: ASGIApp, ways: Callable[[], Ways], accounts: Accounts, allowed: Callable[[bytes], bool], base: str = ""
    ) -> None:
        self.app, self.ways, self.accounts, self.allowed = app, ways, accounts, allowed
        self.base = f"/{base.strip('/')}/".replace("//", "/")
        self.tries, self.purse = Tries(), Purse()
        self.checking, self.waiting = asyncio.Lock(), 0
        self.connected: Counter[str] = Counter()
        self.connected_from: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = scope["path"].removeprefix(self.base)
        connection = HTTPConnection(scope)
        cookies, person = connection.cookies, self.person(connection)
        if scope["type"] == "websocket":
            await self.talk(person, connection, scope, receive, send)
        elif path in OPEN or (path in ACCOUNTS and self.accounts.providers):
            await self.app(scope, receive, send)
        elif path in (DOOR, LEAVE, ACCOUNT):
            response = await self.at_the_door(path, person, Request(scope, receive))
            await response(scope, receive, send)
        elif person is None:
            to = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            await self.closed(cookies, safe(to), 401)(scope, receive, send)
        elif why := self.refusal(path, person, scope["method"]):
            await PlainTextResponse(*why)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def person(self, connection: HTTPConnection) -> Person | None:
        """Who sends a request; None: somebody without a pass."""
        found = passes.bearer(connection.cookies, self.ways()) or self.accounts.person(connection.cookies)
        return found and found._replace(address=shared(address_of(connection)))

    def refusal(self, path: str, person: Person, method: str) -> tuple[str, int] | None:
        """Why somebody who is in does not get what they ask for, and the status that says so."""
        if person.role is Role.OPERATOR:
            return None
        if path.startswith(OPERATORS):
            return "only an operator may see this", 403
        if path.startswith(UPLOADS) and method == "PUT" and self.purse.spend_as(person, FILES):
            return "too many uploads for now", 429
        return None

    async def at_the_door(self, path: str, person: Person | None, request: Request) -> Response:
        """The pages of the door, and coming in by a password or a link."""
        if request.method == "POST":
            if not same_origin(request.headers):
                return PlainTextResponse("only pages of this server may talk to it", 403)
            return self.leave(request) if path == LEAVE else await self.try_password(request)
        to = safe(request.query_params.get("to", self.base))
        if path == ACCOUNT and self.accounts.providers:
            return self.to_provider(request.query_params.get("by", ""))
        if word := request.query_params.get("key"):
            return self.by_link(word, to, request)
        if person is not None:
            return self.page(login.inside(person.role, self.path(LEAVE), self.base), 200)
        return self.closed(request.cookies, to, 200)

    def closed(self, cookies: Mapping[str, str], to: str, status: int) -> Response:
        """The closed door; whoever is signed in with an account is told why they are not let in."""
        why = self.accounts.refusal(cookies)
        return self.page(login.closed(self.path(DOOR), to, why, **self.ways_in()), 403 if why else status)

    def to_provider(self, name: str) -> Response:
        """By Streamlit's own address for signing in, which leads on to the provider."""
        try:
            token = self.accounts.token(name)
        except DoorError as error:
            return PlainTextResponse(str(error), 404)
        return RedirectResponse(self.path(f"{LOGIN}?{urlencode({'provider': token})}"), 303)

    def by_link(self, word: str, to: str, request: Request) -> Response:
        """A link is far too long to be guessed, so it opens even while passwords are slowed down; wrong ones count as wrong passwords."""
        role = passes.role_of_link(word, self.ways())
        if role is None:
            self.tries.wrong(address_of(request))
            why = "This link opens nothing any more. Ask for a new one."
            return self.page(login.closed(self.path(DOOR), to, why, **self.ways_in()), 401)
        return self.come_in(role, to, request)

    async def try_password(self, request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_ASKED:
                return PlainTextResponse("this is no password", 413)
        asked = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        to, address = safe(asked.get("to", self.base)), address_of(request)
        if self.waiting >= TRYING:
            return self.slow_down(to, 2)
        self.waiting += 1
        try:
            async with self.checking:  # one at a time: whoever sends a hundred at once gets no hundred tries before the first counts
                if wait := self.tries.wait(address):
                    return self.slow_down(to, wait)
                ways = self.ways()
                role = await anyio.to_thread.run_sync(ways.role_of, asked.get("password", "")) if ways.passwords else None
                if role is None:
                    self.tries.wrong(address)
                    wait = self.tries.wait(address)
                    why = "This password opens nothing." + (f" Wait {wait + 0.5:.0f} s before you try again." if wait >= 0.5 else "")
                    return self.page(login.closed(self.path(DOOR), to, why, **self.ways_in()), 401)
                self.tries.right(address)
                return self.come_in(role, to, request)
        finally:
            self.waiting -= 1

    def slow_down(self, to: str, wait: float) -> Response:
        why = f"There were too many wrong passwords. Wait {wait + 1:.0f} s before you try again."
        response = self.page(login.closed(self.path(DOOR), to, why, **self.ways_in()), 429)
        response.headers["Retry-After"] = f"{wait + 1:.0f}"
        return response

    def come_in(self, role: Role, to: str, request: Request) -> Response:
        """To where they wanted, with a pass; the word of a link leaves the address."""
        response = RedirectResponse(to, 303)
        held = request.cookies.get(passes.COOKIE, "")
        response.set_cookie(passes.COOKIE, passes.issue(role, self.ways(), held), max_age=passes.LASTS, **self.cookie(request))
        response.headers["Cache-Control"] = "no-store"
        return response

    def leave(self, request: Request) -> Response:
        held = passes.read(request.cookies.get(passes.COOKIE, ""), self.ways())
        if held is not None:
            passes.LEFT.add(held.id)
        response: Response = RedirectResponse(self.path(DOOR), 303)
        account = self.accounts.signed_in(request.cookies)
        if account is not None:
            passes.LEFT.add(account.id)
            # Streamlit's address leads on to the provider. A browser follows no form there, by our policy, but it follows a page.
            response = self.page(login.left(self.path(LOGOUT)), 200)
            response.headers["Refresh"] = f"0; url={self.path(LOGOUT)}"
        response.delete_cookie(passes.COOKIE, **self.cookie(request))
        return response

    def cookie(self, request: Request) -> dict[str, Any]:
        """Lax, so that a link in a mail opens the lab for somebody who is in: opening a page changes nothing."""
        return {"path": self.base, "httponly": True, "samesite": "lax", "secure": request.url.scheme == "https"}

    async def talk(self, person: Person | None, connection: HTTPConnection, scope: Scope, receive: Receive, send: Send) -> None:
        """A WebSocket: of somebody who is in, as long as they are."""
        if person is None or (person.role is Role.VIEWER and self.crowded(person)):
            why = ("nobody comes in without a pass", 403) if person is None else ("too many open pages", 429)
            await PlainTextResponse(*why)(scope, receive, send)
            return

        ended = False

        async def sent(message: Message) -> None:
            if not ended:
                await send(message)

        async def received() -> Message:
            nonlocal ended
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                if self.person(connection) != person:
                    await sent({"type": "websocket.close", "code": 1008})
                    ended = True
                    return {"type": "websocket.disconnect", "code": 1008}
                if person.role is Role.OPERATOR:
                    return message
                while wait := self.purse.spend_as(person, MESSAGES):
                    await asyncio.sleep(wait)
                if self.allowed(message.get("bytes") or b""):
                    return message

        counted = ((self.connected, person.id), (self.connected_from, person.address))
        for counter, name in counted:
            counter[name] += 1
        try:
            await self.app(scope, received, sent)
        finally:
            for counter, name in counted:
                counter[name] -= 1
                if not counter[name]:
                    del counter[name]

    def crowded(self, person: Person) -> bool:
        """Whether there is no room for another WebSocket of a viewer, of their address, or at all."""
        full = bool(person.address) and self.connected_from[person.address] >= AT_ONE
        return full or self.connected.total() >= CONNECTIONS or self.connected[person.id] >= OF_ONE

    def ways_in(self) -> dict[str, Any]:
        accounts = [Account(label, self.path(f"{ACCOUNT}?{urlencode({'by': name})}")) for name, label in self.accounts.providers.items()]
        return {"accounts": accounts, "passwords": bool(self.ways().passwords)}

    def page(self, html: str, status: int) -> Response:
        # Under the usual policy for referrers a browser would not say which page a form comes from.
        return HTMLResponse(
            html, status, {"Content-Security-Policy": login.POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
        )

    def path(self, name: str) -> str:
        return self.base + name


def same_origin(headers: Headers) -> bool:
    """Whether a form was sent by a page of this server. Browsers say so with every form that they send."""
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == headers.get("host")


def safe(to: str) -> str:
    """An address below this server; ``/`` in the place of any other."""
    fine = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable() and len(to) <= 2000
    return to if fine else "/"


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else "?"
