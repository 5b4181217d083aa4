"""The files that a worker writes while a stage trains, and how another worker resumes from them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from frozenlab.session.recorder import Recorder
from frozenlab.session.session import Session
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


def test_rates_are_counted_from_the_tables_not_the_state(session: Session) -> None:
    (session.dir / "state.json").unlink()
    recorder = Recorder(session)
    recorder.begin()
    assert [(rate.stage, rate.n) for rate in Session(session.dir).state().rates] == [(None, 2)]
