"""The door with something small behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from frozenlab.app.ui.door import door as door_module
from frozenlab.app.ui.door import passes
from frozenlab.app.ui.door.accounts import Accounts
from frozenlab.app.ui.door.addresses import shared
from frozenlab.app.ui.door.door import Door, safe
from frozenlab.app.ui.door.ways import Ways, hashed
from frozenlab.base.limits import OF_ADDRESS
from frozenlab.base.roles import Role

HERE, SOCKET = "http://127.0.0.1:8501", "ws://127.0.0.1:8501"
PASSWORDS = {Role.OPERATOR: "an operator's password", Role.VIEWER: "a viewer's password"}
WAYS = Ways({role: hashed(word) for role, word in PASSWORDS.items()}, {Role.OPERATOR: b"o" * 32, Role.VIEWER: b"v" * 32})
NO_ACCOUNTS = Accounts({}, {role: () for role in Role})
PLACES = [
    "/",
    "/learn",
    "/static/a.js",
    "/media/a.png",
    "/component/a",
    "/_stcore/bidi-components/a",
    "/_stcore/host-config",
    "/_stcore/metrics",
]


async def anything(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def stream(socket: WebSocket) -> None:
    await socket.accept()
    with suppress(WebSocketDisconnect):
        while True:
            await socket.send_bytes(await socket.receive_bytes())


@pytest.fixture
def client() -> Iterator[TestClient]:
    routes = [
        Route("/{path:path}", anything, methods=["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]),
        WebSocketRoute("/{path:path}", stream),
    ]
    asked = {"ways": lambda: WAYS, "accounts": NO_ACCOUNTS, "allowed": lambda message: message != b"clear"}
    app = Starlette(routes=routes, middleware=[Middleware(Door, **asked)])
    with TestClient(app, base_url=HERE, follow_redirects=False) as client:
        yield client


def come_in(client: TestClient, role: Role) -> str:
    """By the link; returns the pass."""
    assert client.get(passes.link_address("/", role, WAYS)).status_code == 303
    return client.cookies[passes.COOKIE]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_without_a_pass_nothing_answers_but_the_door(client: TestClient, place: str, method: str) -> None:
    reply = client.request(method, place)
    assert reply.status_code == 401 and reply.text != "inside"


def test_only_the_server_being_up_is_told_to_everybody(client: TestClient) -> None:
    assert client.get("/_stcore/health").text == "inside"


@pytest.mark.parametrize("place", ["/_stcore/stream", "/live", "/_stcore/health", "/door"])
def test_without_a_pass_no_websocket_opens(client: TestClient, place: str) -> None:
    with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(f"{SOCKET}{place}"):
        pass
    assert refused.value.status_code == 403


@pytest.mark.parametrize("role", Role)
def test_a_password_lets_in(client: TestClient, role: Role) -> None:
    reply = client.post("/door", data={"password": PASSWORDS[role], "to": "/learn?chapter=wait"}, headers={"origin": HERE})
    assert reply.status_code == 303 and reply.headers["location"] == "/learn?chapter=wait"
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Secure" not in cookie
    held = passes.read(client.cookies[passes.COOKIE], WAYS)
    assert held is not None and held.role is role
    assert client.get("/learn").text == "inside"
    with client.websocket_connect(f"{SOCKET}/_stcore/stream") as socket:
        socket.send_bytes(b"a")
        assert socket.receive_bytes() == b"a"


@pytest.mark.parametrize("role", Role)
def test_a_link_lets_in_and_leaves_the_address(client: TestClient, role: Role) -> None:
    reply = client.get(passes.link_address("/", role, WAYS) + "&to=/learn")
    assert reply.headers["location"] == "/learn" and reply.headers["cache-control"] == "no-store"
    held = passes.read(client.cookies[passes.COOKIE], WAYS)
    assert held is not None and held.role is role


def test_over_https_the_pass_never_travels_in_the_clear(client: TestClient) -> None:
    client.base_url = "https://127.0.0.1:8501"
    assert "Secure" in client.get(passes.link_address("/", Role.VIEWER, WAYS)).headers["set-cookie"]


def test_a_wrong_link_is_told_so_and_counts_as_a_wrong_password(client: TestClient) -> None:
    for _ in range(3):
        assert client.get("/door?key=v" + "A" * 43).status_code == 401
    reply = client.post("/door", data={"password": PASSWORDS[Role.OPERATOR]}, headers={"origin": HERE})
    assert reply.status_code == 429
    assert come_in(client, Role.VIEWER)


def test_wrong_passwords_are_slowed_down(client: TestClient) -> None:
    replies = [client.post("/door", data={"password": "a wrong one"}, headers={"origin": HERE}) for _ in range(6)]
    assert [reply.status_code for reply in replies] == [401, 401, 401, 429, 429, 429]
    assert int(replies[-1].headers["retry-after"]) >= 1 and "Wait" in replies[-1].text
    right = client.post("/door", data={"password": PASSWORDS[Role.OPERATOR]}, headers={"origin": HERE})
    assert right.status_code == 429 and not client.cookies


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:9999"])
def test_no_other_page_sends_a_password_or_logs_somebody_out(client: TestClient, origin: str | None) -> None:
    come_in(client, Role.OPERATOR)
    headers = {"origin": origin} if origin else {}
    assert client.post("/door", data={"password": PASSWORDS[Role.OPERATOR]}, headers=headers).status_code == 403
    assert client.post("/door/leave", headers=headers).status_code == 403
    assert client.get("/").text == "inside"


def test_whoever_logs_out_is_out_also_with_a_copy_of_the_pass(client: TestClient) -> None:
    held = come_in(client, Role.OPERATOR)
    with client.websocket_connect(f"{SOCKET}/_stcore/stream") as socket:
        assert client.post("/door/leave", headers={"origin": HERE}).status_code == 303
        assert passes.COOKIE not in client.cookies
        socket.send_bytes(b"a")
        with pytest.raises(WebSocketDisconnect):
            socket.receive_bytes()
    client.cookies.set(passes.COOKIE, held)
    assert client.get("/").status_code == 401


def test_the_door_says_who_one_is(client: TestClient) -> None:
    come_in(client, Role.VIEWER)
    said = client.get("/door").text
    assert "You are here as <b>viewer</b>" in said and 'action="/door/leave"' in said
    assert client.get("/_stcore/metrics").status_code == 403
    come_in(client, Role.OPERATOR)
    assert "You are here as <b>operator</b>" in client.get("/door").text
    assert client.get("/_stcore/metrics").status_code == 200


def test_a_viewers_messages_and_files_are_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    come_in(client, Role.VIEWER)
    with client.websocket_connect(f"{SOCKET}/_stcore/stream") as socket:
        for message in (b"a", b"clear", b"b"):
            socket.send_bytes(message)
        assert [socket.receive_bytes(), socket.receive_bytes()] == [b"a", b"b"]
    monkeypatch.setattr(door_module, "OF_ONE", 2)
    with client.websocket_connect(f"{SOCKET}/a"), client.websocket_connect(f"{SOCKET}/b"):
        with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(f"{SOCKET}/c"):
            pass
        assert refused.value.status_code == 429
    uploads = [client.put("/_stcore/upload_file/a/b").status_code for _ in range(int(door_module.FILES.most) + 1)]
    assert uploads[0] == 200 and uploads[-1] == 429


def test_whoever_follows_the_link_again_stays_the_same_viewer(client: TestClient) -> None:
    first, second = (passes.read(come_in(client, Role.VIEWER), WAYS) for _ in range(2))
    assert first is not None and second is not None and first.id == second.id
    operator = passes.read(come_in(client, Role.OPERATOR), WAYS)
    assert operator is not None and operator.id != first.id
    held = come_in(client, Role.VIEWER)
    passes.LEFT.add(held.split(".")[1])
    again = come_in(client, Role.VIEWER)
    assert again.split(".")[1] != held.split(".")[1], "who has logged out is nobody any more"


def test_an_address_has_room_for_a_class_and_no_more_however_often_it_comes_in(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def newcomer() -> None:
        client.cookies.clear()
        come_in(client, Role.VIEWER)

    uploads = []
    for _ in range(OF_ADDRESS):
        newcomer()
        uploads += [client.put("/_stcore/upload_file/a/b").status_code for _ in range(int(door_module.FILES.most))]
    assert {*uploads} == {200}, "each of a class gets what one viewer gets"
    replies = []
    for _ in range(20):  # some has come back meanwhile
        newcomer()
        replies += [client.put("/_stcore/upload_file/a/b").status_code for _ in range(int(door_module.FILES.most))]
    assert replies[-1] == 429
    monkeypatch.setattr(door_module, "AT_ONE", 1)
    newcomer()
    with client.websocket_connect(f"{SOCKET}/a"):
        newcomer()
        with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(f"{SOCKET}/b"):
            pass
        assert refused.value.status_code == 429
    with client.websocket_connect(f"{SOCKET}/b"):
        pass


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:0db8:0000:0000"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("testclient", "testclient"),
        (None, ""),
    ],
)
def test_a_proxy_on_this_machine_that_names_nobody_is_no_address(address: str | None, name: str) -> None:
    assert shared(address) == name


@pytest.mark.parametrize(
    "to", ["//evil.example", "http://evil.example", "\\\\evil.example", "/\\evil.example", "learn", "/a\nb", "/" + "a" * 3000]
)
def test_nobody_is_led_to_another_place(to: str) -> None:
    assert safe(to) == "/"


def test_a_huge_form_is_refused(client: TestClient) -> None:
    assert client.post("/door", content=b"a" * 5000, headers={"origin": HERE}).status_code == 413


def test_the_page_of_the_door_loads_and_shows_nothing_foreign(client: TestClient) -> None:
    reply = client.get('/learn?x="><script>alert(1)</script>')
    rules = dict(rule.split(" ", 1) for rule in reply.headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'none'" and rules["frame-ancestors"] == "'none'" and "script-src" not in rules
    assert reply.headers["referrer-policy"] == "same-origin"
    assert "<script" not in reply.text and not re.search(r"""(src|href)=["'](https?:)?//""", reply.text)


