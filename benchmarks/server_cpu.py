"""CPU time of the app's server, which other processes on the machine disturb less than they disturb the clock."""

from __future__ import annotations

from contextlib import suppress

import psutil

from tests.serving import App


def cpu_of(app: App) -> float:
    """CPU seconds of the server so far: its process, and the one in which its model plans."""
    assert app.process is not None
    server = psutil.Process(app.process.pid)
    spent = 0.0
    for process in (server, *server.children()):
        with suppress(psutil.NoSuchProcess):
            spent += sum(process.cpu_times()[:2])
    return spent
