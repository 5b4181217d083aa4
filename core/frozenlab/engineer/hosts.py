"""Chat servers that speak OpenAI's protocol, and which of them may be asked: those that the person at this machine has allowed.

A spec, and so the address in it, may come from someone else, and what is sent there may carry a key. So a server is asked only if its host
was allowed here once: on the page that asks about it, by ``--allow-host``, or in ``FROZENLAB_API_HOSTS`` (names between commas) where there
is no home folder to remember it in. So is one on this very machine, where other services listen too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import read_text, write_text
from frozenlab.base.look_only import LookOnlyError
from frozenlab.base.schemas import Strict

HOST = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?"
ADDRESS = rf"https?://(?P<host>{HOST})(/[A-Za-z0-9._~!$&'()*+,=:%/-]*)?"
"""Without a query, a fragment or parameters, which would cut off the end that a request adds to the path."""
VARIABLE = "FROZENLAB_API_HOSTS"
USUAL_PORTS = {"https": 443, "http": 80}


class HostError(LabError, ValueError):
    """A server's address is not valid; the message shows a valid one."""


class Server(Strict):
    """Where a chat server is, which model it serves and what an answer may take. The key itself is never part of it."""

    base_url: Annotated[str, Field(title="Address", max_length=2000)]
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
    """Time limit of one answer in seconds: the longest one at 30 tokens a second."""
    input_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Price of a million tokens of the prompt, in any currency, from which the cost is estimated; None: not known."""
    output_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Price of a million tokens of the answer."""

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, address: str) -> str:
        if not (found := re.fullmatch(ADDRESS, address)) or not is_host(found["host"]):
            raise ValueError(
                "an address is written like https://api.example.org/v1: a host, perhaps a port up to 65535, and a path without ?, # and ;"
            )
        return address

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


def refusal(server: Server) -> str | None:
    """Why the server may not be asked, and what would allow it; None: it may."""
    host = host_of(server)
    if in_the_clear(server):
        return f"{server.key_variable} would go to {host} unencrypted: a key goes by https, or to this machine"
    if not allowed(server):
        return f"{host} has not been allowed on this machine yet: --allow-host {host} allows it, or the page that asks about it"
    return None


def in_the_clear(server: Server) -> bool:
    """Whether a key would leave this machine unencrypted."""
    return has_key(server) and not server.base_url.startswith("https:") and not on_this_machine(server.base_url)


def allowed(server: Server) -> bool:
    """Whether the server may be asked without asking a person first."""
    return host_of(server) in hosts()


def has_key(server: Server) -> bool:
    """Whether there is a key that the server would be sent."""
    return bool(os.environ.get(server.key_variable))


def host_of(server: Server) -> str:
    return host_in(server.base_url)


def host_in(address: str) -> str:
    """``api.openai.com``, or with a port that is not the usual one ``127.0.0.1:8000``."""
    parts = urlsplit(address)
    return parts.netloc.lower().removesuffix(f":{USUAL_PORTS.get(parts.scheme)}")


def is_host(name: str) -> bool:
    """Whether it is a host, perhaps with a port, and its numbers are possible."""
    if not re.fullmatch(HOST, name):
        return False
    try:
        parts = urlsplit(f"//{name}")
        if name.startswith("[") or re.fullmatch(r"[0-9]+(\.[0-9]+){3}", parts.hostname or ""):
            ip_address(parts.hostname or "")
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def on_this_machine(address: str) -> bool:
    """Whether an address is reachable from this machine only."""
    name = urlsplit(address).hostname or ""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def hosts() -> set[str]:
    """Those that were allowed, as :func:`host_of` writes them."""
    named = [*os.environ.get(VARIABLE, "").split(","), *remembered_hosts()]
    return {name.strip().lower() for name in named if name.strip()}


def remembered_hosts() -> list[str]:
    path = remembered()
    return read_text(path).splitlines() if os.access(path, os.R_OK) else []


def check(servers: Iterable[Server | None]) -> None:
    """Raises HostError if one of the servers is not allowed on this machine; the message says how to allow it."""
    for server in filter(None, servers):
        if reason := refusal(server):
            raise HostError(reason)


def allow(host: str) -> None:
    """Remembers a host, for every session from now on; a line of the file that is deleted is a host that is asked about again.

    Args:
        host: as :func:`host_of` writes it, or a whole address.

    Raises:
        HostError: it is none, or cannot be remembered.
    """
    whole = re.fullmatch(ADDRESS, host)
    name = host_in(host) if whole and is_host(whole["host"]) else host
    if not is_host(name):
        raise HostError(f"{host[:80]!r} is no host; one is written like api.openai.com or 127.0.0.1:8000")
    try:
        write_text(remembered(), "".join(f"{name}\n" for name in dict.fromkeys([*remembered_hosts(), name.lower()])))
    except LookOnlyError:
        raise
    except OSError as error:
        reason = f"{name} cannot be remembered ({one_line(error)})"
        raise HostError(f"{reason}: set {VARIABLE}={name}, or XDG_CONFIG_HOME to a folder that can be written") from None


def remembered() -> Path:
    """The file of the hosts, one a line: ``~/.config/frozenlab/api-hosts``."""
    return places.config_folder() / "api-hosts"
