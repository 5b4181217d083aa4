"""Contests: who is in the queue, that all sides begin alike, and that scores are those of the sessions' tables."""

from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.base.cells import evenly
from frozenlab.experiments.contests import worker
from frozenlab.experiments.contests.scores import between, label_of, scores, table_of
from frozenlab.experiments.contests.store import Contest, side_id
from frozenlab.experiments.contests.task import ContestError, Entry, task_against, teachable
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.students.menu import usual_config
from frozenlab.experiments.studies.presets import best_for
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.worker import DONE, STOPPED, work_on
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.models.folders import WEIGHTS
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.store import SessionStore
from tests.contests.builders import CONFIG, measured_contest, tiny_contest, trained
from tests.running import end_workers


def test_people_and_the_engineer_come_before_the_oracle_that_is_no_opponent(store: SessionStore) -> None:
    contest = tiny_contest(store)
    assert [entry.kind for entry in contest.entries] == ["oracle"]
    assert contest.enter(Entry(name="Ada", config=CONFIG)) == 2
    assert contest.enter(Entry(name="Bo", config=CONFIG)) == 4, "with the first person the engineer entered"
    assert contest.enter(Entry(name="Ada", config=CONFIG)) == 5
    assert [entry.name for entry in contest.waiting()] == ["Ada", "the engineer", "Bo", "Ada", "the oracle"]
    assert [label_of(one, contest.entries) for one in contest.waiting()][:4:3] == ["Ada (1)", "Ada (2)"]


def test_a_config_about_other_tasks_is_refused(store: SessionStore) -> None:
    contest = tiny_contest(store)
    with pytest.raises(ContestError, match="other tasks"):
        contest.enter(Entry(name="Ada", config=EnvironmentConfig.uniform((7,), agents=2)))


def test_the_students_have_one_weakness_each_and_the_oracle_knows_it(store: SessionStore) -> None:
    known = teachable()
    assert len(known) == 5
    assert len({recipe.weak for recipe in known.values()}) == 5
    for name, recipe in known.items():
        task = task_against(recipe, name, "Student A")
        assert task.session.policy == f"student:{name}"
        assert task.session.test is not None and task.session.ask_first
    contest = Contest.create(task, store, "one")
    assert contest.entries[0].config == best_for(evenly(recipe.config), recipe.weak)


def test_a_choice_helped_every_student_when_the_instrument_was_measured() -> None:
    """Two students of each kind, each twice, after one stage on their weak kind of task alone: the shipped table."""
    [instrument] = [one for one in Headroom.shipped() if one.id == "instrument"]
    outcomes, known = instrument.outcomes(), teachable()
    assert outcomes is not None and {name for name in instrument.spec.students if "seed" not in name} == {f"student:{one}" for one in known}
    for number, student in enumerate(instrument.spec.students):
        [weak] = known[student.removeprefix("student:").removesuffix("-seed-1")].weak
        words = next(cell.words for cell in usual_config().described() if cell.name == weak)
        rows = outcomes[outcomes["student"] == number]
        for _, fork in rows.groupby("replicate"):
            before, after = fork[fork["part"] == "before"], fork[fork["config"] == f"only {words}"]
            for all_cells, least in ((True, 0.02), (False, 0.2)):
                first, last = (table if all_cells else table[table["cell"] == weak] for table in (before, after))
                assert last["valid"].sum() / last["n"].sum() - first["valid"].sum() / first["n"].sum() > least, (student, all_cells)


def test_every_side_begins_with_the_same_measurements_and_seed(store: SessionStore) -> None:
    contest = measured_contest(store)
    base = contest.base
    assert base is not None and contest.is_open
    sides = [worker.create_side(contest, entry) for entry in contest.entries]
    assert all(side.spec.changed(title="") == contest.spec.session for side in sides)
    for side in sides:
        pd.testing.assert_frame_equal(side.test(None), base.test(None))
        pd.testing.assert_frame_equal(side.validation(None), base.validation(None))
    given = [side.given(None) for side in sides]
    assert [proposal.config if proposal else None for proposal in given] == [entry.config for entry in contest.entries]


def test_a_score_is_what_the_tables_of_the_sessions_say(store: SessionStore) -> None:
    contest = measured_contest(store)
    better, level = trained(contest, 1, solved=0.9), trained(contest, 2, solved=0.9)
    worse = trained(contest, 3, solved=0.1)
    found = scores(contest)
    before = contest.base.test(None)["valid"].mean()  # type: ignore[union-attr,index]
    tables = {side.id: side.test(0)["valid"].mean() for side in (better, level, worse)}  # type: ignore[index]
    assert {side_id(score.entry.number): score.gain.value for score in found} == pytest.approx(
        {name: rate - before for name, rate in tables.items()}
    )
    assert {score.entry.number for score in found[:2]} == {1, 2} and found[2].entry.number == 3, "most points first"
    assert [score.place for score in found] == [
        "most points",
        "level with the best: chance could explain it",
        "behind, by more than chance explains",
    ]
    assert all(score.gain.low <= score.gain.value <= score.gain.high and score.gain.n == len(better.test(0)) for score in found)  # type: ignore[arg-type]
    difference = between(contest, 3, 1)
    assert difference is not None and difference.value == pytest.approx(tables["entry-003"] - tables["entry-001"])
    table = table_of(contest)
    assert list(table["entry"]) == [score.entry.number for score in found] and {f"gain_{name}" for name in CONFIG.cells} <= {*table.columns}


@pytest.mark.slow
def test_a_contest_is_stopped_and_resumed_and_the_same_config_gives_the_same_weights(store: SessionStore) -> None:
    contest = tiny_contest(store)
    try:
        (contest.dir / STOP_FILE).touch()
        assert work_on(contest) == STOPPED
        (contest.dir / STOP_FILE).unlink()
        for name in ("Ada", "Bo"):
            contest.enter(Entry(name=name, config=best_for(CONFIG, ("4",))))
        assert work_on(contest) == DONE, contest.state().error
    finally:
        end_workers(side for entry in contest.entries if (side := contest.side(entry.number)))
    by_name = {entry.name: contest.side(entry.number) for entry in contest.entries}
    weights = {name: checksum(side.stage_dir(0) / "policy" / WEIGHTS) for name, side in by_name.items() if side}
    assert weights["Ada"] == weights["Bo"] == weights["the oracle"] != weights["the engineer"], "who wrote it makes no difference"
    assert {score.label for score in scores(contest)} == {*by_name}
    assert not contest.unfinished
