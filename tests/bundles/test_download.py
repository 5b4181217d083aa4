"""A bundle from an address: one host, by https, and nothing around this machine."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Callable

import pytest

from frozenlab.experiments.bundles import download, limits
from frozenlab.experiments.bundles.download import connected, fetch, host_of
from frozenlab.experiments.bundles.manifest import BundleError


def answering(*answers: bytes) -> tuple[Callable[[str], socket.socket], list[bytes]]:
    """Connections to a server that gives these answers, one after the other, and the requests that it got."""
    asked: list[bytes] = []
    waiting = list(answers)

    def serve(end: socket.socket) -> None:
        asked.append(end.recv(65536))
        end.sendall(waiting.pop(0))
        end.close()

    def connect(host: str) -> socket.socket:
        ours, theirs = socket.socketpair()
        threading.Thread(target=serve, args=(theirs,), daemon=True).start()
        return ours

    return connect, asked


def ok(body: bytes, length: int | None = None) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


def moved(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


def test_a_file_and_its_name() -> None:
    connect, asked = answering(moved("/files/talk.zip?raw=1"), ok(b"zip"))
    out = io.BytesIO()
    assert fetch("https://lab.example/a", out, connect) == "talk.zip"
    assert out.getvalue() == b"zip"
    assert [request.split(b"\r\n")[0] for request in asked] == [b"GET /a HTTP/1.1", b"GET /files/talk.zip?raw=1 HTTP/1.1"]
    assert not any(b"Cookie" in request or b"Authorization" in request for request in asked)


@pytest.mark.parametrize(
    "address",
    [
        "http://lab.example/x", "file:///etc/passwd", "ftp://lab.example/x", "https://me:word@lab.example/x", "https://lab.example:22/x",
        "https:///x", "https://lab.example/a b", "https://lab.example:port/", "javascript:x", "https://lab.example/\r\nX: y",
    ],
)  # fmt: skip
def test_addresses_that_are_refused(address: str) -> None:
    with pytest.raises(BundleError, match="is like https"):
        host_of(address)


@pytest.mark.parametrize("to", ["https://evil.example/x", "https://127.0.0.1/x", "//evil.example/x"])
def test_nobody_is_sent_on_to_another_host(to: str) -> None:
    connect, asked = answering(moved(to))
    with pytest.raises(BundleError, match="which nobody agreed to"):
        fetch("https://lab.example/a", io.BytesIO(), connect)
    assert len(asked) == 1


@pytest.mark.parametrize("to", ["http://lab.example/x", "file:///etc/passwd"])
def test_nor_away_from_https(to: str) -> None:
    connect, _ = answering(moved(to))
    with pytest.raises(BundleError, match="is like https"):
        fetch("https://lab.example/a", io.BytesIO(), connect)


def test_what_goes_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for answers, why in (
        ([b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"], "answers 404"),
        ([moved("/again")] * 4, "answers 302"),
        ([ok(b"half", 8)], "ended after"),
        ([b"nonsense\r\n\r\n"], "does not answer as it should"),
        ([ok(b"x", limits.ARCHIVE + 1)], "and this is more"),
    ):
        with pytest.raises(BundleError, match=why):
            fetch("https://lab.example/a", io.BytesIO(), answering(*answers)[0])
    monkeypatch.setattr(limits, "ARCHIVE", 10)
    with pytest.raises(BundleError, match="and this is more"):
        fetch("https://lab.example/a", io.BytesIO(), answering(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(11))[0])
    monkeypatch.setattr(download, "SECONDS", -1.0)
    with pytest.raises(BundleError, match="is too slow"):
        fetch("https://lab.example/a", io.BytesIO(), answering(ok(b"x"))[0])


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.8", "169.254.169.254", "192.168.1.1", "::1", "fe80::1%eth0", "100.64.0.1", "0.0.0.0"]
)
def test_this_machine_and_its_network_are_not_asked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever name leads there; also if it leads to the internet as well."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("93.184.216.34", address)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **how: found)
    monkeypatch.setattr(socket, "create_connection", lambda *asked, **how: pytest.fail("it was asked"))
    with pytest.raises(BundleError, match="is on this machine or a network around it"):
        connected("lab.example")
