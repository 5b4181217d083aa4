"""Disturbs studies, replays and forks as :mod:`tests.faults.harness` disturbs sessions, and checks that they end as the undisturbed one.

A study is two arms of a short session, whose workers the queue of the machine starts; a replay asks three engineers three times about it; a
fork is the same session with another engineer after its first stage. All are made once; then others are killed at random moments, alone or
with all their workers, and before calls of the operating system, run on a full disk and damaged, and resumed until they end.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.base.errors import LabError
from frozenlab.base.files import write_text
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.replays.arms import arms_of_engineers
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import task_for
from frozenlab.experiments.studies.grid import Arm
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.state import worker_alive
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.faults.harness import DAMAGES, Outcome, Zygote, differences, timeless, tiny_spec
from tests.faults.zygote import FORKED, Order
from tests.running import end_queue

KINDS = ("study", "replay", "fork")


def short_spec() -> SessionSpec:
    spec = tiny_spec()
    return spec.changed(title="short", training=spec.training.model_copy(update={"steps": 3}))


def small_study() -> StudySpec:
    return engineers_study(session=short_spec()).model_copy(
        update={"arms": (Arm(name="policy", engineer="policy"), Arm(name="rules", engineer="rules")), "seeds": (0,)}
    )


class Case(NamedTuple):
    """A disturbance, and what of a job it is done to."""

    kind: str
    how: str
    run: Callable[[JobBench], Outcome]


class JobBench:
    """The undisturbed jobs, and what disturbs others like them."""

    def __init__(self, folder: Path, zygote: Zygote | None = None, kinds: Sequence[str] = KINDS) -> None:
        self.root, self.zygote, self.copies = folder, zygote or Zygote(), 0
        self.store = SessionStore(folder / "sessions")
        self.session = self.store.create(short_spec(), "whole")
        assert self.zygote.run(self.session) == 0, self.session.state().error
        self.seconds: dict[str, float] = {}
        self.whole: dict[str, Any] = {}
        for kind in kinds:
            self.make_reference(kind)

    def make_reference(self, kind: str) -> None:
        store, job = self.fresh(kind)
        assert self.zygote.run(job, Order("", job=kind)) == 0, job.state().error
        self.seconds[kind] = self.zygote.seconds
        if kind == "fork":
            job = Session(store.root / FORKED)
            assert self.zygote.run(job) == 0, job.state().error
        self.whole[kind] = job

    def fresh(self, kind: str, root: Path | None = None) -> tuple[SessionStore, Any]:
        """A sessions folder of its own with the session, and a job of this kind that has not begun; for a fork, the session."""
        self.copies += 1
        store = SessionStore((root or self.root) / f"case-{self.copies}")
        store.root.mkdir()
        shutil.copytree(self.session.dir, store.root / "whole")
        session = Session(store.root / "whole")
        if kind == "study":
            study = Study.create(small_study(), store, "study")
            write_text(study.dir / "run.json", RunSettings(jobs=2).model_dump_json())
            return store, study
        if kind == "replay":
            arms = arms_of_engineers(map(engineer_of, ("policy", "random", "rules")), "policy")
            return store, Replay.create(task_for(session, 0, arms, "engineers", samples=3), store, "replay")
        return store, session

    # --- ends --------------------------------------------------------------------------------------------------------

    def ends(self, kind: str, store: SessionStore, job: Any) -> str:
        """Resumed until it ends: ``equal``, ``named`` with what is to be mended, or what differs."""
        try:
            if kind == "fork":
                if not (store.root / FORKED).exists():
                    assert self.zygote.run(job, Order("", job="fork")) == 0
                store.listed(), store.sessions()
                job, kind = store.open(FORKED), "session"
            status = self.zygote.run(job, Order("", job=kind))
            job = type(job)(job.dir)
            if status != 0:
                return f"exit status {status}: {job.state().error}"
            return "; ".join(self.differs(job)) or "equal"
        except LabError as error:
            return f"named: {error}"

    def differs(self, job: Any) -> list[str]:
        """In what a job that came to its end differs from the undisturbed one."""
        if isinstance(job, Session):
            return differences(job, self.whole["fork"])
        whole, found = self.whole[job.kind], [] if (status := job.state().status) == "done" else [f"it is {status}"]
        if isinstance(job, Replay):
            mine, theirs = ([(one.arm, one.sample, timeless(one.record), one.checked) for one in each.answers()] for each in (job, whole))
            found += [] if mine == theirs else [f"answers: {len(mine)} of {len(theirs)}"]
        if isinstance(job, Study):
            for (cell, mine), (_, theirs) in zip(job.finished(), whole.finished(), strict=True):
                found += [f"{cell.id}: {difference}" for difference in differences(mine, theirs)]
            mine_report, their_report = (figures(each.dir / "report" / "report.json") for each in (job, whole))
            told = {name for name in mine_report | their_report if mine_report.get(name) != their_report.get(name)}
            not_registered = told and told <= {"registered", "confirmatory"}
            found += ["the report says that registered.sha256 does not fit"] if not_registered else ["report"] if told else []
        left = {name for name in names_in(job.dir) ^ names_in(whole.dir)}
        return found + [f"left behind or missing: {name}" for name in sorted(left)]

    # --- disturbances ------------------------------------------------------------------------------------------------

    def killed_at_random(self, kind: str, number: int) -> Outcome:
        """SIGKILL of its worker at one to three moments."""
        draw, (store, job) = random.Random(f"{kind}-{number}"), self.fresh(kind)
        moments = []
        for _ in range(draw.randint(1, 3)):
            after = draw.uniform(0.02, 0.95) * self.seconds[kind]
            if self.zygote.run(job, Order("", job=kind, kill_after=after)) != -9:
                break
            moments.append(f"{after:.1f} s")
        return self.done_with(store, Outcome(f"{kind}: SIGKILL at random", " + ".join(moments), self.ends(kind, store, job)))

    def workers_killed(self, number: int, with_runner: bool) -> Outcome:
        """All workers of a study's cells are killed, alone or together with the runner, as when the machine goes down."""
        draw, (store, study) = random.Random(f"workers-{number}-{with_runner}"), self.fresh("study")
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
        status = self.zygote.run(study, Order("", job="study"))
        thread.join()
        kind = "study: SIGKILL of all its workers" + (" and its runner" if with_runner else "")
        if not with_runner and status != 0:
            return Outcome(kind, f"{after:.1f} s", f"its runner did not start them again: {study.state().error}")
        return self.done_with(store, Outcome(kind, f"{after:.1f} s, {len(killed)} processes", self.ends("study", store, study)))

    def killed_at_call(self, kind: str, at: str, nth: int) -> Outcome:
        """SIGKILL just before a call of the operating system."""
        store, job = self.fresh(kind)
        status = self.zygote.run(job, Order("", job=kind, at=at, nth=nth))
        end = self.ends(kind, store, job) if status == -9 else f"the call never came: exit status {status}"
        return self.done_with(store, Outcome(f"{kind}: SIGKILL before a call", f"{at}, number {nth}", end))

    def full_disk(self, disk: Path, kind: str, at: str, left: int) -> Outcome:
        """The disk fills up, is still full at a resume, and has room again at the next."""
        store, job = self.fresh(kind, disk)
        messages = []
        for order in (Order("", job=kind, at=at, fills=True, left=left), Order("", job=kind)):
            status, state = self.zygote.run(job, order), type(job)(job.dir).state()
            if (status, state.status) != (1, "failed") or "full" not in (state.error or ""):
                messages.append(f"exit status {status}, {state.status}: {state.error}")
        (disk / "filler").unlink()
        end = self.ends(kind, store, job)
        return self.done_with(store, Outcome(f"{kind}: disk full", f"{at}, {left // 1024} KB left", "; ".join(messages) or end))

    def damaged(self, kind: str, file: str, how: str) -> Outcome:
        """A file is damaged while no worker runs, in the middle of the job."""
        store, job = self.fresh(kind)
        assert self.zygote.run(job, replace(MIDDLE[kind], job=kind)) == -9
        end_orphans(job)
        if not (path := job.dir / file).is_file():
            return self.done_with(store, Outcome(f"{kind}: damage", f"{file} {how}", "equal"))
        DAMAGES[how](path)
        end = self.ends(kind, store, job)
        if end != "equal" and Path(file).name in end:
            end = end if end.startswith("named") else f"named: {end}"
        return self.done_with(store, Outcome(f"{kind}: damage", f"{file} {how}", end))

    def parent_damaged(self, file: str, how: str) -> Outcome:
        """A file of the parent is damaged before the fork is made: it is refused, or ends as that of the undamaged."""
        store, session = self.fresh("fork")
        DAMAGES[how](session.dir / file)
        try:
            status = self.zygote.run(session, Order("", job="fork"))
            end = self.ends("fork", store, session) if status == 0 else f"named: refused, {file}"
            if end != "equal" and file in end:
                end = f"named: {end}"
        except LabError as error:
            end = f"named: {error}"
        return self.done_with(store, Outcome("fork: damage of its parent", f"{file} {how}", end))

    def done_with(self, store: SessionStore, outcome: Outcome) -> Outcome:
        end_queue(store.root)
        if outcome.good:
            shutil.rmtree(store.root)
        return outcome


