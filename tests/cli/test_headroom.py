from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.experiments.headroom.report import report_of
from frozenlab.experiments.headroom.store import write_report
from frozenlab.jobs.state import WorkerState, store_state
from tests.cli.calls import answer, reason
from tests.headroom.builders import built
from tests.headroom.test_report import gains_with


@pytest.fixture
def measured(root: Path) -> None:
    """A measurement called ``built`` that has nothing left to do."""
    measurement = built(root, gains_with((2, 3, 2, 3), 0.1))
    write_report(measurement, report_of(measurement))
    store_state(measurement.dir, WorkerState(status="done"))


def test_what_cannot_be_measured(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a spec (JSON), the id of a measurement, or a --preset" in reason(capsys, "headroom")
    assert "there is no headroom preset 'moon'; there are" in reason(capsys, "headroom", "--preset", "moon")
    assert "cannot be read" in reason(capsys, "headroom", "missing.json")
    assert "argument --jobs: " in reason(capsys, "headroom", "--preset", "lake-axes", "--jobs", "0")
    assert "there is no student 'nobody'" in reason(capsys, "headroom", "--preset", "lake-axes", "--students", "nobody")
    bad = root / "bad.json"
    bad.write_text(json.dumps({"title": "Nothing"}))
    assert "nothing would be measured" in reason(capsys, "headroom", str(bad))


def test_a_report_is_printed(measured: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "gains.csv"
    assert main(["headroom", "built", "--out", str(table)]) == 0
    said = capsys.readouterr().out
    assert "pass  headroom (oracle − equal): +10" in said and "(target: at least 3 points)" in said
    assert table.read_text().startswith("student,config,replicate,gain,optimal_gain\nstudent-0,kept,1,")
    assert answer(capsys, "headroom", "built")["report"]["students"] == [f"student-{number}" for number in range(4)]


def test_an_existing_measurement_has_its_spec(measured: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert "exists already" in reason(capsys, "headroom", "built", "--students", "lab-model")
