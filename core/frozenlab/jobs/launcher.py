"""All that starts, stops and steers jobs, for pages and the command line: who may do these things may call this.

A job is launched by entering it in the queue of its machine. Its dispatcher starts the worker when its turn comes and there is room.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from frozenlab.base.errors import LabError
from frozenlab.base.files import open_to_append, write_text
from frozenlab.base.roles import only_operators
from frozenlab.jobs.disk import NOTHING, DiskFullError, check_room
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.folders import LinkError, refuse_links
from frozenlab.jobs.imported import ImportedError, refuse_imported
from frozenlab.jobs.job import KINDS, STOP_FILE, Job
from frozenlab.jobs.needs import Level, Needs
from frozenlab.jobs.process import start_worker
from frozenlab.jobs.queue.book import Book, Ended, Entry, in_queue
from frozenlab.jobs.queue.machine import free_cards
from frozenlab.jobs.queue.schedule import in_order
from frozenlab.jobs.queue.taking_up import entry_for, open_job
from frozenlab.jobs.queue.watch import wake
from frozenlab.jobs.state import UNFINISHED, WorkerState, own_process, read_state, store_state, stored_state, worker_alive

START, STOP, STEER = "start anything", "stop anything", "steer the queue"
"""What only operators may do here."""
GRACE = 0.25
"""The part of its patience that a worker has to stop before it is killed: 30 s for a lab model."""
ENDED = ("done", "failed", "waiting", "stopped")
"""What a worker may leave behind as it ends."""
PAUSED = "paused"
"""The fact in the book that the whole queue is paused."""


class LaunchError(LabError, RuntimeError):
    """A job cannot be started, stopped, resumed or moved now; the message says why."""


# --- starting --------------------------------------------------------------------------------------------------------


@contextmanager
def launching(root: Path) -> Iterator[None]:
    """Make a job and submit it within this block: one launch at a time over all pages and shells of the sessions folder ``root``. Raises
    LaunchError if the disk is full."""
    only_operators(START)
    root.mkdir(parents=True, exist_ok=True)
    try:
        check_room(root, NOTHING, "anything new")
    except DiskFullError as error:
        raise LaunchError(str(error)) from None
    with launch_lock(root):
        yield


@contextmanager
def launch_lock(root: Path) -> Iterator[None]:
    """Nothing of the sessions folder ``root`` is launched meanwhile."""
    with open_to_append(root / ".launch.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def submit(job: Job, level: Level = Level.NORMAL, parent: Job | None = None) -> None:
    """Enter a job in the queue of this machine; its worker starts when its turn comes.

    Args:
        parent: the job that has this one run: it has its level, and is paused with it.

    Raises LaunchError if it waits or runs already, or if there is a link in its folder.
    """
    only_operators(START)
    check_folder(job)
    if job.state().live:
        raise LaunchError(f"{job.id} is {job.state().status} already")
    book, entry = Book(job.root), entry_for(job, level)
    with book.hold():
        above = parent and book.entry(parent.dir)
        if parent is not None:
            entry = replace(entry, parent=str(parent.dir))
        if above:
            entry = replace(entry, level=above.level, paused=above.paused)
        queue(job)
        book.add(entry)
    wake(job.root)


def claim(job: Job, root: Path) -> None:
    """Enter a job that this process is about to run itself, in a terminal. It begins at once and takes its part of the machine.

    Args:
        root: the sessions folder whose queue that is; the job may lie elsewhere.
    """
    only_operators(START)
    check_folder(job)
    book = Book(root)
    with book.hold():
        queue(job)
        enter_here(book, entry_for(job))


def release(job: Job, root: Path) -> None:
    """The process that claimed the job has run it."""
    state, book = job.state(), Book(root)
    entry = book.entry(job.dir)
    if entry is not None and entry.in_terminal:
        book.remove(entry.folder, ended_now(entry, state.status, entry.spent + time.time() - entry.began))


@contextmanager
def counted(root: Path, folder: Path, kind: str, title: str, needs: Needs) -> Iterator[None]:
    """What this process computes meanwhile takes its part of the machine, too, though it is no job: nobody can go on with it.

    Args:
        root: the sessions folder whose queue that is.
        folder: where the result will be; it need not be there yet.
    """
    only_operators(START)
    root.mkdir(parents=True, exist_ok=True)
    book, entry = Book(root), Entry(str(folder), kind, title, queued=time.time(), **needs._asdict())
    with book.hold():
        enter_here(book, entry)
    try:
        yield
    finally:
        book.remove(entry.folder)


def enter_here(book: Book, entry: Entry) -> None:
    """What this process runs begins at once, and leaves the GPUs of the queue's jobs alone."""
    me, cards = own_process(), free_cards(book, entry.gpus)
    book.remove(entry.folder)
    book.add(
        replace(
            entry, in_terminal=True, running=True, pid=me["pid"], create_time=me["create_time"], began=time.time(), cards=cards,
        )
    )  # fmt: skip
    os.environ |= {"CUDA_VISIBLE_DEVICES": cards} if cards else {}


