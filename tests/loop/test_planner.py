"""The planning process starts once, ahead of the first request, and never during a request."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from frozenlab.jobs.machine import Gpu
from frozenlab.session import planner
from frozenlab.session.planner import Planner

MODEL = Path("some-model")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of the processes that were started; none really is."""
    started: list[list[str]] = []

    def start(command: list[str], **_: Any) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(poll=lambda: None, kill=lambda: None, wait=lambda: 0)

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


def test_the_process_is_started_once_and_loads_the_model(commands: list[list[str]]) -> None:
    planner = Planner()
    planner.warm_up(MODEL)
    planner.warm_up(Path("another-model"))
    assert [command[-2:] for command in commands] == [["frozenlab.models.serve", str(MODEL)]]


def test_a_warm_up_does_not_wait_for_a_plan_in_progress(commands: list[list[str]]) -> None:
    planner = Planner()
    with planner._lock:
        planner.warm_up(MODEL)  # would wait for ever
    assert not commands


def test_a_model_that_cannot_be_loaded_is_reported_on_the_first_request(tmp_path: Path) -> None:
    from frozenlab.models import serve

    serve.warm_up(str(tmp_path))


@pytest.mark.parametrize(("gpus", "language", "refused"), [(1, True, True), (0, True, False), (1, False, False), (1, None, False)])
def test_a_language_model_is_not_loaded_beside_one_that_is_trained_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, gpus: int, language: bool | None, refused: bool
) -> None:
    running = None if language is None else SimpleNamespace(title="Mine", spec=SimpleNamespace(language=object() if language else None))
    store: Any = SimpleNamespace(running=lambda: running)
    monkeypatch.setattr(planner, "gpus", lambda: (Gpu("NVIDIA H200", 1),) * gpus)
    if refused:
        with pytest.raises(planner.PlannerError, match="Mine trains a language model on this machine's GPU"):
            planner.refuse_beside_training(store)
    else:
        planner.refuse_beside_training(store)
