from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest

from frozenlab.app.headroom.figures import configs_figure, matrix_figure, short
from frozenlab.app.studies.figures import Ink
from frozenlab.base.numbers import typeset
from frozenlab.experiments.headroom.report import report_of
from frozenlab.experiments.headroom.report_tables import Matrix
from frozenlab.experiments.headroom.store import Headroom, write_report
from tests.headroom.builders import built
from tests.headroom.test_report import gains_with
from tests.pages.apptest import open_page, words


@pytest.mark.parametrize("measurement", [one for one in Headroom.shipped() if one.report], ids=lambda one: one.id)
def test_a_recorded_measurement_opens_by_its_address(measurement: Headroom) -> None:
    report = measurement.report
    assert report is not None and report.spec == measurement.spec
    app = open_page("headroom", headroom=f"recorded-{measurement.id}")
    assert not app.warning
    said = words(app)
    assert escape(report.for_people.verdict) in said and typeset(report.spec.prediction).replace(" - ", " − ") in said
    assert len(app.get("plotly_chart")) == (2 if report.forks and report.forks.doses else 1)


@pytest.mark.parametrize("view", ["skills", "configs", "noise"])
def test_every_view_of_a_measurement(tmp_path: Path, view: str) -> None:
    measurement = built(tmp_path, gains_with((2, 3, 2, 3), 0.1))
    write_report(measurement, report_of(measurement))
    app = open_page("headroom", headroom="built", view=view)
    assert len(app.get("plotly_chart")) == 1
    said = words(app)
    assert "✓ pass" in said and "at least 3 points" in said
    assert app.query_params["view"] in (view, [view])


def test_an_unknown_one_is_reported_and_the_form_names_the_command() -> None:
    app = open_page("headroom", headroom="<script>")
    assert "no such measurement" in app.warning[0].value
    app.button(key="headroom-new").click().run()
    assert any(code.value.startswith("frozenlab headroom --preset") for code in app.code)
    assert "**1 part**" in words(app) and re.search(r"About \d+ (s|min)", words(app)), "a measurement of one part, and how long it takes"


def test_the_page_opens_with_headroom_and_counts_cells_as_its_verdict_does() -> None:
    app = open_page("headroom")
    assert "headroom (oracle − equal shares)" in words(app) and "the same config twice: noise" in words(app)
    assert "taught wrong: 9×9" in words(app) and "taught wrong: doors, second seed" in words(app) and "misled-about" not in words(app)
    assert "headroom" not in words(app).partition("Not measured here: ")[2].partition(".")[0]
    said = words(open_page("headroom", headroom="recorded-axes"))
    assert "8 of the 9 cells are about 3 skills" in said and "9 cells × " in said and "below 0.01 it counts as seen" in said


def test_configs_for_one_part_gain_along_the_diagonal() -> None:
    [report] = [one.report for one in Headroom.shipped() if one.id == "instrument"]
    assert report and report.forks
    cells = len(report.forks.cells)
    spots = next(trace for trace in configs_figure(report.forks, None, Ink("#000", 14)).figure.data if trace.text)
    gains = {(x, y): float(re.sub("<.*?>", "", text).replace("−", "-")) for x, y, text in zip(spots.x, spots.y, spots.text, strict=True)}
    rows = range(len(report.forks.configs) - cells, len(report.forks.configs))
    assert [max(range(cells), key=lambda x, y=y: gains[x, y]) for y in rows] == list(range(cells))


def test_the_sign_of_a_cosine_is_seen_without_colour() -> None:
    matrix = Matrix(
        student="s", cells=("a", "b", "c"), influence=((1, 0, 0),) * 3, cosine=((1, -0.5, None), (-0.5, 1, None), (None,) * 3),
        error=((0, 0.1, None), (0.1, 0, None), (None,) * 3), p=(0, 0, 1), seen=(True, True, False), participation=None, entropy=None,
        naive=None, valid=(0.5,) * 3, mixed=(0.5,) * 3, tokens=(5.0,) * 3, tasks=64,
    )  # fmt: skip
    chart = matrix_figure(matrix, Ink("#000", 14))
    assert [shape.fillcolor for shape in chart.figure.layout.shapes] == ["rgba(0, 0, 0, 0)"] * 2, "hollow"
    assert list(chart.figure.data[0].text) == ["−.50", "−.50"] and "b and a −.50" in chart.alt
    assert (short(0.834), short(1.04), short(-0.05), short(None)) == (".83", "1.0", "−.05", "–")
