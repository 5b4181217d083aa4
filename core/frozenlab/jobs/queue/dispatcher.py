"""The dispatcher: one small process for each machine and sessions folder. It starts the workers of queued jobs when there is room for them.

Workers are processes of their own and outlive it. If it is killed, the next that looks at the queue starts another, which takes up what it
finds: jobs that run are watched, jobs whose worker died are tried again, jobs that are queued in their folders but not in the book are
entered. It ends when the queue has been empty for a while.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from frozenlab.base.errors import LabError
from frozenlab.jobs.disk import NOTHING, check_room
from frozenlab.jobs.environment import NICENESS, worker_environment
from frozenlab.jobs.folders import refuse_links
from frozenlab.jobs.imported import refuse_imported
from frozenlab.jobs.job import KINDS, STOP_FILE
from frozenlab.jobs.needs import Level
from frozenlab.jobs.process import start_worker, worker_command
from frozenlab.jobs.queue.book import FILLED, Book, BookError, Ended, Entry, Revision
from frozenlab.jobs.queue.machine import free_cards, machine_has
from frozenlab.jobs.queue.notify import tell_alarm, tell_ended
from frozenlab.jobs.queue.schedule import decide
from frozenlab.jobs.queue.taking_up import queued_here
from frozenlab.jobs.queue.watch import holds_lock
from frozenlab.jobs.state import Alarm, Status, WorkerState, as_observed, process_alive, read_state, store_state, stored_state, worker_alive

TICK = 0.2
"""Seconds between looks at the workers and at changes of the book."""
LOOK = 2.0
"""Seconds between looks at the book if it seems unchanged."""
PATIENCE = 20.0
"""Seconds that an empty queue is watched before the dispatcher ends."""
TRIES = 3
"""Workers that may die on a job without getting further, before it is given up."""
FURTHER = 0.01
"""Progress by which a worker has got further than those that died before."""
PAUSE = 2.0
"""Seconds before a job whose worker died is tried again; twice as long before the next try."""
KIND = {kind.name: kind for kind in KINDS}


class Dispatcher:
    """Holds the queue of this machine in the sessions folder ``root``; the caller holds the lock."""

    def __init__(self, root: Path) -> None:
        self.root, self.book = root, Book(root)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        """Those that this process has started, by the folder of their job."""
        self.seen: Revision = None
        self.looked = 0.0
        self.busy = time.monotonic()
        self.silent: set[str] = set()
        """Folders of jobs of which it was told that their worker is silent."""

    def run(self) -> None:
        """Until the queue has been empty for a while, or the folder or its lock is gone."""
        self.take_up()
        while holds_lock(self.root) and time.monotonic() - self.busy < PATIENCE:
            try:
                self.look()
            except BookError as error:  # of a book that was damaged, a new one has been begun
                print(error, file=sys.stderr, flush=True)
                self.seen = None
            time.sleep(TICK)

    def take_up(self) -> None:
        """Enter what is queued or runs on this machine but does not stand in the book."""
        known = {entry.folder for entry in self.book.entries()}
        for entry in queued_here(self.root, known):
            self.book.add_missing(entry)
        self.book.note(FILLED, "yes")
        self.inode = (self.book.revision() or (0,))[0]

    def look(self) -> None:
        """Deal with workers that have ended, then start those for which there is room."""
        if (self.book.revision() or (0,))[0] != self.inode:  # somebody deleted the book, or it was damaged
            self.take_up()
        ended = [folder for folder, worker in self.workers.items() if worker.poll() is not None]
        if self.book.revision() == self.seen and not ended and time.monotonic() - self.looked < LOOK:
            return
        self.seen, self.looked = self.book.revision(), time.monotonic()
        entries = self.book.entries()
        if entries:
            self.busy = time.monotonic()
        for entry in entries:
            if entry.running and not self.at_work(entry):
                self.settle(entry.folder)
        self.tell_silent(entries)
        self.start_some()

    def at_work(self, entry: Entry) -> bool:
        """Whether the worker of a running job is alive."""
        own = self.workers.get(entry.folder)
        if own is not None and own.pid == entry.pid:
            return own.poll() is None
        return process_alive(entry.pid, entry.create_time)

    def tell_silent(self, entries: list[Entry]) -> None:
        """Tell of workers that have become silent: what else goes wrong they tell themselves."""
        silent = {entry.folder: entry for entry in entries if entry.running and read_state(entry.path).status == "stalled"}
        for folder in silent.keys() - self.silent:
            entry, alarm = silent[folder], Alarm(rule="stalled", evidence="The worker lives but is silent.")
            tell_alarm(entry.path, entry.kind, entry.title, alarm, "It may be swapping; stop it if it does not come back.")
        self.silent = {*silent}

    # --- a worker has ended --------------------------------------------------------------------------------------------

    def settle(self, folder: str) -> None:
        """Decide what becomes of a job whose worker has ended: it left the queue, waits again, or has another worker."""
        self.workers.pop(folder, None)
        with self.book.hold():
            entry = self.book.entry(Path(folder))
            if entry is None or not entry.running or self.at_work(entry):
                return
            state = stored_state(entry.path)
            if state is None:
                self.book.remove(entry.folder)
                return
            spent = entry.spent + max(0.0, (state.finished or state.heartbeat or time.time()) - entry.began)
            if state.status == "done":
                self.end(entry, state, "done", spent)
            elif entry.wish == "again" or (entry.wish == "aside" and state.status == "stopped"):
                self.wait_again(entry, state, spent)
            elif state.status not in ("queued", "running"):
                self.end(entry, state, state.status, spent)
            elif state.pid and state.pid != entry.pid and worker_alive(state):  # one that outlived its dispatcher, or on another machine
                self.follow(entry, state)
            elif entry.in_terminal:
                self.book.remove(entry.folder)
            elif entry.wish == "aside":
                self.wait_again(entry, state, spent)
            elif entry.wish == "stop" or (entry.path / STOP_FILE).exists():
                self.end(entry, state, "stopped", spent)
            else:
                self.try_again(entry, state, spent)

    def follow(self, entry: Entry, state: WorkerState) -> None:
        """Another worker has the job."""
        if state.elsewhere:
            self.book.remove(entry.folder)
        else:
            self.book.change(entry.folder, running=True, pid=state.pid, create_time=state.create_time or 0.0, began=time.time())

    def try_again(self, entry: Entry, state: WorkerState, spent: float) -> None:
        """Its worker died. A job that another one has run is left to that one."""
        tries = 1 if state.progress > entry.furthest + FURTHER else entry.tries + 1
        if entry.parent or tries >= TRIES:
            why = "its worker died" if entry.parent else f"its worker died {tries} times at the same place"
            state.error = f"{why}; the end of worker.log may say why"
            self.end(entry, state, "crashed", spent)
        else:
            wait = time.time() + PAUSE * 2 ** (tries - 1)
            self.wait_again(entry, state, spent, tries=tries, furthest=max(state.progress, entry.furthest), not_before=wait)

    def wait_again(self, entry: Entry, state: WorkerState, spent: float, **values: Any) -> None:
        """Back into the queue, at its old place."""
        (entry.path / STOP_FILE).unlink(missing_ok=True)
        store_state(entry.path, state.queued())
        self.book.change(entry.folder, running=False, wish="", pid=0, cards="", spent=spent, **values)

    def end(self, entry: Entry, state: WorkerState, status: Status, spent: float) -> None:
        """Out of the queue."""
        if state.status != status:
            store_state(entry.path, state.model_copy(update={"status": status, "finished": time.time(), "seconds_left": None}))
        when = state.finished if state.status == status and state.finished else time.time()  # as the job's own page says
        ended = Ended(entry.folder, entry.kind, entry.title, status, when, spent, entry.like, entry.amount, entry.parent)
        if self.book.remove(entry.folder, ended) and not entry.parent and not entry.in_terminal:
            tell_ended(ended)

    # --- starting workers ----------------------------------------------------------------------------------------------

    def start_some(self) -> None:
        now, entries = time.time(), {entry.folder: entry for entry in self.book.entries()}
        if not any(not entry.running for entry in entries.values()):
            return
        machine = machine_has(entry.needs for entry in entries.values() if entry.running)
        decided = decide([entry.turn(now) for entry in entries.values()], machine, now, paused=self.book.fact("paused") == "yes")
        for name, by in decided.make_room:
            if self.book.change(name, wish="aside", moved_by=entries[by].title):
                (entries[name].path / STOP_FILE).touch()
        for name in decided.begin:
            self.start(entries[name])

    def start(self, entry: Entry) -> None:
        """Start the job's worker, if its folder still says that it waits."""
        with self.book.hold():
            if not self.may_start(entry.folder):
                return
            cards = free_cards(self.book, entry.gpus)
            self.book.change(entry.folder, running=True, wish="", pid=0, began=time.time(), cards=cards)
        worker = start_worker(worker_command(entry.kind, entry.path), entry.path, self.environment(entry, cards))
        self.workers[entry.folder] = worker
        self.book.change(entry.folder, pid=worker.pid, create_time=psutil.Process(worker.pid).create_time())

    def may_start(self, folder: str) -> bool:
        """Whether the job waits, and nothing is in its way. One that does not wait any more is taken out."""
        entry = self.book.entry(Path(folder))
        if entry is None or entry.running or entry.paused:
            return False
        state = stored_state(entry.path)
        seen = state and as_observed(state)
        if state is None or seen is None or not (entry.path / KIND[entry.kind].task).is_file():
            self.book.remove(entry.folder)
        elif seen.status in ("running", "stalled"):
            self.follow(entry, state)
        elif seen.elsewhere or seen.status not in ("queued", "crashed"):
            self.book.remove(entry.folder)
        elif why := self.obstacle(entry):
            self.end(entry, state.model_copy(update={"error": why}), "failed", entry.spent)
        else:
            return True
        return False

    def obstacle(self, entry: Entry) -> str | None:
        """Why the job cannot be started here; None if it can."""
        try:
            refuse_links(entry.path)
            refuse_imported(entry.path)
            check_room(entry.path, NOTHING, "anything new")
        except LabError as error:
            return str(error)
        return None

    def environment(self, entry: Entry, cards: str) -> dict[str, str]:
        """Of the worker, which itself finds out whether it may use the hub."""
        own = {"FROZENLAB_SESSIONS": str(self.root)}
        own |= {NICENESS: "0"} if entry.level == Level.URGENT else {}
        own |= {"CUDA_VISIBLE_DEVICES": cards} if cards else {}
        return worker_environment(online=True) | own
