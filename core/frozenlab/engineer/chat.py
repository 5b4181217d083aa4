"""Asking a chat server: vLLM, transformers serve, or a company's API.

Whatever the server does, asking ends in a text or in a one-line :class:`ProposalError`: it is given some tries with growing pauses, one
deadline for all of them, and a number of bytes at which we stop reading. The key is read from the environment when it is needed, written
nowhere, and sent to hosts alone that were allowed on this machine (``hosts``).
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from threading import Timer
from typing import Any, NamedTuple

import openai

from frozenlab.base.errors import cut, one_line
from frozenlab.engineer import hosts
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.dialects.plain import without_bounds
from frozenlab.engineer.schema import Written
from frozenlab.engineer.server import Server

TRIES = 4
"""Of one request that finds no server, is refused for being one too many, or meets a server in trouble."""
FIRST_PAUSE = 0.5
"""Seconds before the second try; each further pause is twice as long, or as long as the server asks for."""
GRACE = 0.05
"""Seconds after the deadline at which a connection is shut that has not noticed it."""
MOST_CHARACTERS = 100_000
"""A longer answer is no proposal."""
LONGEST_LINE, MOST_BYTES = 4_000_000, 64_000_000
"""Of what a server sends: a line of a stream, or all of an answer that is no stream; and everything, its idle chatter included."""
LONGEST_REFUSAL = 100_000
"""Bytes that are read of what a server says with an error."""
LENGTH = ("max_tokens", "max_completion_tokens")
"""The names of the longest answer, one of which is in every request; a server may name the one or the other when it refuses it."""
GIVEN_UP = ("response_format", "stream_options", "seed", "temperature", *LENGTH)
"""What a request can do without, or with less of, in the order in which it is given up for a server that does not say what it refuses."""
LEAST_TOKENS = 1000
"""Below that, a server that refuses the length of an answer is not asked for a shorter one."""
NO_KEY = "none"
"""What a server that asks for no key is sent in place of one."""
OPENAI = "api.openai.com"
NEEDED_HEADERS = {
    "host", "authorization", "content-type", "content-length", "transfer-encoding", "accept", "accept-encoding", "connection", "user-agent",
}  # fmt: skip
"""All that a server that is not OpenAI's is sent."""


class Answered(NamedTuple):
    """What a server wrote."""

    written: Written
    ended: str
    """Why it ended: ``stop``, ``length``, ...; empty if the server did not say."""
    at_temperature: bool
    """Whether the server took our temperature; else it drew at one of its own."""


def ask_server(server: Server, messages: list[dict[str, str]], schema: dict[str, Any], seed: int) -> Written:
    """The model's answer to a conversation, under a JSON schema if the server knows schemas.

    Raises:
        ProposalError: no answer came, it took too long or did not end, or the server may not be asked.
    """
    written, ended, _ = ask_for_text(server, messages, seed, schema)
    if ended in ENDS:
        longest = f", at most {server.max_tokens:,} tokens: a model that reasons may need more (max_tokens)" if ended == "length" else ""
        raise ProposalError(f"{server.model} {ENDS[ended]}{longest}")
    return written


def ask_for_text(server: Server, messages: list[dict[str, str]], seed: int, schema: dict[str, Any] | None = None) -> Answered:
    """The same for any text, also one that the server cut off or declined to write.

    Raises:
        ProposalError: no answer came, it took too long, or the server may not be asked.
    """
    asked: dict[str, Any] = {"model": server.model, "messages": messages, "temperature": server.temperature, "seed": seed}
    asked |= {"max_tokens": server.max_tokens, "stream_options": {"include_usage": True}}
    asked |= in_schema(schema, strictest=hosts.host_of(server) == OPENAI) if schema else {}
    deadline = time.monotonic() + server.timeout
    try:
        with shutting(deadline) as on_event, connect(server, deadline, on_event) as client:
            while True:
                try:
                    return with_tries(client, server, asked, deadline)
                except (openai.BadRequestError, openai.UnprocessableEntityError) as refusal:
                    if time.monotonic() > deadline:
                        raise  # what the server said tells more than that no time is left
                    asked = milder(asked, refusal)
    except openai.OpenAIError as error:
        late = isinstance(error, openai.APIConnectionError) and time.monotonic() > deadline
        why = "it took too long" if late else in_one_line(error)
        raise ProposalError(f"{server.model} gave no answer: {why}") from None


def with_tries(client: openai.OpenAI, server: Server, asked: dict[str, Any], deadline: float) -> Answered:
    """One answer, asked for again where another try may help, unless ``deadline`` would pass in the pause before. Raises what
    :func:`request` raises."""
    for pause in (FIRST_PAUSE * 2**n for n in range(TRIES - 1)):
        try:
            return request(client, server, asked, deadline)
        except (openai.APIConnectionError, openai.APIStatusError) as trouble:
            wait = max(pause, asked_pause(trouble))
            if not may_pass(trouble) or time.monotonic() + wait >= deadline:
                raise
        time.sleep(wait)
    return request(client, server, asked, deadline)


