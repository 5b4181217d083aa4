"""The frame of every worker: it is alone on its job, keeps the job's state, and records how the job ended."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, TypeVar

import psutil

from frozenlab.base.errors import AwaitsProposal, LabError, Stopped
from frozenlab.base.files import locked
from frozenlab.jobs.environment import KEEPER, worker_environment
from frozenlab.jobs.imported import refuse_foreign
from frozenlab.jobs.job import LOCK_WAIT, STOP_FILE, Job, kind_of
from frozenlab.jobs.recorder import JobRecorder

DONE, FAILED, HELD, STOPPED, WAITING = 0, 1, 2, 3, 4
"""Exit statuses. HELD: another worker has the job. WAITING: the session needs a person's proposal."""
LOCK_FILE = ".worker.lock"


class JobHeldError(LabError, RuntimeError):
    """Another worker holds the job; the message names it."""


AnyRecorder = TypeVar("AnyRecorder", bound=JobRecorder[Any])


def work_on(job: Job, on_progress: Callable[[float], None] | None = None, on_event: Callable[[dict[str, Any]], None] | None = None) -> int:
    """Do a job as its kind says, unless another worker has it, until it is done or stopped (SIGTERM, stop file); return the exit status.

    Args:
        on_progress: gets the part of the work that is done, 0..1, whenever that is recorded.
        on_event: gets each event of a session.

    Raises LinkError if there is a link in the job's folder, ImportedError if it was imported and is not one's own yet.
    """
    refuse_foreign(job.dir)
    kind = kind_of(job)
    module, _, name = kind.recorder.rpartition(".")
    try:
        with sole_worker(job, kind.lock_wait):
            if job.state().status == "done":  # the other worker finished the job
                return DONE
            signal.signal(signal.SIGTERM, lambda *_: (job.dir / STOP_FILE).touch())
            os.environ.update(worker_environment(job.online))  # before anything imports what reads it
            recorder: JobRecorder[Any] = getattr(import_module(module), name)(job)
            recorder.on_progress, recorder.on_event = on_progress, on_event
            # The import may take seconds, as that of torch does: the job is seen running before.
            return run_job(recorder, lambda recorder: import_module(kind.worker).work(recorder))
    except JobHeldError as error:
        print(error, file=sys.stderr)
        return HELD


def run_job(recorder: AnyRecorder, work: Callable[[AnyRecorder], None]) -> int:
    """Do the ``work``, record how it ended and return the exit status."""
    try:
        recorder.begin()
        try:
            work(recorder)
        except Stopped:
            recorder.end("stopped")
            return STOPPED
        except AwaitsProposal:
            recorder.end("waiting")
            return WAITING
        recorder.end("done")
        return DONE
    except Exception as error:  # every failure is recorded
        recorder.failed(error)
        with suppress(OSError):  # the log may lie on a full disk
            traceback.print_exc()
        return FAILED


@contextmanager
def sole_worker(job: Job, wait: float = LOCK_WAIT) -> Iterator[None]:
    """Hold the job's lock, which keeps out all other workers on all machines that see its folder. Raises JobHeldError if another worker
    does not release it within ``wait`` seconds."""
    with locked(job.dir / LOCK_FILE, wait) as lock:
        if lock is None:
            state = job.state()
            raise JobHeldError(f"{job.id} has a worker already, process {state.pid} on {state.host}")
        yield


def outlive_terminal() -> None:
    """Ignore Ctrl+C and a closed terminal, but end with the process whose pid the environment names in KEEPER, if it does."""
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    if KEEPER in os.environ:
        end_with(int(os.environ[KEEPER]))


def end_with(keeper: int) -> None:
    """Kill this process and its group as soon as the process with the pid ``keeper`` has ended."""

    def watch() -> None:
        with suppress(psutil.NoSuchProcess):
            kept_by = psutil.Process(keeper)
            while kept_by.is_running() and kept_by.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.2)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
