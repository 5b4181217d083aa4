"""A job records where its numbers come from, and nothing about whose machine it is."""

from __future__ import annotations

import getpass
import os
import socket
from pathlib import Path

import pytest

from frozenlab.jobs import machine
from frozenlab.jobs.origin import ORIGIN_FILE, Origin, origin_here
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.session.recorder import Recorder
from frozenlab.session.store import SessionStore
from tests.builders import build_result, build_session, small_spec
from tests.planted import planted


def test_a_session_records_its_origin_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = build_session(tmp_path, small_spec(stages=1, sizes=(3,), boards_per_size=4), status="stopped")
    assert session.origin is None
    Recorder(session).begin()
    first = (session.dir / ORIGIN_FILE).read_bytes()
    assert session.origin is not None and session.origin.cores == machine.cores()
    Recorder(session).begin()
    assert (session.dir / ORIGIN_FILE).read_bytes() == first


def test_other_jobs_and_results_record_it_too(tmp_path: Path) -> None:
    student = planted(SessionStore(tmp_path), "weak", ("3",))
    JobRecorder(student).begin()
    boards = generate(EnvironmentConfig.uniform((3,), agents=2), 2, 1, sum_of_costs=True)
    for folder in (student.dir, build_result(tmp_path, "mine", boards, 0.5).dir):
        assert Origin.model_validate_json((folder / ORIGIN_FILE).read_bytes()).code == origin_here().code


def test_it_names_no_folder_host_or_user() -> None:
    said = origin_here().model_dump_json()
    assert str(Path.home()) not in said and os.getcwd() not in said
    assert f'"{socket.gethostname()}"' not in said and f'"{getpass.getuser()}"' not in said


def test_without_git_the_version_is_the_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.base.places.CHECKOUT", None)
    here = origin_here()
    assert here.commit is None and not here.changed
    assert here.code.endswith("installed without git")
    assert Origin.model_validate_json(here.model_dump_json()) == here
