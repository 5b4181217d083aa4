"""Messages that no button sends, to real servers: one that only looks starts nothing, another one starts a session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection

from frozenlab.app.ui import door
from frozenlab.base import look_only
from frozenlab.base.places import ROOT
from tests.running import end_queue
from tests.ui.talk import START, button, free_port, run, started, stream, wait_until_up

WORD = "a password of a class"


@contextmanager
def server(folder: Path, **variables: str) -> Iterator[str]:
    """The address of a server with a door over the sessions in ``folder``."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", address.split(":")[1]]
    command += ["--server.allowedHosts", "127.0.0.1", "--server.allowedHosts", "lab.example", "--server.fileWatcherType", "none"]
    environment = os.environ | {"FROZENLAB_SESSIONS": str(folder), door.VARIABLE: WORD} | variables
    log = folder.with_suffix(".log")
    with log.open("ab") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_until_up(process, address, log)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def come_in(address: str) -> ClientConnection:
    """A WebSocket of a browser that has followed the link."""
    connection = HTTPConnection(address)
    connection.request("GET", door.link("", WORD))
    reply = connection.getresponse()
    assert reply.status == 303
    return stream(address, (reply.getheader("set-cookie") or "").split(";")[0])


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "sessions"
    folder.mkdir()
    yield folder
    end_queue(folder)


def test_a_server_that_only_looks_starts_nothing_by_a_message(sessions: Path) -> None:
    with server(sessions) as address, come_in(address) as page:
        pressed = button(run(page, ""), START)
    with server(sessions, **{look_only.VARIABLE: "1"}) as address, come_in(address) as page:
        shown = run(page, "")
        assert look_only.WHY[1:].encode() in shown
        for each in (pressed, button(shown, START)):
            run(page, "", each)
    assert not list(sessions.iterdir())
    with server(sessions) as address, come_in(address) as page:
        run(page, "", pressed)
        assert len(started(sessions)) == 1
