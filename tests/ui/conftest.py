from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from frozenlab.session.session import Session
from tests.builders import build_session


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session of three stages. Tests only read it."""
    return build_session(tmp_path_factory.mktemp("built"))


async def _answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    with suppress(WebSocketDisconnect):
        while True:
            await socket.send_bytes(await socket.receive_bytes())


def inside(middleware: Sequence[Middleware]) -> Starlette:
    """Something small behind ``middleware``: it answers at every address, and its WebSockets repeat what they get."""
    methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]
    routes = [Route("/{path:path}", _answer, methods=methods), WebSocketRoute("/{path:path}", _echo)]
    return Starlette(routes=routes, middleware=middleware)
