"""Who may talk to the server, and what its pages may load.

On its own machine the server needs no password, and answers no other machine. A server that others can reach, or one whose password is
set, has a door (:mod:`frozenlab.app.ui.door`); the former does not start without a password. Both answer only pages that they served
themselves: another web page that is open on this machine can neither drive the server nor show it in a frame. What a page shows was written
by models or lies in a foreign folder, so a browser loads nothing for it from anywhere else, whatever slips through as Markdown or HTML.
"""

from __future__ import annotations

import gc
import inspect
import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, file_util, net_util

from frozenlab.app.ui.components import hash_of
from frozenlab.app.ui.door import VARIABLE, Door, password
from frozenlab.app.ui.nav import INLINE
from frozenlab.base import look_only
from frozenlab.base.errors import LabError
from frozenlab.base.places import TELL
from frozenlab.jobs.machine import open_files
from frozenlab.lake.kernels import cache as kernel_cache
from frozenlab.lake.kernels.cache import cache_folder

APP = Path(__file__).parents[1]
"""The folder with a folder for each page."""
FIRST_PAGE = 3.0
"""Seconds that the first page has for itself: what is loaded ahead meanwhile delays it by one."""
HEADERS = {
    "X-Frame-Options": "DENY",  # what frame-ancestors says, for older browsers
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every response that brings no other ones, next to the Content-Security-Policy."""
ONLY_HERE = "this server answers its own machine only; 'frozenlab app --host' lets others in"


def begin() -> list[Middleware]:
    """What a server does before it answers: it looks nothing up on the network, may open many files, and loads and compiles in the
    background what pages and tasks need. Returns its middleware; ends the process, with the reason, if others could reach it and it has
    no password."""
    look_nothing_up()
    open_files()
    try:
        chain = middleware()
    except LabError as error:
        sys.exit(f"frozenlab: {error}")
    kernel_cache.start()
    ahead = threading.Timer(FIRST_PAGE, load_ahead)
    ahead.daemon = True
    ahead.start()
    if told := os.environ.pop(TELL, ""):
        with os.fdopen(int(told), "w") as waiting:
            scheme = "https" if config.get_option("server.sslCertFile") else "http"
            waiting.write(f"{scheme} {(config.get_option('server.baseUrlPath') or '').strip('/')}")
    return chain


def load_ahead() -> None:
    """Imports the pages and loads the solver, for which the first visit of each page would wait."""
    for page in ("home", *(f"{file.parent.name}.page" for file in sorted(APP.glob("*/page.py")))):
        import_module(f"frozenlab.app.{page}")
    steps = import_module("frozenlab.lake.kernels.warm_up").STEPS
    inspect.getmodule(compile("", "", "exec"))  # finds every module's file, as Streamlit does before its first element
    freeze()
    for group in ("solver", "costs"):  # waits for the compiler if this machine has not compiled them
        steps[group]()
    freeze()


def freeze() -> None:
    """Spares what is loaded the collector of garbage, which looks through all of it in the middle of a visit, for 0.15 s of CPU."""
    gc.collect()
    gc.freeze()


def middleware() -> list[Middleware]:
    """The middleware in front of Streamlit, outermost first. The hosts are ``server.allowedHosts`` of its config. A server that is to look
    only does so from now on.

    Raises DoorError if others can reach the server and it has no password.
    """
    if os.environ.get(look_only.VARIABLE):
        look_only.begin(cache_folder())
    hosts = config.get_option("server.allowedHosts") or ["*"]
    return [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(WithHeaders, headers={"Content-Security-Policy": policy()} | HEADERS),
        Middleware(Door, password=password(), base=config.get_option("server.baseUrlPath") or "")
        if os.environ.get(VARIABLE) or has_door(config.get_option("server.address"), hosts)
        else Middleware(ThisMachineOnly),
        Middleware(OwnPagesOnly),
    ]


def has_door(address: str | None, hosts: Sequence[str]) -> bool:
    """Whether others can reach a server at this address (None: any of this machine's) or, through a proxy, under one of these names."""
    return not all(map(on_this_machine, [address or "", *hosts]))


def on_this_machine(name: str) -> bool:
    """Whether only this machine itself reaches an address."""
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost"


def elsewhere(address: str) -> bool:
    """Whether it is the address of a network that leads to other machines."""
    try:
        return not ip_address(address).is_loopback
    except ValueError:
        return False  # a socket file, or a test


def policy() -> str:
    """The Content-Security-Policy: all from this server, modules of our components (``blob:``), inline scripts by their hashes.

    What is not named here, connections and frames among it, is bounded by ``default-src``.
    """
    shell = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    inline = [*re.findall(r"<script>(.*?)</script>", shell, re.DOTALL), *INLINE]
    rules = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {' '.join(map(hash_of, inline))}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "media-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def look_nothing_up() -> None:
    """Keep Streamlit from asking the internet for this machine's address, which a foreign Origin would cause."""
    net_util.get_external_ip = lambda: None


class ThisMachineOnly:
    """Refuses other machines, however the server was started: this one has no door."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A proxy on this machine names the client it asks for, so what it brings is refused too.
        ends = [scope.get("server"), scope.get("client")] if scope["type"] in ("http", "websocket") else []
        if not any(elsewhere(end[0]) for end in ends if end):
            await self.app(scope, receive, send)
        else:
            await PlainTextResponse(ONLY_HERE, 403)(scope, receive, send)


class OwnPagesOnly:
    """Refuses a WebSocket unless the page that opens it came from this very server, port included, or from one of
    ``server.corsAllowedOrigins``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and not own_page(Headers(scope=scope)):
            await PlainTextResponse("only pages of this server may talk to it", status_code=403)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def own_page(headers: Headers) -> bool:
    """Whether a request comes from a page of this server; browsers always send the origin of a page."""
    origin = headers.get("origin", "")
    return urlsplit(origin).netloc == headers.get("host") or origin in config.get_option("server.corsAllowedOrigins")


class WithHeaders:
    """Adds those of ``headers`` to every response that it does not have."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app, self.headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    own.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers)
