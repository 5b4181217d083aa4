"""Starting and stopping the workers of jobs, from a page or the command line. One heavy job runs at a time on a machine."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from frozenlab import places
from frozenlab.errors import LabError
from frozenlab.files import open_to_append, write_text
from frozenlab.jobs.disk import NOTHING, DiskFullError, check_room
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.folders import JOB_ID, LinkError, refuse_links
from frozenlab.jobs.imported import ImportedError, refuse_imported
from frozenlab.jobs.job import KINDS, STOP_FILE, Job, Kind
from frozenlab.jobs.state import WorkerState, read_state, says_live, worker_alive

GRACE = 0.25
"""The part of its patience that a worker has to stop before it is killed: 30 s for a lab model."""


class LaunchError(LabError, RuntimeError):
    """A job cannot be started, stopped or resumed now; the message says why."""


class Busy(NamedTuple):
    """A job that a worker has or is about to have."""

    kind: Kind
    dir: Path

    @property
    def title(self) -> str:
        """Its title, or its id if the folder has no title."""
        try:
            title = json.loads((self.dir / self.kind.task).read_bytes()).get("title")
        except (OSError, ValueError, AttributeError):
            title = None
        return title if isinstance(title, str) and title else self.dir.name


@contextmanager
def launching(root: Path) -> Iterator[None]:
    """Allow one launch at a time over all pages and shells. Raises LaunchError while a job of the sessions folder ``root`` runs."""
    root.mkdir(parents=True, exist_ok=True)
    try:
        check_room(root, NOTHING, "anything new")
    except DiskFullError as error:
        raise LaunchError(str(error)) from None
    with launch_lock(root):
        busy = running(root)
        if busy is not None:
            raise LaunchError(f"{busy.title} ({busy.dir.name}) is running; stop it or wait until it is done")
        yield


@contextmanager
def launch_lock(root: Path) -> Iterator[None]:
    """Nothing of the sessions folder ``root`` is started meanwhile."""
    with open_to_append(root / ".launch.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def running(root: Path) -> Busy | None:
    """The running job of the sessions folder ``root``, if there is one."""
    for kind in KINDS:
        for path in (root / kind.place).glob("*/state.json"):
            folder = path.parent
            a_job = JOB_ID.fullmatch(folder.name) and not folder.is_symlink() and (folder / kind.task).is_file()
            if a_job and says_live(path) and read_state(folder).live:
                return Busy(kind, folder)
    return None


def spawn(job: Job) -> subprocess.Popen[bytes]:
    """Start the job's worker in its own process group. The job is queued until the worker has written its first state.

    Raises LaunchError if there is a link in the job's folder, or it was imported and is not one's own yet.
    """
    check_folder(job)
    queue(job)
    process = launch(job)
    threading.Thread(target=process.wait, daemon=True).start()  # so that a dead worker does not stay as a zombie
    return process


def check_folder(job: Job) -> None:
    """Raises LaunchError if nothing may be run in the job's folder."""
    try:
        refuse_links(job.dir)
        refuse_imported(job.dir)
    except (LinkError, ImportedError) as error:
        raise LaunchError(str(error)) from None


def queue(job: Job) -> None:
    """Mark the job as queued for a worker that is about to start, and remove an old request to stop."""
    (job.dir / STOP_FILE).unlink(missing_ok=True)
    write_text(job.dir / "state.json", job.state().queued().model_dump_json(indent=2))


def launch(job: Job, **variables: str) -> subprocess.Popen[bytes]:
    """Start the worker's process with these additional environment ``variables``. Its output is appended to ``worker.log``."""
    with open_to_append(job.dir / "worker.log") as log:
        return subprocess.Popen(
            job.command(),
            cwd=places.workplace(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=worker_environment(job.online) | variables,
        )


def stop(job: Job) -> None:
    """Ask the worker to stop, keeping what it has done, and kill it if it has not stopped within its GRACE.

    Raises LaunchError if the job is not running.
    """
    state = job.state()
    if not state.live:
        raise LaunchError(f"{job.id} is not running, it is {state.status}")
    (job.dir / STOP_FILE).touch()
    threading.Thread(target=end_after_grace, args=(state,), daemon=True).start()


def end_after_grace(state: WorkerState) -> None:
    deadline = time.monotonic() + GRACE * state.patience
    while worker_alive(state) and time.monotonic() < deadline:
        time.sleep(0.5)
    if worker_alive(state) and not state.elsewhere and state.pid is not None:
        # A detached worker leads its own process group; a run in a terminal shares the group of its shell.
        end = os.killpg if os.getpgid(state.pid) == state.pid else os.kill
        end(state.pid, signal.SIGKILL)
