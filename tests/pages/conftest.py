"""Fixtures of the page tests: an own sessions folder, and a launcher that starts no worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from frozenlab.session import launch
from frozenlab.session.planner import Planner
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore


@pytest.fixture(autouse=True)
def no_planning_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Planner, "warm_up", lambda self, checkpoint: None)


@pytest.fixture
def sessions_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty sessions folder, and no recorded ones beside it."""
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setattr("frozenlab.base.places.SESSIONS", tmp_path / "recorded")
    return tmp_path


Asked, Made = TypeVar("Asked"), TypeVar("Made")


def note_starts(monkeypatch: pytest.MonkeyPatch, launcher: object, create: Callable[[Asked, SessionStore, str], Made]) -> list[Asked]:
    """Let ``launcher.start`` create the jobs ``started-1``, ... without a worker; the list grows with what it was asked to start."""
    asked: list[Asked] = []

    def start(what: Asked, store: SessionStore, *_: object, **__: object) -> Made:
        asked.append(what)
        return create(what, store, f"started-{len(asked)}")

    monkeypatch.setattr(launcher, "start", start)
    return asked


@pytest.fixture
def launched(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[SessionSpec]:
    """The specs of the sessions that a page started; no worker runs."""
    return note_starts(monkeypatch, launch, lambda spec, store, name: store.create(spec, name))
