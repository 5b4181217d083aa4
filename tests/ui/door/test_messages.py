"""Messages that no button sends, to a real server with a door: a viewer's is refused, an operator's starts a session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest
from websockets.sync.client import ClientConnection

from frozenlab.base.places import ROOT
from tests.running import end_queue
from tests.ui.door.talk import START, button, free_port, run, started, stream, wait_until_up

PASSWORDS = {"viewer": "a viewer's password", "operator": "an operator's password"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server with a door that answers this machine, and its sessions folder."""
    folder = tmp_path_factory.mktemp("door")
    sessions = folder / "sessions"
    sessions.mkdir()
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", address.split(":")[1]]
    command += ["--server.allowedHosts", "127.0.0.1", "--server.allowedHosts", "lab.example", "--server.fileWatcherType", "none"]
    options = {f"FROZENLAB_{role.upper()}_PASSWORD": word for role, word in PASSWORDS.items()}
    options |= {"FROZENLAB_SESSIONS": str(sessions), "FROZENLAB_DOOR": str(folder / "door.json")}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | options, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until_up(process, address, folder / "log")
        yield address, sessions
    finally:
        process.terminate()
        process.wait(20)
        end_queue(sessions)


def come_in(address: str, role: str) -> ClientConnection:
    """A WebSocket with a pass of this role."""
    door = HTTPConnection(address)
    headers = {"Origin": f"http://{address}", "Content-Type": "application/x-www-form-urlencoded"}
    door.request("POST", "/door", urlencode({"password": PASSWORDS[role]}), headers)
    reply = door.getresponse()
    assert reply.status == 303
    return stream(address, (reply.getheader("set-cookie") or "").split(";")[0])


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
