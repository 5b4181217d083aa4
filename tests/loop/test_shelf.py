"""What may be labelled, archived, deleted and restored, and that nothing is lost by it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from frozenlab.experiments.shelf.shelf import TRASH, ShelfError, delete, empty_trash, in_trash, label, restore, why_kept
from frozenlab.jobs.job import Job
from frozenlab.jobs.state import WorkerState, store_state
from frozenlab.session.catalog import LABELS_FILE, Labels
from frozenlab.session.forks import fork
from frozenlab.session.runs import Wanted, runs
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.kinds import MAKE
from tests.planted import planted


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    monkeypatch.setattr("frozenlab.base.places.SESSIONS", tmp_path / "recorded")
    return SessionStore(tmp_path)


def small(store: SessionStore, session_id: str = "one", **state: object) -> Session:
    return build_session(store.root, small_spec(stages=1, sizes=(3,), boards_per_size=4), session_id, **state)  # type: ignore[arg-type]


def bytes_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file: its bytes and the time of its last change."""
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def ids(store: SessionStore) -> list[str]:
    return [run.id for run in runs(store.listed())]


def test_undo_restores_to_the_last_byte(store: SessionStore) -> None:
    session = small(store)
    label(session, Labels(title="A name", tags=("b", "a"), notes="Two\nlines"))
    (session.dir / ".worker.lock").touch()
    before = bytes_of(session.dir)
    delete(session, store)
    assert ids(store) == []
    assert not session.dir.exists()
    assert [gone.name for gone in in_trash(store)] == ["session:one"]
    assert bytes_of(restore("one", store)) == before
    assert ids(store) == ["one"]
    assert in_trash(store) == []


