"""Figures that are drawn once for all viewers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import plotly.graph_objects as go
import pytest

from frozenlab.app.ui.figures import Chart
from frozenlab.app.ui.once import once
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


def test_a_failure_is_not_kept() -> None:
    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError):
        once(fail, "test failure", 1)
    assert once(lambda: 7, "test failure", 1) == 7


def test_those_who_ask_at_the_same_time_wait_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made, started, go_on = [], Event(), Event()

    def make() -> int:
        made.append(1)
        started.set()
        go_on.wait(30)
        return 7

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(once, make, "test wait", 1) for _ in range(4)]
        started.wait(30)
        go_on.set()
        assert [one.result() for one in asked] == [7] * 4 and made == [1]


def test_a_chart_has_its_data_ready(tmp_path: Path) -> None:
    chart = Chart(go.Figure(go.Scatter(x=[1, 2], y=[3, 4])), "a line")
    shown = json.loads(chart.figure.to_json())
    shown["layout"]["showlegend"] = False  # it stands above the figure
    assert chart.settled.to_dict() is chart.settled.to_dict() and json.loads(chart.settled.to_json()) == shown