MIDDLE = {
    "study": Order("", at="rename", nth=1),
    "replay": Order("", at="answers.parquet", nth=1),
}
"""Where a job is killed that is damaged then."""


def names_in(folder: Path) -> set[str]:
    kept = ("worker.log", ".worker.lock", ".reserve")
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.name not in kept}


def figures(path: Path) -> Any:
    """A report without its times."""
    report = json.loads(path.read_text())
    return {name: value for name, value in report.items() if name not in ("created", "seconds")}


def end_orphans(job: Any) -> None:
    """Kills the workers of a study's cells that outlived its runner."""
    sessions = [session for cell in job.cells if (session := job.session(cell)) is not None] if isinstance(job, Study) else []
    for state in (session.state() for session in sessions):
        if worker_alive(state) and state.pid is not None:
            os.kill(state.pid, signal.SIGKILL)


def cases(kills: int) -> list[Case]:
    """Every disturbance that needs no disk of its own."""
    found = [Case(kind, "random", lambda b, k=kind, n=n: b.killed_at_random(k, n)) for kind in KINDS for n in range(kills)]
    found += [Case("study", "random", lambda b, n=n, w=w: b.workers_killed(n, w)) for w in (False, True) for n in range(kills // 2)]
    found += [Case(kind, "calls", lambda b, k=kind, a=at, n=n: b.killed_at_call(k, a, n)) for kind, at, n in CALLS]
    for kind, files in FILES.items():
        for file in files:
            found += [
                Case(kind, "damage", lambda b, k=kind, f=file, h=how: b.damaged(k, f, h)) for how in ("torn", "gone", "zeroed", "a folder")
            ]
    found += [Case("fork", "damage", lambda b, f=file, h=how: b.parent_damaged(f, h)) for file in PARENT for how in ("torn", "gone")]
    return found


CALLS = (
    *(("study", at, 0) for at in (
        "registered.sha256", "rename", "session.json", "boards.parquet", "arms.csv", "effects.csv", "report.html", "report.json",
        "fsync", "unlink",
    )),
    ("study", "rename", 1),
    *(("replay", "answers.parquet", n) for n in range(4)),
    *(("replay", "state.json", n) for n in (0, 1, 3, 6)),
    *(("replay", "fsync", n) for n in (0, 2, 5)),
    *(("fork", at, n) for at in ("mkdir", "link", "replace", "fsync") for n in (0, 1, 2)),
    ("fork", "rename", 0),
)  # fmt: skip
"""Kind, part of a call, which of them."""
FULL = (("replay", "answers.parquet", 0), ("replay", "state.json", 8 * 1024), ("study", "rename", 2**20), ("study", "boards.parquet", 0))
"""Kind, the call at which the disk is filled, bytes that are left."""
FILES = {
    "study": ("study.json", "state.json", "run.json", "registered.sha256", "cells/policy-s0/session.json", "cells/policy-s0/state.json",
              "cells/policy-s0/baseline/validation.parquet", "cells/policy-s0/baseline/environment.json"),
    "replay": ("task.json", "state.json", "answers.parquet"),
}  # fmt: skip
PARENT = (
    "session.json", "state.json", "baseline/validation.parquet", "baseline/proposal.json", "stages/00/environment.json",
    "stages/00/validation.parquet", "stages/00/metrics.jsonl", "stages/00/completions.parquet", "stages/00/policy/model.safetensors",
    "stages/00/policy/optimizer.pt", "stages/00/policy/seal.json",
)  # fmt: skip
"""Files of the session that is forked after its first stage."""