@pytest.mark.parametrize("status", ["queued", "running"])
def test_what_runs_is_neither_deleted_nor_archived(store: SessionStore, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = small(store, status=status)
    monkeypatch.setattr("frozenlab.session.session.as_observed", lambda state: state)  # its worker lives
    with pytest.raises(ShelfError, match="stop it"):
        delete(session, store)
    with pytest.raises(ShelfError, match="stop it"):
        label(session, Labels(archived=True))
    label(session, Labels(notes="looks good so far"))
    assert session.dir.exists()


def test_what_a_worker_holds_stays_whatever_its_state_says(store: SessionStore) -> None:
    from frozenlab.jobs.worker import sole_worker

    session = small(store)
    with sole_worker(session), pytest.raises(ShelfError, match="has a worker already"):
        delete(session, store)
    assert session.dir.exists()


def test_what_ships_stays_and_keeps_its_name(store: SessionStore) -> None:
    session = small(store, "example-one")
    with pytest.raises(ShelfError, match="is a recorded session"):
        delete(session, store)
    with pytest.raises(ShelfError, match="is a recorded session"):
        label(session, Labels(title="Mine"))
    assert not (session.dir / LABELS_FILE).exists()


def test_what_a_fork_needs_stays_until_the_fork_is_gone(store: SessionStore) -> None:
    session = build_session(store.root, small_spec(stages=2, sizes=(3,), boards_per_size=4), "trunk")
    fork(session, 0, store, "branch")
    delete_after = SessionStore(store.root).open("branch")
    assert "needed by fork branch" in (why_kept(session, store) or "")
    with pytest.raises(ShelfError):
        delete(session, store)
    state = delete_after.dir / "state.json"
    state.write_text(state.read_text().replace('"queued"', '"stopped"'))
    delete(delete_after, store)
    delete(session, store)
    assert ids(store) == []


def test_what_a_replay_or_another_session_begins_with_stays(store: SessionStore) -> None:
    session = small(store)
    (store.root / "replays" / "asked").mkdir(parents=True)
    task = store.root / "replays" / "asked" / "task.json"
    task.write_text('{"title": "other", "session": "one"}')
    assert "needed by replay asked" in (why_kept(session, store) or "")
    task.write_text('{"title": "one", "session": "two"}')
    assert why_kept(session, store) is None, "a title names nothing"
    task.write_text(f'{{"arms": [{{"policy": "{session.dir}/stages/00/policy"}}]}}')
    assert "needed by replay asked" in (why_kept(session, store) or "")


@pytest.mark.parametrize("kind", [*MAKE, "student"])
def test_a_job_of_any_kind_goes_into_the_trash_and_comes_back_to_the_last_byte(store: SessionStore, kind: str) -> None:
    job = stopped_job(store, kind)
    before = bytes_of(job.dir)
    assert why_kept(job, store) is None
    delete(job, store)
    assert not job.dir.exists() and [gone.name for gone in in_trash(store)] == [f"{kind}:{job.id}"]
    with pytest.raises(ShelfError, match=f"no {kind} 'other' in the trash"):
        restore("other", store, kind)
    assert restore(job.id, store, kind) == job.dir and bytes_of(job.dir) == before
    assert in_trash(store) == []


def test_a_session_can_go_once_the_job_that_needs_it_is_in_the_trash(store: SessionStore) -> None:
    session = small(store)
    student = planted(store, "weak", ("3",))
    recipe = student.dir / "recipe.json"
    recipe.write_text(recipe.read_text().replace('"lab-model"', f'"{session.dir}/stages/00/policy"'))
    assert "needed by student weak: delete what needs it first, or archive it" in (why_kept(session, store) or "")
    build_session(store.root, small_spec(stages=1, sizes=(3,), boards_per_size=4).changed(policy="student:weak"), "later")
    assert "needed by session later: delete what needs it first" in (why_kept(student, store) or "")
    for job in (store.open("later"), student, session):
        delete(job, store)
    assert {gone.name for gone in in_trash(store)} == {"session:later", "student:weak", "session:one"}


def test_a_study_stays_while_one_of_its_sessions_runs(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    study = stopped_job(store, "study")
    cell = build_session(study.dir / "cells", small_spec(stages=1, sizes=(3,), boards_per_size=4), "rules-s0", status="running")
    monkeypatch.setattr("frozenlab.jobs.state.as_observed", lambda state: state)  # its worker lives
    with pytest.raises(ShelfError, match=r"rules-s0 of .* is running; stop it"):
        delete(study, store)
    assert cell.dir.exists()


def stopped_job(store: SessionStore, kind: str) -> Job:
    job = planted(store, "weak", ("3",)) if kind == "student" else MAKE[kind](store)
    store_state(job.dir, WorkerState(status="stopped"))
    return job


def test_archived_ones_are_hidden_but_kept(store: SessionStore) -> None:
    first, _ = small(store, "first"), small(store, "second")
    label(first, Labels(archived=True))
    lines = runs(store.listed())
    assert {run.id for run in lines} == {"first", "second"}
    assert [run.id for run in lines if Wanted().keeps(run)] == ["second"]
    assert {run.id for run in lines if Wanted(archived=True).keeps(run)} == {"first", "second"}
    assert [session.id for session in store.sessions()] == ["second"]
    assert store.open("first").labels.archived
    label(first, first.labels.model_copy(update={"archived": False}))
    assert {session.id for session in store.sessions()} == {"first", "second"}


def test_a_restored_session_never_replaces_another(store: SessionStore) -> None:
    session = small(store)
    delete(session, store)
    shutil.copytree(store.root / TRASH / "one", store.root / "one")
    with pytest.raises(ShelfError, match="another session"):
        restore("one", store)
    with pytest.raises(ShelfError, match="empty the trash first"):
        delete(store.open("one"), store)
    empty_trash(store)
    with pytest.raises(ShelfError, match="no session"):
        restore("one", store)
    with pytest.raises(ShelfError, match="no session"):
        restore("../one", store)
    delete(store.open("one"), store)


def test_damaged_labels_hide_nothing(store: SessionStore) -> None:
    session = small(store)
    (session.dir / LABELS_FILE).write_text('{"archived": "perhaps", ')
    assert ids(store) == ["one"]
    assert session.title == "Built session"
    assert session.problems


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=some.text(max_size=120), tags=some.lists(some.text(max_size=40), max_size=20), notes=some.text(max_size=200))
def test_labels_are_read_as_they_were_kept(title: str, tags: list[str], notes: str) -> None:
    labels = Labels(title=title, tags=tuple(tags), notes=notes)
    assert Labels.model_validate_json(labels.model_dump_json()) == labels
    assert Labels.model_validate(labels.model_dump()) == labels
    assert list(labels.tags) == sorted(set(labels.tags))


def test_a_name_is_shown_wherever_the_title_is(store: SessionStore) -> None:
    session = small(store)
    label(session, Labels(title="  The   good one "))
    assert store.open("one").title == "The good one"
    assert [run.title for run in runs(store.listed())] == ["The good one"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted("good ONE"), True),
        (Wanted("seven"), False),
        (Wanted("lamp"), True),
        (Wanted(tags=("lamp", "talk")), True),
        (Wanted(tags=("lamp", "paper")), False),
        (Wanted(statuses=("done",)), True),
        (Wanted(statuses=("failed",)), False),
        (Wanted(families=("lake",), engineers=("policy",)), True),
        (Wanted(engineers=("uniform",)), False),
    ],
)
def test_a_filter_keeps_what_fits(store: SessionStore, wanted: Wanted, found: bool) -> None:
    session = small(store)
    label(session, Labels(title="The good one", tags=("talk", "lamp"), notes="by night"))
    (line,) = runs(store.listed())
    assert wanted.keeps(line) is found
