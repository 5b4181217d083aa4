"""The runner of a study: runs every cell to its end, several at a time, and survives failures of its own and theirs.

All it knows lies in the study's folder, so a runner that was killed is started again and goes on: cells that are done stay done, and
workers that outlived it are waited for. A worker that was killed is started again and takes its session up where it stood.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from frozenlab.base.errors import LabError, Stopped
from frozenlab.experiments.studies.cluster import RayWorkers
from frozenlab.experiments.studies.grid import Cell
from frozenlab.experiments.studies.main_table import measure_finals
from frozenlab.experiments.studies.report import report_of, save_report
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.folders import clear_scratch
from frozenlab.jobs.job import Job
from frozenlab.jobs.machine import cores
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import LOCK_FILE
from frozenlab.session.forks import fork, sibling
from frozenlab.session.session import Session
from frozenlab.session.state import State

TRIES = 3
"""Starts of a cell's worker by one runner, before the cell is left as it is."""
POLL = 0.5
"""Seconds between checks of the cells."""
Standing = Literal["done", "live", "ready", "waiting", "failed"]
"""State of a cell: its session is done, has a worker, can be started, waits for another session (from which it forks, or whose configs it
gets), or could not be run."""


class LocalWorkers:
    """Runs the workers of a study's sessions in the queue of this machine; they outlive the runner."""

    def __init__(self, study: Job) -> None:
        self.study = study

    def prepare(self) -> int:
        """Called once, first. Returns how many workers fit at a time."""
        return cores()

    def start(self, session: Session) -> None:
        launcher.submit(session, parent=self.study)

    def running(self, session: Session) -> bool:
        """Whether the session has a worker or one is starting."""
        return launcher.held(session)

    def stop(self, session: Session) -> None:
        """Ask the session's worker to stop at its next step."""
        with suppress(launcher.LaunchError):  # it has just ended
            launcher.stop(session)


def work(recorder: JobRecorder[Study]) -> None:
    """Have all cells run to their end, here or on a Ray cluster. Raises CellsError, ClusterError and Stopped."""
    study, run = recorder.job, recorder.job.run
    workers = RayWorkers(study, run.cluster, study.dir / LOCK_FILE) if run.cluster else None
    Runner(recorder, run.jobs, workers).run()


class CellsError(LabError, RuntimeError):
    """Some cells of a study did not come to their end; the message says which."""


class Runner:
    """Starts, watches and restarts the workers of a study."""

    def __init__(self, recorder: JobRecorder[Study], jobs: int | None = None, workers: LocalWorkers | RayWorkers | None = None) -> None:
        """
        Args:
            jobs: cells to run at a time; None for as many as fit.
            workers: where the workers run; None for LocalWorkers.
        """
        self.recorder, self.study = recorder, recorder.job
        self.jobs, self.workers = jobs, workers or LocalWorkers(self.study)
        self.starts: dict[str, int] = {}
        self.standing: dict[str, Standing] = {}
        self.parts: dict[str, float] = {}
        """Progress of each cell, 0..1."""

    def run(self) -> None:
        """Run until nothing is left to do. Raises CellsError if a cell did not finish, ClusterError, and Stopped."""
        self.study.register()
        clear_scratch(self.study.sessions.root, 0)  # only the runner makes cells
        self.look()
        self.tell()
        room = self.workers.prepare()
        while True:
            standing = self.look()
            try:
                self.tell()
            except Stopped:
                self.stop()
                raise
            live = sum(status == "live" for status in standing.values())
            waiting = [cell for cell in self.study.cells if standing[cell.id] == "ready"]
            if not live and not waiting:
                break
            for cell in waiting[: (self.jobs or room) - live]:
                self.start(cell)
            time.sleep(POLL)
        failed = [name for name, status in standing.items() if status != "done"]
        if failed:
            raise CellsError(f"{len(failed)} cells are not done: {', '.join(failed)}{self.first_error()}")
        if self.study.spec.final_suite:
            measure_finals(self.study, lambda: self.recorder.tell(1.0))
        save_report(self.study.dir / "report", report_of(self.study), self.study.boards())

    def first_error(self) -> str:
        """Why the first cell that failed did, as a second sentence; empty if none of them says."""
        sessions = [session for cell in self.study.cells if (session := self.study.session(cell)) is not None]
        errors = [f"{session.id}: {state.error}" for session in sessions if (state := session.state()).status == "failed" and state.error]
        return f". {errors[0]}" if errors else ""

    def tell(self) -> None:
        """A cell that runs counts as far as it is. Raises Stopped if the study was asked to stop."""
        self.recorder.tell(sum(self.parts.values()) / len(self.study.cells))

    def look(self) -> dict[str, Standing]:
        """The state of each cell by its id. A cell that is done is not checked again."""
        for cell in self.study.cells:
            if self.standing.get(cell.id) != "done":
                session = self.study.session(cell)
                # checked first: a worker that has ended has written its state
                running = session is not None and self.workers.running(session)
                state = session.state() if session else None
                self.standing[cell.id] = self.stands(cell, state, running)
                self.parts[cell.id] = state.progress if state else 0.0
        for cell in self.study.cells:  # again, as what a cell waits for may stand after it
            if self.standing[cell.id] == "waiting":
                self.standing[cell.id] = self.stands(cell, None, False)
        return self.standing

    def stands(self, cell: Cell, state: State | None, running: bool) -> Standing:
        """The state of a cell, from its session's state (None before there is one) and whether it has a worker."""
        if state is not None and state.status == "done":
            return "done"
        if running:
            return "live"
        if self.starts.get(cell.id, 0) >= TRIES:
            return "failed"
        if state is not None or cell.arm == self.study.spec.arms[0]:
            return "ready"
        source = self.study.spec.source_of(cell)
        if source is not None and self.standing.get(source.id) != "done":
            return "failed" if self.standing.get(source.id) == "failed" else "waiting"
        trunk = self.trunk(cell)
        if trunk is not None and trunk.results(0 if self.study.spec.forks(cell.arm) else None) is not None:
            return "ready"
        return "failed" if self.standing.get(self.first(cell).id) == "failed" else "waiting"

    def first(self, cell: Cell) -> Cell:
        return replace(cell, arm=self.study.spec.arms[0])

    def trunk(self, cell: Cell) -> Session | None:
        """The first arm's session of the same student and seed, whose beginning the other arms share."""
        return self.study.session(self.first(cell))

    def start(self, cell: Cell) -> None:
        """Create the cell's session if there is none, and start a worker."""
        session = self.study.session(cell)
        if session is None:
            source = self.study.spec.source_of(cell)
            spec = self.study.spec.spec_of(cell.arm, cell.seed, cell.student, self.study.trained_on(source) if source else ())
            trunk = self.trunk(cell)
            if trunk is None:
                session = self.study.sessions.create(spec, cell.id)
            elif not self.study.spec.forks(cell.arm):
                session = sibling(trunk, self.study.sessions, cell.id, spec)
            else:
                changes = {name: getattr(spec, name) for name in ("engineer", "sections", "guard")}
                session = fork(trunk, 0, self.study.sessions, cell.id, title=spec.title, **changes)
        self.starts[cell.id] = self.starts.get(cell.id, 0) + 1
        self.workers.start(session)

    def stop(self) -> None:
        """Ask all workers to stop, and wait for them."""
        live = [cell for cell in self.study.cells if self.standing[cell.id] == "live"]
        sessions = [session for cell in live if (session := self.study.session(cell)) is not None]
        for session in sessions:
            self.workers.stop(session)
        while any([self.workers.running(session) for session in sessions]):
            time.sleep(POLL)
        self.look()
