"""The runner of a study: one process that has every cell run to its end, some at a time, whatever happens to it or to them.

Run as ``python -m frozenlab.studies.runner FOLDER [--jobs N] [--cluster ADDRESS]``. All it knows lies in the study's folder, so a
runner that was killed is started again and goes on: cells that are done stay done, and workers that outlived it are waited for. A worker
that was killed is started again and takes its session up where it stood.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from frozenlab.files import open_to_append, write_text
from frozenlab.jobs.disk import free_reserve, in_words, reserve
from frozenlab.jobs.launcher import spawn
from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, State, Status, own_process
from frozenlab.loop.forks import beside, fork
from frozenlab.loop.soundness import refuse_links
from frozenlab.loop.store import STOP_FILE, Session
from frozenlab.studies.cluster import ClusterError, RayWorkers
from frozenlab.studies.report import report_of, save_report
from frozenlab.studies.store import Cell, Study

TRIES = 3
"""Starts of a cell's worker by one runner, before the cell is left as it is."""
POLL = 0.5
"""Seconds between looks at the cells."""
Standing = Literal["done", "live", "ready", "waiting", "failed"]
"""Of a cell: its session is done, has a worker, can be started, waits for the session that it forks from, or has been started in vain."""


class Workers(Protocol):
    """Where the workers of a study's sessions run."""

    def prepare(self) -> int:
        """Called once, before all else; returns how many there is room for at a time. Raises ClusterError if there is none."""

    def start(self, session: Session) -> None:
        """Has a worker take the session up."""

    def running(self, session: Session) -> bool:
        """Whether the session has a worker, or will have one that was started."""

    def stop(self, session: Session) -> None:
        """Asks the session's worker to stop at its next step."""


class LocalWorkers:
    """Processes of this machine; they outlive the runner."""

    def prepare(self) -> int:
        return os.cpu_count() or 1

    def start(self, session: Session) -> None:
        spawn(session)

    def running(self, session: Session) -> bool:
        return session.state().live

    def stop(self, session: Session) -> None:
        (session.dir / STOP_FILE).touch()


