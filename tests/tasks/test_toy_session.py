"""The toy family runs a whole session, a study and a replay with a tiny language model, and their pages open."""

from collections.abc import Callable
from pathlib import Path

import pytest

from frozenlab.app.story.whole_session import axes_of, map_figure, stops
from frozenlab.engineer.engineers import FixedEngineer, LearnabilityEngineer, PolicyEngineer, UniformEngineer
from frozenlab.experiments.benchmark.report import PlainReport
from frozenlab.experiments.benchmark.results import Result, read_report
from frozenlab.experiments.benchmark.task import Evaluation
from frozenlab.experiments.benchmark.task import task_for as evaluation_of
from frozenlab.experiments.replays.report import compared, proposals
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import arms_of_engineers, task_for
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
from frozenlab.tasks import families
from tests.running import finish, finished
from tests.tasks.test_toy import TINY
from tests.tasks.toy import SUMS, SumConfig, SumSuite

pytestmark = pytest.mark.long


@pytest.fixture(scope="module", autouse=True)
def with_sums() -> object:
    patch = pytest.MonkeyPatch()
    patch.setattr(families, "FAMILIES", (*families.FAMILIES, SUMS))
    yield
    patch.undo()


def toy_spec(model: Path) -> SessionSpec:
    return SessionSpec(
        title="sums", policy=str(model), engineer=PolicyEngineer(max_tokens=3000), stages=2, initial_config=SumConfig(), seed=3,
        language=TINY.model_copy(update={"context": 8000}), suite=SumSuite(seed=1), test=SumSuite(seed=2),
        training=TrainingSettings(steps=3, boards_per_step=4, completions_per_board=4, learning_rate=1e-3, temperature=1.0),
    )  # fmt: skip


@pytest.fixture(scope="module")
def session(tiny_adder: Path, store: SessionStore, with_sums: object) -> Session:
    return finished(store.create(toy_spec(tiny_adder), "sums"))


@pytest.fixture(scope="module")
def replay(session: Session, store: SessionStore) -> Replay:
    arms = arms_of_engineers([FixedEngineer(), LearnabilityEngineer(), UniformEngineer()], "fixed")
    return Replay.create(task_for(session, 0, arms, "sums again", samples=2), store, "asked")


class Here:
    """The workers of a study in the test's own process, which knows the toy family."""

    def prepare(self) -> int:
        return 1

    def start(self, session: Session) -> None:
        finish(session)

    def running(self, session: Session) -> bool:
        return False

    def stop(self, session: Session) -> None:
        pass


@pytest.fixture(scope="module")
def study(tiny_adder: Path, store: SessionStore, with_sums: object) -> Study:
    arms = tuple(Arm(name=engineer.kind, engineer=engineer) for engineer in (UniformEngineer(), FixedEngineer()))
    spec = StudySpec(title="sums", session=toy_spec(tiny_adder).changed(engineer=FixedEngineer()), arms=arms, seeds=(1, 2))
    return Study.create(spec, store, "adders")


def test_a_whole_session_runs(session: Session) -> None:
    assert session.state().status == "done" and not session.problems
    assert isinstance(session.spec.initial_config, SumConfig)
    record = session.proposal(0)
    assert record is not None and record.proposal is not None and isinstance(record.config_after, SumConfig)
    context = session.context(0)
    assert context is not None and "add two numbers" in (context.prompt or "") and "twins_percent" in (context.prompt or "")
    assert {line.id for line in context.lines} >= {"Beasy", "Bhard", "Feasy", "Fhard", "Seasy", "Shard"}


def test_a_replay_asks_again(replay: Replay) -> None:
    assert work_on(replay) == 0, replay.state().error
    table = proposals(replay.answers())
    assert {"share", "twins"} <= set(table) and len(table) == 3 * 2 * 2
    assert set(compared(table, "fixed").index) == {"fixed", "learnability", "uniform"}


def test_a_study_runs(study: Study) -> None:
    assert run_job(JobRecorder(study), lambda recorder: Runner(recorder, workers=Here()).run()) == 0, study.state().error
    assert (study.dir / "report").is_dir() and set(study.boards()["cell"]) == {"easy", "hard"}


@pytest.fixture(scope="module")
def result(session: Session, store: SessionStore) -> Result:
    task = evaluation_of("sums:2", "sums", store)
    evaluation = Evaluation.create(task, store)
    assert work_on(evaluation) == 0, evaluation.state().error
    return Result(evaluation.dir)


def test_its_checkpoint_is_measured(result: Result) -> None:
    report, rows = result.report, result.rows
    assert isinstance(report, PlainReport) and rows is not None and not result.problems
    assert {cell.cell: (cell.n, cell.valid) for cell in report.cells} == {
        cell: (8, int(rows.loc[rows["config_cell"] == cell, "valid"].sum())) for cell in ("easy", "hard")
    }
    assert report.n == 16 and len(report.lines()) == 2 and len(report.cells_table()) == 2
    foreign = report.model_dump_json().replace('"faults":{', '"faults":{"hole":1,', 1)
    with pytest.raises(ValueError, match="there is no fault 'hole'"):
        read_report(foreign)


@pytest.mark.parametrize("page", ["home", "story", "train", "replay", "studies", "benchmark", "design", "play", "help"])
def test_its_pages_open(page: str, session: Session, result: Result, opened: Callable[..., str]) -> None:
    query = {"story": {"session": "sums"}, "train": {"session": "sums"}, "replay": {"replay": "asked"}, "studies": {"study": "adders"}}
    said = opened(page, **query.get(page, {}))
    shown = {"help": ["The number is the sum."], "benchmark": ["The suite sums", "easy: valid", " of 8; "]}
    assert all(text in said for text in shown.get(page, []))


def test_the_path_of_its_configs_is_drawn(session: Session) -> None:
    [axes] = axes_of(SumConfig())
    assert [knob.name for knob in axes] == ["twins", "share"]
    path = stops(session, axes)
    assert [(stop.stage, stop.cell) for stop in path] == [(0, "easy"), (0, "hard"), (1, "easy"), (1, "hard")]
    assert "twins 10 %, share 50 %" in map_figure(path, axes, "valid rate", None).alt
