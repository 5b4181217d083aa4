from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.app.session.curves import StageCurve, metrics_of, rates_over_stages, training_curves, valid_by_cell
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.figures import ARM_COLORS, SIGNS, SYMBOLS, Series, faults_by_cell, overall, rates_by_cell
from frozenlab.base.numbers import Interval, percent
from frozenlab.base.places import ROOT
from frozenlab.experiments.studies.pictures import COLORS
from frozenlab.session.session import Session
from frozenlab.tasks.lake.words import OUTCOMES


def series(session: Session, stage: int | None) -> Series:
    return Series(stage_name(stage), session.validation(stage))


def test_a_rate_of_no_boards_may_be_anything() -> None:
    assert Interval.of(0, 0) == Interval(0.0, 0.0, 1.0, 0)


def test_rates_by_cell_draws_before_and_after_with_their_intervals(built: Session) -> None:
    chart = rates_by_cell(series(built, None), series(built, 2))
    valid_before, _, valid_after, _ = chart.figure.data
    after = built.validation(2)
    assert valid_after.y[0] == after[after["size"] == 3]["valid"].mean()
    for trace in (valid_before, valid_after):
        for (cell, label, rate, bounds, n, low, high), y in zip(trace.customdata, trace.y, strict=True):
            assert n == 12 and low <= y <= high and low < high
            assert (rate, bounds) == ((found := Interval.of(round(12 * y), 12)).percent, found.percents)
            assert cell in ("3", "4", "5", "6") and label == f"{cell}×{cell}"
    assert "n = 48" in chart.alt


def test_an_axis_names_rates_as_texts_do(built: Session) -> None:
    layout = rates_by_cell(None, series(built, None)).figure.layout
    named = layout.template.layout.yaxis.labelalias
    assert [named[f"{100 * tick:g}%"] for tick in layout.yaxis.tickvals] == [percent(tick) for tick in layout.yaxis.tickvals]


def test_the_base_stands_alone(built: Session) -> None:
    chart = rates_by_cell(None, series(built, None))
    assert [trace.name for trace in chart.figure.data] == ["Before training"] * 2


def test_fault_stacks_are_whole_and_name_the_boards_they_count(built: Session) -> None:
    chart = faults_by_cell([series(built, None), series(built, 0)], OUTCOMES)
    first = [trace for trace in chart.figure.data if trace.xaxis == "x"]
    for column in range(4):
        assert sum(trace.x[column] for trace in first) == pytest.approx(1)
        assert {trace.y[column] for trace in first} == {f"{3 + column}×{3 + column}"}
    failed = built.validation(None)
    for trace in first:
        for cell, outcome, boards, n, _, rate in trace.customdata:
            assert boards == ((failed["config_cell"] == cell) & (failed["outcome"] == outcome)).sum()
            assert n == 12 and rate == percent(boards / 12)
    assert {name for _, _, name in chart.legend} == {trace.name for trace in chart.figure.data}, "each once"
    assert len(chart.legend) == len({trace.name for trace in chart.figure.data})
    order = [trace.customdata[0][1] for trace in first]
    assert order == sorted(order, key=list(OUTCOMES).index)


def test_a_figure_leaves_its_legend_to_the_page_and_to_saved_pictures(built: Session) -> None:
    both, alone = rates_by_cell(series(built, None), series(built, 0)), rates_over_stages([series(built, None), series(built, 0)])
    assert [name for _, _, name in both.legend] == ["Before training", "Stage 1"] and not alone.legend
    layout, other = (chart.settled.to_dict()["layout"] for chart in (both, alone))
    assert (layout["showlegend"], layout["meta"]) == (False, {"legend": True}) and "meta" not in other


def test_axes_say_what_they_count(built: Session) -> None:
    both = series(built, None), series(built, 1)
    for chart in (rates_by_cell(*both), faults_by_cell(both, OUTCOMES), rates_over_stages(both), valid_by_cell(built.metrics(0), 8)):
        assert chart.figure.layout.xaxis.title.text and chart.figure.layout.yaxis.title.text


def test_an_arm_has_one_colour_on_pages_and_in_reports() -> None:
    assert tuple("#{:02X}{:02X}{:02X}".format(*rgb) for rgb in COLORS) == ARM_COLORS and {*SYMBOLS} <= {*SIGNS}


def test_curves_place_each_stage_after_the_one_before(built: Session) -> None:
    stages = [StageCurve(stage_name(i), built.metrics(i), 8, overall(built.validation(i))) for i in range(3)]
    figure = training_curves(overall(built.validation(None)), stages, "test").figure
    thick = [trace for trace in figure.data if trace.name == "valid plans while training"]
    assert [trace.x[0] for trace in thick] == [1, 9, 17]
    diamonds = next(trace for trace in figure.data if (trace.name or "").startswith("valid on test boards"))
    assert list(diamonds.x) == [0, 8, 16, 24]


def test_curves_of_a_session_that_has_only_begun_say_so() -> None:
    chart = training_curves(None, [StageCurve("Stage 1", pd.DataFrame(), 30, None)], "validation")
    assert "none yet" in chart.alt


def test_the_valid_rate_has_one_scale_whatever_is_measured_yet(built: Session) -> None:
    stages = [StageCurve("Stage 1", pd.DataFrame(), 8, None)]
    for base in (None, overall(built.validation(None))):
        layout = training_curves(base, stages, "validation").figure.layout
        lowest = 0.0 if base is None else base.low
        assert layout.yaxis.range[1] == 1.02 and layout.yaxis.range[0] <= lowest and layout.yaxis2.range == (0, 1)


def test_any_recorded_figure_is_drawn_below_the_valid_rate_smoothed_or_not(built: Session) -> None:
    tables = [built.metrics(i).assign(entropy=[1.0, 0.0] * 4) for i in range(3)]
    assert "entropy" in metrics_of(tables) and "kl" not in metrics_of(tables)
    stages = [StageCurve(stage_name(i), table, 8, None) for i, table in enumerate(tables)]
    for smooth, second in ((1, 0.0), (2, 0.5)):
        figure = training_curves(None, stages, "test", smooth, "entropy").figure
        drawn = next(trace for trace in figure.data if trace.name == "entropy")
        assert drawn.y[1] == second and figure.layout.yaxis2.title.text == "entropy"


def test_small_multiples_have_one_panel_a_size(built: Session) -> None:
    moments = [series(built, stage) for stage in (None, 0, 1, 2)]
    figure = rates_over_stages(moments).figure
    assert [note.text for note in figure.layout.annotations] == ["3×3", "4×4", "5×5", "6×6"]
    assert len([trace for trace in figure.data if trace.mode == "lines+markers"]) == 4
    training = valid_by_cell(built.metrics(0), 8)
    assert [note.text for note in training.figure.layout.annotations] == ["3×3", "4×4", "5×5", "6×6"]


def test_all_figures_have_words(built: Session) -> None:
    both = series(built, None), series(built, 1)
    for chart in (rates_by_cell(*both), faults_by_cell(both, OUTCOMES), rates_over_stages(both)):
        assert len(chart.alt) > 40


def test_every_figure_is_drawn_in_one_place_which_gives_it_a_camera() -> None:
    sources = [path for folder in ("core/frozenlab/app/ui", "pages") for path in (ROOT / folder).glob("*.py")]
    assert [path.name for path in sources if "plotly_chart(" in path.read_text(encoding="utf-8")] == ["theme.py"]
