"""Where a key may go: only to hosts that were allowed on this machine, and by https."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer import hosts
from frozenlab.engineer.chat import ask_for_text
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.hosts import Server as ServerSettings
from tests.api_server import Server, redirects, says, serving

KEY = "sk-not-for-strangers"


@pytest.fixture(autouse=True)
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FROZENLAB_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[type[Server]]:
    with serving(says("{}")) as running:
        yield running


def settings(url: str, **others: str) -> ServerSettings:
    return ServerSettings(base_url=url, model="m", timeout=5, **others)


@pytest.mark.parametrize("name", ["AWS_SECRET_ACCESS_KEY", "HOME", "GITHUB_TOKEN", "_API_KEY", "X_API_KEY\n", "x_API_KEY", ""])
def test_a_spec_names_no_other_secret(name: str) -> None:
    with pytest.raises(ValueError, match="ends in _API_KEY"):
        settings("https://api.example/v1", key_variable=name)


def test_a_key_goes_nowhere_unasked(server: type[Server]) -> None:
    asked = settings(server.url)
    with pytest.raises(ProposalError, match="has not been allowed on this machine"):
        ask_for_text(asked, [], seed=0)
    assert not server.seen, "not even a request without the key"
    hosts.allow(hosts.host_of(asked))
    assert ask_for_text(asked, [], seed=0).written.text == "{}"
    assert server.keys == [f"Bearer {KEY}"]


def test_a_server_on_this_machine_is_asked_about_too(server: type[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FROZENLAB_API_KEY")
    with pytest.raises(ProposalError, match="has not been allowed on this machine"):
        ask_for_text(settings(server.url), [], seed=0)
    assert not server.seen, "any service may listen there"
    hosts.allow(server.url)
    assert ask_for_text(settings(server.url), [], seed=0).written.text == "{}"
    assert KEY not in str(server.keys)


def test_no_key_travels_unencrypted() -> None:
    hosts.allow("gpu-node:8000")
    for url in ("http://gpu-node:8000/v1", "http://127.0.0.1.evil.example/v1", "http://2130706433/v1"):
        assert "unencrypted" in (hosts.refusal(settings(url)) or "")
    assert hosts.refusal(settings("https://gpu-node:8000/v1")) is None


def test_an_unencrypted_server_may_be_asked_without_a_key() -> None:
    hosts.allow("gpu-node:8000")
    assert hosts.refusal(settings("http://gpu-node:8000/v1", key_variable="NOT_SET_API_KEY")) is None


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://API.example/v1", "api.example"),
        ("https://api.example:443/v1", "api.example"),
        ("https://api.example:8443", "api.example:8443"),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("https://[2001:db8::1]:8000/v1", "[2001:db8::1]:8000"),
    ],
)
def test_a_host_has_one_name(url: str, host: str) -> None:
    assert hosts.host_of(settings(url)) == host
    assert not hosts.allowed(settings(url))
    hosts.allow(host.upper())
    assert hosts.allowed(settings(url))


@pytest.mark.parametrize(
    "url",
    [
        "https://good.example\\.evil.example/v1", "https://good.example?.evil.example", "https://good.example#x", "https://",
        "http://127.0.0.1:9936/admin/shutdown?x=", "http://127.0.0.1:9936/admin#", "http://127.0.0.1:9936/admin;x=/v1",
        "https://me:secret@a.example/v1", "https://a.example/v1/@b", "https://[::::1]/v1", "https://[:::]/v1", "https://[1.2.3.4]/v1",
        "https://999.1.1.1/v1", "https://a.example:65536/v1", "https://a.example:0/v1", "https://a.example/\x7f", "https://a.example/v1\n",
        "ftp://a.example/v1",
    ],
)  # fmt: skip
def test_an_address_that_could_be_read_in_two_ways_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        settings(url)
    with pytest.raises(ValueError, match="is no host"):
        hosts.allow(url)
    assert not hosts.hosts()


@given(st.from_regex(hosts.ADDRESS, fullmatch=True) | st.text(st.sampled_from("htps:/[]1.@?#;a%")).map("http://a".__add__))
def test_whatever_is_an_address_can_be_asked(url: str) -> None:
    try:
        server = settings(url)
    except ValueError:
        return
    assert hosts.host_of(server) and hosts.is_host(hosts.host_of(server))
    asked = httpx.URL(f"{url}/chat/completions")
    assert asked.path.endswith("/chat/completions") and not asked.query and not asked.fragment and not asked.userinfo


@pytest.mark.parametrize("price", [math.inf, math.nan, -1.0])
def test_a_price_is_a_number(price: float) -> None:
    with pytest.raises(ValueError, match="input_price"):
        ServerSettings(base_url="https://api.example/v1", model="m", input_price=price)


def test_hosts_can_be_named_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(hosts.VARIABLE, "a.example, b.example:8000")
    assert hosts.hosts() == {"a.example", "b.example:8000"}
    hosts.allow("c.example")
    hosts.allow("c.example")
    assert hosts.hosts() == {"a.example", "b.example:8000", "c.example"}
    assert hosts.remembered().read_text() == "c.example\n"
    hosts.remembered().write_text("d.example\r\n", encoding="utf-8-sig")  # edited on Windows
    assert hosts.hosts() == {"a.example", "b.example:8000", "d.example"}


def test_a_host_that_cannot_be_remembered_is_named_with_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert hosts.hosts() == set()
    with pytest.raises(hosts.HostError, match=r"FROZENLAB_API_HOSTS=a\.example, or XDG_CONFIG_HOME"):
        hosts.allow("a.example")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_is_not_followed(server: type[Server], status: int) -> None:
    with serving(redirects(f"{server.url}/chat/completions", status)) as first:
        hosts.allow(first.url)
        hosts.allow(server.url)
        with pytest.raises(Exception, match=str(status)):
            ask_for_text(settings(first.url), [], seed=0)
    assert first.keys and not server.seen


def test_what_the_environment_says_of_openai_stays_here(server: type[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    hosts.allow(server.url)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: secret")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    ask_for_text(settings(server.url), [], seed=0)
    (headers,) = server.headers_seen
    assert not {"openai-organization", "openai-project", "x-gateway", "x-stainless-os"} & {name.lower() for name in headers}


def test_a_whole_address_allows_its_host_and_nonsense_nothing() -> None:
    hosts.allow("https://API.example:443/v1")
    assert hosts.hosts() == {"api.example"}
    for nonsense in ("", "a b", "x\ny", "*", "https://"):
        with pytest.raises(ValueError, match="is no host"):
            hosts.allow(nonsense)
    assert hosts.hosts() == {"api.example"}


@pytest.mark.parametrize("key", ["sk-two words", "sk-schl\u00fcssel", "sk-\r\nX-Header: y"])
def test_what_no_header_can_hold_is_not_sent(server: type[Server], monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    hosts.allow(server.url)
    monkeypatch.setenv("FROZENLAB_API_KEY", key)
    with pytest.raises(ProposalError, match="FROZENLAB_API_KEY is no key") as refused:
        ask_for_text(settings(server.url), [], seed=0)
    assert not server.seen and key not in str(refused.value)
