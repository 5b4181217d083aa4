"""A chat server that speaks OpenAI's protocol: where it is, which model it serves, and what an answer may take."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Server(BaseModel):
    """The address and limits of a chat server. The key itself is never part of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: Annotated[str, Field(title="Address", pattern=r"^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^\s@\\]*)?$")]
    """The server's address, up to and including /v1, without user or password."""
    model: Annotated[str, Field(min_length=1, max_length=200)]
    """The model's name, as the server calls it."""
    key_variable: Annotated[str, Field(max_length=64, title="Environment variable with the key")] = "FROZENLAB_API_KEY"
    """The environment variable that holds the key, such as OPENAI_API_KEY. Set it before the lab starts, or in .streamlit/secrets.toml;
    the key itself is stored nowhere. The name ends in _API_KEY, so that a foreign spec cannot name any other secret."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 16_000
    """The longest answer, with the thoughts of a model that reasons. A server whose context has no room for it is asked for half of it."""
    timeout: Annotated[float, Field(gt=0, le=3600, title="Seconds")] = 600.0
    """Seconds that one answer may take: the longest one at 30 tokens a second."""
    input_price: Annotated[float, Field(ge=0)] | None = None
    """Price of a million tokens of the prompt, in any currency, from which the cost is estimated; None: not known."""
    output_price: Annotated[float, Field(ge=0)] | None = None
    """Price of a million tokens of the answer."""

    @field_validator("key_variable")
    @classmethod
    def _check_key_variable(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*_API_KEY", name):
            raise ValueError("a key is read from a variable whose name ends in _API_KEY and from no other one")
        return name

    def cost(self, prompt_tokens: int | None, tokens: int | None) -> float | None:
        """The price of one answer; None if a price or a count is not known."""
        if None in (self.input_price, self.output_price, prompt_tokens, tokens):
            return None
        return ((self.input_price or 0) * (prompt_tokens or 0) + (self.output_price or 0) * (tokens or 0)) / 1e6
