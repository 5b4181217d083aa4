"""Measuring students and asking engineers about them. Importing this module imports torch: only worker processes do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import torch

from frozenlab.base import seeds
from frozenlab.base.cells import Config, evenly
from frozenlab.base.errors import GenerationError
from frozenlab.base.files import regular, write_parquet
from frozenlab.engineer.ask import ask
from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.sections import describe
from frozenlab.experiments.diagnosis.report import score
from frozenlab.experiments.diagnosis.store import Answer, Diagnosis, write_answers
from frozenlab.experiments.diagnosis.task import WIDE_OPEN, DiagnosisTask, Key
from frozenlab.experiments.students.making import certified_tasks, practised_tasks
from frozenlab.experiments.students.recipe import UNTRAINED, Recipe
from frozenlab.experiments.students.store import Student, chosen
from frozenlab.jobs.machine import THREADS
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.models.evaluation import answer_row, evaluate, frame
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import Policy, Sampling
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.stage_run import step_figures
from frozenlab.tasks.task import Task


def work(recorder: JobRecorder[Diagnosis]) -> None:
    """Measure the students and ask for the answers that are missing. However it ends, the answers so far are kept. Raises Stopped."""
    job = recorder.job
    answers, students = job.answers(), chosen(job.spec.students, job.store)
    new = diagnose(job.spec, students, job.dir / "evidence", {known.key for known in answers})
    recorder.keep_all(new, answers, job.total, partial(write_answers, job.dir))


def diagnose(task: DiagnosisTask, students: list[Student], folder: Path, known: Collection[Key] = ()) -> Iterator[Answer]:
    """Ask every engineer about every student, with each choice of sections shown and the same draws for all of them.

    Args:
        folder: where the evidence is kept.
        known: answers that exist already.

    Raises:
        PolicyError: the weights of a student or of its base cannot be read.
    """
    torch.set_num_threads(THREADS)
    for student in students:
        missing = [key for key in task.keys_of(student.id) if key not in known]
        if not missing:
            continue
        policy = load_policy(str(student.policy), family=student.recipe.family)
        measured = measurements(task, student, policy, folder)
        base = "lab-model" if student.recipe.base == UNTRAINED else student.recipe.base
        models = Models(base, None, policy, measured.config)
        engineers = {engineer.kind: engineer.build(models) for engineer in task.engineers}
        contexts = {shown.name: describe(measured, shown.sections) for shown in task.shown}
        for key in missing:
            _, engineer, shown, sample = key
            draw = seeds.derive(task.seed, "diagnosis/proposal", sample)
            record = ask(engineers[engineer], contexts[shown], measured.config, WIDE_OPEN, seed=draw)
            found = score(shares(record.config_before), shares(record.config_after), student.recipe.weak)
            hit = found.hit if record.proposal is not None else 0.0  # who gives no usable answer has found nothing
            yield Answer(*key, hit, found.aim, record)


def shares(config: Config) -> dict[str, float]:
    """Cell -> share."""
    return {name: own.share for name, own in config.cells.items()}


def measurements(task: DiagnosisTask, student: Student, policy: Policy, folder: Path) -> StageMeasurements:
    """What a session would know about the student before its first stage, and plans sampled as its first steps would sample them."""
    recipe = student.recipe
    config = evenly(recipe.config)
    cells = len(config.cells)
    certified = certified_tasks(recipe)
    known = [one for tasks in certified for one in tasks]
    practised = practised_tasks(recipe, certified)[: recipe.boards]
    validation = new_tasks(recipe, task.boards_per_cell * cells, seeds.derive(task.seed, "diagnosis/validation"), known, practised)
    drawn: list[Task] = []
    if task.sampled_boards:
        seed = seeds.derive(task.seed, "diagnosis/boards")
        drawn = new_tasks(recipe, task.sampled_boards * cells, seed, known + validation, practised)
    sampled = kept(folder / f"{student.id}-sampled.parquet", lambda: sampled_answers(task, policy, drawn)) if drawn else None
    return StageMeasurements(
        stage=None,
        config=config,
        realised=recipe.family.realised(drawn or validation),
        metrics=pd.DataFrame() if sampled is None else pd.DataFrame([{"step": 1} | step_figures(sampled)]),
        validation=kept(folder / f"{student.id}.parquet", lambda: evaluate(policy, validation)),
        validation_before=None,
        last_proposal=None,
        sampled=None,
    )


def new_tasks(recipe: Recipe, n: int, seed: int, known: list[Task], practised: list[Task]) -> list[Task]:
    """As many tasks of each cell that are not ``known``, and were not practised unless a cell is too small for that, as Countdown with two
    numbers. Raises GenerationError if there are none left that are not known."""
    config = evenly(recipe.config)
    try:
        return recipe.family.draw(config, n, seed, known + practised)
    except GenerationError:
        return recipe.family.draw(config, n, seed, known)


def kept(path: Path, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The table in a file, which is made first if it is not there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(path, make())
    return pd.read_parquet(regular(path))


def sampled_answers(task: DiagnosisTask, policy: Policy, tasks: list[Task]) -> pd.DataFrame:
    """Sampled answers, judged, one row each, with the columns that the figures of a training step are made of."""
    sampling = Sampling(task.temperature, task.sampled_plans, seeds.derive(task.seed, "diagnosis/plans"))
    optimality = TrainingSettings().optimality
    rows, rewards = [], []
    for one, written in zip(tasks, policy.answer(tasks, sampling), strict=True):
        for completion in written:
            answer = policy.read(one, completion)
            rows.append(answer_row(policy.family, one, completion, answer))
            rewards.append(policy.family.judge(one, answer).reward(optimality))
    table = frame(rows, policy.family)
    return table.assign(cell=table["config_cell"], reward=rewards)