def retry(root: Path, folder: Path, kind: str) -> None:
    """Enter a job again that failed, crashed or was stopped; it goes on where it stood. Raises LaunchError, and the error of its kind if it
    cannot be read."""
    state = read_state(folder)
    if state.status not in UNFINISHED:
        raise LaunchError(f"{folder.name} is {state.status}: only what failed, crashed or was stopped can be tried again")
    job = open_job(next(known for known in KINDS if known.name == kind), folder)
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
        refuse_links(job.dir)
        refuse_imported(job.dir)
    except (LinkError, ImportedError) as error:
        raise LaunchError(str(error)) from None


def queue(job: Job) -> None:
    """Mark the job as queued, and remove an old request to stop."""
    only_operators(START)
    (job.dir / STOP_FILE).unlink(missing_ok=True)
    write_text(job.dir / "state.json", job.state().queued().model_dump_json(indent=2))


def launch(job: Job, **variables: str) -> subprocess.Popen[bytes]:
    """Start the worker's process at once, past the queue, with these additional environment ``variables``: for clusters, whose own queue
    decides."""
    only_operators(START)
    return start_worker(job.command(), job.dir, worker_environment(job.online) | variables)


# --- stopping --------------------------------------------------------------------------------------------------------


def stop(job: Job) -> None:
    """Take a job that waits out of the queue. Ask the worker of one that runs to stop, keeping what it has done, and kill it if it has not
    stopped within its GRACE.

    Raises LaunchError if the job neither waits nor runs.
    """
    only_operators(STOP)
    state, book = job.state(), Book(job.root)
    entry = book.entry(job.dir)
    about_to_go = entry is not None and entry.running and entry.wish != "aside" and state.status in ENDED
    if about_to_go or (entry is None and not state.live):
        raise LaunchError(f"{job.id} is not running, it is {state.status}")
    if not stop_entry(book, job.dir):
        if state.status == "queued":  # on another machine, or in a book that was lost
            store_state(job.dir, state.model_copy(update={"status": "stopped"}))
            return
        (job.dir / STOP_FILE).touch()
    threading.Thread(target=end_after_grace, args=(state,), daemon=True).start()


def cancel(root: Path, folder: str) -> None:
    """Take a job out of the queue, or ask its worker to stop. Raises LaunchError if it does not stand in the queue."""
    if not stop_entry(Book(root), Path(folder)):
        raise LaunchError(f"{Path(folder).name} is not in the queue")


