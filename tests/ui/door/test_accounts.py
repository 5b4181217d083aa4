"""Coming in with accounts, at a real ``frozenlab app`` for others and by a real provider."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import tomli_w
from joserfc.jwk import RSAKey
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import ConnectionClosed, InvalidStatus

from frozenlab.app.ui.door import accounts as accounts_module
from frozenlab.app.ui.door.accounts import Accounts, accounts
from frozenlab.app.ui.door.ways import DoorError
from frozenlab.base.roles import Role
from tests.running import end_queue
from tests.ui.door.provider import CLIENT, SECRET, Provider, provider
from tests.ui.door.talk import START, button, free_port, run, started, stream, wait_until_up

USER, TOKENS = "_streamlit_user", "_streamlit_user_tokens"
"""Streamlit's cookies."""
TEACHER = {"sub": "1", "email": "Teacher@uni.example", "email_verified": True}
PUPIL = {"sub": "2", "email": "pupil@uni.example", "email_verified": True}
STRANGER = {"sub": "3", "email": "somebody@elsewhere.example", "email_verified": True}
COOKIE_SECRET = "0123456789abcdef0123456789abcdef"


class Lab(NamedTuple):
    address: str
    sessions: Path
    provider: Provider

    @property
    def url(self) -> str:
        return f"http://{self.address}"


class Browser:
    """A browser with nothing in it yet, and the addresses that it was led to."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.web = lab, httpx2.Client(trust_env=False, timeout=30)
        self.been: list[str] = []

    def open(self, to: str, follow: bool = True) -> httpx2.Response:
        """A page of the lab, or where it leads. Neither leads anywhere but to the lab and the provider."""
        reply = self.web.get(httpx2.URL(self.lab.url).join(to), follow_redirects=follow)
        self.been = [str(one.url) for one in (*reply.history, reply)]
        assert all(place.startswith((f"{self.lab.url}/", f"{self.lab.provider.address}/")) for place in [*self.been, str(next_of(reply))])
        return reply

    def sign_in(self, account: dict[str, Any]) -> httpx2.Response:
        """By the button of the door."""
        self.lab.provider.account = account
        assert 'href="/door/account?by=default"' in self.open("/door").text
        return self.open("/door/account?by=default")

    def sent_back(self, account: dict[str, Any]) -> httpx2.URL:
        """The address that the provider sends this browser back to, not opened yet."""
        self.lab.provider.account = account
        reply = self.open("/door/account?by=default", follow=False)
        while not str(next_of(reply)).startswith(self.lab.provider.back):
            reply = self.open(str(next_of(reply)), follow=False)
        return next_of(reply)

    def leave(self) -> httpx2.Response:
        """By the button of the door. It leads nowhere itself: Chromium would not follow a form from there to the provider."""
        reply = self.web.post(f"{self.lab.url}/door/leave", headers={"Origin": self.lab.url})
        assert reply.status_code == 200 and reply.headers["refresh"] == "0; url=/auth/logout"
        return reply

    def cookies(self) -> dict[str, str]:
        return {cookie.name: str(cookie.value) for cookie in self.web.cookies.jar}

    def header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies().items())

    def is_outside(self) -> bool:
        """Whether no page, file or WebSocket answers."""
        closed = all(self.open(place).status_code in (401, 403) for place in ("/", "/learn", "/static/index.html", "/_stcore/host-config"))
        with pytest.raises(InvalidStatus):
            stream(self.lab.address, self.header())
        return closed


def next_of(reply: httpx2.Response) -> httpx2.URL:
    """Where a reply leads; its own address if nowhere."""
    return reply.url.join(reply.headers.get("location", ""))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab for others, whose secrets are in the home folder of whoever started it. It has no passwords."""
    folder = tmp_path_factory.mktemp("accounts")
    sessions, port = folder / "sessions", free_port()
    sessions.mkdir()
    with provider(f"http://127.0.0.1:{port}/oauth2callback") as one:
        write_secrets(folder / ".streamlit" / "secrets.toml", auth(one))
        options = {"HOME": str(folder), "FROZENLAB_SESSIONS": str(sessions), "FROZENLAB_DOOR": str(folder / "door.json")}
        asked = ["app", "--no-browser", "--port", str(port), "--allowed-host", "lab.example"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [str(Path(sys.executable).with_name("frozenlab")), *asked], env=os.environ | options, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        try:
            wait_until_up(server, f"127.0.0.1:{port}", folder / "log")
            yield Lab(f"127.0.0.1:{port}", sessions, one)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)
            end_queue(sessions)


def auth(one: Provider) -> dict[str, Any]:
    return {
        "redirect_uri": one.back,
        "cookie_secret": COOKIE_SECRET,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "server_metadata_url": f"{one.address}/.well-known/openid-configuration",
    }


