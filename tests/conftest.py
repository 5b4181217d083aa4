from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("hypothesis"):  # the environment of the tests with vLLM does without it
    from hypothesis import settings

    # No time limits: a test says whether something is right, not how busy the machine is.
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several workers share the tests, the groups that train go first: at the end only short tests are left, so all stay busy."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small language model. Tests that ask for it belong to the xdist group ``language``: it takes seconds to train."""
    from tests.tiny_models import build

    return build(tmp_path_factory.mktemp("tiny") / "qwen3")


@pytest.fixture(autouse=True)
def no_allowed_hosts(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither see nor change which servers the person at this machine has allowed to be asked."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "config"))
    monkeypatch.delenv("FROZENLAB_API_HOSTS", raising=False)


@pytest.fixture(scope="session")
def tiny_adder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small language model that answers sums of the toy family with numbers, some of them right. Its tests belong to the
    xdist group ``language`` too."""
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
