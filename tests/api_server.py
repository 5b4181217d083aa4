"""A server that answers as OpenAI's do, or misbehaves as they do, step by step as a script says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from threading import Thread
from typing import Any

Behaviour = Callable[["Server", dict[str, Any]], None]
EVENTS = {"Content_Type": "text/event-stream"}


class Server(BaseHTTPRequestHandler):
    """A server that does, request after request, what ``script`` says; the last entry again and again."""

    script: list[Behaviour]
    seen: list[dict[str, Any]]
    keys: list[str | None]
    headers_seen: list[dict[str, str]]
    url: str
    models = ("small", "large")

    def do_GET(self) -> None:
        self.send([json.dumps({"object": "list", "data": [{"id": name} for name in self.models]})], Content_Type="application/json")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(request)
        self.keys.append(self.headers["Authorization"])
        self.headers_seen.append(dict(self.headers))
        self.script[min(len(self.seen), len(self.script)) - 1](self, request)

    def stream(self, *pieces: str, pause: float = 0.0) -> None:
        usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
        chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
        chunks.append({"choices": [], "usage": usage})
        about = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        lines = [json.dumps(about | chunk) for chunk in chunks] + ["[DONE]"]
        self.send([f"data: {line}\n\n" for line in lines], pause=pause, **EVENTS)

    def send(self, pieces: Iterable[str | bytes], *, status: int = 200, pause: float = 0.0, **headers: str) -> None:
        """Sends pieces, each followed by a pause; headers are named like ``Content_Type``."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(OSError):  # the other side has heard enough
            for piece in pieces:
                self.wfile.write(piece if isinstance(piece, bytes) else piece.encode())
                self.wfile.flush()
                time.sleep(pause)

    def log_message(self, *_: Any) -> None:
        pass


def says(*pieces: str, pause: float = 0.0) -> Behaviour:
    return lambda server, _: server.stream(*pieces, pause=pause)


def sends(*pieces: str | bytes, forever: bool = False, status: int = 200, pause: float = 0.0, **headers: str) -> Behaviour:
    """A server that sends these pieces, whatever they are: once, or again and again."""
    return lambda server, _: server.send(cycle(pieces) if forever else pieces, status=status, pause=pause, **headers)


def fails(status: int, text: str = "no", retry_after: str = "0") -> Behaviour:
    return sends(text, status=status, Retry_After=retry_after)


def redirects(url: str, status: int = 307) -> Behaviour:
    return sends(status=status, Location=url, Content_Length="0")


def hangs_up(server: Server, _: dict[str, Any]) -> None:
    server.connection.close()


def fills_in_the_schema(server: Server, request: dict[str, Any]) -> None:
    """The plainest answer that the request's JSON schema allows."""
    schema = request["response_format"]["json_schema"]["schema"]
    names = schema["properties"]["cells"]["properties"]
    cells = {name: {"share_percent": 50, "hole_percent": 15, "wait_percent": 10} for name in names}
    server.stream(json.dumps({"rationale": "Plainly.", "claims": [], "preserved": [], "cells": cells}))


@contextmanager
def serving(*script: Behaviour) -> Iterator[type[Server]]:
    """The server while it runs; its class holds what it has seen, and ``url``."""
    handler = type("Scripted", (Server,), {"script": list(script), "seen": [], "keys": [], "headers_seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    handler.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield handler
    finally:
        server.shutdown()
        server.server_close()
