from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from starlette.middleware import Middleware
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import net_util
from streamlit.web.server import app_discovery, server_util

from frozenlab.app.ui import door as door_module
from frozenlab.app.ui import server
from frozenlab.app.ui.door import DoorError
from frozenlab.base.places import ROOT, TELL
from frozenlab.cli.app import url_of, wait_until_up, with_password
from tests.ui.conftest import inside


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(inside(server.middleware()), base_url="http://127.0.0.1:8501") as client:
        yield client


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "localhost"])
def test_every_response_says_what_a_page_may_load(client: TestClient, host: str) -> None:
    headers = client.get("/", headers={"host": host}).headers
    rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'self'" and rules["img-src"] == "'self' data: blob:" and rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8501", ""])
def test_no_file_is_served_under_a_foreign_name(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8501", "https://127.0.0.1:8501"])  # https: behind a proxy
def test_a_page_of_the_server_may_talk_to_it(client: TestClient, origin: str) -> None:
    with client.websocket_connect("/stream", headers={"origin": origin, "host": "127.0.0.1:8501"}):
        pass


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:9999", "http://localhost:8501", "http://127.0.0.1", "http://evil.example", "null", None]
)
def test_no_other_page_may(client: TestClient, origin: str | None) -> None:
    headers = {"host": "127.0.0.1:8501"} | ({"origin": origin} if origin else {})
    with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect("/stream", headers=headers):
        pass
    assert refused.value.status_code == 403


@pytest.mark.parametrize(
    ("address", "hosts", "door"),
    [
        ("127.0.0.1", ["localhost", "127.0.0.1"], False),
        ("::1", ["localhost", "[::1]"], False),
        ("0.0.0.0", ["localhost"], True),
        (None, ["localhost"], True),
        ("192.168.1.5", ["localhost"], True),
        ("127.0.0.1", ["localhost", "lab.example"], True),
        ("127.0.0.1", ["*"], True),
    ],
)
def test_a_server_has_a_door_if_others_can_reach_it(address: str | None, hosts: list[str], door: bool) -> None:
    assert server.has_door(address, hosts) is door


@pytest.mark.parametrize(("word", "status"), [("", 200), ("a password of mine", 401)])
def test_a_password_that_is_set_guards_a_server_on_its_own_machine_too(word: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(door_module.VARIABLE, word)
    monkeypatch.setattr(server, "has_door", lambda address, hosts: False)
    with TestClient(inside(server.middleware()), base_url="http://127.0.0.1:8501") as client:
        assert client.get("/").status_code == status


def test_without_a_password_there_is_no_server_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(door_module.VARIABLE, raising=False)
    usual = server.config.get_option
    monkeypatch.setattr(server.config, "get_option", lambda name: {"server.address": "0.0.0.0"}.get(name) or usual(name))
    with pytest.raises(DoorError, match="it has no password"):
        server.middleware()


def test_a_server_tells_who_started_it_below_which_path_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = server.config.get_option
    monkeypatch.setattr(server.config, "get_option", lambda name: "/a/b/" if name == "server.baseUrlPath" else usual(name))
    monkeypatch.setattr(server, "look_nothing_up", lambda: None)
    monkeypatch.setattr(server.kernel_cache, "start", lambda: None)
    hears, tells = os.pipe()
    monkeypatch.setenv(TELL, str(tells))
    server.begin()
    with os.fdopen(hears) as told:
        assert told.read() == "http a/b"


def test_the_link_for_others_leads_to_where_the_lab_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    invite = with_password({})
    link = invite(url_of("https", "lab.example", 80, "a/b"))
    assert link.startswith(f"Link for others: https://lab.example:80/a/b/{door_module.DOOR}?password=")
    monkeypatch.setenv(door_module.VARIABLE, "x" * 20)
    assert with_password(dict(os.environ))(url_of("http", "::1", 8501, "")).endswith(": http://[::1]:8501")


def test_a_port_of_another_program_does_not_open_the_lab() -> None:
    """Whatever that program answers, the server that was started is not up."""
    listens = "import socket, time; s = socket.socket(); s.bind(('127.0.0.1', int('%d'))); s.listen(); time.sleep(60)"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert not wait_until_up(subprocess.Popen([sys.executable, "-c", listens % port], stderr=subprocess.DEVNULL), port)
    own = subprocess.Popen([sys.executable, "-c", listens % port])
    assert wait_until_up(own, port)
    own.kill()
    own.wait()


@pytest.mark.parametrize(
    ("here", "client", "status"),
    [("127.0.0.1", "127.0.0.1", 200), ("192.168.1.5", "192.168.1.9", 403), ("127.0.0.1", "192.168.1.9", 403), ("::1", "::1", 200)],
)
def test_without_a_door_other_machines_get_no_answer_however_it_was_started(here: str, client: str, status: int) -> None:
    asked = TestClient(as_if(inside([Middleware(server.ThisMachineOnly)]), here), client=(client, 5000))
    assert asked.get("/").status_code == status


def as_if(app: ASGIApp, here: str) -> ASGIApp:
    """The app as it is reached at the address ``here`` of its machine."""

    async def reached(scope: Scope, receive: Receive, send: Send) -> None:
        await app(scope | ({"server": (here, 8501)} if scope["type"] == "http" else {}), receive, send)

    return reached


def test_the_servers_address_is_never_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: reached.append(address))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *place, **options: reached.append(place) or [])
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    monkeypatch.setattr(net_util, "_internal_ip", "127.0.0.1")
    server.look_nothing_up()
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert not reached


def test_the_entry_point_is_served_with_all_that() -> None:
    found = app_discovery.discover_asgi_app(ROOT / "streamlit_app.py")
    assert found.import_string == "streamlit_app:app", "streamlit run serves it without its middleware"
    names = [part.cls.__name__ for part in runpy.run_path(str(ROOT / "streamlit_app.py"))["app"]._user_middleware]
    assert names == ["TrustedHostMiddleware", "WithHeaders", "ThisMachineOnly", "OwnPagesOnly"]
