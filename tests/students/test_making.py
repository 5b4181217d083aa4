"""Making students: what a folder holds in the end, that the same recipe gives the same bits, and that a stop loses nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from frozenlab.experiments.benchmark.task import EvaluationError, task_for
from frozenlab.experiments.students.making import certified_tasks, practised_tasks
from frozenlab.experiments.students.menu import practised
from frozenlab.experiments.students.recipe import Recipe, StudentError
from frozenlab.experiments.students.store import Student, chosen
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.worker import DONE, STOPPED, work_on
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.models.folders import LAB_MODEL, WEIGHTS, on_hub, policy_folder
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import PolicyError
from frozenlab.models.training.checkpoints import checksum, damage
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake import teacher
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.task import Attempt
from tests.builders import small_spec

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)
RECIPE = Recipe(
    title="Never practised 4", config=practised(CONFIG, ("4",)), weak=("4",), test_config=EnvironmentConfig.uniform((5,), agents=3),
    boards=40, presentations=96, boards_per_step=8, boards_per_cell=8,
)  # fmt: skip


def test_held_out_tasks_are_never_practised_and_weak_cells_neither() -> None:
    held_out = certified_tasks(RECIPE)
    assert [len(tasks) for tasks in held_out] == [16, 8]
    tasks = practised_tasks(RECIPE, held_out)
    assert len(tasks) == 96
    assert len({task.id for task in tasks}) == 40
    assert {task.cell for task in tasks} == {"3"}
    seen, kept = (set(canonical_hashes([task.board for task in some]).tolist()) for some in (tasks, [*held_out[0], *held_out[1]]))
    assert not seen & kept


@pytest.mark.slow
def test_a_student_is_made_stopped_resumed_and_used(store: SessionStore, tmp_path: Path) -> None:
    whole = Student.create(RECIPE, store, "whole")
    assert work_on(whole) == DONE, (whole.state().error, os.listdir(whole.dir))
    certificate = Student.open("whole", store).certificate
    assert [(cell.cell, cell.n) for cell in certificate.cells] == [("3", 8), ("4", 8)]
    assert [(cell.cell, cell.n) for cell in certificate.elsewhere] == [("5", 8)]
    after = pd.read_parquet(whole.dir / "after.parquet")
    assert sum(cell.valid_after for cell in (*certificate.cells, *certificate.elsewhere)) == after["valid"].sum()
    assert certificate.policy_sha256 == checksum(whole.policy / WEIGHTS) != checksum(LAB_MODEL / WEIGHTS)
    assert Student.open("whole", store).recipe.base_sha256 == checksum(LAB_MODEL / WEIGHTS)
    assert damage(whole.policy) is None

    stopped = Student.create(RECIPE, store, "stopped")

    def stop(progress: float) -> None:
        if progress > 0.5:
            (stopped.dir / STOP_FILE).touch()

    assert work_on(stopped, stop) == STOPPED
    assert not stopped.ready
    with pytest.raises(StudentError, match="not made yet"):
        chosen(["stopped"], store)
    (stopped.dir / STOP_FILE).unlink()
    assert work_on(stopped) == DONE
    assert checksum(stopped.policy / WEIGHTS) == certificate.policy_sha256, "the same recipe and base give the same bits"
    assert [student.id for student in Student.all(store)] == ["stopped", "whole"]

    assert policy_folder("student:whole") == whole.policy
    assert not on_hub("student:nobody")
    assert len(load_policy("student:whole").answer(certified_tasks(RECIPE)[0][:2])) == 2
    with pytest.raises(PolicyError, match="nobody"):
        load_policy("student:nobody")


def test_a_recipe_for_another_base_is_refused(store: SessionStore) -> None:
    student = Student.create(RECIPE.model_copy(update={"base_sha256": "0" * 64}), store)
    assert work_on(student) != DONE
    assert "for another base" in (Student(student.dir).state().error or "")


def test_a_student_is_measured_and_trained_by_its_name(store: SessionStore) -> None:
    student = Student.create(RECIPE, store, "weak")
    with pytest.raises(EvaluationError, match="is not made"):
        task_for("student:weak", "quick", store)
    shutil.copytree(LAB_MODEL, student.policy)
    task = task_for("student:weak", "quick", store)
    assert (task.policy, task.title, task.online, task.language) == ("student:weak", "student weak", False, None)
    spec = small_spec(policy="student:weak")
    session = store.create(spec, "trained")
    assert session.checkpoints()[0].path == student.policy
    assert task_for("trained:base", "quick", store).policy == "student:weak"


def test_the_teacher_of_the_lake_shows_optimal_plans_without_solving_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = LAKE.draw(CONFIG, 8, seed=5)
    monkeypatch.setattr(teacher, "solve_all", None)
    shown = LAKE.teacher.answers([Attempt(task, "", np.random.default_rng(i)) for i, task in enumerate(tasks)])
    for task, answer in zip(tasks, shown, strict=True):
        assert LAKE.judge(task, LAKE.lab.read(task, answer.learned, finished=True)).optimal
