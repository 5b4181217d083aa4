"""Disturbs jobs, and checks that they still end with the same result.

A session (two stages of twelve steps, so that checkpoints fall into the middle of both), a study (two arms of a short session, whose
workers the queue of the machine starts), a replay (three engineers are asked three times about a short session) and a fork (a short session
with another engineer after its first stage) are run once undisturbed. Then others like them are killed, run on a full disk or damaged, and
resumed until they end: bit by bit as the undisturbed one, or with the file named that is to be mended. ``python -m tests.faults`` does all
of it and prints a table; ``test_faults.py`` does a few of each.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from multiprocessing import forkserver
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd

from frozenlab.base.errors import LabError
from frozenlab.base.files import write_text
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import arms_of_engineers, task_for
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.state import worker_alive
from frozenlab.models.folders import weights_file
from frozenlab.session.health.alerts import of_worker
from frozenlab.session.session import Session, SessionError, problems_of
from frozenlab.session.store import SessionStore
from tests.builders import SEALED, short_spec
from tests.faults.disturbed import FORKED, Order, work
from tests.running import end_queue
from tests.studies.builders import small_study

DISK = {"session": 80 * 2**20, "study": 250 * 2**20, "replay": 250 * 2**20}
"""Bytes of the disk that is filled, by the kind of job."""
KEPT = ("worker.log", ".worker.lock", ".reserve")
"""Files that may be there or not."""


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["frozenlab.session.loop"])
"""Forks the workers from a process that has loaded the loop, so that a kill costs no import."""


@dataclass(frozen=True)
class Outcome:
    """What became of one disturbed job."""

    kind: str
    what: str
    end: str
    """``equal``, ``named`` (what is to be mended), or what went wrong."""

    @property
    def good(self) -> bool:
        return self.end == "equal" or self.end.startswith("named")


def differences(session: Session, reference: Session) -> list[str]:
    """In what a session that came to its end differs from the undisturbed one; what it left lying about; and its problems."""
    found = [] if (status := session.state().status) == "done" else [f"it is {status}: {session.state().error}"]

    def compare(name: str, mine: Any, theirs: Any) -> None:
        same = mine is not None and mine.equals(theirs) if isinstance(theirs, pd.DataFrame) else mine == theirs
        if not same:
            found.append(name)

    for stage in (None, *range(reference.spec.stages)):
        compare(f"validation {stage}", session.validation(stage), reference.validation(stage))
        compare(f"test {stage}", session.test(stage), reference.test(stage))
        compare(f"environment {stage}", session.environment(stage), reference.environment(stage))
        compare(f"context {stage}", session.context(stage), reference.context(stage))
        compare(f"proposal {stage}", timeless(session.proposal(stage)), timeless(reference.proposal(stage)))
        if stage is None:
            continue
        mine, theirs = (weights_file(each.stage_dir(stage) / "policy") for each in (session, reference))
        compare(f"weights {stage}", mine and mine.read_bytes(), theirs and theirs.read_bytes())
        compare(f"completions {stage}", session.completions(stage), reference.completions(stage))
        figures = [each.metrics(stage).drop(columns="seconds", errors="ignore") for each in (session, reference)]
        compare(f"metrics {stage}", *figures)
    compare("rates", session.state().rates, reference.state().rates)
    names = {str(path.relative_to(reference.dir)) for path in reference.dir.rglob("*")}
    left = sorted({str(path.relative_to(session.dir)) for path in session.dir.rglob("*")} - names)
    return found + [f"left behind: {name}" for name in left] + problems_of(session)


def timeless(record: Any) -> Any:
    """A proposal but for the seconds that its answers took."""
    return record and record.model_copy(
        update={"attempts": tuple(attempt.model_copy(update={"seconds": 0.0}) for attempt in record.attempts)}
    )


class Bench:
    """Jobs that are not disturbed, each run once when it is first needed, and what disturbs others like them."""

    def __init__(self, folder: Path) -> None:
        self.root, self.copies = folder, 0
        self.whole: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        self.moments: dict[str, Session] = {}
        self.listing = folder / "acts"
        with patch.dict(os.environ, worker_environment() | {"OMP_NUM_THREADS": "1"}):
            forkserver.ensure_running()

    def run(self, job: Any, order: Order | None = None) -> int:
        """The exit status of the job's worker, -9 if it was killed."""
        order = replace(order or Order(), folder=str(job.dir))
        worker, began = FORKS.Process(target=work, args=(order,)), time.monotonic()
        worker.start()
        worker.join(order.kill_after)
        if worker.is_alive():
            worker.kill()
        worker.join()
        self.took = time.monotonic() - began
        return worker.exitcode

    @cached_property
    def short(self) -> Session:
        """The trained session that studies, replays and forks are about."""
        session = SessionStore(self.root).create(short_spec(**SEALED), "short")
        assert self.run(session) == 0, session.state().error
        return session

    @cached_property
    def acts(self) -> list[str]:
        """What a session does at the end of its first stage, as :class:`Order` counts it."""
        self.reference("session")
        return self.listing.read_text().splitlines()

    @property
    def points(self) -> list[int]:
        """The numbers of the acts at which sessions are killed: of several fsyncs in a row the first; nothing changes between them."""
        synced = [what.startswith("fsync") for what in self.acts]
        return [number for number, again in enumerate(synced) if not (number and again and synced[number - 1])]

    def reference(self, kind: str) -> Any:
        """The job of this kind that is not disturbed."""
        if kind not in self.whole:
            job = self.fresh(kind)
            order = Order(job=kind, at_end=kind == "session", listing=str(self.listing))
            assert self.run(job, order) == 0, job.state().error
            self.seconds[kind] = self.took
            if kind == "fork":
                job = Session(job.dir.with_name(FORKED))
                assert self.run(job) == 0, job.state().error
            self.whole[kind] = job
        return self.whole[kind]

    def fresh(self, kind: str, root: Path | None = None) -> Any:
        """A job of this kind that has not begun, in a sessions folder of its own; for a fork, the session that is to be forked."""
        self.copies += 1
        store = SessionStore((root or self.root) / f"case-{self.copies}")
        if kind == "session":
            return store.create(short_spec(steps=12, **SEALED), "tiny")
        session = Session(Path(shutil.copytree(self.short.dir, store.root / "whole")))
        if kind == "study":
            study = Study.create(small_study("policy", "rules", seeds=(0,), **SEALED), store, "study")
            write_text(study.dir / "run.json", RunSettings(jobs=2).model_dump_json())
            return study
        if kind == "replay":
            arms = arms_of_engineers(map(engineer_of, ("policy", "random", "rules")), "policy")
            return Replay.create(task_for(session, 0, arms, "engineers", samples=3), store, "replay")
        return session

    def at(self, kind: str, moment: str) -> Any:
        """A job as its worker left it that was killed at ``moment``. For sessions the worker runs once, and its folder is copied."""
        if kind != "session":
            job = self.fresh(kind)
            assert self.run(job, Order(job=kind, at=moment, nth=1)) == -9
            end_orphans(job)
            return job
        if moment not in self.moments:
            self.moments[moment] = self.fresh(kind)
            assert self.run(self.moments[moment], Order(at=moment)) == -9
        self.copies += 1
        return Session(Path(shutil.copytree(self.moments[moment].dir, self.root / f"case-{self.copies}" / "tiny")))

    # --- ends --------------------------------------------------------------------------------------------------------

    def ends(self, kind: str, job: Any) -> str:
        """Resumed until it ends: ``equal``, ``named`` with what is to be mended, or what differs."""
        whole = self.reference(kind)
        try:
            if kind == "fork":
                store = SessionStore(job.dir.parent)
                if not (store.root / FORKED).exists():
                    assert self.run(job, Order(job="fork")) == 0
                store.listed(), store.sessions()
                job, kind = store.open(FORKED), "session"
            status = self.run(job, Order(job=kind))
            job = type(job)(job.dir)
            if status != 0:
                return f"exit status {status}: {job.state().error}"
            return "; ".join(self.differs(job, whole)) or "equal"
        except LabError as error:
            return f"named: {error}"

    def differs(self, job: Any, whole: Any) -> list[str]:
        """In what a job that came to its end differs from the undisturbed one."""
        if isinstance(job, Session):
            return differences(job, whole)
        found = [] if (status := job.state().status) == "done" else [f"it is {status}"]
        if isinstance(job, Replay):
            mine, theirs = ([(one.arm, one.sample, timeless(one.record), one.checked) for one in each.answers()] for each in (job, whole))
            found += [] if mine == theirs else [f"answers: {len(mine)} of {len(theirs)}"]
        if isinstance(job, Study):
            for (cell, mine), (_, theirs) in zip(job.finished(), whole.finished(), strict=True):
                found += [f"{cell.id}: {difference}" for difference in differences(mine, theirs)]
            mine_report, their_report = (figures(each.dir / "report" / "report.json") for each in (job, whole))
            other = {name for name in mine_report | their_report if mine_report.get(name) != their_report.get(name)}
            not_registered = other and other <= {"registered", "confirmatory"}
            found += ["the report says that registered.sha256 does not fit"] if not_registered else ["report"] if other else []
        return found + [f"left behind or missing: {name}" for name in sorted(names_in(job.dir) ^ names_in(whole.dir))]

    def done_with(self, job: Any, outcome: Outcome) -> Outcome:
        root = job.dir.parent if isinstance(job, Session) else job.root
        end_queue(root)
        if outcome.good:
            shutil.rmtree(root)
        return outcome

    # --- kills -------------------------------------------------------------------------------------------------------

    def killed_at_random(self, kind: str, number: int) -> Outcome:
        """SIGKILL of its worker at one to three moments."""
        self.reference(kind)
        draw, job, moments = random.Random(f"{kind}-{number}"), self.fresh(kind), []
        for _ in range(draw.randint(1, 3)):
            after = draw.uniform(0.02, 0.95) * self.seconds[kind]
            if self.run(job, Order(job=kind, kill_after=after)) != -9:
                break
            moments.append(f"{after:.1f} s")
        return self.done_with(job, Outcome(f"{kind}: SIGKILL at random", " + ".join(moments), self.ends(kind, job)))

    def killed_at(self, kind: str, at: str, nth: int) -> Outcome:
        """SIGKILL just before a call of the operating system, or after an event; of a session, at the end of its first stage."""
        job = self.at(kind, "event step/0/10") if kind == "session" else self.fresh(kind)
        status = self.run(job, Order(job=kind, at=at, nth=nth, at_end=kind == "session"))
        end = self.ends(kind, job) if status == -9 else f"it never came: exit status {status}"
        what = at or self.acts[nth].replace(str(self.reference(kind).dir), "").replace("/stages/00/", "")
        return self.done_with(job, Outcome(f"{kind}: SIGKILL before a call", f"{what}, number {nth}", end))

    def workers_killed(self, number: int, with_runner: bool) -> Outcome:
        """All workers of a study's cells are killed, alone or together with the runner, as when the machine goes down."""
        self.reference("study")
        draw, study = random.Random(f"workers-{number}-{with_runner}"), self.fresh("study")
        after, killed = draw.uniform(0.05, 0.9) * self.seconds["study"], []

        def strike() -> None:
            time.sleep(after)
            pids = [study.state().pid] if with_runner else []
            pids += [session.state().pid for cell in study.cells if (session := study.session(cell)) and worker_alive(session.state())]
            for pid in filter(None, pids):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        thread = threading.Thread(target=strike)
        thread.start()
        status = self.run(study, Order(job="study"))
        thread.join()
        kind = "study: SIGKILL of all its workers" + (" and its runner" if with_runner else "")
        if not with_runner and status != 0:
            return Outcome(kind, f"{after:.1f} s", f"its runner did not start them again: {study.state().error}")
        return self.done_with(study, Outcome(kind, f"{after:.1f} s, {len(killed)} processes", self.ends("study", study)))

    # --- full disk ---------------------------------------------------------------------------------------------------

    def full_disk(self, disk: Path, kind: str, at: str, left: int) -> Outcome:
        """The disk fills up, is still full at a resume, and has room again at the next."""
        job, messages = self.fresh(kind, disk), []
        for order in (Order(job=kind, at=at, fills=True, left=left), Order(job=kind)):
            status, state = self.run(job, order), type(job)(job.dir).state()
            words = ("disk is", "full") if kind == "session" else ("full",)
            if (status, state.status) != (1, "failed") or not all(word in (state.error or "") for word in words):
                messages.append(f"exit status {status}, {state.status}: {state.error}")
            if kind == "session" and [alert.rule for alert in of_worker(job) if "full" in alert.evidence] != ["failed"]:
                messages.append("no alarm says that the disk is full")
        (disk / "filler").unlink()
        end = self.ends(kind, job)
        return self.done_with(job, Outcome(f"{kind}: disk full", f"{at}, {left // 1024} KB left", "; ".join(messages) or end))

    # --- damage ------------------------------------------------------------------------------------------------------

    def damaged(self, kind: str, moment: str, file: str, how: str) -> Outcome:
        """A file is damaged while no worker runs, after one was killed at ``moment``."""
        job, what = self.at(kind, moment), f"{file} {how}"
        outcome = partial(Outcome, f"{kind}: damage at {moment}", what)
        if not (job.dir / file).is_file():
            return self.done_with(job, outcome("equal"))
        DAMAGES[how](job.dir / file)
        messages: list[str] = []
        if kind == "session":
            try:
                messages = problems_of(Session(job.dir))
                messages += [error] if (error := Session(job.dir).state().error) else []
            except SessionError as error:
                return self.done_with(job, outcome(f"named: {error}" if file in str(error) else f"not named: {error}"))
        end = self.ends(kind, job)
        if end != "equal" and not end.startswith("named") and any(Path(file).name in line for line in (*messages, end)):
            end = f"named: {end}"
        return self.done_with(job, outcome(end))

    def parent_damaged(self, file: str, how: str) -> Outcome:
        """A file of the parent is damaged before the fork is made: it is refused, or ends as that of the undamaged."""
        session = self.fresh("fork")
        DAMAGES[how](session.dir / file)
        try:
            status = self.run(session, Order(job="fork"))
            end = self.ends("fork", session) if status == 0 else f"named: refused, {file}"
            if end != "equal" and file in end:
                end = f"named: {end}"
        except LabError as error:
            end = f"named: {error}"
        return self.done_with(session, Outcome("fork: damage of its parent", f"{file} {how}", end))


