"""The engineer behind an API: whatever the server does, there is a proposal or a reason, and never a key on disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from core.engineer.api import MOST_CHARACTERS, ApiEngineer
from core.engineer.demonstrations import draw_context
from core.engineer.engineers import ask
from core.engineer.language import example
from core.engineer.schema import ApiSettings, ProposalRecord
from core.lake.config import EnvironmentConfig

CONTEXT = draw_context(np.random.default_rng(4))
CONFIG = EnvironmentConfig.uniform(CONTEXT.sizes, CONTEXT.agents)
GOOD = json.dumps(example(CONTEXT) | {"rationale": "Step by step."})
KEY = "sk-not-to-be-written-anywhere"

Behaviour = Callable[["Server", dict[str, Any]], None]


class Server(BaseHTTPRequestHandler):
    """A server that does, request after request, what ``script`` says; the last entry again and again."""

    script: list[Behaviour]
    seen: list[dict[str, Any]]
    keys: list[str | None]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(request)
        self.keys.append(self.headers["Authorization"])
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


def fails(status: int, text: str = "no") -> Behaviour:
    def fail(server: Server, _: dict[str, Any]) -> None:
        server.send_response(status)
        server.send_header("Retry-After", "0")
        server.end_headers()
        server.wfile.write(text.encode())

    return fail


def knows_no_schema(server: Server, request: dict[str, Any]) -> None:
    (fails(400) if "response_format" in request else says(GOOD))(server, request)


def hangs_up(server: Server, _: dict[str, Any]) -> None:
    server.connection.close()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., type[Server]]]:
    """Starts a server with a script; its class holds what it has seen."""
    servers = []
    monkeypatch.setenv("FROZENLAB_API_KEY", KEY)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.02)

    def start(*script: Behaviour) -> type[Server]:
        handler = type("Scripted", (Server,), {"script": list(script), "seen": [], "keys": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        handler.url = f"http://127.0.0.1:{server.server_port}/v1"  # type: ignore[attr-defined]
        return handler

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def asked(server: Any, timeout: float = 20.0) -> ProposalRecord:
    settings = ApiSettings(base_url=server.url, model="m", timeout=timeout, input_price=1.0, output_price=10.0)
    return ask(ApiEngineer(settings), CONTEXT, CONFIG, max_step=0.2, min_share=0.02, seed=1)


def test_a_good_answer_is_used_and_paid_for(serve: Callable[..., Any]) -> None:
    server = serve(says(GOOD[:40], GOOD[40:]))
    record = asked(server)
    assert record.proposal is not None and record.proposal.summary == "Step by step."
    (attempt,) = record.attempts
    assert (attempt.raw, attempt.tokens, attempt.prompt_tokens) == (GOOD, 200, 1000)
    assert attempt.cost == pytest.approx(0.003)
    assert server.seen[0]["response_format"]["type"] == "json_schema"
    assert server.keys == [f"Bearer {KEY}"]


def test_a_server_without_schemas_is_asked_without(serve: Callable[..., Any]) -> None:
    server = serve(knows_no_schema)
    assert asked(server).kept_because is None
    assert ["response_format" in request for request in server.seen] == [True, False]


def test_a_bad_answer_is_shown_to_the_model_with_what_is_wrong(serve: Callable[..., Any]) -> None:
    server = serve(says(GOOD[:60]), says(GOOD))
    assert asked(server).kept_because is None
    said, complaint = server.seen[1]["messages"][1:]
    assert said["content"] == GOOD[:60] and "no complete JSON object" in complaint["content"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_is_waited_out(serve: Callable[..., Any], status: int) -> None:
    server = serve(fails(status), fails(status), says(GOOD))
    assert asked(server).kept_because is None
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ([fails(500)], "the server answered 500"),
        ([fails(429)], "the server answered 429"),
        ([fails(401, f"the key {KEY} is wrong")], "the server answered 401"),
        ([hangs_up], "there is no connection"),
        ([says(GOOD[:-20])], "no complete JSON object"),
        ([says('{"sizes": 5}')], "rationale"),
        ([says("x" * 10_000, *["x" * 10_000] * (MOST_CHARACTERS // 10_000))], "did not end"),
        ([says(*"slowly", pause=0.3)], "was not done after 0.5 s"),
        ([says("", pause=3.0)], "took too long"),
    ],
    ids=["500", "429", "401", "hangs-up", "truncated", "wrong-schema", "huge", "slow", "silent"],
)
def test_whatever_the_server_does_the_config_is_kept_with_the_reason(serve: Callable[..., Any], script: list[Behaviour], why: str) -> None:
    record = asked(serve(*script), timeout=0.5 if "too long" in why or "not done" in why else 20.0)
    assert record.config_after == CONFIG
    assert record.kept_because is not None and why in record.kept_because
    assert KEY not in record.model_dump_json()


def test_no_server_is_a_reason_too() -> None:
    settings = ApiSettings(base_url="http://127.0.0.1:9/v1", model="m", timeout=2)
    record = ask(ApiEngineer(settings), CONTEXT, CONFIG, max_step=0.2, min_share=0.02, seed=1)
    assert "there is no connection to the server" in (record.kept_because or "")


@pytest.mark.parametrize("url", ["ftp://x/v1", "x", "http://me:secret@host/v1", "http://a b/v1"])
def test_an_address_that_is_none_or_has_a_password_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        ApiSettings(base_url=url, model="m")
