"""Held-out boards answered by several processes: each its share, all of them the whole table. The real thing: test_several_processes.py."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from frozenlab.models.evaluation import evaluate
from frozenlab.models.policy import GREEDY, Completion
from frozenlab.models.settings import Launcher
from frozenlab.session import loop
from frozenlab.session.loop import suites_of
from frozenlab.tasks.lake.family import LAKE
from tests.language_sessions import tiny_spec


class Answers:
    """Notes what it is asked."""

    family = LAKE

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sampling(self, seed: int) -> Any:
        return GREEDY

    def read(self, task: Any, completion: Completion) -> Any:
        return LAKE.plain.read(task, completion.text, completion.finished)

    def answer(self, tasks: list[Any], sampling: Any = GREEDY, on_progress: Any = None) -> list[list[Completion]]:
        self.asked = [task.id for task in tasks]
        if on_progress:
            on_progress(len(tasks))
        return [[Completion(f"I think of {task.id}.", 5, True)] for task in tasks]


@pytest.mark.parametrize("of", [2, 4])
def test_each_process_answers_its_share_and_has_the_whole_table(of: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tiny_spec(tmp_path, "lora", rows=2, launcher=Launcher(processes=of))
    suite, _ = suites_of(spec)
    shares = [evaluate(Answers(), suite[number::of]) for number in range(of)]
    asked: list[str] = []
    done: list[int] = []
    tables = []
    for number in range(of):
        policy = Answers()
        monkeypatch.setattr(loop, "gather_object", lambda mine, number=number: [*shares[:number], *mine, *shares[number + 1 :]])
        monkeypatch.setattr(loop, "PartialState", lambda number=number: SimpleNamespace(process_index=number, num_processes=of))
        tables.append(loop.answers(policy, suite, spec, done.append))  # type: ignore[arg-type]
        asked += policy.asked
    assert sorted(asked) == sorted(task.id for task in suite), "every board is answered once"
    for table in tables:
        assert table["board_id"].tolist() == [task.id for task in suite]
        assert table["completion"].tolist() == [f"I think of {task.id}." for task in suite]
    assert done[0] == len(suite), "the first process tells how far all are"


def test_one_process_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tiny_spec(tmp_path, "lora")
    monkeypatch.setattr(loop, "gather_object", None)
    monkeypatch.setattr(loop, "broadcast_object_list", None)
    suite, _ = suites_of(spec)
    assert loop.agreed(True, spec) and not loop.agreed(False, spec)
    assert len(loop.answers(Answers(), suite, spec)) == len(suite)  # type: ignore[arg-type]