def write_secrets(path: Path, section: dict[str, Any], **lists: object) -> None:
    path.parent.mkdir(exist_ok=True)
    door = lists or {"operators": ["teacher@uni.example"], "viewers": ["*@uni.example"]}
    path.write_text(tomli_w.dumps({"auth": section, "door": door}), encoding="utf-8")


@pytest.fixture(autouse=True)
def honest(request: pytest.FixtureRequest) -> None:
    """A provider that tells the truth."""
    if "lab" in request.fixturenames:
        one = request.getfixturevalue("lab").provider
        one.untrue, one.next_key = {}, None
        one.refused.clear()


@pytest.mark.parametrize(("account", "role"), [(TEACHER, Role.OPERATOR), (PUPIL, Role.VIEWER)])
def test_who_is_on_a_list_comes_in(lab: Lab, account: dict[str, Any], role: Role) -> None:
    browser = Browser(lab)
    assert browser.is_outside()
    reply = browser.sign_in(account)
    assert reply.status_code == 200 and reply.url == f"{lab.url}/"
    assert [place.startswith(lab.provider.address) for place in browser.been] == [False, False, True, False, False]
    assert f"You are here as <b>{role}</b>" in browser.open("/door").text
    assert browser.open("/_stcore/metrics").status_code == (200 if role is Role.OPERATOR else 403)
    assert not lab.provider.refused


def test_a_stranger_is_told_so_and_stays_outside(lab: Lab) -> None:
    browser = Browser(lab)
    reply = browser.sign_in(STRANGER)
    assert reply.status_code == 403 and "somebody@elsewhere.example is not on the list of this lab." in reply.text
    assert browser.open("/door").status_code == 403 and browser.is_outside()
    assert browser.sign_in(PUPIL).status_code == 200  # with another account


@pytest.mark.parametrize("said", [False, "false", None])
def test_an_address_that_is_not_verified_lets_nobody_in(lab: Lab, said: object) -> None:
    browser = Browser(lab)
    reply = browser.sign_in(TEACHER | {"email_verified": said})
    assert reply.status_code == 403 and "not verified that teacher@uni.example is yours" in reply.text
    assert browser.is_outside()


def test_an_account_without_an_address_lets_nobody_in(lab: Lab) -> None:
    browser = Browser(lab)
    assert "no e-mail address" in browser.sign_in({"sub": "4"}).text and browser.is_outside()


def test_a_forged_or_altered_cookie_lets_nobody_in(lab: Lab) -> None:
    browser, told = Browser(lab), '{"email": "teacher@uni.example", "is_logged_in": true}'
    browser.sign_in(PUPIL)
    true = browser.cookies()
    half = len(true[USER]) // 2
    forged = {
        "another secret": create_signed_value("another secret", USER, told).decode(),
        "no secret": create_signed_value("", USER, told).decode(),
        "another name": create_signed_value(COOKIE_SECRET, TOKENS, told).decode(),
        "another cookie": true[TOKENS],
        "altered": true[USER][:half] + ("A" if true[USER][half] != "A" else "B") + true[USER][half + 1 :],
        "cut": true[USER][:-1],
        "plain": told.replace(" ", ""),
    }
    for how, value in forged.items():
        reply = httpx2.get(f"{lab.url}/", headers={"Cookie": f"{USER}={value}"}, trust_env=False)
        assert reply.status_code == 401, how
    with pytest.raises(InvalidStatus):
        stream(lab.address, f"{USER}={forged['altered']}")


def test_a_wrong_state_or_code_lets_nobody_in(lab: Lab) -> None:
    browser, other = Browser(lab), Browser(lab)
    back = browser.sent_back(TEACHER)
    for wrong in (other, Browser(lab)):  # the answer to somebody else's question
        assert wrong.open(str(back)).status_code == 401 and wrong.is_outside()
    assert browser.open(str(back.copy_set_param("state", "another"))).status_code == 401
    assert browser.open(str(back.copy_set_param("code", "another"))).status_code == 401 and browser.is_outside()
    assert lab.provider.refused == ["an unknown code"]
    assert browser.open(str(back)).status_code == 401  # its state counts once
    back = browser.sent_back(TEACHER)
    assert browser.open(str(back)).status_code == 200
    assert other.open(str(back)).status_code == 401 and other.is_outside()


@pytest.mark.parametrize("untrue", [{"nonce": "another"}, {"aud": "another lab"}, {"iss": "http://elsewhere.example"}, {"exp": 1}, {}])
def test_an_id_token_that_is_not_for_this_sign_in_lets_nobody_in(lab: Lab, untrue: dict[str, Any]) -> None:
    lab.provider.untrue = untrue
    if not untrue:
        lab.provider.next_key = RSAKey.generate_key(2048, {"kid": "first"})  # of somebody else
    browser = Browser(lab)
    assert browser.sign_in(TEACHER).status_code == 401 and browser.is_outside()


