"""A language model's measurement that was stopped goes on where it was, and ends with the rows of an undisturbed one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from frozenlab.experiments.benchmark.measuring import FORGOTTEN_AFTER, measure
from frozenlab.experiments.benchmark.report import Report
from frozenlab.experiments.benchmark.task import Task, task_for
from frozenlab.lake.instance import write_instances
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.models.language.writers import TransformersWriter
from frozenlab.session.store import SessionStore


class Stopped(Exception):
    """As a worker that is asked to stop."""


@pytest.fixture
def task(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Twelve boards with two drawn answers each, four texts at a time."""
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path / "sessions"))
    monkeypatch.setattr(TransformersWriter, "together", lambda self, limit: 4)
    boards = tmp_path / "boards.jsonl"
    write_instances(boards, build_suite(SuiteSpec(agents=(2,), sizes=(3,), boards_per_cell=12, seed=7), sum_of_costs=False))
    return task_for(str(tiny_model), str(boards), SessionStore(tmp_path / "sessions"), temperature=0.8, samples=2, max_tokens=40)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts were written, batch by batch."""
    write, batches = TransformersWriter.write, []

    def noted(self: TransformersWriter, prompts: Any, **how: Any) -> Any:
        batches.append(len(prompts))
        return write(self, prompts, **how)

    monkeypatch.setattr(TransformersWriter, "write", noted)
    return batches


def until(boards: int) -> Callable[[str, int, int], None]:
    def note(part: str, done: int, of: int) -> None:
        if part == "planning" and done >= boards:
            raise Stopped

    return note


def kept(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "sessions" / "answers").glob("*.jsonl")]


@pytest.mark.slow
def test_what_was_written_before_a_stop_is_not_written_again(task: Task, written: list[int], tmp_path: Path) -> None:
    whole = measure(task, "result")
    assert written == [4] * 6 and not kept(tmp_path)
    written.clear()
    with pytest.raises(Stopped):
        measure(task, "result", until(8))
    assert written == [4] * 4
    (file,) = kept(tmp_path)
    file.write_text(file.read_text()[:-9])  # killed within the last line
    written.clear()
    again = measure(task, "result")
    assert written == [4] * 3 and not kept(tmp_path)
    assert same(whole, again)


def same(one: tuple[Report, pd.DataFrame], other: tuple[Report, pd.DataFrame]) -> bool:
    [left, right] = [report.model_dump(exclude={"created", "seconds"}) for report, _ in (one, other)]
    return left == right and one[1].equals(other[1])


def test_another_measurement_writes_its_own(task: Task, written: list[int], tmp_path: Path) -> None:
    for boards, asked in ((8, task), (2, task.model_copy(update={"seed": 1}))):
        with pytest.raises(Stopped):
            measure(asked, "result", until(boards))
    assert written == [4] * 5 and len(kept(tmp_path)) == 2


def test_what_nobody_goes_on_with_is_forgotten(task: Task, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        measure(task, "result", until(2))
    (file,) = kept(tmp_path)
    os.utime(file, (time.time() - FORGOTTEN_AFTER - 60,) * 2)
    measure(task.model_copy(update={"seed": 1}), "result")
    assert not kept(tmp_path)
