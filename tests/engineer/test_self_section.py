"""The section `self`: mixed, solved and failed groups of sampled plans."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from frozenlab.app.session.evidence import boards_behind
from frozenlab.base import places
from frozenlab.engineer.dialects.lab import render_context
from frozenlab.engineer.dialects.plain import render_request
from frozenlab.engineer.sections import BY_NAME, NAMES, USUAL, describe, help_of
from frozenlab.engineer.sections.self import group_line, groups
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.engineer.builders import one_cell
from tests.running import finished


def test_groups_are_mixed_solved_or_failed() -> None:
    rows = [("a", True, 1.0), ("a", False, 0.0), ("b", True, 1.0), ("b", True, 1.0), ("c", False, 0.1), ("c", False, 0.1)]
    table = pd.DataFrame(rows, columns=["board_id", "valid", "reward"]).assign(training_step=1)
    line = group_line(one_cell(6), groups(table))
    assert line.id == "G6" and line.numbers == pytest.approx({"n": 3, "mixed": 1 / 3, "solved": 1 / 3, "failed": 1 / 3, "spread": 1 / 6})
    assert line.text == (
        "Size 6: of 3 recorded groups of plans 33% mix success and failure, 33% are all valid, 33% all fail; mean reward spread 0.17."
    )


def test_a_recorded_stage_has_it_and_its_lines_lead_to_boards() -> None:
    session = Session(places.ROOT / "sessions" / "example-quick")
    context = describe(session.measurements(0), NAMES)
    whole, *sizes = context.sections["self"]
    assert whole.numbers["n"] == sum(line.numbers["n"] for line in sizes) == 36 and "entropy" in whole.numbers
    for line in (whole, *sizes):
        rows = boards_behind(session, 0, line).rows
        assert len(rows)
        assert (0 < rows.head(8)["valid"].mean() < 1) == (line.numbers["mixed"] > 0), "the most mixed group comes first"
    assert f"## {BY_NAME['self'].heading}\n[G] All sizes: of 36" in render_request(context)


def test_the_lab_model_is_not_shown_it_and_the_app_says_so() -> None:
    session = Session(places.ROOT / "sessions" / "example-quick")
    stage = session.measurements(0)
    assert render_context(describe(stage, NAMES)) == render_context(describe(stage, USUAL))
    assert "the lab model has no words for it" in help_of("self") and "self" not in USUAL


def test_a_session_of_the_lab_model_runs_with_it(tmp_path: Path) -> None:
    session = finished(SessionStore(tmp_path).create(short_spec(sections=NAMES), "self"))
    context = session.context(0)
    assert context is not None and context.sections["self"] and "<self>" not in (context.prompt or "")
