"""Undamaged folders of every kind to copy: built in a second without training, or made by the real workers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

from frozenlab.base.files import write_text
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.benchmark.task import Evaluation, Task
from frozenlab.experiments.benchmark.task import task_for as evaluation_of
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for as diagnosis_of
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.headroom.report import report_of as headroom_report
from frozenlab.experiments.headroom.store import write_report as write_headroom_report
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import ReplayTask, arms_of_engineers, task_for
from frozenlab.experiments.studies.grid import Arm
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.report import report_of, save_report
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.environment import worker_environment
from frozenlab.jobs.job import Job
from frozenlab.jobs.origin import origin_here
from frozenlab.jobs.worker import work_on
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.instance import write_instances
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.session.catalog import Labels
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.builders import build_result, build_session, small_spec
from tests.contests.builders import measured_contest
from tests.headroom.builders import built as built_headroom
from tests.planted import planted

NAME = "case"
"""Of the folder that is damaged."""
PLACES = {
    "session": "", "study": "studies", "replay": "replays", "result": "results", "student": "students", "diagnosis": "diagnoses",
    "contest": "contests", "headroom": "headroom",
}  # fmt: skip
MAIN = ("session", "study", "replay", "result")
"""The kinds that are damaged in 10,000 ways; the others in a tenth of that."""


def session_spec() -> SessionSpec:
    """Of the session that all others are about: two stages, test boards, an engineer that is asked first."""
    return small_spec(
        stages=2, sizes=(3, 4), boards_per_size=4, engineer="rules", ask_first=True,
        test=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=4, seed=8),
    )  # fmt: skip


def study_spec() -> StudySpec:
    return engineers_study(session=session_spec()).model_copy(
        update={"arms": (Arm(name="rules", engineer="rules"), Arm(name="fixed", engineer="fixed")), "seeds": (0,)}
    )


def replay_task(session: Session) -> ReplayTask:
    return task_for(session, 1, arms_of_engineers(map(engineer_of, ("rules", "uniform", "random")), "rules"), "engineers", samples=3)


def built(root: Path, kind: str, *, trained: bool = False) -> None:
    """A sessions folder at ``root`` with a session ``whole``, and one folder of this kind by the name ``case``; ``trained``: what has a
    worker comes from it."""
    store = SessionStore(root)
    session = store.create(session_spec(), "whole") if trained else build_session(root, session_spec(), "whole")
    if trained:
        work(session)
    match kind:
        case "session":
            write_text(session.dir / "labels.json", Labels(title="Named", tags=("a", "b"), notes="A note.").model_dump_json())
            if session.origin is None:
                write_text(session.dir / "origin.json", origin_here().model_dump_json())
            shutil.copytree(session.dir, root / NAME)
        case "study":
            study = Study.create(study_spec(), store, NAME)
            write_text(study.dir / "run.json", RunSettings(jobs=2).model_dump_json())
            if trained:
                work(study)
            else:
                for cell in study.cells:
                    build_session(study.sessions.root, study.spec.spec_of(cell.arm, cell.seed, cell.student), cell.id)
                save_report(study.dir / "report", report_of(study), study.boards())
        case "replay":
            work_on(Replay.create(replay_task(session), store, NAME))
        case "result" if trained:
            boards = root / "boards.jsonl"
            write_instances(boards, build_suite(SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=6, seed=3), sum_of_costs=True))
            evaluation = Evaluation.create(evaluation_of("lab-model", str(boards), store), store)
            work(evaluation)
            evaluation.dir.rename(evaluation.dir.with_name(NAME))
        case "result":
            config = EnvironmentConfig.uniform((3, 4), agents=2)
            folder = build_result(root, NAME, generate(config, 12, 1, sum_of_costs=True), 0.5).dir
            write_text(folder / "task.json", Task(title="case", model="lab-model", suite="paper", policy="lab-model").model_dump_json())
        case "student":
            planted(store, NAME, ("4",))
        case "diagnosis":
            students = [planted(store, "weak-3", ("3",))]
            sizes = {"samples": 2, "boards_per_cell": 4, "sampled_boards": 2, "sampled_plans": 2}
            work(Diagnosis.create(diagnosis_of(students, [engineer_of("rules")], ("failures",), **sizes), store, NAME))
        case "contest":
            measured_contest(store, NAME)
        case "headroom":
            measurement = built_headroom(root, np.random.default_rng(0).normal(0, 0.05, (1, 3, 3)))
            write_headroom_report(measurement, headroom_report(measurement))
            measurement.dir.rename(measurement.dir.with_name(NAME))
    if trained:
        for weights in root.rglob("*.safetensors"):
            weights.write_bytes(weights.read_bytes()[:2000])


def work(job: Job) -> None:
    """The job's own worker, in a process of its own, to its end."""
    environment = worker_environment() | {"OMP_NUM_THREADS": "1", "FROZENLAB_SESSIONS": str(job.dir.parent)}
    done = subprocess.run(job.command(), env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{job.id}: exit status {done.returncode}, {job.state().error}\n{done.stderr[-2000:]}")
