"""The frame of every worker: one worker a job, its state kept, its end written down, however it ends."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psutil

from frozenlab.errors import AwaitsProposal, LabError, Stopped
from frozenlab.files import open_to_append
from frozenlab.jobs.folders import refuse_links
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.recorder import AnyJob, JobRecorder

DONE, FAILED, HELD, STOPPED, WAITING = 0, 1, 2, 3, 4
"""Exit statuses. HELD: another worker is on the job. WAITING: a person is asked for a proposal."""
LOCK_FILE = ".worker.lock"
LOCK_WAIT = 20.0
"""Seconds that a worker waits for the lock of another one, which may have just been killed, with its machine perhaps."""
KEEPER = "FROZENLAB_KEEPER"
"""Environment variable: the pid of a process that a worker must not outlive. Without it a worker outlives whoever started it."""


class JobHeldError(LabError, RuntimeError):
    """Another worker is on the job; the message says which."""


AnyRecorder = TypeVar("AnyRecorder", bound=JobRecorder[Any])


def work_alone(job: AnyJob, work: Callable[[AnyRecorder], None], recorder: Callable[[AnyJob], AnyRecorder], wait: float = LOCK_WAIT) -> int:
    """Does the ``work`` of a job that no other worker is on, until SIGTERM or the stop file asks it to stop; returns the exit status.

    Args:
        recorder: makes the one that the work is given, once the job's lock is held.
        wait: seconds for which another worker of the job is given to end.

    Raises LinkError if there is a link in the job's folder.
    """
    refuse_links(job.dir)
    try:
        with sole_worker(job, wait):
            if job.state().status == "done":  # the worker that this one has waited for came to the end
                return DONE
            signal.signal(signal.SIGTERM, lambda *_: (job.dir / STOP_FILE).touch())
            return run_job(recorder(job), work)
    except JobHeldError as error:
        print(error, file=sys.stderr)
        return HELD


def run_job(recorder: AnyRecorder, work: Callable[[AnyRecorder], None]) -> int:
    """Does the ``work`` and writes down how it ends; returns the exit status."""
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
    except Exception as error:  # whatever it is belongs in the job's record
        recorder.failed(error)
        with suppress(OSError):  # the log may lie on a full disk
            traceback.print_exc()
        return FAILED


@contextmanager
def sole_worker(job: Job, wait: float = LOCK_WAIT) -> Iterator[None]:
    """Keeps all other workers from the job, over all machines that see its folder. Raises JobHeldError if one is on it and does not end
    within ``wait`` seconds."""
    deadline = time.monotonic() + wait
    with open_to_append(job.dir / LOCK_FILE) as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    state = job.state()
                    raise JobHeldError(f"{job.id} has a worker already, process {state.pid} on {state.host}") from None
                time.sleep(0.1)
        yield


def end_with(keeper: int) -> None:
    """Ends this process and its whole group by force as soon as the process with the pid ``keeper`` is gone, in whatever way."""

    def watch() -> None:
        with suppress(psutil.NoSuchProcess):
            kept_by = psutil.Process(keeper)
            while kept_by.is_running() and kept_by.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.2)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
