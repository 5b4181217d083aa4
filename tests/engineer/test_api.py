"""The engineer behind an API: whatever the server does, there is a proposal or a reason, and never a key on disk."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from threading import Event
from typing import Any

import pytest

from frozenlab.engineer.ask import ask
from frozenlab.engineer.chat import MOST_CHARACTERS, ask_for_text, end_of, models_there
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.engineers import ApiEngineer
from frozenlab.engineer.guard import USUAL
from frozenlab.engineer.hosts import Server as Address
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.schema import ProposalRecord
from tests.api_server import EVENTS, Behaviour, Server, fails, hangs_up, says, sends, serving
from tests.engineer.builders import answer_to, of_sizes

CONTEXT, CONFIG = of_sizes(4)
GOOD = json.dumps(answer_to(CONTEXT) | {"rationale": "Step by step."})
KEY = "sk-not-to-be-written-anywhere"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., type[Server]]]:
    """Starts a server with a script."""
    monkeypatch.setenv("FROZENLAB_API_KEY", KEY)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("frozenlab.engineer.hosts.allowed", lambda settings: True)
    with ExitStack() as servers:
        yield lambda *script: servers.enter_context(serving(*script))


def asked(server: Any, timeout: float = 20.0) -> ProposalRecord:
    engineer = ApiEngineer(base_url=server.url, model="m", timeout=timeout, input_price=1.0, output_price=10.0)
    return ask(engineer.build(Models("")), CONTEXT, CONFIG, USUAL, seed=1)


def test_a_good_answer_is_used_and_paid_for(serve: Callable[..., Any]) -> None:
    server = serve(says(GOOD[:40], GOOD[40:]))
    record = asked(server)
    assert record.proposal is not None and record.proposal.summary == "Step by step."
    (attempt,) = record.attempts
    assert (attempt.raw, attempt.tokens, attempt.prompt_tokens) == (GOOD, 200, 1000)
    assert attempt.cost == pytest.approx(0.003)
    assert server.seen[0]["response_format"]["type"] == "json_schema"
    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("pieces", "summary"),
    [
        ((GOOD[:16], "\ud83d", "\ude00 ", GOOD[16:]), "S\U0001f600 tep by step."),
        ((GOOD[:16], "\ud800", GOOD[16:]), "S\ufffdtep by step."),
        ((GOOD[:16], r"\ud83d", r"\ude00\udc00", GOOD[16:]), "S\U0001f600\ufffdtep by step."),
    ],
    ids=["a pair in two events", "half a pair", "named in the JSON"],
)
def test_an_answer_with_halves_of_surrogate_pairs_is_used_and_kept(
    serve: Callable[..., Any], pieces: tuple[str, ...], summary: str
) -> None:
    record = asked(serve(says(*pieces)))
    assert record.kept_because is None and record.proposal is not None and record.proposal.summary == summary
    assert ProposalRecord.model_validate_json(record.model_dump_json()) == record


def refuses(*names: str) -> Behaviour:
    """A server that names the first of these parameters that it meets as one that it does not know."""

    def answer(server: Server, request: dict[str, Any]) -> None:
        met = next((name for name in names if name in request), None)
        error = {"message": f"Unsupported parameter: {met}", "type": "invalid_request_error", "param": met, "code": "unsupported"}
        (fails(400, json.dumps({"error": error})) if met else says(GOOD))(server, request)

    return answer


def test_what_a_server_does_not_know_is_asked_otherwise_or_not_at_all(serve: Callable[..., Any]) -> None:
    server = serve(refuses("max_tokens", "temperature", "seed"))
    assert asked(server).kept_because is None
    last = server.seen[-1]
    assert len(server.seen) == 4
    assert last["max_completion_tokens"] == 16_000 and "response_format" in last
    assert not {"max_tokens", "temperature", "seed"} & set(last)


@pytest.mark.parametrize("named", ["max_tokens", "max_completion_tokens", None])
def test_a_server_with_a_short_context_is_asked_for_shorter_answers(serve: Callable[..., Any], named: str | None) -> None:
    def short(server: Server, request: dict[str, Any]) -> None:
        longest = request.get("max_tokens") or request["max_completion_tokens"]
        error = {"error": {"message": f"{longest} tokens are more than the context of 8192 leaves", "param": named}}
        (fails(400, json.dumps(error)) if longest > 5000 else says(GOOD))(server, request)

    server = serve(short)
    assert asked(server).kept_because is None
    assert server.seen[-1]["max_completion_tokens"] == 4000 and ("response_format" in server.seen[-1]) == (named is not None)


def test_a_server_that_refuses_every_length_is_not_asked_for_ever(serve: Callable[..., Any]) -> None:
    server = serve(refuses("max_tokens", "max_completion_tokens"))
    assert "the server answered 400" in (asked(server).kept_because or "")
    assert [request.get("max_completion_tokens") for request in server.seen[:6]] == [None, 16_000, 8000, 4000, 2000, 1000]
    assert len(server.seen) == 12, "the same in both attempts"


def test_a_request_that_is_refused_as_a_whole_ends(serve: Callable[..., Any]) -> None:
    server = serve(refuses("messages"))
    assert "the server answered 400" in (asked(server).kept_because or "")
    assert len(server.seen) == 2, "once in each attempt: without messages there is nothing to ask"


def test_a_bad_answer_is_shown_to_the_model_with_what_is_wrong(serve: Callable[..., Any]) -> None:
    server = serve(says(GOOD[:60]), says(GOOD))
    assert asked(server).kept_because is None
    said, complaint = server.seen[1]["messages"][1:]
    assert said["content"] == GOOD[:60] and "no complete JSON object" in complaint["content"]


def test_a_server_that_does_not_say_what_it_refuses_is_asked_for_less_and_less(serve: Callable[..., Any]) -> None:
    def knows_only_the_model(server: Server, request: dict[str, Any]) -> None:
        needed = {"model", "messages", "stream", "max_tokens", "max_completion_tokens"}
        (says(GOOD) if set(request) <= needed else fails(400))(server, request)

    server = serve(knows_only_the_model)
    assert asked(server).kept_because is None
    kinds = [request.get("response_format", {}).get("type") for request in server.seen]
    assert kinds == ["json_schema", "json_schema", "json_object", *[None] * 4], "then usage, seed and temperature are given up, one by one"


@pytest.mark.parametrize("tokens", [10**400, 10**9 + 1, -1, True, 1.5, "7", None, [7]])
def test_a_count_that_is_none_costs_nothing_and_ends_nothing(serve: Callable[..., Any], tokens: Any) -> None:
    usage = "data: " + json.dumps({"choices": [], "usage": {"completion_tokens": tokens, "prompt_tokens": 30}})
    record = asked(serve(streams(event(delta={"content": GOOD}), usage, "data: [DONE]")))
    (attempt,) = record.attempts
    assert record.kept_because is None and (attempt.tokens, attempt.prompt_tokens, attempt.cost) == (None, 30, None)


def streams(*lines: str, **others: Any) -> Behaviour:
    """A server that sends these lines as events, whatever they are, and says that it has ended, if it ends."""
    return sends(*(f"{line}\n\n" for line in (*lines, *["data: [DONE]"][others.get("forever", False) :])), **EVENTS | others)


def event(**choice: Any) -> str:
    return "data: " + json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0} | choice]})


JSON = {"Content_Type": "application/json"}
WHOLE = {"choices": [{"index": 0, "message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}]}


ODD_ANSWERS: dict[str, Behaviour] = {
    "comments": streams(": OPENROUTER PROCESSING", event(delta={"content": GOOD}), "data: [DONE]"),
    "nulls": streams('data: {"choices": null}', event(delta=None), event(delta={"content": GOOD})),
    "parts": streams('data: "just a string"', event(delta={"content": [{"type": "text", "text": GOOD}]})),
    "no-stream": sends(json.dumps(WHOLE), **JSON),
    "reasoning": streams(
        "event: message\r\n" + event(delta={"reasoning_content": "Hm.", "content": None}), event(delta={"content": GOOD}) + "\r"
    ),
    "indented": sends(json.dumps(WHOLE, indent=2), **JSON),
    "indented-crlf-mark": sends("\ufeff\r\n" + json.dumps(WHOLE, indent=1).replace("\n", "\r\n"), **JSON),
    "whole-as-a-page": sends(json.dumps(WHOLE | {"usage": None, "error": None}), Content_Type="text/html"),
    "whole-as-events": sends(json.dumps([WHOLE], indent=2), **EVENTS),
    "events-as-json": sends(event(delta={"content": GOOD}) + "\n\ndata: [DONE]\n\n", **JSON),
    "lines-of-json": sends(*(f"{event(delta={'content': part}).removeprefix('data: ')}\n" for part in (GOOD[:9], GOOD[9:])), **JSON),
    "no-blanks": sends(
        *(f"{event(delta={'content': part}).replace(' ', '', 1)}\n" for part in (GOOD[:9], GOOD[9:])), "data:[DONE]", **EVENTS
    ),
    "over-lines": streams("data: " + json.dumps(WHOLE, indent=1).replace("\n", "\ndata: ")),
    "kept-alive": streams(
        "id: 1\n" + event(delta={"role": "assistant"}),
        ": ping",
        "data:",
        "data: : PROCESSING",
        "event: ping\ndata: ping",
        'event: ping\ndata: {"type": "ping"}',
        event(),
        event(delta={"content": GOOD}),
        "retry: 100",
    ),
    "open-after-the-end": streams(event(delta={"content": GOOD}), "data: [DONE]", *[": still here"] * 99, pause=0.5),
    "whole-once-more": streams(event(delta={"content": GOOD}), "data: " + json.dumps(WHOLE)),
    "thoughts-in-parts": streams(
        event(delta={"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": GOOD}]}),
        event(delta={"content": [{"type": "reasoning", "text": "Hm."}], "reasoning": "Hm."}, finish_reason="STOP"),
    ),
    "signs-that-end-no-line": streams(event(delta={"content": GOOD}).replace('"1"', '"\u2028\x85"')),
    "done-is-all-that-says-so": streams(event(delta={"content": GOOD}, finish_reason=None)),
    "stop-is-all-that-says-so": sends(event(delta={"content": GOOD}, finish_reason="stop") + "\n", **EVENTS),
    "fenced": streams(event(delta={"content": f"```json\n{GOOD}\n```"})),
    "odd-usage": streams(
        event(delta={"content": GOOD}), 'data: {"choices": [], "usage": {"completion_tokens": "many", "prompt_tokens": null}}'
    ),
}


@pytest.mark.parametrize("script", ODD_ANSWERS.values(), ids=ODD_ANSWERS)
def test_odd_answers_are_read(serve: Callable[..., Any], script: Behaviour) -> None:
    record = asked(serve(script))
    assert record.kept_because is None and record.attempts[0].raw.strip("`json\n") == GOOD


@pytest.mark.parametrize(
    ("end", "reasons"),
    {
        "length": "length MAX_TOKENS max_tokens max_output_tokens model_length model_context_window_exceeded ERROR_LIMIT maxTokensReached",
        "content_filter": "content_filter content-filter SAFETY content_filter:RECITATION guardrail_intervened sensitive ERROR_TOXIC",
        "tool_calls": "tool_calls tool_use function_call",
        "refusal": "refusal",
        "error": "error network_error abort insufficient_system_resource OTHER",
        "": "stop STOP end_turn COMPLETE eos_token stop_sequence eosFound",
    }.items(),
)
def test_an_end_in_other_words_is_the_same_end(end: str, reasons: str) -> None:
    for reason in reasons.split():
        assert end_of(reason) == (end or reason)
    assert end_of(None) == end_of(5) == ""


def speaks_no_http(server: Server, _: dict[str, Any]) -> None:
    server.wfile.write(b"220 mail.example ESMTP\r\n")


BOMB = gzip.compress(b"data: " + b"x" * 200_000_000)
"""200 kB that become 200 MB."""


REFUSED = {"status": 400} | JSON
NO_ANSWERS: dict[str, tuple[Behaviour, str]] = {
    "length": (streams(event(delta={"content": GOOD[:50]}, finish_reason="length")), "off at the longest length, at most 16,000 tokens"),
    "tool": (streams(event(delta={"tool_calls": [{"index": 0}]}, finish_reason="tool_calls")), "called a tool"),
    "html": (
        sends("<html><title>Log in</title>", Content_Type="text/html; charset=utf-8"),
        "with no answer in it; is the address right, which ends in /v1",
    ),
    "no-choices": (streams('data: {"choices": []}', "data: [DONE]"), "with no answer in it"),
    "empty": (streams(), "with no answer in it"),
    "nothing-whole": (sends("{}", **JSON), "the server sent application/json, with no answer in it"),
    "nested": (streams("data: " + "[" * 100_000), "cannot be read"),
    "digits": (streams("data: " + "9" * 10_000), "with no answer in it"),
    "broken-json": (streams("data: {broken"), "cannot be read"),
    "no-list": (streams('data: {"choices": 5}'), "cannot be read"),
    "no-text": (sends(b"data: \xff\xfe\x00\n" * 1000, **EVENTS), "with no answer in it"),
    "bomb": (sends(BOMB, Content_Encoding="gzip", **EVENTS), "with no answer in it"),
    "breaks-off": (
        sends(event(delta={"content": GOOD[:40]}), "\n", Content_Length="100000"),
        "there is no connection to the server, or it broke",
    ),
    "cut-by-a-proxy": (
        sends(event(delta={"content": GOOD[:40]}) + "\n\n", ": still here\n", **EVENTS),
        "no connection to the server, or it broke",
    ),
    "cut-after-all": (sends(event(delta={"content": GOOD}, finish_reason=None) + "\n", **EVENTS), "or it broke"),
    "no-http": (speaks_no_http, "there is no connection"),
    "hangs-up": (hangs_up, "there is no connection"),
    "no-model": (
        sends('{"error": {"message": "no such model"}}', **REFUSED | {"status": 404}),
        "404 (NotFoundError): is the address right",
    ),
    "error-whole": (sends('{"error": {"message": "overloaded", "code": 502}}', **JSON), "reported an error"),
    "error-at-the-end": (streams(event(delta={"content": GOOD}, finish_reason="error", error={"code": 502})), "reported an error"),
    "error-event": (streams(event(delta={}), 'event: error\ndata: {"object": "error", "message": "no"}'), "reported an error"),
    "thoughts-only": (
        sends(json.dumps({"choices": [{"message": {"content": None, "reasoning": "Hm."}, "finish_reason": "MAX_TOKENS"}]})),
        "off at",
    ),
    "no-credit": (sends('{"error": "no credit is left"}', **REFUSED | {"status": 402}), "the server answered 402"),
    "list": (sends('[{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}]', **REFUSED), "the server answered 400"),
    "cut-refusal": (sends("x" * 1000, Content_Length="5000", **REFUSED | {"status": 413}), "the server answered 413"),
    "endless-refusal": (sends("x" * 100_000, forever=True, **REFUSED | {"status": 403}), "the server answered 403"),
    "slow-refusal": (sends("x", forever=True, pause=0.05, **REFUSED), "was not done after 1 s"),
    "much-later": (fails(429, retry_after="3600"), "the server answered 429"),
    "filter": (streams(event(delta={}, finish_reason="content_filter")), "a filter of the server stopped it"),
    "refusal": (streams(event(delta={"refusal": "I cannot help with that."})), "declined to answer"),
    "error": (
        streams(event(delta={"content": GOOD[:50]}), f'data: {{"error": {{"message": "{KEY}"}}}}'),
        "reported an error in the middle",
    ),
    "comments": (streams(": OPENROUTER PROCESSING", forever=True, pause=0.02), "was not done after 1 s"),
    "endless": (sends("x" * 100_000, forever=True, **EVENTS), "did not end"),
    "500": (fails(500), "the server answered 500"),
    "429": (fails(429), "the server answered 429"),
    "401": (fails(401, f"the key {KEY} is wrong"), "401 (AuthenticationError): is the key right"),
    "truncated": (says(GOOD[:-20]), "no complete JSON object"),
    "wrong-schema": (says('{"cells": 5}'), "rationale"),
    "huge": (says(*["x" * 10_000] * (MOST_CHARACTERS // 10_000 + 1)), "did not end"),
    "slow": (says(*"slowly" * 3, pause=0.3), "was not done after 1 s"),
    "silent": (says("", pause=3.0), "was not done after 0.5 s"),
    "mute": (lambda *_: time.sleep(3.0), "was not done after 0.5 s"),
}


@pytest.mark.parametrize(("script", "why"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_ends_with_its_reason(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, script: Behaviour, why: str
) -> None:
    """Whatever a server does, the config is kept, soon, in little memory, and the key is in no record."""
    monkeypatch.setattr("frozenlab.engineer.chat.MOST_BYTES", 16_000_000)
    tracemalloc.start()
    record = asked(serve(script), timeout=0.5 if "0.5 s" in why else 1.0 if "1 s" in why else 600.0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert record.config_after == CONFIG and why in (record.kept_because or "")
    assert KEY not in record.model_dump_json()
    assert most < 100e6


def test_a_pause_that_the_server_asks_for_ends_with_the_deadline(serve: Callable[..., Any]) -> None:
    server = serve(fails(429, retry_after="60"), says(GOOD))
    assert "was not done after 1 s" in str(refused_at_once(server)) and len(server.seen) == 1


def refused_at_once(server: Any) -> ProposalError:
    with pytest.raises(ProposalError) as refusal:
        ask_for_text(Address(base_url=server.url, model="m", timeout=1.0), [{"role": "user", "content": "?"}], seed=1)
    return refusal.value


def speaks_late_and_falls_silent(over: Event) -> Behaviour:
    def pieces() -> Iterator[str]:
        for pause in (0.3, 60.0):
            yield event(delta={"content": GOOD[:10]}) + "\n"
            over.wait(pause)

    def speak(server: Server, _: dict[str, Any]) -> None:
        time.sleep(0.6)
        server.send(pieces(), **EVENTS)

    return speak


def never_ends_its_headers(over: Event) -> Behaviour:
    def drip(server: Server, _: dict[str, Any]) -> None:
        server.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        with suppress(OSError):
            while not over.wait(0.05):
                server.wfile.write(b"x")

    return drip


@pytest.mark.parametrize("how", [speaks_late_and_falls_silent, never_ends_its_headers])
def test_the_deadline_holds_for_a_server_that_has_spoken(serve: Callable[..., Any], how: Callable[[Event], Behaviour]) -> None:
    over = Event()
    try:
        assert "was not done after 1 s" in str(refused_at_once(serve(how(over))))
    finally:
        over.set()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_trouble_is_waited_out(serve: Callable[..., Any], status: int) -> None:
    server = serve(fails(status), fails(status), says(GOOD))
    assert asked(server).kept_because is None
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    "page", ['{"data": [{"id": "small"}, {"id": "large", "owned_by": "us"}]}', '{"data": 3}', "[]", '{"data": [{"id": 1}]}', "no JSON"]
)
def test_the_models_of_a_server_are_listed_or_there_is_a_reason(serve: Callable[..., Any], page: str) -> None:
    server = serve()
    server.do_GET = lambda self: self.send([page], Content_Type="application/json")
    address = Address(base_url=server.url, model="m", timeout=20)
    if "large" in page:
        assert models_there(address) == ("small", "large")
    else:
        with pytest.raises(ProposalError, match="cannot be read"):
            models_there(address)


@pytest.mark.parametrize("url", ["ftp://x/v1", "x", "http://me:secret@host/v1", "http://a b/v1"])
def test_an_address_that_is_none_or_has_a_password_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        ApiEngineer(base_url=url, model="m")