def may_pass(trouble: openai.APIError) -> bool:
    """Whether the same request may be answered a little later."""
    return not isinstance(trouble, openai.APIStatusError) or trouble.status_code in (408, 409, 429) or trouble.status_code >= 500


def asked_pause(trouble: openai.APIError) -> float:
    """The seconds that the server asks to be left alone (``Retry-After``, in seconds or as a date); 0 where it does not."""
    said = trouble.response.headers.get("retry-after", "") if isinstance(trouble, openai.APIStatusError) else ""
    with suppress(ValueError):
        return float(said)
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(said).timestamp() - time.time()
    return 0.0


def request(client: openai.OpenAI, server: Server, asked: dict[str, Any], deadline: float) -> Answered:
    """One answer, read as it comes, until ``deadline`` (of ``time.monotonic``).

    Raises OpenAIError, and ProposalError for an answer that breaks off or takes too long.
    """
    text = ended = ""
    tokens = prompt_tokens = None
    spoke = False
    with client.chat.completions.create(stream=True, **asked) as stream:
        for event in events(server, stream.response.iter_raw(), deadline):
            if "error" in event and not event.get("choices"):
                raise ProposalError(f"{server.model} gave no answer: the server reported an error in the middle of it")
            spoke = spoke or bool(event.get("choices"))
            for said, reason in choices_of(event):
                text, ended = text + said, reason or ended
            written, read = usage_of(event)
            tokens, prompt_tokens = written or tokens, read or prompt_tokens
            if len(text) > MOST_CHARACTERS:
                raise ProposalError(f"{server.model} did not end: more than {MOST_CHARACTERS:,} characters")
        if not spoke:
            kind = one_line(stream.response.headers.get("content-type", "")) or "nothing that says what it is"
            raise ProposalError(f"{server.model} gave no answer: the server sent {cut(kind, 60)}, with no answer in it")
    answer = Written(text, tokens=tokens, prompt_tokens=prompt_tokens, cost=server.cost(prompt_tokens, tokens))
    return Answered(answer, ended, at_temperature="temperature" in asked)


ENDS = {
    "length": "did not end: the server cut its answer off at the longest length",
    "content_filter": "gave no answer: a filter of the server stopped it",
    "refusal": "declined to answer",
    "tool_calls": "gave no answer: it called a tool, and was offered none",
}
"""Why an answer is none, by the reason that servers give for its end."""


def events(server: Server, received: Iterator[bytes], deadline: float) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events, or the one of a server that does not stream. What is none is left out.

    Raises ProposalError if the server sends too much, or goes on after ``deadline``, be it with nothing but comments that keep the
    connection alive.
    """
    rest, total = b"", 0
    for piece in unbroken(server, received, deadline):
        total += len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        if total > MOST_BYTES or len(rest) > LONGEST_LINE:
            raise ProposalError(f"{server.model} did not end: more than {total // 1_000_000} million bytes")
        for line in lines:
            yield from objects_in(line)
    yield from objects_in(rest)


def unbroken(server: Server, received: Iterator[bytes], deadline: float) -> Iterator[bytes]:
    """What is received, until the end. Raises ProposalError after ``deadline``, and if the connection breaks, whatever the HTTP library
    beneath calls that."""
    late = ProposalError(f"{server.model} was not done after {server.timeout:g} s")
    try:
        for piece in received:
            if time.monotonic() > deadline:
                raise late
            yield piece
    except ProposalError:
        raise
    except Exception as error:
        if "Timeout" in type(error).__name__ or time.monotonic() > deadline:
            raise late from None
        raise ProposalError(f"{server.model} gave no answer: the connection broke") from None
    if time.monotonic() > deadline:
        raise late  # the end may be ours: we shut the connection


def objects_in(line: bytes) -> Iterator[dict[str, Any]]:
    """The object of a line ``data: {...}``, or of a line that is nothing but an object."""
    try:
        found = json.loads(line.removeprefix(b"data:"))
    except (ValueError, RecursionError):  # a comment, the name of an event, [DONE], an empty line, broken, or nested without end
        return
    if isinstance(found, dict):
        yield found


def choices_of(event: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The text of each choice of an event, and the reason for its end, empty where there is none. Servers leave out, or set to null,
    whatever they like."""
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if not isinstance(choice, dict):
            continue
        message = choice.get("delta") or choice.get("message")
        message = message if isinstance(message, dict) else {}
        content, reason = message.get("content"), choice.get("finish_reason")
        parts = content if isinstance(content, list) else [content]
        texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
        said = "".join(text for text in texts if isinstance(text, str))
        yield said, "refusal" if message.get("refusal") else reason if isinstance(reason, str) else ""


def usage_of(event: dict[str, Any]) -> tuple[int | None, int | None]:
    """Tokens of the answer and of the prompt, as far as the event tells them."""
    usage = event.get("usage")
    counts = (usage.get(name) for name in ("completion_tokens", "prompt_tokens")) if isinstance(usage, dict) else (None, None)
    written, read = (count if isinstance(count, int) and count >= 0 else None for count in counts)
    return written, read


