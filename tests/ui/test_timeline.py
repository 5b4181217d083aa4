from __future__ import annotations

from pathlib import Path

from frozenlab.app.loop_picture import complete_stage, turn
from frozenlab.app.ui.components.timeline import marks
from frozenlab.session.session import Session
from tests.builders import build_session


def test_a_finished_session_is_a_thread_of_done_stages(built: Session) -> None:
    thread = marks(built, built.state())
    assert [(mark.id, mark.title, mark.state) for mark in thread] == [
        (0, "Before training", "done"), (1, "Stage 1", "done"), (2, "Stage 2", "done"), (3, "Stage 3", "done"),
    ]  # fmt: skip
    assert thread[1].value == f"{100 * built.validation(0)['valid'].mean():.0f} % valid"
    assert "n = 48" in thread[1].detail
    assert thread[2].link == f"{len(built.proposal(0).changes)} changes"


def test_an_unfinished_session_shows_its_stage(tmp_path: Path) -> None:
    session = build_session(tmp_path, status="stopped", finished_stages=1, broken_stage=0)
    thread = marks(session, session.state())
    assert [mark.state for mark in thread] == ["done", "done", "stopped", "waiting"]
    assert thread[2].progress == 0.5
    assert thread[2].link == "config kept"


def test_the_loop_shows_a_turn_whose_config_was_used(built: Session) -> None:
    assert complete_stage(built) == 1
    picture = turn(built, 1)
    assert len(picture["cards"]) == 5
    shares = picture["cards"][0]["figure"]["values"]
    assert abs(sum(shares) - 1) < 1e-6
    assert picture["cards"][4]["figure"]["text"] == built.proposal(1).proposal.summary


def test_a_stage_whose_validation_cannot_be_read_is_not_shown(tmp_path: Path) -> None:
    session = build_session(tmp_path)
    (session.stage_dir(1) / "validation.parquet").write_bytes(b"[")
    assert complete_stage(Session(session.dir)) == 2


def test_a_turn_is_shown_without_the_figures_of_its_training(tmp_path: Path) -> None:
    session = build_session(tmp_path)
    (session.stage_dir(1) / "metrics.jsonl").write_text("")
    assert turn(session, 1)["cards"][1]["figure"]["values"] == []


def test_a_session_without_a_proposal_has_no_turn_to_show(tmp_path: Path) -> None:
    assert complete_stage(build_session(tmp_path, status="stopped", finished_stages=0)) is None
