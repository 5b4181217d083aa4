"""Small contests: with a planted student that is not trained, and measured without a model."""

from __future__ import annotations

from frozenlab.base.files import write_parquet, write_text
from frozenlab.experiments.contests.store import BASE, Contest
from frozenlab.experiments.contests.task import Entry, task_against
from frozenlab.experiments.contests.worker import create_side
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import answers, build_session
from tests.planted import CONFIG, planted

TRAINING = TrainingSettings(
    method="imitation", steps=3, boards_per_step=4, completions_per_board=2, learning_rate=3e-3, schedule="per-stage", temperature=0.7
)


def tiny_contest(store: SessionStore, contest_id: str = "tiny", boards_per_cell: int = 4) -> Contest:
    """About a planted student that is weak at 4x4; three steps of training."""
    student = planted(store, "never-saw-4", ("4",))
    suite = SuiteSpec(agents=(2,), sizes=(3, 4, 5), boards_per_cell=boards_per_cell, seed=7)
    task = task_against(student.recipe, student.id, "Student A", training=TRAINING, suite=suite, test=suite.model_copy(update={"seed": 8}))
    return Contest.create(task, store, contest_id)


def measured_contest(store: SessionStore, contest_id: str = "measured") -> Contest:
    """Its base is measured; the oracle, Ada and the engineer are in the queue."""
    contest = tiny_contest(store, contest_id, boards_per_cell=20)
    build_session(contest.sides.root, contest.spec.session, BASE, finished_stages=0)
    contest.enter(Entry(name="Ada", config=CONFIG, why="All of it."))
    return contest


def trained(contest: Contest, number: int, solved: float) -> Session:
    """The side of an entry as its worker would have left it, by an imagined policy that solves this part of the boards."""
    entry = next(one for one in contest.entries if one.number == number)
    side = create_side(contest, entry)
    spec = side.spec
    boards = generate(spec.initial_config, spec.test.boards_per_cell * len(spec.test.sizes), seed=1 + spec.test.seed, sum_of_costs=True)  # type: ignore[union-attr]
    side.stage_dir(0).mkdir(parents=True)
    write_parquet(side.stage_dir(0) / "test.parquet", answers(boards, solved, seed=number))
    write_text(side.dir / "state.json", side.state().model_copy(update={"status": "done"}).model_dump_json())
    return side
