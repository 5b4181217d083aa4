"""``frozenlab list`` and ``frozenlab jobs``."""

from __future__ import annotations

import pytest

from frozenlab.cli.main import main
from frozenlab.experiments.students.store import Student
from frozenlab.jobs import launcher
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.cli.calls import answer, reason
from tests.students.test_making import RECIPE


@pytest.fixture
def store(quiet: SessionStore) -> SessionStore:
    """A session that is done and a student that waits."""
    build_session(quiet.root, small_spec(), "mine")
    launcher.submit(Student.create(RECIPE, quiet))
    return quiet


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    return {job["id"]: job["status"] for job in answer(capsys, "list", *words)["jobs"]}


def test_jobs_of_all_kinds_are_listed(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    (student,) = (path.name for path in (store.root / "students").iterdir())
    there = listed(capsys)
    assert there["mine"] == "done" and there[student] == "queued" and there["example-quick"] == "recorded"
    assert listed(capsys, "student") == {student: "queued"}
    assert main(["list", "--most", "1"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2 and said[1].endswith("--most lists them")


def test_a_job_of_any_kind_is_stopped(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    (student,) = (path.name for path in (store.root / "students").iterdir())
    assert answer(capsys, "jobs", "stop", f"student:{student}") == {"id": f"student:{student}", "status": "stopped"}
    assert reason(capsys, "jobs", "stop", "mine") == "mine is not running, it is done"


def test_a_session_is_labelled_and_archived(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs", "label", "mine", "--title", "The first", "--tags", "b,a", "--notes", "good"]) == 0
    assert capsys.readouterr().out == "mine: The first, tags a, b\n"
    assert main(["jobs", "archive", "mine"]) == 0
    assert capsys.readouterr().out == "mine: The first, tags a, b, archived\n"
    assert store.open("mine").labels.notes == "good"
    assert "mine" not in listed(capsys) and "mine" in listed(capsys, "--archived")
    assert main(["jobs", "unarchive", "mine"]) == 0 and "mine" in (capsys.readouterr(), listed(capsys))[1]
    assert "recorded" in reason(capsys, "jobs", "archive", "example-quick")
    assert "at most 120" in reason(capsys, "jobs", "label", "mine", "--title", "x" * 200)
