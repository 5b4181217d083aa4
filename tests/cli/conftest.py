"""A board that can be solved, as a file, and the sessions folder of commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from frozenlab.jobs import launcher
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session

BOARD = "S F F g\nF H F F\nF F H F\ns F F G\n"


@pytest.fixture
def board(tmp_path: Path) -> str:
    path = tmp_path / "board.txt"
    path.write_text(BOARD)
    return str(path)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_session(tmp_path_factory.mktemp("template")).dir


@pytest.fixture
def built(root: Path, template: Path) -> Session:
    """A session that is done, called ``built``."""
    return Session(shutil.copytree(template, root / "built"))


@pytest.fixture
def quiet(root: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    """A store whose jobs no dispatcher starts."""
    monkeypatch.setattr(launcher, "wake", lambda root: None)
    monkeypatch.setattr("frozenlab.cli.main.wake_queue", lambda: None)
    return SessionStore()
