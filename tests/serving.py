"""The real app on a free port, in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from frozenlab.base.places import ROOT

START_WITHIN = 300.0  # seconds; a cold machine compiles byte code first


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class App:
    """A Streamlit server of this project with its own sessions folder."""

    sessions: Path
    log: Path
    port: int = field(default_factory=free_port)
    options: tuple[str, ...] = ()
    """Of ``streamlit run``, beside the port."""
    variables: dict[str, str] = field(default_factory=dict)
    """Of its environment."""
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts the server and waits until it answers. Call it again after :meth:`stop` for a server on the same port."""
        command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--server.fileWatcherType", "none", *self.options],
                cwd=ROOT,
                env=os.environ | {"FROZENLAB_SESSIONS": str(self.sessions)} | self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_WITHIN
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as reply:
                    if reply.read() == b"ok":
                        return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(f"the app did not start:\n{self.log.read_text(errors='replace')}")

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        """Ends the server's process group; sessions that it started have groups of their own and go on."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, with_signal)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
