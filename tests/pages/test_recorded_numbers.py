"""Every number that six pages showed of a recorded session, study, replay and result on the day it was noted is still shown, and all
pages print numbers in one way.

``python -m tests.pages.test_recorded_numbers`` notes them again, for new recordings only.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.ui import nav
from frozenlab.app.ui.components.timeline import rates_by_stage
from frozenlab.app.ui.figures import overall
from frozenlab.base import places
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import MANY, points
from frozenlab.experiments.studies.design import arm_titles
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.session.session import Session, SuiteName
from tests.pages.apptest import misprints, open_page, source, tables, words

NOTED = Path(__file__).with_name("recorded_numbers.json")
VIEWS: dict[str, dict[str, str]] = {
    "home": {},
    "benchmark": {},
    "train": {"session": "example-long"},
    "story": {"session": "example-quick", "stage": "1"},
    "studies": {"study": "recorded-sections", "view": "effects"},
    "diagnosis": {},
    "replay": {"replay": "recorded-sections"},
}
"""The pages that are opened, and the address behind each."""
STORY_PARTS = ("happened", "failed", "read", "wrote", "right", "session")
ARRAYS = {"f8": "<f8", "f4": "<f4", "i1": "<i1", "i2": "<i2", "i4": "<i4", "u1": "<u1", "u2": "<u2", "u4": "<u4"}


def numbers_of(app: AppTest) -> list[str]:
    """The numbers in charts, tables and metrics, and those with a decimal point or per cent sign in texts; sorted, each once."""
    found = set[str]()
    for chart in app.get("plotly_chart"):
        for trace in json.loads(chart.proto.spec or chart.proto.figure.spec)["data"]:
            for axis in ("x", "y", "z"):
                found |= set(map(written, in_json(trace.get(axis))))
    for frame in tables(app):
        for column in frame.columns:
            found |= set(map(written, in_json(frame[column].tolist())))
    for metric in app.metric:
        found |= set(re.findall(r"-?\d+(?:\.\d+)?", f"{metric.value} {metric.delta}"))
    found |= set(re.findall(r"\d+\.\d+|\d+(?= %)", source(app)))
    return sorted(found)


def in_json(value: Any) -> Iterator[float]:
    """The numbers of a trace's axis, of a cell, or of a list of either."""
    if isinstance(value, dict) and "bdata" in value:
        yield from np.frombuffer(b64decode(value["bdata"]), ARRAYS[value["dtype"]]).tolist()
    elif isinstance(value, list | tuple):
        for each in value:
            yield from in_json(each)
    elif isinstance(value, str):
        yield from (float(number) for number in re.findall(r"-?\d+\.\d+", value))
    elif isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
        yield float(value)


def written(number: float) -> str:
    """To six digits: a sum may run in another order."""
    return f"{number:.6g}"


def shown(name: str) -> list[str]:
    """The numbers of a page, of the Story those of all its parts."""
    found = set[str]()
    for part in ({"part": part} for part in STORY_PARTS) if name == "story" else [{}]:
        app = open_page(name, **VIEWS[name], **part)
        assert not app.warning, (name, app.warning)
        assert not (wrong := misprints(app)), (name, part, wrong[:10])
        found |= set(numbers_of(app))
    return sorted(found)


@pytest.mark.parametrize("folder", sorted(places.SESSIONS.glob("example-*")), ids=lambda folder: folder.name)
def test_a_recorded_session_shows_the_rates_of_its_boards(folder: Path) -> None:
    session = Session(folder)
    noted = rates_by_stage(session.state())
    assert noted.keys() == {None, *range(session.spec.stages)}
    for stage, rate in noted.items():
        table = session.results(stage)
        assert table is not None and overall(table) == rate, stage


