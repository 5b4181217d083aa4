"""A job of every kind of experiment that a folder of sessions may hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.benchmark.task import Evaluation
from frozenlab.experiments.benchmark.task import task_for as evaluation_of
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for as diagnosis_of
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import arms_of_engineers
from frozenlab.experiments.replays.task import task_for as replay_of
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.worker import work_on
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.contests.builders import tiny_contest
from tests.headroom.builders import tiny_spec
from tests.planted import planted


def asked(folder: Path, answers: int | None = None) -> Replay:
    """A replay with scripted engineers about a built session; ``answers`` after which it was stopped, None: it is done."""
    arms = arms_of_engineers(map(engineer_of, ("rules", "random", "fixed")), "policy")
    replay = Replay.create(replay_of(build_session(folder), 1, arms, "engineers", samples=4), SessionStore(folder), "mine")

    def note(share: float) -> None:
        if answers is not None and share == answers / replay.spec.total:
            (replay.dir / STOP_FILE).touch()

    work_on(replay, note)
    return replay


MAKE: dict[str, Callable[[SessionStore], Job]] = {
    "study": lambda store: Study.create(engineers_study(2), store, "mine"),
    "diagnosis": lambda store: Diagnosis.create(diagnosis_of([planted(store, "weak-5", ("5",))]), store, "mine"),
    "contest": tiny_contest,
    "replay": lambda store: asked(store.root, answers=7),
    "headroom": lambda store: Headroom.create(tiny_spec(), store, "mine"),
    "evaluation": lambda store: Evaluation.create(evaluation_of("lab-model", "quick", store), store),
}
