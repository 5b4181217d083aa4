"""A full disk is reported in plain words, and the report is written although the disk is full."""

from __future__ import annotations

import errno
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from frozenlab.experiments.benchmark.task import Evaluation, Task
from frozenlab.jobs import disk, launcher
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import run_job
from frozenlab.session import launch, recorder
from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import small_spec

FULL = OSError(errno.ENOSPC, "No space left on device")
Usage = namedtuple("Usage", "total used free")


def fill(*_: object) -> None:
    raise FULL


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return SessionStore(tmp_path).create(small_spec(stages=1), "full")


def test_a_session_on_a_full_disk_says_so_and_how_to_continue(session: Session) -> None:
    def work(recorder: Recorder) -> None:
        assert (session.dir / disk.RESERVE).stat().st_size == disk.RESERVED
        raise RuntimeError("PytorchStreamWriter failed writing file") from FULL

    assert run_job(Recorder(session), work) == 1
    state = Session(session.dir).state()
    assert state.status == "failed"
    assert state.error == f"The disk is full, in {session.dir}. Make room, then resume: what was done until now is kept."
    assert not (session.dir / disk.RESERVE).exists(), "its room was given back"


def test_the_state_is_written_where_nothing_else_can_be(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "append_line", fill)
    assert run_job(Recorder(session), lambda recorder: None) == 1
    assert "The disk is full" in (Session(session.dir).state().error or "")


def test_other_jobs_say_so_too(tmp_path: Path) -> None:
    evaluation = Evaluation.create(Task(title="any", model="lab-model", policy="lab-model", suite="quick"), SessionStore(tmp_path))
    assert run_job(JobRecorder(evaluation), fill) == 1
    state = evaluation.state()
    assert (state.status, "The disk is full" in (state.error or "")) == ("failed", True)


def test_a_stage_without_enough_disk_space_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(100e6, 97e6, 3e6))
    with pytest.raises(
        disk.DiskFullError, match=r"too full for stage 2, which takes about 40 MB: 3 MB are free in .*\. Make room, then resume"
    ):
        disk.check_room(tmp_path, 40_000_000, "stage 2")
    disk.check_room(tmp_path, 3_000_000, "stage 2")


def test_nothing_is_launched_on_a_full_disk(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(100e6, 100e6, 0))
    with pytest.raises(launcher.LaunchError, match="The disk is too full for anything new"):
        launch.start(session.spec, SessionStore(session.dir.parent))


def test_other_errors_keep_their_words(tmp_path: Path) -> None:
    assert disk.in_words(KeyError("size"), tmp_path) == "KeyError: 'size'"
