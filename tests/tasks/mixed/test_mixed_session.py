"""A session of lake boards and Countdown tasks with an untrained lab network, by rules and by the even config, and its pages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from frozenlab.app.story.whole_session import axes_of, stops
from frozenlab.engineer.engineers import RulesEngineer, UniformEngineer
from frozenlab.experiments.replays.report import compared, proposals, sentences
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import arms_of_engineers, task_for
from frozenlab.jobs.worker import work_on
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.countdown.drawing import CountdownConfig
from frozenlab.tasks.mixed.config import MixedConfig, MixedPart, MixedSuite
from tests.running import finished

pytestmark = pytest.mark.slow

CELLS = ["3", "4", "numbers2", "numbers3", "numbers4"]
CONFIG = MixedConfig(
    parts={
        "lake": MixedPart(share=0.6, config=EnvironmentConfig.uniform((3, 4))),
        "countdown": MixedPart(share=0.4, config=CountdownConfig()),
    }
)


def spec_of(network: Path, engineer: RulesEngineer | UniformEngineer, method: str) -> SessionSpec:
    return SessionSpec(
        title="boards and numbers", policy=str(network), engineer=engineer, stages=2, initial_config=CONFIG, seed=3,
        suite=MixedSuite(boards_per_cell=4, seed=1), test=MixedSuite(boards_per_cell=4, seed=2),
        training=TrainingSettings(method=method, steps=3, boards_per_step=10, completions_per_board=2),
    )  # fmt: skip


@pytest.fixture(scope="module")
def session(network: Path, store: SessionStore) -> Session:
    return finished(store.create(spec_of(network, RulesEngineer(), "imitation"), "both"))


def check(session: Session) -> None:
    """Every part of the loop knows the cells of both families."""
    assert session.state().status == "done" and not session.problems
    for stage in range(2):
        drawn, record, context = session.environment(stage), session.proposal(stage), session.context(stage)
        assert list(drawn.config.cells) == CELLS == list(record.config_after.cells) and set(drawn.realised) == set(CELLS)
        validation, completions = session.validation(stage), session.completions(stage)
        assert validation is not None and validation.groupby("config_cell").size().to_dict() == dict.fromkeys(CELLS, 4)
        assert validation.groupby("family").size().to_dict() == {"countdown": 12, "lake": 8}
        assert completions is not None and set(completions["config_cell"]) <= set(CELLS)
        assert {f"S{cell}" for cell in CELLS} <= {line.id for line in context.lines}


def test_rules_turn_what_each_cell_has(session: Session) -> None:
    check(session)
    record = session.proposal(0)
    assert {(change.cell, change.knob) for change in record.changes if change.cell.startswith("numbers")} >= {("numbers3", "times_ratio")}
    assert record.config_after.cells["numbers3"].times_ratio == pytest.approx(0.4), "hopeless, so easier"
    assert record.config_after.cells["4"].settings()["hole_ratio"] < 0.2


def test_the_even_config_trains_by_grpo(network: Path, store: SessionStore) -> None:
    made = finished(store.create(spec_of(network, UniformEngineer(), "grpo"), "even"))
    check(made)
    record = made.proposal(1)
    assert record is not None and {round(own.share, 6) for own in record.config_after.cells.values()} == {0.2}
    assert record.proposal is not None and "hole ratio 0.30, wait ratio 0.50, products 0.50" in record.proposal.summary


def test_a_replay_compares_proposals_cell_by_cell(session: Session, store: SessionStore) -> None:
    task = task_for(session, 0, arms_of_engineers([RulesEngineer(), UniformEngineer()], "rules"), "again", samples=3)
    replay = Replay.create(task, store, "asked")
    assert work_on(replay) == 0, replay.state().error
    table = proposals(replay.answers())
    assert len(table) == 2 * 3 * 5 and table["times_ratio"].notna().sum() == 18
    arms = compared(table, "rules")
    assert arms["distance"].notna().all() and 0 < arms.loc["uniform", "p"] <= 1 and sentences(arms, task)


def test_each_family_has_a_map(session: Session) -> None:
    maps = axes_of(session.spec.initial_config)
    assert [[knob.name for knob in axes] for axes in maps] == [["hole_ratio", "wait_ratio"], ["times_ratio", "share"]]
    assert [{stop.cell for stop in stops(session, axes)} for axes in maps] == [{"3", "4"}, {"numbers2", "numbers3", "numbers4"}]


@pytest.mark.parametrize("page", ["home", "story", "train", "replay", "benchmark", "help"])
def test_its_pages_open(page: str, session: Session, opened: Callable[..., str]) -> None:
    query = {"story": {"session": "both"}, "train": {"session": "both"}, "replay": {"replay": "asked"}}
    said = opened(page, **query.get(page, {}))
    shown = {"story": ["3 numbers", "4×4"], "help": ["The last result is the target."]}
    assert all(text in said for text in shown.get(page, []))
