"""What tests of pages share: a sessions folder of their own, and a launcher that starts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.loop import launch
from frozenlab.loop.planner import Planner
from frozenlab.loop.session import Session
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import SessionStore


@pytest.fixture(autouse=True)
def no_planning_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Planner, "warm_up", lambda self, checkpoint: None)


@pytest.fixture
def sessions_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty sessions folder, and no recorded ones beside it."""
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setattr("frozenlab.places.SESSIONS", tmp_path / "recorded")
    return tmp_path


@pytest.fixture
def launched(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[SessionSpec]:
    """What the launcher was asked to start; it creates the sessions ``launched-1``, ... and starts no worker."""
    specs: list[SessionSpec] = []

    def start(spec: SessionSpec, store: SessionStore) -> Session:
        specs.append(spec)
        return store.create(spec, f"launched-{len(specs)}")

    monkeypatch.setattr(launch, "start", start)
    return specs