Listener = Callable[[str, dict[str, Any]], None]
"""Is told by the HTTP library what it does, by names such as ``connection.connect_tcp.complete``."""


@contextmanager
def shutting(deadline: float) -> Iterator[Listener]:
    """Shuts, just after ``deadline``, the connections that the listener hears of. A time limit of the HTTP library begins anew with every
    byte of a header, and is the same for every piece of an answer, however late the one before it came."""
    connections: list[socket.socket] = []

    def hear(event: str, told: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connections.append(told["return_value"].get_extra_info("socket"))

    def shut() -> None:
        for connection in connections:
            with suppress(OSError):  # closed already
                socket.socket.shutdown(connection, socket.SHUT_RDWR)  # without the good-bye of an encrypted one, which could wait

    timer = Timer(max(deadline + GRACE - time.monotonic(), 0), shut)
    timer.daemon = True
    timer.start()
    try:
        yield hear
    finally:
        timer.cancel()


def connect(server: Server, deadline: float, on_event: Listener) -> openai.OpenAI:
    """What asks the server, and no other one, until ``deadline``: redirections are not followed, and a proxy is used for encrypted
    connections only. Raises ProposalError if the server may not be asked."""
    if reason := hosts.refusal(server):
        raise ProposalError(f"{server.model} was not asked: {reason}")
    key = os.environ.get(server.key_variable) or NO_KEY
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ProposalError(f"{server.model} was not asked: what stands in {server.key_variable} is no key, which has plain letters only")

    def in_time(request: Any) -> None:
        """Every try has the time that is left for all of them."""
        left = max(deadline - time.monotonic(), 0.001)
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), left)
        request.extensions["trace"] = on_event

    def in_bounds(response: Any) -> None:
        if response.is_error:
            read_in_bounds(response, deadline)

    foreign = hosts.host_of(server) != OPENAI
    transport = openai.DefaultHttpxClient(
        follow_redirects=False,
        trust_env=server.base_url.startswith("https:"),
        headers={"Accept-Encoding": "identity"},  # what is compressed could be of any length
        event_hooks={"request": [in_time, *([only_what_is_needed] if foreign else [])], "response": [in_bounds]},
    )
    return openai.OpenAI(
        base_url=server.base_url,
        api_key=key,
        timeout=server.timeout,
        max_retries=0,
        http_client=transport,
    )


def read_in_bounds(response: Any, deadline: float) -> None:
    """Reads what a server says with an error, up to a length, the deadline or the break of the connection: what has come by then is enough.
    The library would read on to its end."""
    said = b""
    with suppress(Exception):  # those of the HTTP library beneath, whichever it is
        for piece in response.iter_raw():
            said += piece
            if len(said) > LONGEST_REFUSAL or time.monotonic() > deadline:
                break
        response.close()
    response._content = said  # as if it had been read


def only_what_is_needed(request: Any) -> None:
    """Takes out of an httpx request what the library adds for OpenAI: organisation, project and headers from the environment, and what this
    machine is."""
    for name in set(request.headers) - NEEDED_HEADERS:
        del request.headers[name]


def milder(asked: dict[str, Any], refusal: openai.APIStatusError) -> dict[str, Any]:
    """The request without what the server refused. Servers differ in what they know: some name the parameter, for others one after the
    other is given up. Between a schema and nothing, one without bounds and JSON without a schema are tried; a longest answer, by both its
    names, has always to be told, and is halved. Raises the refusal where nothing is left to give up."""
    param = (refusal.param or "").split(".")[0]
    if param in LENGTH:
        param = next(name for name in LENGTH if name in asked)
    if param and param not in GIVEN_UP:
        raise refusal
    named = param if param in asked else next((name for name in GIVEN_UP if name in asked), None)
    if named is None:
        raise refusal
    rest = {name: value for name, value in asked.items() if name != named}
    if named == "response_format" and asked[named]["type"] == "json_schema":
        schema = asked[named]["json_schema"]["schema"]
        strictest = schema == without_bounds(schema)
        return rest | ({"response_format": {"type": "json_object"}} if strictest else in_schema(schema, strictest=True))
    if named == "max_completion_tokens":
        if asked[named] < 2 * LEAST_TOKENS:
            raise refusal
        return rest | {named: asked[named] // 2}
    return rest | ({"max_completion_tokens": asked["max_tokens"]} if named == "max_tokens" else {})


def in_schema(schema: dict[str, Any], strictest: bool = False) -> dict[str, Any]:
    """The part of a request that asks for JSON under the schema; under the strictest rules, in which it has no bounds: vLLM's constraint
    keeps to bounds, and a weak model that never ends a text needs them."""
    under = {"name": "proposal", "schema": without_bounds(schema) if strictest else schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": under}}


def in_one_line(error: openai.OpenAIError) -> str:
    """One line about an error, without what the server may have repeated of the request."""
    if isinstance(error, openai.APIStatusError):
        return f"the server answered {error.status_code} ({type(error).__name__})"
    if isinstance(error, openai.APITimeoutError):
        return "it took too long"
    if isinstance(error, openai.APIConnectionError):
        return "there is no connection to the server"
    return type(error).__name__
