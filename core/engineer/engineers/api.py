"""An engineer behind any OpenAI-compatible server: vLLM, transformers serve, or a company's API.

Whatever the server does, asking ends in a text or in a one-line :class:`ProposalError`: it is given some tries with growing pauses, a
deadline for the whole answer, and a length at which we stop reading. The key is read from the environment when it is needed, written
nowhere, and sent to hosts alone that were allowed on this machine (``hosts``).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletionChunk

from frozenlab.engineer import hosts
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.dialects.plain import answer_schema, conversation, parse_answer, render_request
from frozenlab.engineer.schema import ApiSettings, Attempt, Context, EngineerName, Proposal, Written
from frozenlab.lake.config import EnvironmentConfig

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


@dataclass(frozen=True)
class ApiEngineer:
    """A language model that is asked over HTTP."""

    settings: ApiSettings
    name: EngineerName = "api"

    def prompt(self, context: Context) -> str:
        return render_request(context, guidance=self.settings.guidance)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        """The model's answer; after one that could not be used it is shown that and what was wrong with it."""
        messages = conversation(self.prompt(context), failed)
        settings = self.settings
        asked: dict[str, Any] = {"model": settings.model, "messages": messages, "temperature": settings.temperature, "seed": seed}
        asked |= {"max_tokens": settings.max_tokens, "stream_options": {"include_usage": True}} | in_schema(context)
        try:
            while True:
                try:
                    return self.request(asked)
                except (openai.BadRequestError, openai.UnprocessableEntityError) as refusal:
                    asked = milder(asked, refusal)
        except openai.OpenAIError as error:
            raise ProposalError(f"{settings.model} gave no answer: {told(error)}") from None

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        return parse_answer(context, config, raw)

    def request(self, asked: dict[str, Any]) -> Written:
        """One answer, read as it comes. Raises OpenAIError, and ProposalError for one that takes too long or does not end, or if the server
        may not be asked."""
        settings = self.settings
        client = connect(settings)
        deadline = time.monotonic() + settings.timeout
        written, text = Written(""), []
        chunks: openai.Stream[ChatCompletionChunk] = client.chat.completions.create(stream=True, **asked)
        with chunks:
            for chunk in chunks:
                text += [choice.delta.content for choice in chunk.choices if choice.delta.content]
                if chunk.usage:
                    written = written._replace(tokens=chunk.usage.completion_tokens, prompt_tokens=chunk.usage.prompt_tokens)
                if sum(map(len, text)) > MOST_CHARACTERS:
                    raise ProposalError(f"{settings.model} did not end: more than {MOST_CHARACTERS:,} characters")
                if time.monotonic() > deadline:
                    raise ProposalError(f"{settings.model} was not done after {settings.timeout:g} s")
        return written._replace(text="".join(text), cost=settings.cost(written.prompt_tokens, written.tokens))


def connect(settings: ApiSettings) -> openai.OpenAI:
    """What asks the server, and no other one: redirections are not followed, and a proxy is used for encrypted connections only. Raises
    ProposalError if the server may not be asked."""
    if reason := hosts.refusal(settings):
        raise ProposalError(f"{settings.model} was not asked: {reason}")
    foreign = hosts.host_of(settings) != OPENAI
    transport = openai.DefaultHttpxClient(
        follow_redirects=False,
        trust_env=settings.base_url.startswith("https:"),
        event_hooks={"request": [only_what_is_needed] if foreign else []},
    )
    return openai.OpenAI(
        base_url=settings.base_url,
        api_key=os.environ.get(settings.key_variable) or NO_KEY,
        timeout=settings.timeout,
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


def in_schema(context: Context) -> dict[str, Any]:
    """What asks a server to write under the schema of the answer."""
    schema = {"name": "proposal", "schema": answer_schema(context), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def told(error: openai.OpenAIError) -> str:
    """One line about an error, without what the server may have repeated of the request."""
    if isinstance(error, openai.APIStatusError):
        return f"the server answered {error.status_code} ({type(error).__name__})"
    if isinstance(error, openai.APITimeoutError):
        return "it took too long"
    if isinstance(error, openai.APIConnectionError):
        return "there is no connection to the server"
    return type(error).__name__
