"""Countdown runs a session, a study and a result with an untrained lab network, and their pages open."""

from collections.abc import Callable
from pathlib import Path

import pytest

from frozenlab.engineer.engineers import FixedEngineer, RulesEngineer, UniformEngineer
from frozenlab.experiments.benchmark.report import PlainReport
from frozenlab.experiments.benchmark.results import Result
from frozenlab.experiments.benchmark.task import Evaluation, task_for
from frozenlab.experiments.studies.grid import Arm
from frozenlab.experiments.studies.runner import Runner
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import run_job, work_on
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.countdown.drawing import CountdownConfig, CountdownSuite
from tests.running import finished
from tests.tasks.test_toy_session import Here

CELLS = ["numbers2", "numbers3", "numbers4"]


@pytest.fixture(scope="module")
def spec(network: Path) -> SessionSpec:
    return SessionSpec(
        title="countdown", policy=str(network), engineer=RulesEngineer(), stages=2, initial_config=CountdownConfig(), seed=3,
        suite=CountdownSuite(boards_per_cell=4, seed=1), test=CountdownSuite(boards_per_cell=4, seed=2),
        training=TrainingSettings(method="imitation", steps=3, boards_per_step=6, completions_per_board=2),
    )  # fmt: skip


@pytest.fixture(scope="module")
def session(spec: SessionSpec, store: SessionStore) -> Session:
    return finished(store.create(spec, "numbers"))


def test_a_session_runs(session: Session) -> None:
    assert session.state().status == "done" and not session.problems
    record, validation = session.proposal(0), session.validation(1)
    assert record is not None and isinstance(record.config_after, CountdownConfig) and validation is not None
    assert record.config_after.cells["numbers2"].times_ratio == pytest.approx(0.4), "hopeless, so easier"
    assert validation.groupby("config_cell").size().to_dict() == dict.fromkeys(CELLS, 4)


@pytest.mark.slow
def test_a_study_runs(spec: SessionSpec, store: SessionStore) -> None:
    arms = tuple(Arm(name=engineer.kind, engineer=engineer) for engineer in (UniformEngineer(), FixedEngineer()))
    study = Study.create(StudySpec(title="numbers", session=spec.changed(engineer=FixedEngineer()), arms=arms, seeds=(1, 2)), store, "them")
    assert run_job(JobRecorder(study), lambda recorder: Runner(recorder, workers=Here()).run()) == 0, study.state().error
    assert set(study.boards()["cell"]) == set(CELLS)


def test_its_checkpoint_is_measured_and_pages_open(session: Session, store: SessionStore, opened: Callable[..., str]) -> None:
    evaluation = Evaluation.create(task_for("numbers:2", "countdown", store), store)
    assert work_on(evaluation) == 0, evaluation.state().error
    report = Result(evaluation.dir).report
    assert isinstance(report, PlainReport) and [(cell.cell, cell.n) for cell in report.cells] == [(cell, 50) for cell in CELLS]
    assert opened("home") and opened("train", session="numbers")
    assert "numbers" in opened("benchmark") and "numbers" in opened("story", session="numbers")
