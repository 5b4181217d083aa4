"""The dispatcher: one small process for each machine and sessions folder. It starts the workers of queued jobs when there is room for them.

Workers are processes of their own and outlive it. If it is killed, the next look at the queue starts another, which goes on with what it
finds: it watches jobs that run, tries jobs again whose worker died, and enters jobs that are queued in their folders only. It ends when the
queue has been empty for a while.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from frozenlab.base.errors import LabError
from frozenlab.jobs.disk import NOTHING, check_room
from frozenlab.jobs.environment import NICENESS, begin_worker, worker_command, worker_environment
from frozenlab.jobs.imported import refuse_foreign
from frozenlab.jobs.job import KINDS, STOP_FILE
from frozenlab.jobs.queue.db import FILLED, PAUSED, QueueDB, QueuedJob, QueueError, Revision
from frozenlab.jobs.queue.notify import notify_alarm, notify_end
from frozenlab.jobs.queue.schedule import decide, free_cards, machine
from frozenlab.jobs.queue.watch import holds_lock, recovered
from frozenlab.jobs.state import (
    Alarm,
    Status,
    WorkerState,
    as_observed,
    created,
    process_alive,
    read_state,
    store_state,
    stored_state,
    worker_alive,
)

TICK = 0.2
"""Seconds between looks at the workers and at changes of the queue."""
LOOK = 2.0
"""Seconds between looks at the queue if it seems unchanged."""
PATIENCE = 20.0
"""Seconds that an empty queue is watched before the dispatcher ends."""
TRIES = 3
"""Workers that may die on a job without getting further, before it is given up."""
FURTHER = 0.01
"""Progress by which a worker has got further than those that died before."""
PAUSE = 2.0
"""Seconds before a job whose worker died is tried again; twice as long before the next try."""


class Dispatcher:
    """Holds the queue of this machine in the sessions folder ``root``; the caller holds the lock."""

    def __init__(self, root: Path) -> None:
        self.root, self.db = root, QueueDB(root)
        self.workers: dict[str, tuple[int, float]] = {}
        """Pid and creation time of those that this process has started, by the folder of their job."""
        self.seen: Revision = None
        self.looked = 0.0
        self.busy = time.monotonic()
        self.silent: set[str] = set()
        """Folders of the running jobs whose worker is silent."""

    def run(self) -> None:
        """Until the queue has been empty for a while, or the folder or its lock is gone."""
        self.recover()
        while holds_lock(self.root) and time.monotonic() - self.busy < PATIENCE:
            try:
                self.look()
            except QueueError as error:  # a damaged file has been replaced by a new one
                print(error, file=sys.stderr, flush=True)
                self.seen = None
            time.sleep(TICK)

    def recover(self) -> None:
        """Enter the jobs that are queued or run on this machine by their folders only."""
        known = {job.folder for job in self.db.jobs()}
        for job in recovered(self.root, known):
            self.db.add_missing(job)
        self.db.set_fact(FILLED, True)

    def look(self) -> None:
        """Deal with workers that have ended, then start those for which there is room."""
        ended = not all(process_alive(*worker) for worker in self.workers.values())
        unchanged = self.seen is not None and self.db.revision() == self.seen
        if unchanged and not ended and time.monotonic() - self.looked < LOOK:
            return
        if not self.db.fact(FILLED):  # the file was deleted, damaged or emptied
            self.recover()
        self.seen, self.looked = self.db.revision(), time.monotonic()
        jobs = self.db.jobs()
        if jobs:
            self.busy = time.monotonic()
        for job in jobs:
            if job.running and not process_alive(job.pid, job.create_time):
                self.settle(job.path)
        self.notify_silent(jobs)
        self.start_some()

    def notify_silent(self, jobs: list[QueuedJob]) -> None:
        """Notify of workers that have become silent: of other alarms they notify themselves."""
        silent = {job.folder: job for job in jobs if job.running and read_state(job.path).status == "stalled"}
        for folder in silent.keys() - self.silent:
            job, alarm = silent[folder], Alarm(rule="stalled", evidence="The worker lives but is silent.")
            notify_alarm(job.path, job.kind, job.title, alarm, "It may be swapping; stop it if it does not come back.")
        self.silent = {*silent}

    # --- a worker has ended --------------------------------------------------------------------------------------------

    def settle(self, folder: Path) -> None:
        """Decide what becomes of a job whose worker has ended: it leaves the queue, waits again, or has another worker."""
        self.workers.pop(str(folder), None)
        with self.db.hold():
            job = self.db.job(folder)
            if job is None or not job.running or process_alive(job.pid, job.create_time):
                return
            state = stored_state(folder)  # read after the worker has ended
            if state is None:
                self.db.remove(job.folder)
                return
            spent = job.spent + max(0.0, (state.finished or state.heartbeat or time.time()) - job.began)
            if state.status == "done":
                self.end(job, state, "done", spent)
            elif job.wish == "again" or (job.wish == "aside" and state.status == "stopped"):
                self.wait_again(job, state, spent)
            elif state.status not in ("queued", "running"):
                self.end(job, state, state.status, spent)
            elif state.pid and state.pid != job.pid and worker_alive(state):  # it outlived its dispatcher, or is on another machine
                self.follow(job, state)
            elif job.in_terminal:
                self.db.remove(job.folder)
            elif job.wish == "aside":
                self.wait_again(job, state, spent)
            elif job.wish == "stop" or (folder / STOP_FILE).exists():
                self.end(job, state, "stopped", spent)
            else:
                self.try_again(job, state, spent)

    def follow(self, job: QueuedJob, state: WorkerState) -> None:
        """Watch the worker that now has the job."""
        if state.elsewhere:
            self.db.remove(job.folder)
        else:
            self.db.change(job.folder, running=True, pid=state.pid, create_time=state.create_time or 0.0, began=time.time())

    def try_again(self, job: QueuedJob, state: WorkerState, spent: float) -> None:
        """Its worker died. A part of a study or contest is left to that."""
        tries = 1 if state.progress > job.furthest + FURTHER else job.tries + 1
        if job.parent or tries >= TRIES:
            why = "its worker died" if job.parent else f"its worker died {tries} times at the same place"
            state.error = f"{why}; the end of worker.log may say why"
            self.end(job, state, "crashed", spent)
        else:
            wait = time.time() + PAUSE * 2 ** (tries - 1)
            self.wait_again(job, state, spent, tries=tries, furthest=max(state.progress, job.furthest), not_before=wait)

    def wait_again(self, job: QueuedJob, state: WorkerState, spent: float, **values: Any) -> None:
        """Back into the queue, at its old place."""
        (job.path / STOP_FILE).unlink(missing_ok=True)
        store_state(job.path, state.queued())
        self.db.change(job.folder, running=False, wish="", pid=0, cards="", spent=spent, **values)

    def end(self, job: QueuedJob, state: WorkerState, status: Status, spent: float) -> None:
        """Out of the queue."""
        if state.status != status:
            store_state(job.path, state.model_copy(update={"status": status, "finished": time.time(), "seconds_left": None}))
        when = state.finished if state.status == status and state.finished else time.time()  # as the job's own page says
        ended = job.as_ended(status, when, spent)
        if self.db.remove(job.folder, ended) and not job.parent and not job.in_terminal:
            notify_end(ended)

    # --- starting workers ----------------------------------------------------------------------------------------------

    def start_some(self) -> None:
        jobs = self.db.jobs()
        decided = decide(jobs, machine(), time.time(), self.db.fact(PAUSED))
        for job, by in decided.make_room:
            if self.db.change(job.folder, wish="aside", moved_by=by.title):
                (job.path / STOP_FILE).touch()
        for job in decided.begin:
            self.start(job)

    def start(self, job: QueuedJob) -> None:
        """Start the job's worker, if its folder still says that it waits."""
        with self.db.hold():
            if not self.may_start(job.path):
                return
            cards = free_cards(self.db.jobs(), job.gpus)
            self.db.change(job.folder, running=True, wish="", pid=0, began=time.time(), cards=cards)
        pid = begin_worker(worker_command(job.kind, job.path), job.path, self.environment(job, cards))
        began = created(pid)
        self.workers[job.folder] = pid, began
        self.db.change(job.folder, pid=pid, create_time=began)

    def may_start(self, folder: Path) -> bool:
        """Whether the job waits and can be started. One that no longer waits is taken out."""
        job, state = self.db.job(folder), stored_state(folder)
        if job is None or job.running or job.paused:
            return False
        seen = state and as_observed(state)
        if state is None or seen is None or not (folder / KINDS[job.kind].task).is_file():
            self.db.remove(job.folder)
        elif seen.status in ("running", "stalled"):
            self.follow(job, state)
        elif seen.elsewhere or seen.status not in ("queued", "crashed"):
            self.db.remove(job.folder)
        elif why := self.obstacle(folder):
            self.end(job, state.model_copy(update={"error": why}), "failed", job.spent)
        else:
            return True
        return False

    def obstacle(self, folder: Path) -> str | None:
        """Why a job cannot be started here; None if it can."""
        try:
            refuse_foreign(folder)
            check_room(folder, NOTHING, "anything new")
        except LabError as error:
            return str(error)
        return None

    def environment(self, job: QueuedJob, cards: str) -> dict[str, str]:
        """Of the worker, which itself finds out whether it may use the hub."""
        own = {"FROZENLAB_SESSIONS": str(self.root)}
        own |= {NICENESS: "0"} if job.urgent else {}
        own |= {"CUDA_VISIBLE_DEVICES": cards} if cards else {}
        return worker_environment(online=True) | own
