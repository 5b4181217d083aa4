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
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.ui import nav
from frozenlab.app.ui.components.timeline import rates_by_stage
from frozenlab.app.ui.figures import overall
from frozenlab.base import places
from frozenlab.session.session import Session
from tests.pages.apptest import misprints, open_page, source

NOTED = Path(__file__).with_name("recorded_numbers.json")
VIEWS: dict[str, dict[str, str]] = {
    "home": {},
    "benchmark": {},
    "train": {"session": "example-long"},
    "story": {"session": "example-quick", "stage": "1"},
    "studies": {"study": "recorded-sections", "view": "effects"},
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
    for table in (*app.dataframe, *app.table):
        frame = table.value
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


def test_a_rate_reads_the_same_on_runs_and_compare() -> None:
    (table,) = open_page("runs").dataframe
    shown = table.value.set_index("run")
    compared = open_page("runs", compare="example-quick,example-long")
    assert misprints(compared) == []
    rates = re.findall(r'fl-answer">([\d.]+) % <small>valid', source(compared))
    notes = re.findall(r"([\d.]+ to [\d.]+ %) \(95 %\), n = (\d+)", source(compared))
    assert len(rates) == 2
    for rate, (bounds, n) in zip(rates, notes, strict=True):
        row = shown[(shown["95 % interval"] == bounds) & (shown["n"] == int(n))]
        assert float(rate) in set(row["after"])


if __name__ == "__main__":
    NOTED.write_text(json.dumps({name: shown(name) for name in VIEWS}, separators=(",", ":")).replace("],", "],\n") + "\n")
