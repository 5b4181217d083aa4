"""Asking a chat server: vLLM, transformers serve, or a company's API.

The ``openai`` client sends, tries again and pauses. Added here: one deadline for the whole answer, bounds on what is read, a reader of
answers in every form that servers send, requests that give up what a server does not know, and reasons in one line. The key is read from
the environment when it is needed, is written nowhere, and is sent only to hosts that were allowed on this machine (``hosts``).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import openai

from frozenlab.base.errors import cut, one_line
from frozenlab.base.files import json_value, well_formed
from frozenlab.engineer import hosts
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.dialects.plain import without_bounds
from frozenlab.engineer.hosts import Server
from frozenlab.engineer.schema import Written

RETRIES = 3
"""Of a request that finds no server, is one too many, or meets a server in trouble."""
CONNECTING = 30.0
"""Seconds in which a server has to take a connection."""
MOST_CHARACTERS = 100_000
"""A longer answer is no proposal."""
MOST_BYTES, MOST_OF_A_REFUSAL = 48_000_000, 100_000
"""That are read of an answer, idle chatter included, and of what a server says with an error."""
LENGTH = ("max_tokens", "max_completion_tokens")
"""The names of the longest answer, one of which is in every request; a server may name the one or the other when it refuses it."""
GIVEN_UP = ("response_format", "stream_options", "seed", "temperature", *LENGTH)
"""What a request can do without, or with less of, in the order in which it is given up for a server that does not say what it refuses."""
MOST_NAMES, LONGEST_NAME = 500, 200
"""Of the models that a server lists, and signs of one name."""
MOST_TOKENS = 10**9
"""A greater count is none."""
LEAST_TOKENS = 1000
"""Below that, a server that refuses the length of an answer is not asked for a shorter one."""
NO_KEY = "none"
"""What a server that asks for no key is sent in place of one."""
OPENAI = "api.openai.com"
NEEDED_HEADERS = {
    "host", "authorization", "content-type", "content-length", "transfer-encoding", "accept", "accept-encoding", "connection", "user-agent",
}  # fmt: skip
"""All that a server that is not OpenAI's is sent."""
ENDS = {
    "length": "did not end: the server cut its answer off at the longest length",
    "content_filter": "gave no answer: a filter of the server stopped it",
    "refusal": "declined to answer",
    "tool_calls": "gave no answer: it called a tool, and was offered none",
    "error": "gave no answer: the server reported an error in the middle of it",
}
"""Why an answer is none, by the reason for its end."""
OTHER_WORDS = {
    "length": ("length", "limit", "maxtokens", "maxoutput", "maxcompletion", "maxpredicted", "contextwindow"),
    "content_filter": ("filter", "safety", "recitation", "blocklist", "prohibited", "spii", "sensitive", "guardrail", "toxic"),
    "refusal": ("refus",),
    "tool_calls": ("tool", "functioncall"),
    "error": ("error", "abort", "cancel", "insufficient", "other"),
}
"""What the reasons that servers give for an end have in them, in small letters without signs, from Anthropic to Zhipu."""
FIELDS = (b"data", b"event", b"id", b"retry", b"")
"""Names of the lines of an event stream; a comment has none."""
BROKE = "there is no connection to the server, or it broke"
WRONG_ADDRESS = "is the address right, which ends in /v1 with most servers, and is the model there under this name?"
HINTS = {
    **dict.fromkeys((301, 302, 303, 307, 308), "it sends requests on to another address: give that one"),
    **dict.fromkeys((401, 403), "is the key right, and is its variable set?"),
    **dict.fromkeys((404, 405), WRONG_ADDRESS),
    402: "is there credit left?",
    429: "are there too many requests at a time, or is no credit left?",
}
"""What usually helps, by the status of a refusal; the server's own words may repeat the request, and the key with it."""

Found = TypeVar("Found")


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
    return apart(in_time(server, key_for(server), partial(answered, server=server, asked=asked)))


def models_there(server: Server) -> tuple[str, ...]:
    """The names of the models that the server lists, in its order.

    Raises:
        ProposalError: it lists none, took too long, or may not be asked.
    """

    async def names(client: openai.AsyncOpenAI) -> tuple[str, ...]:
        listed: Any = await client.get("/models", cast_to=object)
        return tuple(one["id"] for one in listed["data"] if len(one["id"]) <= LONGEST_NAME)[:MOST_NAMES]

    return apart(in_time(server, key_for(server), names))


