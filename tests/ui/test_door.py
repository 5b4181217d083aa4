"""The door with something small behind it, and what visitors may have computed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.middleware import Middleware
from starlette.testclient import TestClient, WebSocketDenialResponse
from streamlit.proto.BackMsg_pb2 import BackMsg

from frozenlab.app import allowances
from frozenlab.app.allowances import FILES, Allowance, LimitError, Purse
from frozenlab.app.ui import door
from frozenlab.app.ui.door import FREE, LONGEST_WAIT, TOGETHER, Door, DoorError, Tries, clears_cache, network, safe
from frozenlab.base import look_only
from tests.ui.conftest import inside

HERE, SOCKET = "http://127.0.0.1:8501", "ws://127.0.0.1:8501"
WORD = "a password of a class"
CLEAR = BackMsg(clear_cache=True).SerializeToString()
PLACES = ["/", "/learn", "/static/a.js", "/media/a.png", "/_stcore/host-config", "/_stcore/metrics", "/_stcore/upload_file/a/b"]


def served(password: str) -> Iterator[TestClient]:
    with TestClient(inside([Middleware(Door, password=password)]), base_url=HERE, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client() -> Iterator[TestClient]:
    yield from served(WORD)


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_only, "_looks", True)
    monkeypatch.setattr(door, "PURSE", Purse())
    monkeypatch.setattr(allowances, "PURSE", door.PURSE)


def try_word(client: TestClient, word: str, to: str = "/") -> int:
    return client.get("/door", params={"password": word, "to": to}).status_code


def refused(client: TestClient, place: str) -> int:
    """The status with which a WebSocket is refused."""
    with pytest.raises(WebSocketDenialResponse) as denied, client.websocket_connect(f"{SOCKET}{place}"):
        pass
    return denied.value.status_code


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_without_the_password_nothing_answers(client: TestClient, method: str) -> None:
    client.cookies.set(allowances.cookie_name(), "a-visitor.0123456789abcdef")
    for place in PLACES:
        reply = client.request(method, place)
        assert reply.status_code == 401 and reply.text != "inside"
    assert client.request(method, "/door").text != "inside" and client.request(method, "/_stcore/health").text in ("inside", "")
    assert {refused(client, place) for place in ("/_stcore/stream", "/live", "/_stcore/health", "/door")} == {403}


def test_the_link_lets_in_and_the_password_leaves_the_address(client: TestClient) -> None:
    reply = client.get(door.link("/", WORD) + "&to=/learn%3Fchapter=wait")
    assert (reply.status_code, reply.headers["location"], reply.headers["cache-control"]) == (303, "/learn?chapter=wait", "no-store")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Secure" not in cookie and WORD not in cookie
    assert client.get("/learn").text == "inside" and client.get("/_stcore/metrics").text == "inside"
    with client.websocket_connect(f"{SOCKET}/_stcore/stream") as socket:
        socket.send_bytes(CLEAR)
        assert socket.receive_bytes() == CLEAR, "only visitors of a server that only looks are bounded"
    assert "set-cookie" not in client.get(door.link("/", WORD)).headers, "a browser that comes again stays the same visitor"


def test_a_cookie_of_another_password_or_visitor_lets_nobody_in(client: TestClient) -> None:
    try_word(client, WORD)
    [(name, held)] = client.cookies.items()
    other, signature = held.split(".")
    for changed in (
        f"x{other}.{signature}",
        f"{other}.{signature[::-1]}",
        f".{signature}",
        "",
        "é",
        Door(client.app, "another").cookie("a"),
    ):
        client.cookies.clear()
        assert client.get("/", headers={"cookie": f"{name}={changed}".encode("latin-1")}).status_code == 401


def test_over_https_the_cookie_never_travels_in_the_clear(client: TestClient) -> None:
    client.base_url = "https://127.0.0.1:8501"
    assert "Secure" in client.get(door.link("/", WORD)).headers["set-cookie"]


def test_wrong_passwords_are_slowed_down(client: TestClient) -> None:
    assert [try_word(client, "a wrong one") for _ in range(6)] == [401, 401, 401, 429, 429, 429]
    reply = client.get(door.link("/", WORD))
    assert reply.status_code == 429 and "Wait" in reply.text and int(reply.headers["retry-after"]) >= 1 and not client.cookies


def test_a_drawn_password_lets_a_class_in_although_one_of_them_guesses() -> None:
    for client in served("d" * door.UNGUESSABLE):
        for _ in range(6):
            try_word(client, "a wrong one")
        assert try_word(client, "d" * door.UNGUESSABLE) == 303


def test_there_is_no_server_without_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(door.VARIABLE, raising=False)
    with pytest.raises(DoorError, match="it has no password"):
        door.password()
    monkeypatch.setenv(door.VARIABLE, "short")
    with pytest.raises(DoorError, match="8 at least"):
        door.password()


@pytest.mark.parametrize("to", ["//evil.example", "http://evil.example", "\\\\evil.example", "/\\evil", "learn", "/a\nb", "/" + "a" * 3000])
def test_no_link_leads_to_another_place(to: str) -> None:
    assert safe(to) == "/"


def test_the_page_of_the_door_loads_and_shows_nothing_foreign(client: TestClient) -> None:
    reply = client.get('/learn?x="><script>alert(1)</script>')
    rules = dict(rule.split(" ", 1) for rule in reply.headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'none'" and rules["frame-ancestors"] == "'none'" and "script-src" not in rules
    assert "<script" not in reply.text and not re.search(r"""(src|href)=["'](https?:)?//""", reply.text)


