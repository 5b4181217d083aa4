"""Running a session in the test's own process; waiting for jobs that run in another, and ending them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.queue.db import QueueDB, QueueError
from frozenlab.jobs.queue.dispatcher import Dispatcher
from frozenlab.jobs.queue.watch import dispatcher_of
from frozenlab.jobs.state import process_alive, worker_alive
from frozenlab.jobs.worker import run_job
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session


def finish(session: Session, when: Callable[[dict], bool] = lambda event: False) -> int:
    """Runs the session; the first event that ``when`` picks asks it to stop."""
    (session.dir / STOP_FILE).unlink(missing_ok=True)

    def on_event(event: dict) -> None:
        if when(event):
            (session.dir / STOP_FILE).touch()

    from frozenlab.session.loop import work  # imports torch, which most who wait for jobs do not need

    recorder = Recorder(session)
    recorder.on_event = on_event
    return run_job(recorder, work)


def finished(session: Session) -> Session:
    """The session, run to its end."""
    assert finish(session) == 0, session.state().error
    return session


def weights(session: Session) -> list[bytes]:
    """The trained weights of each stage."""
    return [(session.stage_dir(stage) / "policy" / "model.safetensors").read_bytes() for stage in range(session.spec.stages)]


def wait_for(condition: Callable[[], object], what: str = "it to come", seconds: float = 600) -> None:
    """The limit only ends a test that hangs: a machine may do much else."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s for {what}"
        time.sleep(0.05)


def worker_pid(job: Job) -> int:
    """The pid of a job's worker. To kill the pid 0 would be to kill the tests and whatever runs them."""
    pid = job.state().pid
    assert pid, f"{job.id} has no worker"
    return pid


def end_queue(root: Path) -> None:
    """Kill the dispatcher of a sessions folder and the workers that it watches, so that a test leaves none behind."""
    if (dispatcher := dispatcher_of(root)) is not None:
        with suppress(ProcessLookupError):
            os.kill(dispatcher, signal.SIGKILL)
    for job in QueueDB(root).jobs() if root.is_dir() else []:
        if job.running and not job.in_terminal and process_alive(job.pid, job.create_time):
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)


def end_workers(jobs: Sequence[Job]) -> None:
    """Kill the workers of these jobs that are still alive, so that a failed test leaves none behind."""
    for root in {job.root for job in jobs}:
        end_queue(root)
    for job in jobs:
        state = job.state()
        if worker_alive(state) and state.pid and state.pid != os.getpid():
            os.killpg(state.pid, signal.SIGKILL)


class OwnQueue:
    """A queue with a dispatcher in the test's own process that can be ended and begun again."""

    def __init__(self, root: Path) -> None:
        self.root, self.db = root, QueueDB(root)
        self.halt = threading.Event()
        self.begin()

    def begin(self) -> None:
        self.halt.clear()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        held = Dispatcher(self.root)
        held.recover()
        while not self.halt.wait(0.05):
            with suppress(QueueError):  # of a damaged file
                held.look()

    def end(self) -> None:
        self.halt.set()
        self.thread.join()
