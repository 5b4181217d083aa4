"""Asking a chat server: vLLM, transformers serve, or a company's API.

Whatever the server does, asking ends in a text or in a one-line :class:`ProposalError`: it is given some tries with growing pauses, a
deadline for the whole answer, and a length at which we stop reading. The key is read from the environment when it is needed, written
nowhere, and sent to hosts alone that were allowed on this machine (``hosts``).
"""

from __future__ import annotations

import os
import time
from typing import Any

import openai
from openai.types.chat import ChatCompletionChunk

from frozenlab.engineer import hosts
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.schema import Written
from frozenlab.engineer.server import Server

TRIES = 4
"""Of one request that times out, is refused for being one too many, or meets a server in trouble."""
MOST_CHARACTERS = 100_000
"""A longer answer is no proposal."""
NO_KEY = "none"
"""What a server that asks for no key is sent in place of one."""
OPENAI = "api.openai.com"
NEEDED_HEADERS = {
    "host", "authorization", "content-type", "content-length", "transfer-encoding", "accept", "accept-encoding", "connection", "user-agent",
}  # fmt: skip
"""All that a server that is not OpenAI's is sent."""


def ask_server(server: Server, messages: list[dict[str, str]], schema: dict[str, Any], seed: int) -> Written:
    """The model's answer to a conversation, under a JSON schema if the server knows schemas.

    Raises:
        ProposalError: no answer came, it took too long or did not end, or the server may not be asked.
    """
    asked: dict[str, Any] = {"model": server.model, "messages": messages, "temperature": server.temperature, "seed": seed}
    asked |= {"max_tokens": server.max_tokens, "stream_options": {"include_usage": True}} | in_schema(schema)
    try:
        while True:
            try:
                return request(server, asked)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as refusal:
                asked = milder(asked, refusal)
    except openai.OpenAIError as error:
        raise ProposalError(f"{server.model} gave no answer: {in_one_line(error)}") from None


def request(server: Server, asked: dict[str, Any]) -> Written:
    """One answer, read as it comes. Raises OpenAIError, and ProposalError for one that takes too long or does not end, or if the server
    may not be asked."""
    client = connect(server)
    deadline = time.monotonic() + server.timeout
    written, text = Written(""), []
    chunks: openai.Stream[ChatCompletionChunk] = client.chat.completions.create(stream=True, **asked)
    with chunks:
        for chunk in chunks:
            text += [choice.delta.content for choice in chunk.choices if choice.delta.content]
            if chunk.usage:
                written = written._replace(tokens=chunk.usage.completion_tokens, prompt_tokens=chunk.usage.prompt_tokens)
            if sum(map(len, text)) > MOST_CHARACTERS:
                raise ProposalError(f"{server.model} did not end: more than {MOST_CHARACTERS:,} characters")
            if time.monotonic() > deadline:
                raise ProposalError(f"{server.model} was not done after {server.timeout:g} s")
    return written._replace(text="".join(text), cost=server.cost(written.prompt_tokens, written.tokens))


def connect(server: Server) -> openai.OpenAI:
    """What asks the server, and no other one: redirections are not followed, and a proxy is used for encrypted connections only. Raises
    ProposalError if the server may not be asked."""
    if reason := hosts.refusal(server):
        raise ProposalError(f"{server.model} was not asked: {reason}")
    foreign = hosts.host_of(server) != OPENAI
    transport = openai.DefaultHttpxClient(
        follow_redirects=False,
        trust_env=server.base_url.startswith("https:"),
        event_hooks={"request": [only_what_is_needed] if foreign else []},
    )
    return openai.OpenAI(
        base_url=server.base_url,
        api_key=os.environ.get(server.key_variable) or NO_KEY,
        timeout=server.timeout,
        max_retries=TRIES - 1,
        http_client=transport,
    )


def only_what_is_needed(request: Any) -> None:
    """Takes out of an httpx request what the library adds for OpenAI: organisation, project and headers from the environment, and what this
    machine is."""
    for name in set(request.headers) - NEEDED_HEADERS:
        del request.headers[name]


def milder(asked: dict[str, Any], refusal: openai.APIStatusError) -> dict[str, Any]:
    """The request without what the server refused. Servers differ in what they know: some name the parameter, one that names none is
    taken to know no schemas. Raises the refusal where nothing is left to give up."""
    optional = {"max_tokens", "temperature", "seed", "stream_options", "response_format"} & set(asked)
    named = next((name for name in optional if (refusal.param or "").split(".")[0] == name), "response_format")
    if named not in optional:
        raise refusal
    rest = {name: value for name, value in asked.items() if name != named}
    return rest | ({"max_completion_tokens": asked["max_tokens"]} if named == "max_tokens" else {})


def in_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The part of a request that asks for JSON under the schema."""
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "proposal", "schema": schema, "strict": True}}}


def in_one_line(error: openai.OpenAIError) -> str:
    """One line about an error, without what the server may have repeated of the request."""
    if isinstance(error, openai.APIStatusError):
        return f"the server answered {error.status_code} ({type(error).__name__})"
    if isinstance(error, openai.APITimeoutError):
        return "it took too long"
    if isinstance(error, openai.APIConnectionError):
        return "there is no connection to the server"
    return type(error).__name__
