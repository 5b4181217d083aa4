"""Starting, stopping and steering jobs, for pages and the command line.

A job is launched by entering it in the queue of its machine. Its dispatcher starts the worker when its turn comes and there is room.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from frozenlab.base.errors import LabError
from frozenlab.base.files import locked
from frozenlab.jobs.disk import NOTHING, DiskFullError, check_room
from frozenlab.jobs.environment import start_worker, worker_environment
from frozenlab.jobs.folders import LinkError, make_root
from frozenlab.jobs.imported import ImportedError, refuse_foreign
from frozenlab.jobs.job import KINDS, STOP_FILE, Job
from frozenlab.jobs.machine import Needs
from frozenlab.jobs.queue.db import PAUSED, QueueDB, QueuedJob, in_queue
from frozenlab.jobs.queue.schedule import free_cards
from frozenlab.jobs.queue.watch import wake
from frozenlab.jobs.state import UNFINISHED, WorkerState, own_process, read_state, store_state, stored_state, worker_alive

GRACE = 0.25
"""The part of its patience that a worker has to stop before it is killed: 30 s for a lab model."""
ENDED = ("done", "failed", "waiting", "stopped")
"""What a worker may leave behind as it ends."""


class LaunchError(LabError, RuntimeError):
    """A job cannot be started, stopped, resumed or moved now; the message says why."""


# --- starting --------------------------------------------------------------------------------------------------------


@contextmanager
def launching(root: Path) -> Iterator[None]:
    """Make a job and submit it within this block: one launch at a time over all pages and shells of the sessions folder ``root``. Raises
    LaunchError if the disk is full, RootError if the folder cannot be written."""
    make_root(root)
    try:
        check_room(root, NOTHING, "anything new")
    except DiskFullError as error:
        raise LaunchError(str(error)) from None
    with launch_lock(root):
        yield


def launch_lock(root: Path) -> AbstractContextManager[BinaryIO | None]:
    """Nothing of the sessions folder ``root`` is launched meanwhile."""
    return locked(root / ".launch.lock")


def submit(job: Job, urgent: bool = False, parent: Job | None = None) -> None:
    """Enter a job in the queue of this machine; its worker starts when its turn comes.

    Args:
        parent: the study or contest that runs it: the job has its priority, and is paused with it.

    Raises LaunchError if it waits or runs already, or if there is a link in its folder.
    """
    check_folder(job)
    if job.state().live:
        raise LaunchError(f"{job.id} is {job.state().status} already")
    db, new = QueueDB(job.root), QueuedJob.of(job, urgent)
    with db.hold():
        if parent is not None:
            above = db.job(parent.dir) or new
            new = replace(new, parent=str(parent.dir), urgent=above.urgent, paused=above.paused)
        queue(job)
        db.add(new)
    wake(job.root)


def claim(job: Job, root: Path) -> None:
    """Enter a job that this process is about to run itself, in a terminal. It begins at once and takes its part of the machine.

    Args:
        root: the sessions folder whose queue that is; the job may lie elsewhere.
    """
    check_folder(job)
    db = QueueDB(root)
    with db.hold():
        queue(job)
        enter_here(db, QueuedJob.of(job))


def release(job: Job, root: Path) -> None:
    """The process that claimed the job has run it."""
    db = QueueDB(root)
    row = db.job(job.dir)
    if row is not None and row.in_terminal:
        db.remove(row.folder, row.as_ended(job.state().status, time.time(), row.spent + time.time() - row.began))


@contextmanager
def counted(root: Path, folder: Path, kind: str, title: str, needs: Needs) -> Iterator[None]:
    """Count what this process computes within the block in the queue, too, though it is no job and cannot be resumed.

    Args:
        root: the sessions folder whose queue that is.
        folder: where the result will be; it need not be there yet.
    """
    make_root(root)
    db = QueueDB(root)
    with db.hold():
        enter_here(db, QueuedJob(str(folder), kind, title, **needs._asdict()))
    try:
        yield
    finally:
        db.remove(str(folder))


def enter_here(db: QueueDB, job: QueuedJob) -> None:
    """Enter what this process runs: it begins at once, and leaves the GPUs of the queue's jobs alone."""
    me, cards = own_process(), free_cards(db.jobs(), job.gpus)
    db.remove(job.folder)
    own = {"in_terminal": True, "running": True, "pid": me["pid"], "create_time": me["create_time"]}
    db.add(replace(job, began=time.time(), cards=cards, **own))
    os.environ |= {"CUDA_VISIBLE_DEVICES": cards} if cards else {}


def retry(root: Path, folder: Path, kind: str) -> None:
    """Enter a job again that failed, crashed or was stopped; it goes on where it stood. Raises LaunchError, and the error of its kind if it
    cannot be read."""
    state = read_state(folder)
    if state.status not in UNFINISHED:
        raise LaunchError(f"{folder.name} is {state.status}: only what failed, crashed or was stopped can be tried again")
    job = KINDS[kind].open(folder)
    with launching(root):
        submit(job)


