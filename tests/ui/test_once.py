"""Figures that are drawn once for all viewers."""

from __future__ import annotations

from pathlib import Path

from frozenlab.ui.once import once
from tests.builders import build_session


def test_it_is_drawn_again_only_if_its_inputs_have_changed() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    assert [once(make, "test once", "a", 1), once(make, "test once", "a", 1), once(make, "test once", "a", 2)] == [1, 1, 2]
    assert once(make, "test once, elsewhere", "a", 1) == 3


def test_a_session_has_another_revision_once_a_file_of_a_stage_has_changed(tmp_path: Path) -> None:
    session = build_session(tmp_path)
    before = session.revision()
    assert session.revision() == before
    with (session.stage_dir(1) / "metrics.jsonl").open("a") as file:
        file.write("{}\n")
    changed = session.revision()
    assert changed != before
    (session.stage_dir(0) / "context.json").unlink()
    assert session.revision() != changed