@pytest.mark.parametrize("name", VIEWS)
def test_the_numbers_noted_are_still_shown(name: str) -> None:
    noted = json.loads(NOTED.read_text(encoding="utf-8"))[name]
    missing = set(noted) - set(shown(name))
    assert not missing, f"{len(missing)} of {len(noted)} numbers are gone from {name}: {sorted(missing)[:20]}"


@pytest.mark.parametrize("name", sorted(nav.PAGES.keys() - VIEWS.keys()))
def test_the_other_pages_print_numbers_in_one_way(name: str) -> None:
    assert misprints(open_page(name)) == []


def series_of(app: AppTest) -> list[tuple[str, list[float], list[Any], list[float]]]:
    """Name, numbers of x, words of x or y, and numbers of y of everything that is drawn on a page."""
    found = []
    for chart in app.get("plotly_chart"):
        for trace in json.loads(chart.proto.spec or chart.proto.figure.spec)["data"]:
            x, y = trace.get("x"), trace.get("y")
            named = next((axis for axis in (x, y) if isinstance(axis, list) and all(isinstance(one, str) for one in axis)), [])
            found.append((trace.get("name") or "", list(in_json(x)), named, list(in_json(y))))
    return found


@pytest.mark.parametrize("folder", sorted(places.SESSIONS.glob("example-*")), ids=lambda folder: folder.name)
def test_headlines_and_charts_of_a_session_show_the_boards_that_they_name(folder: Path) -> None:
    session = Session(folder)
    stages = (None, *range(session.spec.stages))

    def by_cell(suite: SuiteName, stage: int | None, column: str = "valid") -> list[float]:
        rows = session.answers(suite, stage)
        assert rows is not None
        return [rows[rows["config_cell"] == cell][column].mean() for cell in in_order(rows["config_cell"])]

    def valid(suite: SuiteName, stage: int | None) -> float:
        rows = session.answers(suite, stage)
        assert rows is not None
        return float(rows["valid"].mean())

    suite: SuiteName = "test" if (folder / "baseline" / "test.parquet").exists() else "validation"
    app = open_page("story", session=folder.name, stage="1", part="happened")
    headline = re.search(r"from ([\d.]+) % to <b>([\d.]+) %", source(app))
    assert headline and [float(rate) for rate in headline.groups()] == pytest.approx(
        [100 * valid(suite, None), 100 * valid(suite, 0)], abs=0.5
    )
    assert f"results on {suite} boards" in words(app)
    drawn = series_of(app)
    for name, stage in (("before training", None), ("after stage 1", 0)):
        rates = [[rate for _, rate in sorted(zip(x, y, strict=True))] for series, x, _, y in drawn if series == name]
        assert rates == [pytest.approx(by_cell(suite, stage, column)) for column in ("valid", "optimal")]
    best = [x for series, x, _, _ in drawn if series == "optimal"]
    assert best == [pytest.approx(by_cell(suite, stage, "optimal")) for stage in (None, 0)]
    whole = series_of(open_page("story", session=folder.name, stage="1", part="session"))
    over = [y for series, x, _, y in whole if not series and x == [float(place) for place in range(len(stages))]]
    for stage, rates in zip(stages, zip(*over[: len(by_cell(suite, None))], strict=True), strict=True):
        assert list(rates) == pytest.approx(by_cell(suite, stage))
    context = session.context(0)
    assert context is not None
    rows = session.answers("validation", 0)
    assert rows is not None
    for line in context.sections["failures"]:
        if "n" in line.numbers:
            assert line.numbers["valid"] == rows[rows["config_cell"] == line.cell]["valid"].mean(), "what the engineer reads is validation"
    trained = series_of(open_page("train", session=folder.name))
    named = [(one, y) for series, _, _, y in trained for one in get_args(SuiteName) if f"{one} " in series or f"{one}," in series]
    assert named == [(suite, pytest.approx([valid(suite, stage) for stage in stages]))]


