"""Talking to a real server in Streamlit's own protocol, as no browser would."""

from __future__ import annotations

import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

START = "start-quick"
"""The button of Home that starts the quick session."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + 60
    while not up(address):
        assert server.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


def up(address: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=2).read() == b"ok")
    except OSError:
        return False


def stream(address: str, cookie: str) -> ClientConnection:
    """The WebSocket that a page has, with these cookies."""
    return connect(
        f"ws://{address}/_stcore/stream",
        origin=Origin(f"http://{address}"),
        subprotocols=[Subprotocol("streamlit")],
        additional_headers={"Cookie": cookie},
        max_size=None,
    )


def run(page: ClientConnection, name: str, press: str = "", query: str = "") -> bytes:
    """All that the server sends for one run of a page, in which the widget ``press`` says that it was pressed."""
    asked = BackMsg()
    asked.rerun_script.page_name, asked.rerun_script.query_string = name, query
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
        told = ForwardMsg.FromString(data)
        if told.WhichOneof("type") == "script_finished" and told.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return sent


def button(sent: bytes, key: str) -> str:
    return re.findall(rb"\$\$ID-[0-9a-f]+-" + key.encode(), sent)[0].decode()


def started(sessions: Path) -> list[Path]:
    return list(sessions.glob("*/session.json"))