def apart(asking: Coroutine[Any, Any, Found]) -> Found:
    """What the coroutine returns, from a thread of its own: the caller's may have an event loop, as in a notebook."""
    found: Future[Found] = Future()

    def ask() -> None:
        try:
            found.set_result(asyncio.run(asking))
        except BaseException as error:
            found.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return found.result()


def key_for(server: Server) -> str:
    """The key that the server is sent. Raises ProposalError if the server may not be asked."""
    if reason := hosts.refusal(server):
        raise ProposalError(f"{server.model} was not asked: {reason}")
    key = os.environ.get(server.key_variable) or NO_KEY
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ProposalError(f"{server.model} was not asked: what stands in {server.key_variable} is no key, which has plain letters only")
    return key


async def in_time(server: Server, key: str, ask: Callable[[openai.AsyncOpenAI], Coroutine[Any, Any, Found]]) -> Found:
    """What the server is asked for within its time, tries and pauses included. Raises ProposalError with the reason if nothing came."""
    try:
        async with asyncio.timeout(server.timeout), connect(server, key) as client:
            return await ask(client)
    except TimeoutError:
        raise ProposalError(f"{server.model} was not done after {server.timeout:g} s") from None
    except ProposalError:
        raise
    except (openai.OpenAIError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ProposalError(f"{server.model} gave no answer: {in_one_line(error)}") from None


async def answered(client: openai.AsyncOpenAI, server: Server, asked: dict[str, Any]) -> Answered:
    """One answer; what the server refuses is asked for less strictly."""
    while True:
        try:
            return await request(client, server, asked)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as refusal:
            asked = milder(asked, refusal)


async def request(client: openai.AsyncOpenAI, server: Server, asked: dict[str, Any]) -> Answered:
    """One answer, read as it comes. Nothing of what a server sends is checked before, so anything can be missing or odd in it."""
    text = ended = ""
    tokens = prompt_tokens = None
    spoke = cut_off = False
    async with await client.chat.completions.create(stream=True, **asked) as stream:
        async for chunk in chunks_of(stream.response):
            if chunk.get("error") or chunk.get("object") == "error":
                ended = "error"
            for choice in chunk.get("choices") or ():
                whole = {} if text else choice.get("message")  # some servers end a stream with all of it once more
                delta = next((found for found in (choice.get("delta"), whole) if found is not None), {})
                spoke, text = True, text + text_of(delta.get("content"))
                ended = "refusal" if delta.get("refusal") else end_of(choice.get("finish_reason")) or ended
            usage = chunk.get("usage")
            tokens, prompt_tokens = count(usage, "completion_tokens") or tokens, count(usage, "prompt_tokens") or prompt_tokens
            if len(text) > MOST_CHARACTERS:
                raise ProposalError(f"{server.model} did not end: more than {MOST_CHARACTERS:,} characters")
            cut_off = cut_off or chunk.get("cut") is True
            if ended == "error":
                raise ProposalError(f"{server.model} {ENDS[ended]}")
        kind = one_line(stream.response.headers.get("content-type", "")) or "nothing that says what it is"
    if not spoke:
        page = f"; {WRONG_ADDRESS}" if "html" in kind else ""
        raise ProposalError(f"{server.model} gave no answer: the server sent {cut(kind, 60)}, with no answer in it{page}")
    if cut_off and not ended:  # by a proxy or a server in trouble: what came may be half of it
        raise ProposalError(f"{server.model} gave no answer: {BROKE}")
    answer = Written(well_formed(text), tokens=tokens, prompt_tokens=prompt_tokens, cost=server.cost(prompt_tokens, tokens))
    return Answered(answer, ended, at_temperature="temperature" in asked)


async def chunks_of(response: Any) -> AsyncIterator[dict[str, Any]]:
    """The pieces of an answer: the events of a stream, or where there are none, what was sent as a whole, whatever the server calls it.
    A stream that does not say that it is over ends with a piece that says ``cut``."""
    event: list[bytes] = []
    other: list[bytes] = []
    spoke = ended = False
    async for line in lines_of(response.aiter_bytes()):
        name, _, value = line.partition(b":")
        if ended := line.replace(b" ", b"") == b"data:[DONE]":  # the connection may stay open
            break
        if name == b"data":
            event.append(value.strip())
        elif name not in FIELDS and not spoke:
            other.append(line)
        elif not line and event:
            for chunk in objects_in(event):
                spoke = True
                yield chunk
            event.clear()
    last = objects_in(event)
    spoke = spoke or bool(last)
    for chunk in [*last, *([] if spoke else objects_in(other)), *([{"cut": True}] if spoke and not ended else [])]:
        yield chunk


async def lines_of(received: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines that end as in event streams; a text may have signs in it at which Python would end one too."""
    parts: list[bytes] = []
    async for piece in received:
        first, *more = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        parts.append(first)
        for line in more:
            yield b"".join(parts)
            parts = [line]
    yield b"".join(parts)
    yield b""


def objects_in(lines: list[bytes]) -> list[dict[str, Any]]:
    """The JSON objects in some lines: one over all lines, an array of them, or one a line, where a server leaves out what divides them.
    Words that keep a connection alive are none. Raises ValueError for what begins like JSON, and is none."""
    lines = [line for line in lines if line.strip()]
    if not lines or lines[0].strip().removeprefix(b"\xef\xbb\xbf")[:1] not in b"{[":
        return []
    try:
        found = [json_value(b"\n".join(lines), whole=False)]
    except ValueError:
        if len(lines) == 1:
            raise
        found = [json_value(line, whole=False) for line in lines]
    return [one for value in found for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def end_of(reason: Any) -> str:
    """Why an answer ended, in our words (ENDS) where it is none, else in the server's; empty if it has not ended."""
    if not isinstance(reason, str):
        return ""
    plain = "".join(filter(str.isalpha, reason.lower()))
    return next((ours for ours, words in OTHER_WORDS.items() if any(word in plain for word in words)), reason)


def text_of(content: Any) -> str:
    """The text of a piece of an answer, which some servers send in parts, with thoughts among them."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) and part.get("type", "text") in ("text", "output_text") else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def count(usage: Any, name: str) -> int | None:
    """A count of tokens; None for what is none, whatever a server sends."""
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if type(found) is int and 0 <= found <= MOST_TOKENS else None


def connect(server: Server, key: str) -> openai.AsyncOpenAI:
    """What asks the server and no other one: redirections are not followed, and a proxy is used for encrypted connections only."""

    async def only_what_is_needed(request: Any) -> None:
        """Takes out what the client adds for OpenAI: organisation, project and headers from the environment, and what this machine is."""
        for name in set(request.headers) - NEEDED_HEADERS if hosts.host_of(server) != OPENAI else ():
            del request.headers[name]

    async def in_bounds(response: Any) -> None:
        response.headers.pop("content-encoding", None)  # we asked for no compression, and what is compressed could be of any length
        response.aiter_raw = partial(bounded, server, response.aiter_raw, response.is_error)

    transport = openai.DefaultAsyncHttpxClient(
        follow_redirects=False,
        trust_env=server.base_url.startswith("https:"),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [only_what_is_needed], "response": [in_bounds]},
    )
    timeout = openai.Timeout(server.timeout, connect=CONNECTING)
    return openai.AsyncOpenAI(base_url=server.base_url, api_key=key, timeout=timeout, max_retries=RETRIES, http_client=transport)


async def bounded(server: Server, received: Callable[[], AsyncIterator[bytes]], refused: bool) -> AsyncIterator[bytes]:
    """What a server sends. Of what it says with an error the beginning will do; an answer that is too
    long, or breaks off, raises ProposalError."""
    total = 0
    try:
        async for piece in received():
            total += len(piece)
            if total > (MOST_OF_A_REFUSAL if refused else MOST_BYTES):
                raise ProposalError(f"{server.model} did not end: more than {MOST_BYTES // 1_000_000} million bytes")
            yield piece
    except Exception as error:
        if not refused:
            raise error if isinstance(error, ProposalError) else ProposalError(f"{server.model} gave no answer: {BROKE}") from error


def milder(asked: dict[str, Any], refusal: openai.APIStatusError) -> dict[str, Any]:
    """The request without what the server refused. Servers differ in what they know: some name the parameter, for others one after the
    other is given up. Between a schema and nothing, one without bounds and JSON without a schema are tried; a longest answer, by both its
    names, has always to be there, and is halved. Raises the refusal where nothing is left to give up."""
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


def in_one_line(error: Exception) -> str:
    """One line about an error, without what the server may have repeated of the request."""
    if isinstance(error, openai.APIStatusError):
        hint = HINTS.get(error.status_code)
        return f"the server answered {error.status_code} ({type(error).__name__})" + (f": {hint}" if hint else "")
    if isinstance(error, openai.APIConnectionError):
        return BROKE
    return type(error).__name__ if isinstance(error, openai.OpenAIError) else "what the server sent cannot be read"
