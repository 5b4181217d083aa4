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
from typing import Any, NamedTuple

from streamlit import auth_util
from streamlit.errors import StreamlitAuthError
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from frozenlab.roles import Person, Role
from frozenlab.ui.door.ways import DoorError

SECTION = "door"


class Account(NamedTuple):
    """A provider of accounts that people may sign in with."""

    label: str
    address: str


class Accounts(NamedTuple):
    """Who may come in with which account."""

    providers: Mapping[str, str]
    """Name -> what its button says; empty: nobody comes in with an account."""
    lists: Mapping[Role, tuple[str, ...]]
    """Role -> e-mail addresses; ``*@uni.example`` is everybody there."""

    def person(self, cookies: Mapping[str, str]) -> Person | None:
        """Whose account a request comes from; None if from none that may come in."""
        email = self.email(cookies)
        for role in (Role.OPERATOR, Role.VIEWER):
            if email and any(fnmatchcase(email, pattern.lower()) for pattern in self.lists[role]):
                return Person(role, sha256(email.encode()).hexdigest()[:16])
        return None

    def email(self, cookies: Mapping[str, str]) -> str:
        """The address of the account that somebody is signed in with; empty: of none."""
        if not self.providers:
            return ""
        signed = auth_util.get_cookie_with_chunks(lambda name: _unsigned(name, cookies), USER_COOKIE_NAME)
        try:
            said: dict[str, Any] = json.loads(signed or b"{}")
        except ValueError:
            return ""
        known = said.get("is_logged_in") and said.get("email_verified") is not False
        return str(said.get("email") or "").lower() if known else ""

    def token(self, provider: str) -> str:
        """What Streamlit's own address for signing in asks for. Raises DoorError for a provider that is none."""
        if provider not in self.providers:
            raise DoorError(f"there is no provider {provider[:40]!r}")
        return auth_util.encode_provider_token(provider)


def _unsigned(name: str, cookies: Mapping[str, str]) -> bytes | None:
    value = cookies.get(name)
    return None if value is None else decode_signed_value(get_cookie_secret(), name, value.encode("latin-1", "replace"))


@cache
def accounts() -> Accounts:
    """What ``secrets.toml`` says. Raises DoorError if it says half of it."""
    if not secrets_singleton.load_if_toml_exists() or "auth" not in secrets_singleton:
        return Accounts({}, {role: () for role in Role})
    section = secrets_singleton["auth"].to_dict()
    named = [name for name, value in section.items() if isinstance(value, dict) and "client_id" in value]
    providers = {name: f"Sign in with {name.capitalize()}" for name in named} or {"default": "Sign in with your account"}
    try:
        for name in providers:
            auth_util.validate_auth_credentials(name)
    except StreamlitAuthError as error:
        raise DoorError(" ".join(str(error).split())) from None
    if not auth_util.is_authlib_installed():
        raise DoorError("signing in with accounts needs Authlib: pip install 'authlib>=1.3.2'")
    lists = secrets_singleton.get(SECTION, {})
    asked = {role: tuple(lists.get(f"{role}s", ())) for role in Role}
    if not any(asked.values()):
        raise DoorError(f"secrets.toml names nobody who may come in: add a section [{SECTION}] with operators and viewers")
    return Accounts(providers, asked)