@pytest.mark.usefixtures("looking")
def test_the_messages_pages_and_files_of_visitors_are_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    try_word(client, WORD)
    assert client.get("/_stcore/metrics").status_code == 403
    with client.websocket_connect(f"{SOCKET}/_stcore/stream") as socket:
        for message in (b"a", CLEAR, b"b"):
            socket.send_bytes(message)
        assert [socket.receive_bytes(), socket.receive_bytes()] == [b"a", b"b"]
    monkeypatch.setattr(door, "OF_ONE", 2)
    with client.websocket_connect(f"{SOCKET}/a"), client.websocket_connect(f"{SOCKET}/b"):
        assert refused(client, "/c") == 429
    with client.websocket_connect(f"{SOCKET}/c"):
        pass


@pytest.mark.usefixtures("looking")
def test_visitors_bring_so_many_bytes_and_no_more(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(size: int) -> int:
        return client.put("/_stcore/upload_file/a/b", content=b"x" * size).status_code

    def bytes_taken(size: int) -> int:
        taken = 0
        while (status := put(size)) == 200:
            taken += size
        assert status == 429
        return taken

    try_word(client, WORD)
    mb = 2**20
    assert put(31 * mb) == put(2 * mb) == 413
    assert client.put("/_stcore/upload_file/a/b", content=iter([b"x"])).status_code == 411, "its length is not known"
    assert FILES.most <= bytes_taken(mb) / mb <= FILES.most + 1
    for _ in range(20):  # others at the same address
        client.cookies.clear()
        try_word(client, WORD)
        if not bytes_taken(mb):
            break
    else:
        pytest.fail("an address that comes in again and again is not bounded")
    monkeypatch.setattr(door, "PURSE", Purse())
    monkeypatch.setattr(door, "kept_uploads", lambda: float(door.UPLOADED))
    assert put(1) == 429, "all that are kept are as many as the server has room for"


@pytest.mark.usefixtures("looking")
@pytest.mark.parametrize(("files", "pages"), [(256, door.OF_ONE), (1024, 128), (65_536, door.CONNECTIONS)])
def test_visitors_open_no_more_pages_than_the_server_may_open_files(files: int, pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "open_files", lambda: files)
    guarded = Door(inside([]), WORD)
    scope = {"type": "websocket"}
    guarded.connected["others"] = pages - 1
    assert guarded.refusal("", "one", scope) is None
    guarded.connected["others"] = pages
    assert guarded.refusal("", "one", scope) == ("too many open pages", 429)


def test_only_clearing_the_cache_is_no_message_of_a_visitor() -> None:
    assert clears_cache(CLEAR) and not clears_cache(BackMsg(app_heartbeat=True).SerializeToString()) and not clears_cache(b"\xff")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_address_waits_longer_after_each_wrong_password() -> None:
    clock, waits = Clock(), []
    tries = Tries(clock=clock)
    for _ in range(FREE + 10):
        tries.wrong("10.0.0.1")
        waits.append(tries.wait("10.0.0.1"))
        clock.now += waits[-1]
    assert waits[: FREE - 1] == [0, 0] and waits[FREE - 1 :] == [min(LONGEST_WAIT, 2.0**n) for n in range(11)]
    assert tries.wait("10.0.0.2") == 0
    tries.right("10.0.0.1")
    assert tries.wait("10.0.0.1") == 0


def test_all_addresses_together_get_only_so_many_tries_and_so_much_memory() -> None:
    clock = Clock()
    tries = Tries(remembered=5, clock=clock)
    for number in range(TOGETHER):
        assert tries.wait(f"10.0.0.{number}") == 0
        tries.wrong(f"10.0.0.{number}")
    assert tries.wait("10.1.1.1") > 0 and len(tries._wrong) == 5
    clock.now += 3600
    assert tries.wait("10.1.1.1") == 0
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")


def test_an_allowance_is_spent_and_refills() -> None:
    clock, plans = Clock(), Allowance("plans", 3, 60)
    purse = Purse(remembered=2, clock=clock)
    assert [purse.spend(plans, "a") for _ in range(3)] == [0, 0, 0]
    assert purse.spend(plans, "a") == pytest.approx(1) and purse.spend(plans, "b") == 0
    clock.now += 1
    assert purse.spend(plans, "a") == 0 and purse.spend(plans, "a") > 0
    clock.now += 1000
    assert purse.spend(plans, "a", amount=99) == 0 and purse.spend(plans, "a", amount=99) == pytest.approx(3)
    for visitor in "cdefg":
        purse.spend(plans, visitor)
    assert len(purse._left) == 2


def test_a_class_has_room_and_no_more_however_often_it_comes_in() -> None:
    purse, plans = Purse(clock=Clock()), Allowance("plans", 3, 60)
    assert [purse.spend(plans, str(number), 3) for number in range(allowances.TOGETHER)] == [0] * allowances.TOGETHER
    assert purse.spend(plans, "another") > 0


@pytest.mark.usefixtures("looking")
def test_a_visitor_reads_when_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    once = Allowance("tests", 1, 6)
    allowances.spend(once)
    with pytest.raises(LimitError, match=r"as many tests as one visitor gets for now; try again in 1[01] s"):
        allowances.spend(once)
    monkeypatch.setattr(look_only, "_looks", False)
    allowances.spend(once)
