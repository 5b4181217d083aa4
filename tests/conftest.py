from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from frozenlab.session.session import Session
    from frozenlab.session.store import SessionStore

if find_spec("hypothesis"):  # the environment of the tests with vLLM does without it
    from hypothesis import settings

    # No time limits: a test shows whether something is right, not how busy the machine is.
    settings.register_profile("quick", deadline=None, max_examples=20)
    settings.register_profile("more", deadline=None, max_examples=60)
    settings.register_profile("full", deadline=None, max_examples=200)
    settings.load_profile("quick")


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small language model; it takes seconds to train."""
    from tests.tiny_models import build

    return build(tmp_path_factory.mktemp("tiny") / "qwen3")


def _trained(factory: pytest.TempPathFactory, name: str, **fields: Any) -> Session:
    from frozenlab.session.store import SessionStore
    from tests.builders import short_spec
    from tests.running import finished

    return finished(SessionStore(factory.mktemp(name)).create(short_spec(**fields), name))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A trained session with sealed test boards whose engineer was asked first. Tests only read it, or copy its folder."""
    from tests.builders import SEALED

    return _trained(tmp_path_factory, "whole", **SEALED)


@pytest.fixture(scope="session")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A trained session, to be forked. Tests only read it, or copy its folder."""
    return _trained(tmp_path_factory, "parent")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    """An empty sessions folder, which is also that of pages, commands and names of models."""
    from frozenlab.session.store import SessionStore

    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    return SessionStore()


@pytest.fixture(autouse=True)
def no_allowed_hosts(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither see nor change which servers the person at this machine has allowed to be asked."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "config"))
    monkeypatch.delenv("FROZENLAB_API_HOSTS", raising=False)


@pytest.fixture(autouse=True)
def main_module_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page in a test becomes ``__main__``, and a process that is spawned later would run it once more."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def signals_stay() -> Iterator[None]:
    """A worker in the test's own process takes SIGTERM as a request to stop its job."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    if signal.getsignal(signal.SIGTERM) is not handler:
        signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="session")
def tiny_adder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small language model that answers sums of the toy family with numbers, some of them right."""
    from tests.tasks.toy import SUMS, SumConfig, SumSuite
    from tests.tiny_models import build_of

    tasks = SUMS.suite(SumSuite(boards_per_cell=60, seed=1), SumConfig())
    folder = tmp_path_factory.mktemp("tiny") / "adder"
    return build_of(folder, [SUMS.plain.prompt(task) for task in tasks], lambda i, rng: str(tasks[i].a + tasks[i].b + rng.integers(-1, 2)))


@pytest.fixture(autouse=True)
def no_queue_is_left() -> Iterator[None]:
    """Ends the dispatchers that a test has started, and their workers."""
    from frozenlab.jobs.queue import watch

    yield
    for root in list(watch.started_here()):
        from tests.running import end_queue

        end_queue(root)