def test_the_runs_table_shows_the_results_of_each_session() -> None:
    (table,) = open_page("runs").dataframe
    rows = table.value.set_index("run")
    sessions = [Session(folder) for folder in places.SESSIONS.glob("example-*")]
    assert set(rows.index) >= {session.title for session in sessions}
    for session in sessions:
        first, last = session.results(None), session.results(session.spec.stages - 1)
        assert first is not None and last is not None
        shown = rows.loc[session.title, ["before", "after", "n"]].tolist()
        assert shown == [pytest.approx(100 * first["valid"].mean(), abs=0.5), pytest.approx(100 * last["valid"].mean(), abs=0.5), len(last)]


@pytest.mark.parametrize("name", ["confirm", "engineers-sealed"])
def test_charts_and_tables_of_a_study_show_its_boards(name: str) -> None:
    folder = places.ASSETS / "studies" / name
    spec, boards = (
        StudySpec.model_validate_json((folder / "study.json").read_bytes()),
        pd.read_parquet(folder / "boards.parquet"),
    )
    unit = "student" if spec.students else "seed"
    of_cells = boards.groupby(["arm", unit, "seed", "config_cell"] if spec.students else ["arm", "seed", "config_cell"])["valid"].mean()
    titles = arm_titles(spec)
    of_units = of_cells.groupby(["arm", unit]).mean().rename(index=titles, level="arm")
    means, first = 100 * of_units.groupby("arm").mean(), titles[spec.arms[0].name]
    app = open_page("studies", study=f"recorded-{name}", view="arms")
    assert ("test boards, which no engineer saw" in words(app)) == (spec.session.test is not None)
    (table,) = (frame.value.set_index("arm") for frame in app.dataframe if "arm" in frame.value)
    assert table["mean"].to_dict() == pytest.approx(means.to_dict(), abs=0.01)
    drawn = [dict(zip(arms, x, strict=True)) for series, x, arms, _ in series_of(app) if series == "mean"]
    assert drawn == [pytest.approx((means / 100).to_dict())]
    for one in boards[unit].unique():
        [rates] = [
            dict(zip(arms, x, strict=True)) for series, x, arms, _ in series_of(app) if series == (one if spec.students else f"seed {one}")
        ]
        assert rates == pytest.approx(of_units.xs(one, level=unit).to_dict())
    app = open_page("studies", study=f"recorded-{name}", view="effects")
    effects = {f"{arm} instead of {first}": means[arm] - means[first] for arm in titles.values() if arm != first}
    shown = {label[0]: x[0] for series, x, label, _ in series_of(app) if len(label) == 1 and not series}
    pairs = {label: tuple(label.split(" instead of ")) for label in shown}
    assert {frozenset(pair) for pair in pairs.values()} == {frozenset((arm, first)) for arm in titles.values() if arm != first}
    assert shown == pytest.approx({label: means[arm] - means[than] for label, (arm, than) in pairs.items()})
    told = next(frame for frame in tables(app) if "change, points" in frame).set_index("comparison")["change, points"]
    assert {label: told[label] for label in effects} == {label: points(change / 100, MANY).split()[0] for label, change in effects.items()}


def test_a_rate_reads_the_same_on_runs_and_compare() -> None:
    (table,) = open_page("runs").dataframe
    shown = table.value.set_index("run")
    compared = open_page("runs", compare="example-quick,example-long")
    assert misprints(compared) == []
    rates = re.findall(r'fl-answer">([\d.]+) % <small>valid', source(compared))
    notes = re.findall(r"([\d.]+ to [\d.]+ %) \(95 %\), n = ([\d,]+)", source(compared))
    assert len(rates) == 2
    for rate, (bounds, n) in zip(rates, notes, strict=True):
        row = shown[(shown["95 % interval"] == bounds) & (shown["n"] == int(n.replace(",", "")))]
        assert float(rate) in set(row["after"])


if __name__ == "__main__":
    NOTED.write_text(json.dumps({name: shown(name) for name in VIEWS}, separators=(",", ":")).replace("],", "],\n") + "\n")
