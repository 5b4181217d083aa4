"""Messages that no button sends, to real servers: one that only looks starts nothing, another one starts a session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from frozenlab.app.ui import door
from frozenlab.base import look_only
from tests.running import end_queue
from tests.serving import App

WORD = "a password of a class"


@contextmanager
def server(folder: Path, **variables: str) -> Iterator[str]:
    """The address of a server with a door over the sessions in ``folder``."""
    hosts = ("--server.allowedHosts", "127.0.0.1", "--server.allowedHosts", "lab.example")
    app = App(folder, folder.with_suffix(".log"), options=hosts, variables={door.VARIABLE: WORD} | variables)
    try:
        app.start()
        yield f"127.0.0.1:{app.port}"
    finally:
        app.stop()


def run(page: ClientConnection, press: str = "") -> bytes:
    """All that the server sends for one run of Home, in which the widget ``press`` says that it was pressed."""
    asked = BackMsg()
    asked.rerun_script.widget_states.SetInParent()
    if press:
        pressed = asked.rerun_script.widget_states.widgets.add()
        pressed.id, pressed.trigger_value = press, True
    page.send(asked.SerializeToString())
    sent = b""
    while True:
        data = page.recv(timeout=60)
        assert isinstance(data, bytes)
        sent += data
        message = ForwardMsg.FromString(data)
        if message.WhichOneof("type") == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return sent


def quick(sent: bytes) -> str:
    """The button of Home that starts the quick session."""
    return re.findall(rb"\$\$ID-[0-9a-f]+-start-quick", sent)[0].decode()


def come_in(address: str) -> ClientConnection:
    """A WebSocket of a browser that has followed the link."""
    connection = HTTPConnection(address)
    connection.request("GET", door.link("", WORD))
    reply = connection.getresponse()
    assert reply.status == 303
    return connect(
        f"ws://{address}/_stcore/stream",
        origin=Origin(f"http://{address}"),
        subprotocols=[Subprotocol("streamlit")],
        additional_headers={"Cookie": (reply.getheader("set-cookie") or "").split(";")[0]},
        max_size=None,
    )


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "sessions"
    folder.mkdir()
    yield folder
    end_queue(folder)


@pytest.mark.slow
def test_a_server_that_only_looks_starts_nothing_by_a_message(sessions: Path) -> None:
    with server(sessions) as address, come_in(address) as page:
        pressed = quick(run(page))
    with server(sessions, **{look_only.VARIABLE: "1"}) as address, come_in(address) as page:
        shown = run(page)
        assert look_only.WHY[1:].encode() in shown
        for each in (pressed, quick(shown)):
            run(page, each)
    assert not list(sessions.iterdir())
    with server(sessions) as address, come_in(address) as page:
        run(page, pressed)
        assert len(list(sessions.glob("*/session.json"))) == 1
