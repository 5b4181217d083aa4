"""Running a session in the test's own process; waiting for jobs that run in another, and ending them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable

from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.state import worker_alive
from frozenlab.jobs.worker import run_job
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.session import Session
from frozenlab.loop.worker import work


def finish(session: Session, when: Callable[[dict], bool] = lambda event: False) -> int:
    """Runs the session; the first event that ``when`` picks asks it to stop."""
    (session.dir / STOP_FILE).unlink(missing_ok=True)

    def on_event(event: dict) -> None:
        if when(event):
            (session.dir / STOP_FILE).touch()

    return run_job(Recorder(session, on_event), work)


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.05)


def end_workers(jobs: Iterable[Job]) -> None:
    """Kill the workers of these jobs that are still alive, so that a failed test leaves none behind."""
    for job in jobs:
        state = job.state()
        if worker_alive(state) and state.pid and state.pid != os.getpid():
            os.killpg(state.pid, signal.SIGKILL)
