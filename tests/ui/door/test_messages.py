"""Messages that no button sends, to a real server with a door: a viewer's is refused, an operator's starts a session."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from frozenlab.places import ROOT
from tests.running import end_queue

START = "start-quick"
"""The button of Home that starts the quick session."""
PASSWORDS = {"viewer": "a viewer's password", "operator": "an operator's password"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server with a door that answers this machine, and its sessions folder."""
    folder = tmp_path_factory.mktemp("door")
    sessions = folder / "sessions"
    sessions.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", address.split(":")[1]]
    command += ["--server.allowedHosts", "127.0.0.1", "--server.allowedHosts", "lab.example", "--server.fileWatcherType", "none"]
    options = {f"FROZENLAB_{role.upper()}_PASSWORD": word for role, word in PASSWORDS.items()}
    options |= {"FROZENLAB_SESSIONS": str(sessions), "FROZENLAB_DOOR": str(folder / "door.json")}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | options, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 60
        while not up(address):
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.1)
        yield address, sessions
    finally:
        process.terminate()
        process.wait(20)
        end_queue(sessions)


def up(address: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=2).read() == b"ok")
    except OSError:
        return False


def come_in(address: str, role: str) -> ClientConnection:
    """A WebSocket with a pass of this role."""
    door = HTTPConnection(address)
    headers = {"Origin": f"http://{address}", "Content-Type": "application/x-www-form-urlencoded"}
    door.request("POST", "/door", urlencode({"password": PASSWORDS[role]}), headers)
    reply = door.getresponse()
    assert reply.status == 303
    held = (reply.getheader("set-cookie") or "").split(";")[0]
    return connect(
        f"ws://{address}/_stcore/stream",
        origin=Origin(f"http://{address}"),
        subprotocols=[Subprotocol("streamlit")],
        additional_headers={"Cookie": held},
        max_size=None,
    )


def run(page: ClientConnection, name: str, press: str = "") -> bytes:
    """All that the server sends for one run of a page, in which the widget ``press`` says that it was pressed."""
    asked = BackMsg()
    asked.rerun_script.page_name = name
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
        if ForwardMsg.FromString(data).WhichOneof("type") == "script_finished":
            return sent


def button(sent: bytes, key: str) -> str:
    return re.findall(rb"\$\$ID-[0-9a-f]+-" + key.encode(), sent)[0].decode()


def test_a_viewer_starts_nothing_by_a_message(server: tuple[str, Path]) -> None:
    address, sessions = server
    with come_in(address, "operator") as page:
        operators = button(run(page, ""), START)
    with come_in(address, "viewer") as page:
        viewers = button(run(page, ""), START)
        for pressed in (viewers, operators):
            run(page, "", pressed)
    assert not started(sessions)


def test_an_operator_starts_a_session_by_the_same_message(server: tuple[str, Path]) -> None:
    address, sessions = server
    with come_in(address, "operator") as page:
        run(page, "", button(run(page, ""), START))
    assert len(started(sessions)) == 1


def started(sessions: Path) -> list[Path]:
    return list(sessions.glob("*/session.json"))
