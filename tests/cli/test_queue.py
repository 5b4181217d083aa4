"""``frozenlab jobs queue`` and the verbs that steer the queue."""

from __future__ import annotations

import os
import re
import shutil
import time

import pytest

from frozenlab.cli.common import InputError
from frozenlab.cli.experiment import worked_on_here
from frozenlab.cli.main import main
from frozenlab.experiments.students.store import Student
from frozenlab.jobs import launcher
from frozenlab.jobs.launcher import counted
from frozenlab.jobs.machine import Needs
from frozenlab.jobs.queue import look, schedule
from frozenlab.jobs.queue.db import EndedJob, QueueDB
from frozenlab.jobs.state import WorkerState, store_state
from frozenlab.session.store import SessionStore
from tests.builders import small_spec
from tests.cli.calls import answer, reason
from tests.students.test_making import RECIPE


@pytest.fixture
def queued(quiet: SessionStore, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    """Three sessions that wait."""
    monkeypatch.setattr(look, "wake_if_needed", lambda root: None)
    monkeypatch.setattr(look, "FRESH", -1.0)
    for name in ("a", "b", "c"):
        launcher.submit(quiet.create(small_spec(), name))
    return quiet


def order(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return [job["id"] for job in answer(capsys, "jobs", *(words or ["queue"]))["jobs"]]


def test_it_shows_and_steers_what_waits(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert order(capsys) == ["a", "b", "c"]
    assert order(capsys, "now", "c") == ["c", "a", "b"]
    assert main(["jobs", "stop", "b"]) == 0 and capsys.readouterr().out == "b is stopped\n"
    assert order(capsys) == ["c", "a"]
    assert queued.open("b").state().status == "stopped"
    assert order(capsys, "retry", "b") == ["c", "a", "b"]
    assert main(["jobs", "pause", "a"]) == 0
    said = capsys.readouterr().out
    assert "0 running, 3 queued" in said and "paused" in said and "urgent" in said and "second in line" in said
    assert main(["jobs", "pause"]) == 0
    assert "paused: only urgent jobs begin" in capsys.readouterr().out
    assert main(["jobs", "go"]) == main(["jobs", "go", "a"]) == 0


def test_a_job_whose_end_the_queue_could_not_note_is_retried_by_its_folder(
    queued: SessionStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store_state(queued.create(small_spec(), "d").dir, WorkerState(status="failed", error="the disk is full"))
    assert order(capsys, "retry", "d") == ["a", "b", "c", "d"]


def test_it_says_what_is_wrong(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert "arguments are required: ID" in reason(capsys, "jobs", "now")
    assert "there is no job 'z' in the queue" in reason(capsys, "jobs", "now", "z")
    assert "there is no job 'z' in" in reason(capsys, "jobs", "retry", "z")


def test_a_job_that_a_terminal_works_on_counts_in_the_queue(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    student = Student.create(RECIPE, queued)
    with worked_on_here(student):
        assert student.id in order(capsys)
        with pytest.raises(InputError, match="is queued already"), worked_on_here(student):
            raise AssertionError("it is worked on twice")
        store_state(student.dir, WorkerState(status="done"))
    assert student.id not in order(capsys)
    ended = QueueDB(queued.root).ended()
    assert [(job.folder, job.status) for job in ended] == [(str(student.dir), "done")]
    with worked_on_here(student):
        assert student.id not in order(capsys), "what is done is only shown"
    assert student.state().status == "done"


def test_what_a_terminal_measures_counts_though_it_is_no_job(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    folder = queued.root / "results" / "mine"
    with counted(queued.root, folder, "evaluate", "Mine on quick", Needs(cores=2)):
        assert main(["jobs", "queue"]) == 0
        assert re.search(r"mine +evaluate +normal +runs 0 %", capsys.readouterr().out)
        assert "Mine on quick runs in a terminal: press Ctrl+C there" in reason(capsys, "jobs", "stop", "mine")
        (row,) = (job for job in QueueDB(queued.root).jobs() if job.running)
        assert (row.cores, row.pid) == (2, os.getpid())
    assert order(capsys) == ["a", "b", "c"]
    assert not folder.exists() and len(QueueDB(queued.root).ended()) == 0


def test_what_ended_without_a_result_is_listed_until_it_is_tried_again(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    def unfinished() -> list[tuple[str, str, str]]:
        return [(job["id"], job["status"], job["error"]) for job in answer(capsys, "jobs", "queue")["unfinished"]]

    assert unfinished() == []
    db = QueueDB(queued.root)
    for name, status in (("a", "failed"), ("b", "done"), ("c", "crashed")):
        folder = queued.open(name).dir
        store_state(folder, WorkerState(status=status, error="too hot\nand more" if status != "done" else None))  # type: ignore[arg-type]
        db.remove(str(folder), EndedJob(str(folder), "session", name, status, time.time(), 1.0))
    assert unfinished() == [("c", "crashed", "too hot\nand more"), ("a", "failed", "too hot\nand more")]
    assert main(["jobs", "queue"]) == 0
    assert "Ended without a result" in (said := capsys.readouterr().out) and "too hot" in said and "and more" not in said
    assert main(["jobs", "retry", "a"]) == 0
    shutil.rmtree(queued.open("c").dir)
    capsys.readouterr()
    assert unfinished() == []


def test_a_terminal_takes_a_gpu_that_no_job_of_the_queue_has(queued: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,2,3")
    monkeypatch.setattr(schedule, "gpus", lambda: [object()] * 4)
    QueueDB(queued.root).change(str(queued.open("a").dir), running=True, cards="0")
    student = Student.create(RECIPE, queued)
    monkeypatch.setattr(type(student), "needs", Needs(cores=1, gpus=1))
    with worked_on_here(student):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "2"
        assert schedule.free_cards(QueueDB(queued.root).jobs(), 2) == ""
    store_state(student.dir, WorkerState(status="done"))