def names_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.name not in KEPT}


def figures(path: Path) -> Any:
    """A report without its times."""
    return {name: value for name, value in json.loads(path.read_text()).items() if name not in ("created", "seconds")}


def end_orphans(job: Any) -> None:
    """Kill the workers of a study's cells that outlived its runner."""
    sessions = [session for cell in job.cells if (session := job.session(cell)) is not None] if isinstance(job, Study) else []
    for state in (session.state() for session in sessions):
        if worker_alive(state) and state.pid is not None:
            os.kill(state.pid, signal.SIGKILL)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def another_config(file: Path) -> None:
    record = json.loads(file.read_text())
    for size in record["config"]["sizes"].values():
        size["hole_ratio"] = 0.33
    file.write_text(json.dumps(record))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "torn": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "gone": Path.unlink,
    "zeroed": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "a folder": a_folder,
    "without rows": lambda file: pd.read_parquet(file).head(0).to_parquet(file),
    "without a column": lambda file: pd.read_parquet(file).drop(columns="size").to_parquet(file),
    "another config": another_config,
}


def damages(session: Session) -> list[tuple[str, str]]:
    """What is damaged of a session, and how: every file torn and gone, some in other ways too."""
    files = sorted(str(path.relative_to(session.dir)) for path in session.dir.rglob("*") if path.is_file() and path.name not in KEPT)
    cases = [(file, how) for file in files for how in ("torn", "gone")]
    cases += [(file, "zeroed") for file in files if file.endswith((".safetensors", "validation.parquet"))]
    cases += [(file, "a folder") for file in ("session.json", "state.json", "stages/00/proposal.json") if file in files]
    cases += [(file, how) for file in files if file.endswith("validation.parquet") for how in ("without rows", "without a column")]
    return cases + [(file, "another config") for file in files if file.endswith("environment.json")]


