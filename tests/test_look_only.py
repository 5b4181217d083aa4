"""A process that only looks: whatever a message asks of it, nothing is written, started, stopped or deleted but what visitors hand in."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from frozenlab.app.design import drafts
from frozenlab.app.learn import records
from frozenlab.app.present import scenes
from frozenlab.base import files, look_only
from frozenlab.base.look_only import LookOnlyError
from frozenlab.engineer import hosts
from frozenlab.experiments.bundles.found import find
from frozenlab.experiments.bundles.reading import opened
from frozenlab.experiments.bundles.writing import export
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import Entry, task_against, teachable
from frozenlab.experiments.shelf import housekeeping, shelf
from frozenlab.experiments.students.store import hide
from frozenlab.jobs import launcher
from frozenlab.jobs.imported import IMPORTED_FILE, Imported, make_own
from frozenlab.jobs.queue.db import QueueDB
from frozenlab.jobs.queue.look import look
from frozenlab.jobs.state import own_process
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session import launch
from frozenlab.session.catalog import Labels
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.contests.builders import CONFIG, tiny_contest
from tests.planted import planted


class Lab(NamedTuple):
    """A sessions folder with a session in every state, a contest and a bundle."""

    store: SessionStore
    done: Session
    runs: Session
    halted: Session
    waits: Session
    asks: Session
    contest: Contest
    bundle: Path


@pytest.fixture
def started() -> list[Path]:
    """The sessions folders whose dispatcher was started; it grows."""
    return []


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Path]) -> Iterator[Lab]:
    """The lab, in a process that only looks from now on."""
    root = tmp_path / "sessions"
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(root))
    monkeypatch.setattr(launcher, "wake", started.append)
    store, spec = SessionStore(root), small_spec(stages=2, sizes=(3, 4), boards_per_size=4)
    done, runs = build_session(root, spec, "done"), build_session(root, spec, "runs", finished_stages=1)
    halted, asks = (build_session(root, spec.changed(engineer="human"), name, finished_stages=1) for name in ("halted", "asks"))
    put(runs, status="running", heartbeat=time.time(), **own_process())
    put(halted, status="stopped")
    put(asks, status="waiting", phase="proposing")
    waits, contest = store.create(spec, "waits"), tiny_contest(store)
    planted(store, "never-saw-5", ("5",))
    put(contest, status="done")
    launcher.submit(waits)
    shelf.delete(store.create(spec, "gone"), store)
    mark = Imported(file="a.zip", sha256="0" * 64, id="theirs", frozenlab="0.1", time=0)
    files.write_text(store.create(spec, "theirs").dir / IMPORTED_FILE, mark.model_dump_json())
    bundle = tmp_path / "bundle.zip"
    export([find("done", store)], bundle)
    started.clear()
    look_only.begin(tmp_path / "cache")
    yield Lab(store, done, runs, halted, waits, asks, contest, bundle)
    look_only._looks = False


def put(job: Session | Contest, **fields: object) -> None:
    state = job.state()
    files.write_text(job.dir / "state.json", state.model_validate(state.model_dump() | fields).model_dump_json())


def contents(folder: Path) -> dict[str, str]:
    found = (path for path in sorted(folder.rglob("*")))
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in found}


def take_in(lab: Lab) -> None:
    with opened(lab.bundle, lab.store):
        pass


REFUSED: dict[str, Callable[[Lab], object]] = {
    "start": lambda lab: launch.start(lab.done.spec, lab.store),
    "start in a terminal": lambda lab: launch.start(lab.done.spec, lab.store, here=True),
    "start past the queue": lambda lab: launcher.launch(lab.halted),
    "begin a contest": lambda lab: Contest.start(task_against(next(iter(teachable().values())), "any"), lab.store),
    "resume": lambda lab: launch.resume(lab.halted, lab.store),
    "what-if fork": lambda lab: launch.start_fork(lab.done, 0, lab.store),
    "decide as the human engineer": lambda lab: launch.propose(lab.asks, lab.done.proposal(0).proposal, lab.store),  # type: ignore[union-attr]
    "stop": lambda lab: launcher.stop(lab.runs),
    "stop what waits": lambda lab: launcher.stop(lab.waits),
    "queue: cancel": lambda lab: launcher.cancel(lab.store.root, lab.waits.dir),
    "queue: enter": lambda lab: launcher.submit(lab.halted),
    "queue: try again": lambda lab: launcher.retry(lab.store.root, lab.halted.dir, "session"),
    "queue: pause": lambda lab: launcher.pause_queue(lab.store.root),
    "queue: go on": lambda lab: launcher.pause_queue(lab.store.root, paused=False),
    "queue: make urgent": lambda lab: launcher.change(lab.store.root, lab.waits.dir, urgent=True),
    "queue: pause one": lambda lab: launcher.change(lab.store.root, lab.waits.dir, paused=True),
    "queue: remove": lambda lab: QueueDB(lab.store.root).remove(str(lab.waits.dir)),
    "queue: change": lambda lab: QueueDB(lab.store.root).change(str(lab.waits.dir), running=True),
    "delete": lambda lab: shelf.delete(lab.halted, lab.store),
    "restore": lambda lab: shelf.restore("gone", lab.store),
    "empty the trash": lambda lab: shelf.empty_trash(lab.store),
    "make room": lambda lab: [housekeeping.remove(one) for one in housekeeping.removals(lab.store, ["trash"])],
    "label": lambda lab: shelf.label(lab.done, Labels(title="another")),
    "archive": lambda lab: shelf.label(lab.done, Labels(archived=True)),
    "export": lambda lab: export([find("done", lab.store)], lab.bundle),
    "import": take_in,
    "make an imported job one's own": lambda lab: make_own(lab.store.root / "theirs"),
    "allow a server": lambda lab: hosts.allow("api.example"),
    "edit a config": lambda lab: drafts.save(lab.store, "mine", EnvironmentConfig.uniform((3,), agents=2)),
    "edit a talk": lambda lab: scenes.prepare(lab.done, lab.store, scenes.Preparation()),
    "hide a student": lambda lab: hide(lab.store),
    "write text": lambda lab: files.write_text(lab.done.dir / "a.json", "{}"),
    "write a folder": lambda lab: files.write_folder(lab.store.root / "new", {"a.json": "{}"}),
    "append a line": lambda lab: files.append_line(lab.done.dir / "events.jsonl", {}),
    "write a table": lambda lab: files.write_parquet(lab.done.dir / "a.parquet", pd.DataFrame({"a": [1]})),
    "open to write": lambda lab: (lab.done.dir / "state.json").open("r+"),
    "delete a file": lambda lab: (lab.done.dir / "state.json").unlink(),
    "move a file": lambda lab: (lab.done.dir / "state.json").rename(lab.done.dir / "b"),
    "link a file": lambda lab: os.link(lab.done.dir / "state.json", lab.done.dir / "b"),
    "make a folder": lambda lab: (lab.done.dir / "b").mkdir(),
    "run a program": lambda lab: subprocess.run(["true"]),
    "run a module": lambda lab: subprocess.run([sys.executable, "-m", "frozenlab.jobs", "session", str(lab.halted.dir)]),
    "run in a shell": lambda lab: os.system("true"),
    "end a process": lambda lab: os.kill(os.getppid(), signal.SIGCONT),
    "end a group": lambda lab: os.killpg(os.getpgrp(), signal.SIGCONT),
}


def test_nothing_changes(lab: Lab, started: list[Path]) -> None:
    files_before = contents(lab.store.root.parent)
    allowed = [verb for verb, ask in REFUSED.items() if not is_refused(ask, lab)]
    assert (allowed, started, contents(lab.store.root.parent)) == ([], [], files_before)


def is_refused(ask: Callable[[Lab], object], lab: Lab) -> bool:
    try:
        ask(lab)
    except LookOnlyError as error:
        return str(error) == look_only.WHY
    return False


def test_looking_is_allowed(lab: Lab) -> None:
    assert lab.done.proposal(0) is not None and {listed.folder for listed in lab.store.listed()} >= {lab.done.dir, lab.waits.dir}
    assert [job.path.name for job in look(lab.store.root).jobs] == ["waits"]
    assert not lab.runs.state().elsewhere


def test_an_answer_is_handed_in(lab: Lab) -> None:
    records.hand_in("7b", "Ada", "wait", True, lab.store)
    assert len(records.standings("7b", lab.store)) == 1


def test_a_contest_is_entered_and_its_worker_queued(lab: Lab, started: list[Path]) -> None:
    number = lab.contest.enter(Entry(name="Ada", config=CONFIG, by="a browser"))
    lab.contest.wake()
    assert lab.contest.standing(number) == "waits" and started == [lab.store.root]
    assert QueueDB(lab.store.root).job(lab.contest.dir) is not None


@pytest.mark.parametrize("status", ["stopped", "failed"])
def test_a_contest_that_was_stopped_is_not_queued(lab: Lab, started: list[Path], status: str) -> None:
    with look_only.handing_in():
        put(lab.contest, status=status)
    with pytest.raises(LookOnlyError):
        lab.contest.wake()
    assert not started


def test_the_cache_of_the_kernels_and_the_planning_process_are_its_own(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    files.write_text(tmp_path / "cache" / "kernel", "")
    (tmp_path / "cache" / "kernel").unlink()
    process = subprocess.Popen([sys.executable, "-m", "frozenlab.models.serve"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.kill()
    assert process.wait() == -signal.SIGKILL