class Runner:
    """Starts, watches and starts again."""

    def __init__(self, study: Study, jobs: int | None = None, workers: Workers | None = None) -> None:
        """
        Args:
            jobs: cells that run at a time; None: as many as there is room for.
            workers: None: LocalWorkers.
        """
        self.study, self.jobs, self.workers = study, jobs, workers or LocalWorkers()
        self.starts: dict[str, int] = {}
        self.standing: dict[str, Standing] = {}
        self.parts: dict[str, float] = {}
        """How much of each cell is done."""
        patience = SLOW_STALLED_AFTER if study.spec.session.language else STALLED_AFTER
        fresh = {"patience": patience, "started": study.state().started or time.time(), "error": None}
        self.state = study.state().model_copy(update=own_process() | fresh)

    def run(self) -> int:
        """Until nothing is left to do; returns the exit status: 0 all cells are done, 1 some are not, 3 stopped."""
        self.look()
        self.write("running")
        try:
            room = self.workers.prepare()
        except ClusterError as error:
            self.state.error = str(error)
            self.write("failed")
            return 1
        while True:
            standing = self.look()
            self.write("running")
            if (self.study.dir / STOP_FILE).exists():
                return self.stop()
            live = sum(status == "live" for status in standing.values())
            waiting = [cell for cell in self.study.cells if standing[cell.id] == "ready"]
            if not live and not waiting:
                break
            for cell in waiting[: (self.jobs or room) - live]:
                self.start(cell)
            time.sleep(POLL)
        failed = [name for name, status in standing.items() if status != "done"]
        self.state.error = f"{len(failed)} cells are not done: {', '.join(failed)}" if failed else None
        if not failed:
            save_report(self.study.dir / "report", report_of(self.study), self.study.boards())
        self.write("failed" if failed else "done")
        return int(bool(failed))

    def look(self) -> dict[str, Standing]:
        """How each cell stands, by its id; a cell that is done is not looked at again."""
        for cell in self.study.cells:
            if self.standing.get(cell.id) != "done":
                session = self.study.session(cell)
                running = session is not None and self.workers.running(session)  # asked first: one that has ended has written its state
                state = session.state() if session else None
                self.standing[cell.id] = self.stands(cell, state, running)
                self.parts[cell.id] = state.progress if state else 0.0
        return self.standing

    def stands(self, cell: Cell, state: State | None, running: bool) -> Standing:
        """By the state of the cell's session, None before there is one, and whether it has a worker."""
        if state is not None and state.status == "done":
            return "done"
        if running:
            return "live"
        if self.starts.get(cell.id, 0) >= TRIES:
            return "failed"
        if state is not None or cell.arm == self.study.spec.arms[0]:
            return "ready"
        trunk = self.trunk(cell)
        if trunk is not None and trunk.results(None if self.study.spec.session.ask_first else 0) is not None:
            return "ready"
        return "failed" if self.standing.get(self.first(cell).id) == "failed" else "waiting"

    def first(self, cell: Cell) -> Cell:
        return Cell(self.study.spec.arms[0], cell.seed)

    def trunk(self, cell: Cell) -> Session | None:
        """The first arm's session of the same seed. With it all arms of the seed have in common what comes before the first proposal."""
        return self.study.session(self.first(cell))

    def start(self, cell: Cell) -> None:
        """Makes the cell's session, if there is none, and a worker for it."""
        session = self.study.session(cell)
        if session is None:
            spec = self.study.spec.spec_of(cell.arm, cell.seed)
            trunk = self.trunk(cell)
            if trunk is None:
                session = self.study.store.create(spec, cell.id)
            elif spec.ask_first:
                session = beside(trunk, self.study.store, cell.id, spec)
            else:
                session = fork(trunk, 0, self.study.store, cell.id, title=spec.title, **cell.arm.changes)
        self.starts[cell.id] = self.starts.get(cell.id, 0) + 1
        self.workers.start(session)

    def stop(self) -> int:
        """Asks all workers to stop, and waits for them."""
        live = [cell for cell in self.study.cells if self.standing[cell.id] == "live"]
        sessions = [session for cell in live if (session := self.study.session(cell)) is not None]
        for session in sessions:
            self.workers.stop(session)
        while any([self.workers.running(session) for session in sessions]):
            time.sleep(POLL)
        self.look()
        self.write("stopped")
        return 3

    def write(self, status: Status) -> None:
        """Replaces ``state.json``; every write is a heartbeat. A cell that runs counts as far as it is."""
        ended = status in ("done", "failed", "stopped")
        self.state.status, self.state.heartbeat = status, time.time()
        self.state.progress = sum(self.parts.values()) / len(self.study.cells)
        self.state.finished = time.time() if ended else None
        write_text(self.study.dir / "state.json", self.state.model_dump_json(indent=1))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, help="cells that run at a time (default: as many as there is room for)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of a Ray cluster that they run on (default: they run here)")
    options = parser.parse_args(arguments)
    refuse_links(options.folder.resolve())
    study = Study(options.folder.resolve())
    signal.signal(signal.SIGTERM, lambda *_: (study.dir / STOP_FILE).touch())
    held = study.dir / ".runner.lock"
    with open_to_append(held) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{study.id} has a runner already", file=sys.stderr)
            return 2
        workers = RayWorkers(study, options.cluster, held) if options.cluster else LocalWorkers()
        runner = Runner(study, options.jobs, workers)
        try:
            reserve(study.dir)
            return runner.run()
        except Exception as error:  # such as a full disk: pages tell it from the state
            runner.state.error = in_words(error, study.dir)
            free_reserve(study.dir)
            runner.write("failed")
            raise
        finally:
            free_reserve(study.dir)


if __name__ == "__main__":
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    sys.exit(main())
