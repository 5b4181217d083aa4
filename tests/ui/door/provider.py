"""A small provider of accounts (OIDC) on this machine, for tests: it signs in at once whom a test names, and is strict about the rest."""

from __future__ import annotations

import json
import secrets
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "the-lab", "a secret of the lab and its provider"


class Asked(NamedTuple):
    """What a code was given for."""

    account: Mapping[str, Any]
    query: Mapping[str, str]


class Refused(Exception):
    """A request that a provider must not grant."""


class Provider:
    """Whom it signs in next, and what it was asked.

    Args:
        back: the only address that it sends browsers back to.
    """

    def __init__(self, address: str, back: str) -> None:
        self.address, self.back = address, back
        self.account: Mapping[str, Any] = {}
        """Claims about whoever signs in next; an e-mail address among them, as a rule."""
        self.untrue: Mapping[str, Any] = {}
        """Claims of the next ID token that a true one would not hold."""
        self.key, self.next_key = RSAKey.generate_key(2048, {"kid": "first"}), None
        self.codes: dict[str, Asked] = {}
        self.refused: list[str] = []
        """Why requests were refused."""

    def signs_with(self) -> RSAKey:
        return self.next_key or self.key

    def about(self) -> dict[str, Any]:
        """The discovery document."""
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys", "end_session_endpoint": "leave"}
        return {"issuer": self.address} | {name: f"{self.address}/{place}" for name, place in places.items()} | {
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }  # fmt: skip

    def authorize(self, query: Mapping[str, str]) -> str:
        """Where the browser goes with a new code."""
        need(query["client_id"] == CLIENT, "an unknown client")
        need(query["redirect_uri"] == self.back, "a foreign address to go back to")
        need(query["response_type"] == "code" and "openid" in query["scope"].split(), "not the code flow of OIDC")
        need(query["code_challenge_method"] == "S256" and bool(query["nonce"]) and bool(query["state"]), "no PKCE, nonce or state")
        code = secrets.token_urlsafe()
        self.codes[code] = Asked(self.account, query)
        return f"{self.back}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: Mapping[str, str], authorization: str) -> dict[str, Any]:
        """The tokens for a code, once."""
        name, _, secret = b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        need((unquote(name), unquote(secret)) == (CLIENT, SECRET), "a wrong client or secret")
        need(form["grant_type"] == "authorization_code" and form["code"] in self.codes, "an unknown code")
        account, query = self.codes.pop(form["code"])
        need(form["redirect_uri"] == query["redirect_uri"], "another address to go back to")
        digest = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        need(digest == query["code_challenge"], "a wrong PKCE verifier")
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": query["nonce"]} | account | self.untrue
        signed = jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.signs_with())
        return {"access_token": secrets.token_urlsafe(), "token_type": "Bearer", "expires_in": 300, "id_token": signed}

    def leave(self, query: Mapping[str, str]) -> str:
        """Where the browser goes after the provider has logged somebody out."""
        need(query["client_id"] == CLIENT and query["post_logout_redirect_uri"] == self.back, "an unknown client or address")
        need(jwt.decode(query["id_token_hint"], self.key).claims["aud"] == CLIENT, "another's ID token")
        return self.back


def need(granted: bool, otherwise: str) -> None:
    if not granted:
        raise Refused(otherwise)


@contextmanager
def provider(back: str) -> Iterator[Provider]:
    """A provider on a free port; under another name than the lab's, so that cookies of the one never reach the other."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked, query = urlsplit(self.path), dict(parse_qsl(urlsplit(self.path).query))
            answers = {"/.well-known/openid-configuration": one.about, "/keys": lambda: KeySet([one.key]).as_dict(private=False)}
            if asked.path in answers:
                self.answer(200, answers[asked.path]())
            else:
                self.grant(lambda: self.answer(302, {}, {"/authorize": one.authorize, "/leave": one.leave}[asked.path](query)))

        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            self.grant(lambda: self.answer(200, one.token(form, self.headers["Authorization"] or "")))

        def grant(self, answer: Any) -> None:
            try:
                answer()
            except (Refused, KeyError, ValueError) as error:
                one.refused.append(str(error))
                self.answer(400, {"error": "invalid_request"})

        def answer(self, status: int, said: object, to: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if to:
                self.send_header("Location", to)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    one = Provider(f"http://localhost:{server.server_address[1]}", back)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield one
    finally:
        server.shutdown()
        server.server_close()
