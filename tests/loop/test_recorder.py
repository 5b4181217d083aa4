"""The files that a worker writes while a stage trains, and how another worker resumes from them."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from frozenlab.base.files import write_parquet
from frozenlab.session.catalog import listed
from frozenlab.session.pace import pace_for, pace_of
from frozenlab.session.recorder import Recorder
from frozenlab.session.runs import runs
from frozenlab.session.session import Session
from frozenlab.session.state import Phase
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Whose first stage was left after four of eight steps, eight completions each."""
    return build_session(tmp_path, small_spec(stages=1, sizes=(3,), boards_per_size=2), status="crashed", finished_stages=0)


def taken_up(session: Session, step: int) -> Recorder:
    """A worker that goes on with this step, the first after a checkpoint."""
    recorder = Recorder(session)
    recorder.begin()
    recorder.phase("training", 0)
    rows = session.completions(0).head(8).assign(training_step=step).to_dict("records")  # type: ignore[union-attr]
    recorder.step(0, {"step": step, "reward": 0.9, "valid": 1.0, "optimal": 1.0}, rows, True)
    return recorder


@pytest.mark.parametrize("checkpoint", [0, 2, 4])
def test_repeated_steps_are_recorded_once(session: Session, checkpoint: int) -> None:
    taken_up(session, checkpoint + 1)
    steps = range(1, checkpoint + 2)
    assert session.completions(0).groupby("training_step").size().to_dict() == dict.fromkeys(steps, 8)  # type: ignore[union-attr]
    assert [figures["step"] for figures in session.figures(0)] == [*steps]
    assert session.recorded_steps(0) == checkpoint + 1


def test_completions_are_written_before_the_checkpoint_that_follows_them(session: Session) -> None:
    recorder = taken_up(session, 1)
    rows = session.completions(0).to_dict("records")  # type: ignore[union-attr]
    recorder.step(0, {"step": 2}, [row | {"training_step": 2} for row in rows], False)
    assert session.recorded_steps(0) == 1
    recorder.step(0, {"step": 3}, [row | {"training_step": 3} for row in rows], True)
    assert session.recorded_steps(0) == 3


def test_a_file_shared_with_the_parent_is_not_written_to(session: Session, tmp_path: Path) -> None:
    metrics = session.stage_dir(0) / "metrics.jsonl"
    os.link(metrics, tmp_path / "parents")
    before = metrics.read_bytes()
    taken_up(session, 3)
    assert (tmp_path / "parents").read_bytes() == before != metrics.read_bytes()


def test_the_bar_gives_a_long_test_after_little_training_its_part(tmp_path: Path) -> None:
    spec = small_spec(stages=1, sizes=(3,), boards_per_size=10)
    spec = spec.changed(training=spec.training.model_copy(update={"steps": 1}), test=spec.suite.model_copy(update={"boards_per_cell": 400}))
    session = SessionStore(tmp_path).create(spec, "mine")
    recorder, seen = Recorder(session), []
    session.stage_dir(None).mkdir(parents=True)
    phases: tuple[tuple[Phase, int | None], ...] = (
        ("baseline", None),
        ("baseline", None),
        ("training", 0),
        ("validating", 0),
        ("testing", 0),
    )
    for phase, stage in phases:
        recorder.phase(phase, stage)
        recorder.fraction(1.0)
        seen.append(recorder.state.progress)
        write_parquet(session.stage_dir(None) / "validation.parquet", pd.DataFrame())  # after the first: then the base is tested
    validated, tested, trained, _, done = seen
    assert seen == sorted(seen) and validated < 0.05 < 0.4 < tested, "the test of the base takes nearly half of the time"
    assert trained - tested < 0.1 and done - trained > 0.3, "a test takes longer than a step of training"


@pytest.mark.parametrize("name", ["example-quick", "example-long"])
def test_the_pace_of_a_session_gives_the_time_that_it_took(name: str) -> None:
    session = SessionStore().open(name)
    pace, events, began = pace_of(session), session.events(), session.state().create_time
    assert pace is not None and began is not None and pace_for(session.spec, [session]) == pace
    assert pace.seconds(session.spec) == pytest.approx(events[-1]["time"] - began, rel=0.12), "its start-up too"
    little = session.spec.changed(training=session.spec.training.model_copy(update={"steps": 1}))
    measuring = sum(little.held_out) * pace.answer * (little.stages + 1)
    assert pace.seconds(little) > pace.load + measuring, "held-out boards are answered however little it trains"
    assert pace.seconds(little, forked=True) < pace.seconds(little)


def test_a_session_says_how_many_answers_of_its_engineer_could_be_used(tmp_path: Path) -> None:
    session = build_session(tmp_path, small_spec(stages=2, sizes=(3,), boards_per_size=2), broken_stage=0)
    Recorder(session).begin()
    assert session.state().answers == (1, 2)
    proposal = session.stage_dir(1) / "proposal.json"
    proposal.write_bytes((session.stage_dir(0) / "proposal.json").read_bytes())
    Recorder(Session(session.dir)).begin()
    (run,) = runs(listed(tmp_path, tmp_path))
    assert run.engineer == "policy, no usable answer"


def test_rates_are_counted_from_the_tables_not_the_state(session: Session) -> None:
    (session.dir / "state.json").unlink()
    recorder = Recorder(session)
    recorder.begin()
    assert [(rate.stage, rate.n) for rate in Session(session.dir).state().rates] == [(None, 2)]
