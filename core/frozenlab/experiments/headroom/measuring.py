"""The parts of a headroom measurement, each by itself: gradients of a student's cells, and forks. Importing this module imports torch.

A fork is one stage of training from a student, by the code that trains sessions, on tasks of one config; nothing of it is kept but what it
answers to the held-out tasks. Every random draw comes from the spec's seed and the numbers of student, config and replicate, so a part that
was interrupted comes out the same, in whichever process and order.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from frozenlab.base import seeds
from frozenlab.experiments.headroom.gradients import gradients, inner_products
from frozenlab.experiments.headroom.plan import Fork
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.store import FIGURES, Influence
from frozenlab.jobs.environment import THREADS
from frozenlab.models.evaluation import answer_row, evaluate
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy, Sampling
from frozenlab.models.training.methods import BY_NAME
from frozenlab.models.training.stage_run import train_stage
from frozenlab.tasks.task import Task


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
    counts: dict[str, dict[str, Any]] = {}
    for cell, rows in evaluate(policy, tasks).groupby("config_cell", sort=False):
        right = {"valid": int(rows["valid"].sum()), "optimal": int(rows["optimal"].sum())}
        counts[str(cell)] = {"cell": str(cell), "n": len(rows), **right, "plans": 0, "plans_valid": 0}
    for task, answers in zip(tasks, policy.answer(tasks, sampling) if sampling.completions else (), strict=False):
        for written in answers:
            row = answer_row(policy.family, task, written, policy.read(task, written))
            counts[task.cell]["plans"] += 1
            counts[task.cell]["plans_valid"] += int(row["valid"])
    return list(counts.values())
