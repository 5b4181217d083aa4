"""Who may talk to the server, and what its pages may load.

The server has no login, so it answers only pages that it served itself: another web page that is open on this machine can neither drive it
nor show it in a frame. And what a page shows was written by models or lies in somebody else's folder, so a browser loads nothing for it
from anywhere else, whatever slips through as Markdown or HTML.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, file_util, net_util

from frozenlab.ui.scripts import INLINE

HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",  # what frame-ancestors says, for older browsers
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every response, next to the Content-Security-Policy."""


def middleware() -> list[Middleware]:
    """The middleware in front of Streamlit, outermost first. The hosts are ``server.allowedHosts`` of its config."""
    hosts = config.get_option("server.allowedHosts") or ["*"]
    return [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(OwnPagesOnly),
        Middleware(WithHeaders, headers={"Content-Security-Policy": policy()} | HEADERS),
    ]


def policy() -> str:
    """The Content-Security-Policy: all from this server, modules of our components (``blob:``), inline scripts by their hashes.

    What is not named here, connections and frames among it, is bounded by ``default-src``.
    """
    shell = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    inline = [*re.findall(r"<script>(.*?)</script>", shell, re.DOTALL), *INLINE]
    hashes = (f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in inline)
    rules = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {' '.join(hashes)}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "media-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def look_nothing_up() -> None:
    """Keep Streamlit from asking the internet for this machine's address, which a foreign Origin would cause."""
    net_util.get_external_ip = lambda: None


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
    """Adds ``headers`` to every response."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app, self.headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, with_headers)
