"""Coming in with an account of somebody else (OIDC), as Streamlit does it.

Streamlit asks the provider and keeps the answer in a signed cookie. Who may come in is said in the same file, ``secrets.toml``::

    [auth]                       # as Streamlit's documentation says
    redirect_uri = "https://lab.example/oauth2callback"
    cookie_secret = "..."
    client_id = "..."
    client_secret = "..."
    server_metadata_url = "https://accounts.example/.well-known/openid-configuration"

    [door]
    operators = ["teacher@uni.example"]
    viewers = ["*@uni.example"]
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError
from streamlit import auth_util, config
from streamlit.errors import StreamlitAuthError
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from frozenlab.app.ui.door.passes import LEFT
from frozenlab.app.ui.door.ways import DoorError
from frozenlab.base.errors import one_line
from frozenlab.base.roles import Person, Role

SECTION, CALLBACK = "door", "/oauth2callback"
SHORTEST_SECRET = 32
"""Characters of ``cookie_secret``. Whoever guesses it can sign in as anybody, and can try so on a cookie of their own, at home."""


class Account(NamedTuple):
    """A provider of accounts that people may sign in with."""

    label: str
    address: str


class SignedIn(NamedTuple):
    """The account that somebody is signed in with."""

    email: str
    """In lower case; empty if the provider named none."""
    verified: bool
    """False if the provider says that it does not know whether the address is theirs."""
    id: str
    """Another one each time that they sign in."""


class Accounts(NamedTuple):
    """Who may come in with which account."""

    providers: Mapping[str, str]
    """Name -> what its button says; empty: nobody comes in with an account."""
    lists: Mapping[Role, tuple[str, ...]]
    """Role -> e-mail addresses; ``*@uni.example`` is everybody there."""

    def person(self, cookies: Mapping[str, str]) -> Person | None:
        """Whose account a request comes from; None if from none that may come in."""
        one = self.signed_in(cookies)
        for role in (Role.OPERATOR, Role.VIEWER):
            if one and one.verified and any(fnmatchcase(one.email, pattern.lower()) for pattern in self.lists[role]):
                return Person(role, sha256(one.email.encode()).hexdigest()[:16])
        return None

    def refusal(self, cookies: Mapping[str, str]) -> str:
        """Why somebody does not come in although they are signed in; empty if they do, or are not."""
        one = self.signed_in(cookies)
        if one is None or self.person(cookies) is not None:
            return ""
        if not one.email:
            return "Your account has no e-mail address, by which this lab knows people."
        if not one.verified:
            return f"Your provider has not verified that {one.email} is yours."
        return f"{one.email} is not on the list of this lab."

    def signed_in(self, cookies: Mapping[str, str]) -> SignedIn | None:
        """Whom a provider has told about; None if nobody, or somebody who has logged out."""
        if not self.providers:
            return None
        signed = auth_util.get_cookie_with_chunks(lambda name: _unsigned(name, cookies), USER_COOKIE_NAME) or b"{}"
        try:
            said: dict[str, Any] = json.loads(signed)
        except ValueError:
            return None
        id = sha256(signed).hexdigest()  # of the nonce too, which is another one each time
        if not said.get("is_logged_in") or id in LEFT:
            return None
        email = str(said.get("email") or "").lower()
        return SignedIn(email, bool(email) and str(said.get("email_verified", True)).lower() == "true", id)

    def token(self, provider: str) -> str:
        """What Streamlit's own address for signing in asks for. Raises DoorError for a provider that is none."""
        if provider not in self.providers:
            raise DoorError(f"there is no provider {provider[:40]!r}")
        return auth_util.encode_provider_token(provider)


def _unsigned(name: str, cookies: Mapping[str, str]) -> bytes | None:
    value = cookies.get(name)
    return None if value is None else decode_signed_value(get_cookie_secret(), name, value.encode("latin-1", "replace"))


class Lists(BaseModel):
    """The section ``[door]``."""

    model_config = ConfigDict(extra="forbid")

    operators: tuple[str, ...] = ()
    viewers: tuple[str, ...] = ()


@cache
def accounts() -> Accounts:
    """What ``secrets.toml`` says. Raises DoorError if it says half of it."""
    secrets = _secrets()
    if "auth" not in secrets:
        return Accounts({}, {role: () for role in Role})
    section = secrets["auth"]
    named = [name for name, value in section.items() if isinstance(value, dict) and "client_id" in value]
    providers = {name: f"Sign in with {name.capitalize()}" for name in named} or {"default": "Sign in with your account"}
    try:
        for name in providers:
            auth_util.validate_auth_credentials(name)
    except StreamlitAuthError as error:
        raise DoorError(" ".join(str(error).split())) from None
    if not auth_util.is_authlib_installed():
        raise DoorError('signing in with accounts needs Authlib, which is not installed: pip install "frozenlab[accounts]"')
    if len(secret := str(section["cookie_secret"])) < SHORTEST_SECRET:
        raise DoorError(
            f"cookie_secret in secrets.toml has {len(secret)} characters: take at least {SHORTEST_SECRET} random ones, such as those of "
            "python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    back = urlsplit(str(section["redirect_uri"]))
    if back.scheme not in ("http", "https") or not back.netloc or not back.path.endswith(CALLBACK):
        raise DoorError(f"redirect_uri in secrets.toml is the address of this lab with {CALLBACK} at its end, not {back.geturl()[:200]!r}")
    return Accounts(providers, _lists(secrets.get(SECTION, {})))


def _secrets() -> dict[str, Any]:
    """What ``secrets.toml`` holds; nothing if there is none. Raises DoorError if it cannot be read."""
    try:
        return secrets_singleton.to_dict()
    except (OSError, UnicodeDecodeError) as error:
        if any(Path(path).exists() for path in config.get_option("secrets.files")):
            raise DoorError(f"secrets.toml cannot be read: {one_line(error)}") from None
        return {}


def _lists(section: object) -> dict[Role, tuple[str, ...]]:
    """Whom the section ``[door]`` names. Raises DoorError."""
    try:
        said = Lists.model_validate(section)
    except ValidationError as error:
        raise DoorError(f"[{SECTION}] in secrets.toml holds operators and viewers, lists of e-mail addresses: {one_line(error)}") from None
    if not said.operators and not said.viewers:
        raise DoorError(f"secrets.toml names nobody who may come in: add a section [{SECTION}] with operators and viewers")
    return {Role.OPERATOR: said.operators, Role.VIEWER: said.viewers}
