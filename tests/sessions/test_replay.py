"""Asking anew: nothing is trained, the same draws for every arm, and distances that are what they say."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from core.sessions.replay import compared, replay
from core.sessions.store import SessionError, SessionStore
from core.sessions.studies.spec import Arm, section_arms
from tests.builders import build_session


@pytest.mark.training
@pytest.mark.xdist_group("training")
def test_the_recorded_session_is_asked_anew() -> None:
    session = SessionStore().open("example-quick")
    arms = [section_arms()[0], Arm(name="blind", sections=()), Arm(name="rules", engineer="rules"), Arm(name="fixed", engineer="fixed")]
    told: list[int] = []
    answers = replay(session, 0, arms, 3, on_progress=lambda done, of: told.append(done))
    assert told == list(range(1, 13)) and len(answers) == 4 * 3 * 6
    pd.testing.assert_frame_equal(answers, replay(session, 0, arms, 3))
    table = compared(answers, arms[0].name)
    assert table.loc[arms[0].name, "distance"] == 0 < table.loc["blind", "distance"]
    assert table.loc[["rules", "fixed"], "spread"].max() == pytest.approx(0) and table.loc["fixed", "changes"] == 0
    assert (table["n"] == 3).all()
    sizes = session.environment(0).config.sizes  # type: ignore[union-attr]
    kept = answers[answers["arm"] == "fixed"].set_index("size")
    assert all(kept.loc[size, "hole_ratio"].eq(cell.hole_ratio).all() for size, cell in sizes.items())


def test_spread_and_distance_are_mean_absolute_differences_in_points() -> None:
    common = {"usable": True, "attempts": 1, "tokens": 10, "changes": 1, "size": 3}
    rows = [("a", 0, 0.2), ("a", 1, 0.4), ("b", 0, 0.6), ("b", 1, 0.6)]
    answers = pd.DataFrame(
        [common | {"arm": arm, "sample": n, "share": 1.0, "hole_ratio": hole, "wait_ratio": 0.1} for arm, n, hole in rows]
    )
    answers.loc[3, "usable"] = False
    table = compared(answers, "a")
    assert table["spread"].to_dict() == pytest.approx({"a": 10 / 3, "b": 0})  # one knob of three, 10 points from the mean
    assert table["distance"].to_dict() == pytest.approx({"a": 0, "b": 10})
    assert table["unusable"].to_dict() == {"a": 0, "b": 1}


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    session = build_session(tmp_path, finished_stages=1)
    with pytest.raises(SessionError, match="has not validated a stage 3"):
        replay(session, 2, [Arm(name="rules", engineer="rules")], 1)
    with pytest.raises(SessionError, match="no weights of its stage 1"):
        replay(session, 0, section_arms(), 1)
