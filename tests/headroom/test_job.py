"""A measurement as a job: it runs, stops, resumes to the same bits, and its gradients are those of training."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.headroom import worker
from frozenlab.experiments.headroom.measuring import gradients
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.worker import DONE, STOPPED, work_on
from frozenlab.models.loading import load_policy
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.runs.grpo import GRPORun
from frozenlab.models.training.stage_run import Stage
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.family import LAKE
from tests.headroom.builders import CONFIG, tiny_spec


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of a pool would load torch again."""

    def pool(jobs: int, *, initargs: tuple[int, Any], **_: Any) -> ThreadPoolExecutor:
        monkeypatch.setattr(worker, "_matrices_begun", initargs[1], raising=False)
        return ThreadPoolExecutor(1)

    monkeypatch.setattr(worker, "ProcessPoolExecutor", pool)


def run(measurement: Headroom, stop_after: float = 2.0) -> int:
    """Works until a part of the work is done, or to the end."""
    (measurement.dir / STOP_FILE).unlink(missing_ok=True)
    measurement.keep_run(RunSettings(jobs=1))
    return work_on(measurement, lambda share: (measurement.dir / STOP_FILE).touch() if share >= stop_after else None)


@pytest.mark.slow
def test_a_measurement_that_was_stopped_ends_with_the_same_bits(store: SessionStore) -> None:
    whole, parted = (Headroom.create(tiny_spec(), store, name) for name in ("whole", "parted"))
    assert run(whole) == DONE
    assert run(parted, stop_after=0.3) == STOPPED
    rows = parted.outcomes()
    assert rows is not None and 0 < len(rows) < len(whole.outcomes())
    assert run(parted) == DONE
    pd.testing.assert_frame_equal(whole.outcomes(), parted.outcomes())
    one, other = whole.influence(0), parted.influence(0)
    assert one is not None and other is not None and np.array_equal(one.products, other.products)
    assert (whole.dir / "report" / "report.json").exists() and parted.state().status == "done"
    assert (whole.outcomes()["plans"] == whole.outcomes()["n"]).all(), "one sampled answer a task"
    parts = whole.outcomes().groupby("part").size().to_dict()
    assert parts == {"before": 2 * 2, "menu": 4 * 2 * 2, "dose": 1 * 2 * 2}


def test_its_progress_moves_while_a_matrix_is_measured(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL", 0.01)
    seen: list[float] = []
    matrix = Headroom.create(tiny_spec(forks=None), store, "matrix")
    matrix.keep_run(RunSettings(jobs=1))
    work_on(matrix, seen.append)
    assert matrix.total == 1 and any(0 < share < 1 for share in seen) and seen == sorted(seen) and seen[-1] == 1


def test_gradients_are_those_of_a_training_step_and_leave_the_policy_alone(tmp_path: Path) -> None:
    policy = load_policy("lab-model")
    weights = [weight.detach().clone() for weight in policy.model.parameters()]
    tasks = LAKE.draw(CONFIG, 8, seed=1)
    settings = TrainingSettings(steps=1, boards_per_step=8, completions_per_board=4, temperature=1.0)
    [batch] = gradients(policy, [tasks], settings, seed=3)
    assert all(torch.equal(before, after) for before, after in zip(weights, policy.model.parameters(), strict=True))
    assert 0 < batch.mixed <= 1 and batch.tokens > 1

    class Watched(GRPORun):
        seen: Any = None

        def arguments(self, folder: Path) -> dict[str, Any]:
            return super().arguments(folder) | {"max_grad_norm": 0.0, "save_strategy": "no"}

        def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
            self.seen = torch.cat([weight.grad.flatten() for weight in self.policy.model.parameters()]).numpy()

    step = Watched(policy, settings, stages=1, seed=3)
    step.begin(Stage(tasks))
    step.trainer(tmp_path).train()
    assert np.abs(step.seen).max() > 0 and np.array_equal(batch.gradient, -step.seen)