def test_logging_out_ends_it_also_for_a_copy_of_the_cookie_and_an_open_page(lab: Lab) -> None:
    browser, copy = Browser(lab), Browser(lab)
    browser.sign_in(PUPIL)
    copy.web.cookies.update(browser.cookies())
    assert copy.open("/").status_code == 200
    with stream(lab.address, copy.header()) as page:
        assert "You have logged out" in browser.leave().text
        assert browser.is_outside() and copy.is_outside()
        assert browser.open("/auth/logout").status_code == 401 and USER not in browser.cookies()
        assert browser.been[1].startswith(f"{lab.provider.address}/leave?")
        with pytest.raises(ConnectionClosed):
            run(page, "")
    assert not lab.provider.refused
    assert browser.sign_in(PUPIL).status_code == 200


def test_a_viewer_by_account_starts_nothing_by_a_message(lab: Lab) -> None:
    browser = Browser(lab)
    browser.sign_in(PUPIL)
    with stream(lab.address, browser.header()) as page:
        run(page, "", button(run(page, ""), START))
    assert not started(lab.sessions)


def test_there_is_no_other_provider(lab: Lab) -> None:
    reply = Browser(lab).open("/door/account?by=evil")
    assert reply.status_code == 404 and "no provider 'evil'" in reply.text
    assert Browser(lab).open("/auth/login?provider=evil").status_code == 401


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Secrets of a lab that has not started yet."""
    path = tmp_path / "secrets" / "secrets.toml"
    usual = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: [str(path)] if name == "secrets.files" else usual(name))
    monkeypatch.setattr(secrets_singleton, "_secrets", None)
    accounts.cache_clear()
    write_secrets(path, auth(Provider("http://localhost:1", "http://lab.example/oauth2callback")))
    yield path
    accounts.cache_clear()


def test_secrets_say_who_may_come_in(secrets: Path) -> None:
    assert accounts() == Accounts(
        {"default": "Sign in with your account"}, {Role.OPERATOR: ("teacher@uni.example",), Role.VIEWER: ("*@uni.example",)}
    )


def test_several_providers_have_a_button_each(secrets: Path) -> None:
    section = auth(Provider("http://localhost:1", "http://lab.example/oauth2callback"))
    shared = {name: section.pop(name) for name in ("redirect_uri", "cookie_secret")}
    write_secrets(secrets, shared | {"uni": section, "google": section})
    assert accounts().providers == {"uni": "Sign in with Uni", "google": "Sign in with Google"}


def test_without_secrets_there_are_no_accounts(secrets: Path) -> None:
    secrets.unlink()
    assert not accounts().providers


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ({"viewers": "*@uni.example"}, "lists of e-mail addresses: viewers"),  # its characters would be patterns, and * is everybody
        ({"viewers": [3]}, "lists of e-mail addresses: viewers"),
        ({"operator": ["teacher@uni.example"]}, "lists of e-mail addresses: operator"),
        ({"viewers": []}, "names nobody"),
    ],
)
def test_lists_that_are_none_open_no_door(secrets: Path, lists: dict[str, object], said: str) -> None:
    write_secrets(secrets, auth(Provider("http://localhost:1", "http://lab.example/oauth2callback")), **lists)
    with pytest.raises(DoorError, match=said):
        accounts()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cookie_secret", "", "cookie_secret in secrets.toml has 0 characters"),
        ("cookie_secret", "change me", "has 9 characters"),
        ("redirect_uri", "http://lab.example/", "with /oauth2callback at its end"),
        ("redirect_uri", "lab.example/oauth2callback", "is the address of this lab"),
        ("client_secret", None, "missing the following keys"),
    ],
)
def test_half_a_provider_opens_no_door(secrets: Path, name: str, value: str | None, said: str) -> None:
    section = auth(Provider("http://localhost:1", "http://lab.example/oauth2callback")) | {name: value}
    write_secrets(secrets, {key: one for key, one in section.items() if one is not None})
    with pytest.raises(DoorError, match=said):
        accounts()


def test_secrets_that_cannot_be_read_open_no_door(secrets: Path) -> None:
    secrets.write_text("[auth", encoding="utf-8")
    with pytest.raises(DoorError, match=r"secrets.toml cannot be read: .*Error parsing"):
        accounts()


def test_without_authlib_the_message_names_the_extra(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts_module.auth_util, "is_authlib_installed", lambda: False)
    with pytest.raises(DoorError, match=r'pip install "frozenlab\[accounts\]"'):
        accounts()