def stop_entry(book: Book, folder: Path) -> bool:
    """Take a waiting job and those it has run out of the book, and ask running ones to stop. Returns whether it stands in the book. Raises
    LaunchError if only its terminal can stop it."""
    only_operators(STOP)
    with book.hold():
        entry = book.entry(folder)
        if entry is None:
            return False
        if entry.in_terminal and not folder.is_dir():
            raise LaunchError(f"{entry.title} runs in a terminal: press Ctrl+C there")
        if entry.running:
            book.change(entry.folder, wish="stop")
            with suppress(OSError):
                (folder / STOP_FILE).touch()
            return True
        for child in book.entries():
            if child.parent == entry.folder:
                stop_entry(book, child.path)
        state = stored_state(folder)
        if state is not None:
            store_state(folder, state.model_copy(update={"status": "stopped", "finished": time.time()}))
        book.remove(entry.folder, ended_now(entry, "stopped", entry.spent))
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


def set_level(root: Path, folder: str, level: Level) -> None:
    """Give a job, and those it has run, another priority. An urgent one begins at once. Raises LaunchError if it is not in the queue."""
    only_operators(STEER)
    book = Book(root)
    with book.hold():
        entry = entered(book, folder)
        for one in (entry, *children(book, entry)):
            book.change(one.folder, level=int(level))
    wake(root)


def move_first(root: Path, folder: str) -> None:
    """Let a waiting job begin before all others of its level. Raises LaunchError."""
    only_operators(STEER)
    book = Book(root)
    with book.hold():
        entry = waiting(book, folder)
        ahead = [other.place for other in book.entries() if not other.running and other.level == entry.level]
        book.change(folder, place=min(ahead) - 1.0)


def move(root: Path, folder: str, by: int) -> None:
    """Let a waiting job change places with the next one of its level, before it (``by`` -1) or after it (1). Raises LaunchError."""
    only_operators(STEER)
    book = Book(root)
    with book.hold():
        entry = waiting(book, folder)
        level = [turn.name for turn in in_order(other.turn(0.0) for other in book.entries() if other.level == entry.level)]
        at = level.index(folder) + by
        if not 0 <= at < len(level):
            word = Level(entry.level).word
            raise LaunchError(
                f"{entry.id} is the {'first' if by < 0 else 'last'} of priority {word}; change its priority to move it further"
            )
        other = entered(book, level[at])
        book.change(folder, place=other.place)
        book.change(other.folder, place=entry.place)


def pause(root: Path, folder: str) -> None:
    """Keep a waiting job in the queue without beginning it; of a job that has others run, those that wait. Raises LaunchError."""
    only_operators(STEER)
    book = Book(root)
    with book.hold():
        entry = entered(book, folder)
        below = children(book, entry)
        if entry.running and entry.cores:
            raise LaunchError(f"{entry.id} runs already: stop it instead, it can go on later")
        for one in (entry, *below):
            book.change(one.folder, paused=True)


def go_on(root: Path, folder: str) -> None:
    """Let a paused job take its turn again. Raises LaunchError if it is not in the queue."""
    only_operators(STEER)
    book = Book(root)
    with book.hold():
        entry = entered(book, folder)
        for one in (entry, *children(book, entry)):
            book.change(one.folder, paused=False)
    wake(root)


def pause_queue(root: Path) -> None:
    """Begin no job until the queue goes on, but urgent ones. What runs goes on."""
    only_operators(STEER)
    Book(root).note(PAUSED, "yes")


def let_queue_go_on(root: Path) -> None:
    only_operators(STEER)
    Book(root).note(PAUSED, "")
    wake(root)


def entered(book: Book, folder: str) -> Entry:
    entry = book.entry(Path(folder))
    if entry is None:
        raise LaunchError(f"{Path(folder).name} is not in the queue")
    return entry


def waiting(book: Book, folder: str) -> Entry:
    entry = entered(book, folder)
    if entry.running:
        raise LaunchError(f"{entry.id} runs already")
    return entry


def children(book: Book, entry: Entry) -> list[Entry]:
    return [other for other in book.entries() if other.parent == entry.folder]


def ended_now(entry: Entry, status: str, seconds: float) -> Ended:
    return Ended(entry.folder, entry.kind, entry.title, status, time.time(), seconds, entry.like, entry.amount, entry.parent)
