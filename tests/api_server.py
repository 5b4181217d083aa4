"""A server that answers as OpenAI's do, or misbehaves as they do, step by step as a script says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Behaviour = Callable[["Server", dict[str, Any]], None]


class Server(BaseHTTPRequestHandler):
    """A server that does, request after request, what ``script`` says; the last entry again and again."""

    script: list[Behaviour]
    seen: list[dict[str, Any]]
    keys: list[str | None]
    headers_seen: list[dict[str, str]]
    url: str

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(request)
        self.keys.append(self.headers["Authorization"])
        self.headers_seen.append(dict(self.headers))
        self.script[min(len(self.seen), len(self.script)) - 1](self, request)

    def stream(self, *pieces: str, pause: float = 0.0) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
        chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
        try:
            for chunk in [*chunks, {"choices": [], "usage": usage}]:
                line = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"} | chunk
                self.wfile.write(f"data: {json.dumps(line)}\n\n".encode())
                self.wfile.flush()
                time.sleep(pause)
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the other side has heard enough

    def log_message(self, *_: Any) -> None:
        pass


def says(*pieces: str, pause: float = 0.0) -> Behaviour:
    return lambda server, _: server.stream(*pieces, pause=pause)


def fails(status: int, text: str = "no", retry_after: str = "0") -> Behaviour:
    def fail(server: Server, _: dict[str, Any]) -> None:
        server.send_response(status)
        server.send_header("Retry-After", retry_after)
        server.end_headers()
        server.wfile.write(text.encode())

    return fail


def redirects(url: str, status: int = 307) -> Behaviour:
    def redirect(server: Server, _: dict[str, Any]) -> None:
        server.send_response(status)
        server.send_header("Location", url)
        server.send_header("Content-Length", "0")
        server.end_headers()

    return redirect


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
    Thread(target=server.serve_forever, daemon=True).start()
    handler.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield handler
    finally:
        server.shutdown()
        server.server_close()
