"""The policy gradients of cells, as training computes them. Importing this module imports torch: only worker processes do.

A batch is one step of GRPO without the step: the same sampling at the same temperature, the same reward, advantages and loss, through the
same trainer; the learning rate is zero, and the gradient is kept before any clipping.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import TrainerControl, TrainerState, TrainingArguments

from frozenlab.base.errors import Stopped
from frozenlab.models.policy import Policy
from frozenlab.models.training.runs.grpo import GRPORun
from frozenlab.models.training.settings import TrainingSettings
from frozenlab.models.training.stage_run import Stage
from frozenlab.tasks.task import Task


class Batch(NamedTuple):
    """What one batch of tasks says of a cell."""

    gradient: NDArray[np.float32]
    """(weights,): by which the mean reward rises, up to the loss's normalisation."""
    valid: float
    """The rate of sampled answers that are valid."""
    reward: float
    mixed: float
    """The share of groups whose rewards differ, which alone have a gradient."""
    tokens: float
    """Mean length of an answer."""


class GradientRun(GRPORun):
    """Steps of GRPO that leave the policy as it is."""

    def __init__(self, policy: Policy, settings: TrainingSettings, *, seed: int) -> None:
        super().__init__(policy, settings, stages=1, seed=seed)
        self.batches: list[Batch] = []
        self.on_batch: Callable[[], None] = lambda: None

    def arguments(self, folder: Path) -> dict[str, Any]:
        return super().arguments(folder) | {"learning_rate": 0.0, "max_grad_norm": 0.0, "save_strategy": "no"}

    def on_pre_optimizer_step(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        # The trainer descends the loss, which is the negative of what is to rise.
        slopes = [weight.grad for weight in self.policy.model.parameters() if weight.requires_grad]
        gradient = torch.cat([slope.detach().flatten() for slope in slopes if slope is not None]).neg().float().cpu().numpy()
        figures = self.figures
        self.batches.append(Batch(gradient, figures["valid"], figures["reward"], figures["mixed"], figures["length"]))
        self.on_batch()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.global_step == self.settings.steps or self.stage.stopping():
            control.should_training_stop = True


def gradients(
    policy: Policy,
    batches: Sequence[Sequence[Task]],
    training: TrainingSettings,
    seed: int,
    *,
    on_batch: Callable[[int], None] = lambda done: None,
    stopping: Callable[[], bool] = lambda: False,
) -> list[Batch]:
    """The policy gradient of each batch of tasks; all batches have the same number of tasks. The policy stays as it is.

    Args:
        training: reward, plans a task, temperature and loss; ``steps``, ``boards_per_step`` and the rate have no effect.
        seed: of the sampled answers.
        on_batch: called with the number of batches done.
        stopping: asked after each batch.

    Raises:
        Stopped: ``stopping`` said so.
    """
    settings = training.model_copy(update={"method": "grpo", "steps": len(batches), "boards_per_step": len(batches[0]), "warmup_steps": 0})
    run = GradientRun(policy, settings, seed=seed)
    run.on_batch = lambda: on_batch(len(run.batches))
    run.begin(Stage([task for batch in batches for task in batch], stopping=stopping))
    with tempfile.TemporaryDirectory() as scratch:
        run.trainer(Path(scratch)).train()
    policy.model.eval()
    if len(run.batches) < len(batches):
        raise Stopped
    return run.batches


def inner_products(batches: Sequence[Batch], cells: int) -> NDArray[np.float64]:
    """(cells, batches, cells, batches) inner products of gradients that are listed cell by cell."""
    matrix = np.stack([batch.gradient for batch in batches])
    each = len(batches) // cells
    return (matrix @ matrix.T).astype(np.float64).reshape(cells, each, cells, each)