@contextmanager
def small_disk(folder: Path, kind: str) -> Iterator[Path]:
    """A disk of its own at ``folder`` for jobs of this kind. Raises OSError where this user may mount none."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK[kind]}", "none", str(folder)], capture_output=True, text=True)
    if mounted.returncode:
        raise OSError(f"no disk to fill: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # workers that were just killed may still have files open


def table(outcomes: Sequence[Outcome]) -> str:
    """One row a kind of disturbance, then each that came to a bad end."""
    lines = ["| disturbance | jobs | ended equal | named what to mend | neither |", "|---|---|---|---|---|"]
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        these = [outcome for outcome in outcomes if outcome.kind == kind]
        counts = [sum(outcome.end == "equal" for outcome in these), sum(outcome.end.startswith("named") for outcome in these)]
        lines.append(f"| {kind} | {len(these)} | {counts[0]} | {counts[1]} | {len(these) - sum(counts)} |")
    named = [f"{outcome.what}: {outcome.end}" for outcome in outcomes if outcome.end.startswith("named")]
    bad = [f"{outcome.kind}, {outcome.what}: {outcome.end}" for outcome in outcomes if not outcome.good]
    return "\n".join([*lines, *(f"\nNamed: {line}" for line in named), *(f"\nBAD: {line}" for line in bad)])
