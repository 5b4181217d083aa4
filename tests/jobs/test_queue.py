"""The queue with workers that do nothing: every job runs once, in order; what dies is tried again; nothing is lost with the dispatcher."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from frozenlab.jobs import launcher
from frozenlab.jobs.job import Job, Kind
from frozenlab.jobs.launcher import LaunchError
from frozenlab.jobs.machine import Needs
from frozenlab.jobs.queue import dispatcher, watch
from frozenlab.jobs.queue.db import QueuedJob
from frozenlab.jobs.state import read_state, store_state, stored_state
from tests.running import OwnQueue, wait_for, worker_pid

CORES = 2


class Fake(Job):
    """A session folder that only the fake worker understands."""

    kind = "session"
    slow = False

    def __init__(self, folder: Path) -> None:
        self.dir, self.id = folder, folder.name

    @property
    def title(self) -> str:
        return f"The job {self.id}"

    @property
    def needs(self) -> Needs:
        return Needs(cores=1)


class Machine(OwnQueue):
    """With jobs that the fake worker does."""

    def job(self, name: str, seconds: float = 0.3, how: str = "done", urgent: bool = False) -> Fake:
        (self.root / name).mkdir()
        (self.root / name / "session.json").write_text(json.dumps({"seconds": seconds, "how": how}))
        (self.root / name / "state.json").write_text("{}")
        job = Fake(self.root / name)
        launcher.submit(job, urgent)
        return job


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setattr(dispatcher, "worker_command", lambda kind, folder: [sys.executable, "-m", "tests.jobs.fake_worker", str(folder)])
    monkeypatch.setattr(dispatcher, "machine", lambda: Needs(CORES))
    monkeypatch.setattr(dispatcher, "PAUSE", 0.1)
    monkeypatch.setattr(launcher, "wake", lambda root: None)
    monkeypatch.setattr(Kind, "open", lambda kind, folder: Fake(folder))
    made = Machine(tmp_path)
    yield made
    made.end()
    for folder in tmp_path.glob("*/"):
        state = read_state(folder)
        if state.pid and state.status == "running":
            os.killpg(state.pid, signal.SIGKILL)


def runs(job: Fake) -> list[str]:
    path = job.dir / "runs"
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


def status(job: Fake) -> str:
    return job.state().status


def is_over(machine: Machine, *jobs: Fake) -> bool:
    return not {str(job.dir) for job in jobs} & {row.folder for row in machine.db.jobs()}


def test_every_job_runs_once_and_never_more_than_the_cores(machine: Machine) -> None:
    jobs = [machine.job(f"job-{n}") for n in range(6)]
    wait_for(lambda: is_over(machine, *jobs))
    assert [runs(job) for job in jobs] == [["begin", "done"]] * 6
    assert {one.status for one in machine.db.ended()} == {"done"}
    moments = sorted((float(line.split()[1]), line.split()[0]) for job in jobs for line in (job.dir / "runs").read_text().splitlines())
    at_work = 0
    for _, what in moments:
        at_work += 1 if what == "begin" else -1
        assert at_work <= CORES


def test_a_job_cannot_be_queued_twice(machine: Machine) -> None:
    job = machine.job("job", seconds=30)
    with pytest.raises(LaunchError, match=r"job is (queued|running) already"):
        launcher.submit(job)
    launcher.stop(job)
    wait_for(lambda: is_over(machine, job))


def test_an_urgent_job_begins_and_what_made_room_comes_back(machine: Machine) -> None:
    long = [machine.job(f"long-{n}", seconds=1.5) for n in range(2)]
    wait_for(lambda: all(status(job) == "running" for job in long))
    urgent = machine.job("urgent", urgent=True)
    wait_for(lambda: status(urgent) in ("running", "done"), seconds=5.0)
    wait_for(lambda: is_over(machine, *long, urgent))
    assert [status(job) for job in (*long, urgent)] == ["done"] * 3
    assert sorted(map(len, map(runs, long))) == [2, 4], "one of them was stopped once, and went on"
    assert not any((job.dir / "stop").exists() for job in long)


def test_what_dies_is_tried_three_times_and_what_fails_once(machine: Machine) -> None:
    dies, fails = machine.job("dies", how="dies"), machine.job("fails", how="failed")
    wait_for(lambda: is_over(machine, dies, fails))
    assert runs(dies) == ["begin"] * dispatcher.TRIES and runs(fails) == ["begin", "failed"]
    assert status(dies) == "crashed" and "worker.log" in (dies.state().error or "")
    assert {one.status for one in machine.db.ended()} == {"crashed", "failed"}


def test_a_killed_worker_is_followed_by_another(machine: Machine) -> None:
    job = machine.job("job", seconds=1.0)
    wait_for(lambda: status(job) == "running")
    os.killpg(worker_pid(job), signal.SIGKILL)
    wait_for(lambda: is_over(machine, job))
    assert runs(job) == ["begin", "begin", "done"] and status(job) == "done"


def test_a_silent_worker_is_notified_once(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(dispatcher, "notify_alarm", lambda folder, kind, title, alarm, helps: sent.append((folder.name, alarm.rule)))
    job, other = machine.job("silent", seconds=60), machine.job("at-work", seconds=60)
    wait_for(lambda: status(job) == status(other) == "running")
    os.kill(worker_pid(job), signal.SIGSTOP)
    store_state(job.dir, stored_state(job.dir).model_copy(update={"patience": 0.01}))
    monkeypatch.setattr(dispatcher, "LOOK", 0.0)
    wait_for(lambda: sent)
    time.sleep(0.5)
    machine.end()
    os.kill(worker_pid(job), signal.SIGKILL)
    assert sent == [("silent", "stalled")]


def test_a_stopped_job_stays_stopped_and_can_be_tried_again(machine: Machine) -> None:
    job, behind = machine.job("job", seconds=30), [machine.job(f"behind-{n}", seconds=0.1) for n in range(3)]
    wait_for(lambda: status(job) == "running")
    launcher.stop(job)
    wait_for(lambda: is_over(machine, job, *behind))
    assert status(job) == "stopped" and runs(job) == ["begin", "stopped"]
    (job.dir / "session.json").write_text(json.dumps({"seconds": 0.1, "how": "done"}))
    launcher.retry(machine.root, job.dir, "session")
    wait_for(lambda: is_over(machine, job))
    assert status(job) == "done"
    with pytest.raises(LaunchError, match="job is done: only what failed"):
        launcher.retry(machine.root, job.dir, "session")


def test_a_job_resumed_while_its_worker_still_ends_runs_again(machine: Machine) -> None:
    job = machine.job("job", seconds=1.0)
    wait_for(lambda: status(job) == "running")
    machine.end()
    launcher.stop(job)
    wait_for(lambda: status(job) == "stopped")
    launcher.submit(job)
    machine.begin()
    wait_for(lambda: is_over(machine, job))
    assert runs(job) == ["begin", "stopped", "begin", "done"]


def test_waiting_jobs_are_paused_and_cancelled(machine: Machine) -> None:
    launcher.pause_queue(machine.root)
    a, b, c = (machine.job(name, seconds=0.1) for name in "abc")
    launcher.cancel(machine.root, c.dir)
    assert status(c) == "stopped" and not runs(c)
    with pytest.raises(LaunchError, match="c is not in the queue"):
        launcher.change(machine.root, c.dir, urgent=True)
    launcher.change(machine.root, b.dir, paused=True)
    launcher.pause_queue(machine.root, paused=False)
    wait_for(lambda: is_over(machine, a))
    assert status(b) == "queued" and not runs(b)
    launcher.change(machine.root, b.dir, paused=False)
    wait_for(lambda: is_over(machine, b))
    assert status(b) == "done"


def test_the_parts_of_a_job_have_its_priority_and_are_paused_and_cancelled_with_it(machine: Machine) -> None:
    launcher.pause_queue(machine.root)
    study = machine.job("study")
    launcher.change(machine.root, study.dir, paused=True)
    part = Fake(machine.root / "part")
    part.dir.mkdir()
    (part.dir / "state.json").write_text("{}")
    launcher.submit(part, parent=study)

    def row(job: Fake) -> QueuedJob | None:
        return machine.db.job(job.dir)

    assert row(part).paused and row(part).name == "study/part"
    launcher.change(machine.root, study.dir, urgent=True)
    assert row(part).urgent
    launcher.cancel(machine.root, study.dir)
    assert is_over(machine, study, part) and status(part) == "stopped"


def test_nothing_is_lost_with_the_dispatcher_nor_with_its_file(machine: Machine) -> None:
    lives, dies, waits = machine.job("lives", seconds=2.0), machine.job("dies", seconds=1.0), machine.job("waits", seconds=0.1)
    wait_for(lambda: status(lives) == status(dies) == "running")
    machine.end()
    os.killpg(worker_pid(dies), signal.SIGKILL)
    machine.begin()  # one after a reboot
    wait_for(lambda: is_over(machine, dies))
    machine.end()
    machine.db.path.unlink()
    machine.begin()
    wait_for(lambda: [status(job) for job in (lives, dies, waits)] == ["done"] * 3)
    assert [runs(job) for job in (lives, dies, waits)] == [["begin", "done"], ["begin", "begin", "done"], ["begin", "done"]]


@pytest.mark.parametrize("lost", ["deleted", "damaged", "of an older layout"])
def test_a_look_wakes_the_queue_although_its_file_was_lost_while_no_dispatcher_ran(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    machine.end()
    woken: list[Path] = []
    monkeypatch.setattr(watch, "wake", woken.append)
    jobs = [machine.job(name, seconds=0.1) for name in "ba"]
    machine.db.path.unlink()
    if lost == "damaged":
        machine.db.path.write_bytes(b"no database" * 1000)
    elif lost == "of an older layout":
        with closing(sqlite3.connect(machine.db.path)) as old:
            old.executescript("CREATE TABLE entries (folder TEXT, level INTEGER); PRAGMA user_version = 1")
    watch.wake_if_needed(machine.root)
    assert woken == [machine.root]
    assert [job.id for job in watch.recovered(machine.root)] == ["b", "a"], "in the order in which they were queued"
    machine.begin()
    wait_for(lambda: all(status(job) == "done" for job in jobs) and is_over(machine, *jobs))
    machine.end()
    watch.wake_if_needed(machine.root)
    assert woken == [machine.root], "nothing waits any more"


@pytest.mark.parametrize("damage", [b"no database" * 1000, b""], ids=["damaged", "emptied"])
def test_a_file_that_is_damaged_while_the_queue_runs_is_made_anew(machine: Machine, damage: bytes) -> None:
    jobs = [machine.job(f"job-{n}", seconds=2.0 if n < CORES else 0.3) for n in range(4)]
    wait_for(lambda: sum(row.pid > 0 for row in machine.db.jobs()) == CORES and all(status(job) == "running" for job in jobs[:CORES]))
    machine.db.path.write_bytes(damage)
    wait_for(lambda: all(status(job) == "done" for job in jobs))
    assert [runs(job) for job in jobs] == [["begin", "done"]] * 4


def test_jobs_of_a_stranger_or_of_another_machine_are_not_recovered(machine: Machine) -> None:
    machine.end()
    for name, state in (("far", {"status": "queued", "host": "elsewhere"}), ("old", {"status": "queued", "heartbeat": time.time()})):
        (machine.root / name).mkdir()
        (machine.root / name / "session.json").write_text("{}")
        (machine.root / name / "state.json").write_text(json.dumps(state))
    assert list(watch.recovered(machine.root)) == []


@pytest.mark.parametrize("written", [b"4711", b""])
def test_the_pid_of_a_dispatcher_that_has_just_begun_is_waited_for_and_is_never_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bytes
) -> None:
    """Killing the process 0 kills the caller and its whole group."""
    monkeypatch.setattr(watch, "WRITES_WITHIN", 0.3)
    path = watch.lock_file(tmp_path)
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        later = threading.Timer(0.1, path.write_bytes, [written])
        later.start()
        assert watch.dispatcher_of(tmp_path) == (4711 if written else None)
        later.join()
    assert watch.dispatcher_of(tmp_path) is None