def held(job: Job) -> bool:
    """Whether the job will go on by itself: it runs, waits for its turn, or has just ended and is about to be looked at."""
    if str(job.dir) not in in_queue(job.root):
        return job.state().live
    wake(job.root)
    return True


def check_folder(job: Job) -> None:
    """Raises LaunchError if nothing may be run in the job's folder."""
    try:
        refuse_foreign(job.dir)
    except (LinkError, ImportedError) as error:
        raise LaunchError(str(error)) from None


def queue(job: Job) -> None:
    """Mark the job as queued, and remove an old request to stop."""
    (job.dir / STOP_FILE).unlink(missing_ok=True)
    store_state(job.dir, job.state().queued())


def launch(job: Job, **variables: str) -> subprocess.Popen[bytes]:
    """Start the worker's process at once, past the queue, with these additional environment ``variables``: for clusters, whose own queue
    decides."""
    return start_worker(job.command(), job.dir, worker_environment(job.online) | variables)


# --- stopping --------------------------------------------------------------------------------------------------------


def stop(job: Job) -> None:
    """Take a job that waits out of the queue. Ask the worker of one that runs to stop, keeping what it has done, and kill it if it has not
    stopped within its GRACE.

    Raises LaunchError if the job neither waits nor runs.
    """
    state, db = job.state(), QueueDB(job.root)
    row = db.job(job.dir)
    about_to_go = row is not None and row.running and row.wish != "aside" and state.status in ENDED
    if about_to_go or (row is None and not state.live):
        raise LaunchError(f"{job.id} is not running, it is {state.status}")
    if not take_out(db, job.dir):
        if state.status == "queued":  # on another machine, or its row was lost
            store_state(job.dir, state.model_copy(update={"status": "stopped"}))
            return
        (job.dir / STOP_FILE).touch()
    threading.Thread(target=end_after_grace, args=(state,), daemon=True).start()


def cancel(root: Path, folder: Path) -> None:
    """Take a job out of the queue, or ask its worker to stop. Raises LaunchError if it is not in the queue."""
    if not take_out(QueueDB(root), folder):
        raise LaunchError(f"{folder.name} is not in the queue")


def take_out(db: QueueDB, folder: Path) -> bool:
    """Take a waiting job and its parts out of the queue, and ask running ones to stop. Returns whether it was in the queue. Raises
    LaunchError if only its terminal can stop it."""
    with db.hold():
        job = db.job(folder)
        if job is None:
            return False
        if job.in_terminal and not folder.is_dir():
            raise LaunchError(f"{job.title} runs in a terminal: press Ctrl+C there")
        if job.running:
            db.change(job.folder, wish="stop")
            with suppress(OSError):
                (folder / STOP_FILE).touch()
            return True
        for part in parts(db, job):
            take_out(db, part.path)
        state = stored_state(folder)
        if state is not None:
            store_state(folder, state.model_copy(update={"status": "stopped", "finished": time.time()}))
        db.remove(job.folder, job.as_ended("stopped", time.time(), job.spent))
    return True


def end_after_grace(state: WorkerState) -> None:
    deadline = time.monotonic() + GRACE * state.patience
    while worker_alive(state) and time.monotonic() < deadline:
        time.sleep(0.5)
    if worker_alive(state) and not state.elsewhere and state.pid is not None:
        # A detached worker leads its own process group; a run in a terminal shares the group of its shell.
        end = os.killpg if os.getpgid(state.pid) == state.pid else os.kill
        end(state.pid, signal.SIGKILL)


# --- steering --------------------------------------------------------------------------------------------------------


def change(root: Path, folder: Path, **values: bool) -> None:
    """Change a job of the queue, and its parts.

    Args:
        values: ``urgent=True``: it begins at once; running jobs make room, and go on afterwards. ``paused=True`` keeps a waiting job in the
            queue without beginning it, and of a study or contest its waiting parts; ``paused=False`` lets it take its turn again.

    Raises LaunchError if it is not in the queue, or is to be paused and computes already.
    """
    db = QueueDB(root)
    with db.hold():
        job = db.job(folder)
        if job is None:
            raise LaunchError(f"{folder.name} is not in the queue")
        if values.get("paused") and job.running and job.cores:
            raise LaunchError(f"{job.id} runs already: stop it instead, it can be resumed later")
        for one in (job, *parts(db, job)):
            db.change(one.folder, **values)
    if not values.get("paused"):
        wake(root)


def pause_queue(root: Path, paused: bool = True) -> None:
    """Begin no job but urgent ones until the queue goes on, or let it go on. What runs goes on."""
    QueueDB(root).set_fact(PAUSED, paused)
    if not paused:
        wake(root)


def parts(db: QueueDB, job: QueuedJob) -> list[QueuedJob]:
    """The jobs in the queue that a study or contest runs."""
    return [other for other in db.jobs() if other.parent == job.folder]
