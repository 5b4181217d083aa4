"""The parts of a headroom measurement, each by itself: policy gradients of a student's cells, and forks. Importing this module imports
torch: only worker processes do.

A batch of gradients is one step of GRPO without the step: the same sampling at the same temperature, the same reward, advantages and loss,
through the same trainer; the learning rate is zero, and the gradient is kept before any clipping.

A fork is one stage of training from a student, by the code that trains sessions, on tasks of one config; nothing of it is kept but what it
answers to the held-out tasks. Every random draw comes from the spec's seed and the numbers of student, config and replicate, so a part that
was interrupted comes out the same, in whichever process and order.
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

from frozenlab.base import seeds
from frozenlab.base.errors import Stopped
from frozenlab.experiments.headroom.plan import Fork
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.store import FIGURES, Influence
from frozenlab.jobs.machine import THREADS
from frozenlab.models.evaluation import evaluate
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy, Sampling
from frozenlab.models.training.methods import BY_NAME, TrainingSettings
from frozenlab.models.training.runs.grpo import GRPORun
from frozenlab.models.training.stage_run import Stage, train_stage
from frozenlab.tasks.task import Task


class Batch(NamedTuple):
    """What one batch of tasks says of a cell."""

    gradient: NDArray[np.float32]
    """(weights,): by which the mean reward rises, up to the loss's normalisation."""
    valid: float
    """The rate of sampled answers that are valid."""
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
        self.batches.append(Batch(gradient, figures["valid"], figures["mixed"], figures["length"]))
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


def load_student(spec: HeadroomSpec, student: int) -> Policy:
    torch.set_num_threads(THREADS)
    return load_policy(spec.students[student], family=spec.tasks)


def measure_influence(
    spec: HeadroomSpec, student: int, on_batch: Callable[[float], None] = lambda share: None, stopping: Callable[[], bool] = lambda: False
) -> Influence:
    """The gradients of a student on every probe. ``on_batch`` gets the part that is done, 0..1. Raises Stopped if ``stopping`` says so."""
    probes = spec.probes
    assert probes is not None, "asked for only where there are probes"
    batches: list[list[Task]] = []
    for number, config in enumerate(probes.configs.values()):
        drawn = spec.tasks.draw(config, probes.batches * probes.tasks, seeds.derive(spec.seed, "headroom/probe", number))
        batches += [drawn[first : first + probes.tasks] for first in range(0, len(drawn), probes.tasks)]
    found = gradients(
        load_student(spec, student),
        batches,
        spec.training,
        seeds.derive(spec.seed, "headroom/gradients", student),
        on_batch=lambda done: on_batch(done / len(batches)),
        stopping=stopping,
    )
    cells = len(probes.configs)
    figures = {name: np.array([getattr(batch, name) for batch in found]).reshape(cells, -1) for name in FIGURES}
    return Influence(inner_products(found, cells), figures)


def measure_fork(spec: HeadroomSpec, fork: Fork, stopping: Callable[[], bool] = lambda: False) -> list[dict[str, Any]]:
    """The rows of one fork: a stage on its config (none for the part ``before``), then the held-out tasks, counted by cell.

    Raises:
        Stopped: ``stopping`` said so.
        GenerationError: the config's tasks cannot be drawn.
    """
    forks, training = spec.forks, spec.training
    assert forks is not None, "asked for only where there are forks"
    policy = load_student(spec, fork.student)
    suite = forks.suite.model_copy(update={"seed": seeds.derive(spec.seed, "headroom/suite", fork.student, fork.replicate)})
    held_out = spec.tasks.suite(suite, forks.kept)
    place = fork.place_in(spec)
    if fork.part != "before":
        wanted = training.steps * training.boards_per_step
        tasks = spec.tasks.draw(fork.config_in(spec), wanted, seeds.derive(spec.seed, "headroom/boards", *place), held_out)
        run = BY_NAME[training.method].run(policy, training, stages=1, seed=seeds.derive(spec.seed, "headroom/training", *place))
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            train_stage(run, tasks, stage=0, folder=folder, previous=None, recorded=0, report=lambda *_: None, stopping=stopping)
    sampling = Sampling(training.temperature, forks.plans, seeds.derive(spec.seed, "headroom/plans", *place))
    return [fork._asdict() | row for row in counted(policy, held_out, sampling)]


def counted(policy: Policy, tasks: Sequence[Task], sampling: Sampling) -> list[dict[str, Any]]:
    """Answers that are right, by cell: ``n`` tasks, how many greedy plans are ``valid`` and ``optimal``, and of ``plans`` sampled ones
    how many are valid, ``plans_valid``."""
    greedy = evaluate(policy, tasks)
    plans = evaluate(policy, tasks, sampling) if sampling.completions else greedy[:0]
    rows = []
    for cell, own in greedy.groupby("config_cell", sort=False):
        sampled = plans.loc[plans["config_cell"] == cell, "valid"]
        right = {"valid": int(own["valid"].sum()), "optimal": int(own["optimal"].sum())}
        rows.append({"cell": str(cell), "n": len(own), **right, "plans": len(sampled), "plans_valid": int(sampled.sum())})
    return rows
