"""What the sessions of task families share: a folder of sessions for each file, an untrained lab network, and the pages over them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from frozenlab.session.store import SessionStore


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SessionStore:
    return SessionStore(tmp_path_factory.mktemp("sessions"))


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained, with every word of the vocabulary."""
    from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer

    folder = tmp_path_factory.mktemp("network")
    LabPolicy(build_network(hidden=32, layers=1, intermediate=32), build_tokenizer()).save(folder)
    return folder


@pytest.fixture
def opened(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Opens a page of a lab that has the sessions of ``store`` and no recorded ones, and returns its words."""
    from tests.pages.apptest import open_page, words

    monkeypatch.setenv("FROZENLAB_SESSIONS", str(store.root))
    monkeypatch.setattr("frozenlab.base.places.SESSIONS", store.root / "recorded")

    def open_without_exception(page: str, **query: str) -> str:
        app = open_page(page, **query)
        assert not app.exception and words(app), page
        return words(app)

    return open_without_exception
