"""Making a student: measure the base, practise, measure again, certify. Importing this module imports torch: only workers do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import torch

from frozenlab.base import seeds
from frozenlab.base.cells import evenly
from frozenlab.base.files import regular, write_parquet, write_text
from frozenlab.experiments.students.certificate import Certificate, rates, refusal
from frozenlab.experiments.students.recipe import UNTRAINED, Recipe
from frozenlab.experiments.students.store import Student, keep_base
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.models.evaluation import evaluate
from frozenlab.models.folders import WEIGHTS, policy_folder
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.training.checkpoints import checksum, damage, drop_resume_files
from frozenlab.models.training.runs.sft import PracticeRun
from frozenlab.models.training.stage_run import train_stage
from frozenlab.models.training.stage_settings import StageSettings
from frozenlab.tasks.task import Task

MEASURING = 0.1
"""Rough part of the work that one measurement is, for the progress bar."""


def work(recorder: JobRecorder[Student]) -> None:
    """Make the student, going on from what its folder already holds.

    Raises:
        Stopped: it was asked to stop, after the present step or batch of tasks.
        LabError: the base cannot be loaded, or tasks cannot be drawn.
    """
    torch.set_num_threads(THREADS)
    began = time.process_time()
    student, recipe = recorder.job, recorder.job.recipe
    policy = base_of(student)
    held_out = certified_tasks(recipe)

    def note(progress: float) -> None:
        recorder.state.progress = progress
        recorder.write()
        if recorder.on_progress:
            recorder.on_progress(progress)

    def measure(name: str, done: float) -> list[pd.DataFrame]:
        def progress(answered: float) -> None:
            recorder.stop_if_asked()
            note(done + MEASURING * answered)

        return measured(policy, held_out, student.dir / name, progress)

    before = measure("before.parquet", 0.0)
    practise(policy, held_out, student, lambda practised: note(MEASURING + (1 - 2 * MEASURING) * practised), recorder.stopping)
    after = measure("after.parquet", 1 - MEASURING)
    drop_resume_files(student.policy)
    certificate = certify(recipe, before, after, checksum(student.policy / WEIGHTS), time.process_time() - began)
    write_text(student.dir / "certificate.json", certificate.model_dump_json(indent=1))


def base_of(student: Student) -> LabPolicy:
    """The model before practice. Raises PolicyError if it cannot be loaded, StudentError if the recipe is for another one."""
    recipe = student.recipe
    if recipe.base == UNTRAINED:
        return LabPolicy(build_network(recipe.seed), build_tokenizer(), recipe.family)
    policy = LabPolicy.load(policy_folder(recipe.base), recipe.family)
    keep_base(student, checksum(policy_folder(recipe.base) / WEIGHTS))
    return policy


def certified_tasks(recipe: Recipe) -> list[list[Task]]:
    """The held-out tasks of the config, and of the test config if there is one."""
    lists: list[list[Task]] = []
    for number, config in enumerate(filter(None, (recipe.config, recipe.test_config))):
        kept_out = [task for tasks in lists for task in tasks]
        seed = seeds.derive(recipe.seed, "student/certificate", number)
        lists.append(recipe.family.draw(evenly(config), recipe.boards_per_cell * len(config.cells), seed, kept_out))
    return lists


def practised_tasks(recipe: Recipe, held_out: list[list[Task]]) -> list[Task]:
    """The tasks in the order in which they are practised, none of them held out."""
    kept_out = [task for tasks in held_out for task in tasks]
    total = recipe.steps * recipe.boards_per_step
    different = recipe.family.draw(recipe.config, min(recipe.boards, total), seeds.derive(recipe.seed, "student/boards"), kept_out)
    return [different[i % len(different)] for i in range(total)]


def measured(policy: LabPolicy, held_out: list[list[Task]], path: Path, on_progress: Callable[[float], None]) -> list[pd.DataFrame]:
    """Greedy answers to each list of held-out tasks, one row per task; read from ``path`` if they are there."""
    total = sum(map(len, held_out))
    if path.exists():
        table = pd.read_parquet(regular(path))
    else:
        tasks = [task for tasks in held_out for task in tasks]
        table = evaluate(policy, tasks, on_progress=lambda done: on_progress(done / total))
        write_parquet(path, table)
    first = len(held_out[0])
    return [table.iloc[:first], table.iloc[first:]][: len(held_out)]


def practise(
    policy: LabPolicy, held_out: list[list[Task]], student: Student, on_progress: Callable[[float], None], stopping: Callable[[], bool]
) -> None:
    """Train the policy in place and leave it in the student's folder; a finished checkpoint there is loaded instead. Raises Stopped."""
    recipe = student.recipe
    if student.policy.exists() and damage(student.policy) is None:
        policy.take_weights(student.policy)
        return
    settings = StageSettings(
        method="practice",
        steps=recipe.steps,
        boards_per_step=recipe.boards_per_step,
        learning_rate=recipe.learning_rate,
        warmup_steps=min(10, recipe.steps // 2),
    )
    practice = PracticeRun(policy, settings, stages=1, seed=recipe.seed)
    practice.misled = recipe.misled
    train_stage(
        practice,
        practised_tasks(recipe, held_out),
        stage=0,
        folder=student.dir,
        previous=None,
        recorded=recipe.steps,
        report=lambda figures, rows, saving: on_progress(figures["step"] / recipe.steps),
        stopping=stopping,
    )


def certify(recipe: Recipe, before: list[pd.DataFrame], after: list[pd.DataFrame], policy_sha256: str, seconds: float) -> Certificate:
    """The certificate from the answers of base and student to the same tasks, of each config."""
    configs = filter(None, (recipe.config, recipe.test_config))
    cells, *others = (rates(config.described(), *tables) for config, *tables in zip(configs, before, after, strict=True))
    groups = [[cell for cell in cells if (cell.cell in recipe.weak) == weak] for weak in (True, False)]
    return Certificate(
        weak=recipe.weak,
        cells=cells,
        elsewhere=others[0] if others else (),
        refused=refusal(*groups),
        policy_sha256=policy_sha256,
        created=time.time(),
        seconds=seconds,
    )
