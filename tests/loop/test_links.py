"""A session folder of somebody else never leads a worker out of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.base.files import append_line, write_parquet
from frozenlab.jobs import launcher
from frozenlab.jobs.folders import LinkError
from frozenlab.jobs.worker import sole_worker, work_on
from frozenlab.session import launch
from frozenlab.session.forks import fork
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec


@pytest.fixture
def session(tmp_path: Path) -> Session:
    spec = small_spec(stages=1, sizes=(3,), boards_per_size=2)
    return build_session(tmp_path / "sessions", spec, "lent", status="stopped", finished_stages=0)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    return victim


@pytest.mark.parametrize("name", [".worker.lock", "events.jsonl", "worker.log", "stages/00/metrics.jsonl", "baseline/.x.parquet.tmp"])
def test_no_worker_runs_in_a_folder_with_a_link(session: Session, victim: Path, name: str) -> None:
    (session.dir / name).unlink(missing_ok=True)
    (session.dir / name).symlink_to(victim)
    before = sorted(path.name for path in session.dir.rglob("*"))
    forking = partial(fork, session, 0, store_of(session))
    for work in (partial(work_on, session), forking):
        with pytest.raises(LinkError, match="lent holds a link"):
            work()
    with pytest.raises(launcher.LaunchError, match=f"lent holds a link, {name}: nothing is run in a folder that leads elsewhere"):
        launch.resume(session, store_of(session))
    assert victim.read_text() == "mine"
    assert sorted(path.name for path in session.dir.rglob("*")) == before


def test_a_linked_stages_folder_is_not_written_to(session: Session, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (session.dir / "stages").rename(elsewhere)
    (session.dir / "stages").symlink_to(elsewhere)
    with pytest.raises(LinkError, match="a link, stages"):
        work_on(session)


def test_a_link_among_the_sessions_is_read_and_never_changed(session: Session) -> None:
    store = store_of(session)
    (store.root / "linked").symlink_to(session.dir)
    linked = store.open("linked")
    assert linked.read_only and linked.metrics(0).equals(session.metrics(0))
    with pytest.raises(launcher.LaunchError, match="linked is a link to another folder, it cannot be changed"):
        launch.resume(linked, store)


@pytest.mark.parametrize("write", [lambda path: append_line(path, {}), lambda path: sole_worker(Session(path.parent)).__enter__()])
def test_a_link_is_never_opened_for_writing(session: Session, victim: Path, write: Callable[[Path], None]) -> None:
    (session.dir / ".worker.lock").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        write(session.dir / ".worker.lock")
    assert victim.read_text() == "mine"


def test_the_lock_is_not_emptied(session: Session) -> None:
    (session.dir / ".worker.lock").write_text("something")
    with sole_worker(session):
        assert (session.dir / ".worker.lock").read_text() == "something"


def test_the_temporary_name_of_a_table_is_unpredictable(victim: Path) -> None:
    (victim.parent / ".t.parquet.tmp").symlink_to(victim)
    write_parquet(victim.parent / "t.parquet", pd.DataFrame({"n": [1]}))
    assert victim.read_text() == "mine"
    assert pd.read_parquet(victim.parent / "t.parquet")["n"].tolist() == [1]


def store_of(session: Session) -> SessionStore:
    return SessionStore(session.dir.parent)