def test_accounts_come_in_by_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.ui.door.accounts.get_cookie_secret", lambda: "a secret for tests")
    lists = {Role.OPERATOR: ("Teacher@uni.example",), Role.VIEWER: ("*@uni.example",)}
    accounts = Accounts({"default": "Sign in with your account"}, lists)
    assert accounts.person(signed_in("teacher@uni.example")).role is Role.OPERATOR
    assert accounts.person(signed_in("Pupil@Uni.Example")).role is Role.VIEWER
    assert accounts.person(signed_in("teacher@uni.example.evil.example")) is None
    assert accounts.person(signed_in("teacher@uni.example", email_verified=False)) is None
    assert accounts.person(signed_in("teacher@uni.example", secret="another")) is None
    assert accounts.person({"_streamlit_user": "nonsense"}) is None and accounts.person({}) is None
    assert NO_ACCOUNTS.person(signed_in("teacher@uni.example")) is None


def signed_in(email: str, secret: str = "a secret for tests", **said: object) -> dict[str, str]:
    """The cookie in which Streamlit keeps what a provider said."""
    import json

    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    told = json.dumps({"email": email, "is_logged_in": True, "origin": HERE} | said)
    return {"_streamlit_user": create_signed_value(secret, "_streamlit_user", told).decode()}
