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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sessions folder that pages show, empty; a module whose tests share a folder replaces this fixture."""
    return tmp_path


@pytest.fixture(autouse=True)
def own_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(folder))
    monkeypatch.setattr(Planner, "warm_up", lambda self, checkpoint: None)  # no process that plans


@pytest.fixture
def sessions_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sessions folder, and no recorded sessions beside it."""
    monkeypatch.setattr("frozenlab.base.places.SESSIONS", folder / "recorded")
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty sessions folder in place of the one that the tests of a module share."""
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
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
