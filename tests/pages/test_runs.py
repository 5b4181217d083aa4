"""The page Runs: the table, labels, archive and trash, and runs side by side."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.runs.side_by_side import disagreed, for_papers, groups_of, look, over_seeds, over_steps, spec_rows
from frozenlab.app.runs.table import DONE, Deed, Done, before_and_after
from frozenlab.app.ui.figures import overall
from frozenlab.base.files import write_parquet
from frozenlab.experiments.shelf.shelf import delete, label
from frozenlab.session.catalog import Labels
from frozenlab.session.runs import measured, pairs, runs, shared
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, words


@pytest.fixture
def three(sessions_folder: Path) -> list[Session]:
    """Two that were measured on the same boards, and one on others of the same names."""
    small = small_spec(stages=2, sizes=(3, 5), boards_per_size=10)
    titles = {"a": "By the policy", "b": "By no model", "c": "Elsewhere"}
    specs = [small.changed(title=title) for title in titles.values()]
    specs[1] = specs[1].changed(engineer="uniform", seed=5)
    made = [build_session(sessions_folder, spec, name) for name, spec in zip(titles, specs, strict=True)]
    for stage in (None, 0, 1):
        path = made[2].stage_dir(stage) / "validation.parquet"
        table = pd.read_parquet(path)
        write_parquet(path, table.assign(board=list(reversed(table["board"]))))
    return [Session(one.dir) for one in made]


def table(app: AppTest) -> list[str]:
    return list(app.dataframe[0].value["run"]) if len(app.dataframe) else []


def test_without_runs_the_page_offers_the_first(sessions_folder: Path) -> None:
    assert "No run is here yet" in words(open_page("runs"))


def test_the_table_finds_runs_by_every_word_said_about_them(three: list[Session]) -> None:
    label(three[0], Labels(title="The good one", tags=("paper",), notes="by night"))
    assert "The good one" in words(open_page("home"))
    assert any("The good one" in option for option in open_page("story").selectbox(key="session_picker").options)
    app = open_page("runs")
    assert set(table(app)) == {"The good one", "By no model", "Elsewhere"}
    for find, found in {"night": ["The good one"], "by NO MODEL": ["By no model"], "zebra": []}.items():
        app.text_input(key="find").set_value(find).run()
        assert table(app) == found
    assert "No run fits" in words(app)
    assert table(open_page("runs", engineer="uniform")) == ["By no model"]


def test_a_row_draws_its_rates_from_before_training_to_the_last_stage(three: list[Session]) -> None:
    for row in open_page("runs").dataframe[0].value.to_dict("records"):
        assert (row["curve"][0], row["curve"][-1]) == pytest.approx((row["before"], row["after"]), abs=0.5)
    [one, *_] = found = before_and_after(runs(SessionStore().listed())).figure.layout.annotations
    assert len(found) == len(three) and re.fullmatch(r".+  <b>[+−0].* points?</b>, n = \d+", one.text)


def test_a_title_runs_nothing_where_the_table_is_saved_as_csv(three: list[Session]) -> None:
    label(three[0], Labels(title="=SUM(A1)", tags=("@me",)))
    shown = open_page("runs", find="SUM").dataframe[0].value
    assert (list(shown["run"]), list(shown["tags"][0])) == (["'=SUM(A1)"], ["'@me"])


def test_many_runs_come_page_by_page_in_an_order_of_all(three: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.runs.table.ROWS", 2)
    app = open_page("runs", order="by name")
    names = table(app)
    assert "1 to 2 of 3" in words(app)
    app.get("pagination")[0].select(2).run()
    assert names + table(app) == ["By no model", "By the policy", "Elsewhere"]
    assert "3 to 3 of 3" in words(app)


def test_archived_runs_are_left_out_until_they_are_asked_for(three: list[Session]) -> None:
    label(three[1], Labels(archived=True))
    assert set(table(open_page("runs"))) == {"By the policy", "Elsewhere"}
    assert "By no model" in table(open_page("runs", archived="true"))
    assert "By no model" not in words(open_page("home"))
    assert not open_page("story", session="b").warning


def test_the_trash_gives_back(three: list[Session]) -> None:
    delete(three[0], SessionStore())
    app = open_page("runs")
    assert "By the policy" not in table(app)
    app.button(key="restore").click().run()
    assert "By the policy" in table(app)


def done(what: Deed, *sessions: Session) -> AppTest:
    """The page after a button has done this."""
    app = open_page("runs")
    app.session_state[DONE] = Done(what, {session.id: session.title for session in sessions}, ("a reason",))
    return app.run()


def test_what_was_archived_is_taken_back(three: list[Session]) -> None:
    label(three[1], Labels(archived=True, notes="kept"))
    app = done("archived", three[1])
    assert "By no model is in the archive" in app.success[0].value
    assert [box.value for box in app.warning] == ["a reason."]
    app.button(key="undo").click().run()
    assert not app.warning
    assert "By no model is back in the lists" in app.success[0].value
    assert Session(three[1].dir).labels == Labels(notes="kept")
    app.button(key="undo").click().run()
    assert Session(three[1].dir).labels.archived


def test_a_pinned_run_stands_first_and_is_the_baseline_of_comparisons(three: list[Session]) -> None:
    label(three[1], Labels(pinned=True))
    app = done("pinned", three[1])
    assert "the baseline of comparisons" in app.success[0].value
    assert table(app)[0] == "📌 By no model" and "By no model" not in table(app)[1:]
    label(three[2], Labels(notes="its boards are others"))
    said = words(open_page("runs", compare="b,a,c"))
    assert "1 of 2 pairs share no board" in said, "the two others are not paired"
    app.button(key="undo").click().run()
    assert not Session(three[1].dir).labels.pinned and "📌" not in "".join(table(app))


def test_seeds_together_are_a_row_with_their_mean(three: list[Session], sessions_folder: Path) -> None:
    other = build_session(sessions_folder, three[0].spec.changed(seed=9, title="Another seed"), "d")
    rows = open_page("runs", together="true").dataframe[0].value
    (alike,) = [row for _, row in rows.iterrows() if row["seeds"] == 3]
    rates = [overall(session.results(1)).value for session in (three[0], three[2], other)]
    assert alike["after"] == pytest.approx(100 * np.mean(rates), abs=0.5) and alike["measured"] == 3


def test_twelve_runs_can_be_told_apart() -> None:
    assert len({look(number)[:2] for number in range(12)}) == len({look(number)[::2] for number in range(12)}) == 12


def test_undo_goes_when_the_trash_has_given_back(three: list[Session]) -> None:
    for session in three:
        delete(session, SessionStore())
    app = done("deleted", *three)
    assert "3 runs are in the trash" in app.success[0].value
    app.button(key="restore").click().run()
    assert "2 runs are in the trash" in app.success[0].value
    app.button(key="undo").click().run()
    assert "2 runs are back" in app.success[0].value
    assert len(table(app)) == 3
    app.run()
    assert not app.success


def test_a_comparison_is_an_address(three: list[Session]) -> None:
    app = open_page("runs", compare="a,b")
    assert not app.warning
    said = words(app)
    assert "On the same 20 boards" in said
    assert "engineer, kind" in said and "equal shares, 30 % holes" in said
    assert "settings and values are equal" in "".join(box.label for box in app.expander)


def test_boards_of_one_name_are_not_taken_for_the_same(three: list[Session]) -> None:
    assert "Nothing can be paired" in words(open_page("runs", compare="a,c"))
    said = words(open_page("runs", compare="a,b,c"))
    assert "2 of 3 pairs share no board" in said


@pytest.mark.parametrize("compare", ["a", "a,a", "a,gone", "../a,b", "a;b"])
def test_too_few_runs_are_no_comparison(three: list[Session], compare: str) -> None:
    assert "takes 2 to 12 runs" in words(open_page("runs", compare=compare))


def test_a_run_without_results_stands_beside_others(three: list[Session], sessions_folder: Path) -> None:
    shutil.copytree(three[0].dir, sessions_folder / "d")
    shutil.rmtree(sessions_folder / "d" / "baseline")
    shutil.rmtree(sessions_folder / "d" / "stages")
    assert "no results yet" in words(open_page("runs", compare="a,b,d"))


def test_pairs_count_what_the_tables_say(three: list[Session]) -> None:
    runs = [one for session in three[:2] if (one := measured(session, session.id)) is not None]
    (pair,) = pairs(runs)
    left, right = (set(run.table.loc[run.table["valid"], "board_id"]) for run in runs)
    assert (pair.result.lost, pair.result.gained) == (len(left - right), len(right - left))
    tables = shared(runs)
    assert list(tables[0]["board_id"]) == list(tables[1]["board_id"])
    assert int(disagreed(tables).sum()) == len(left ^ right)
    twice = shared([runs[0], replace(runs[1], table=pd.concat([runs[1].table] * 2))])
    assert [len(table) for table in twice] == [len(tables[0])] * 2, "as a damaged table may have them"
    assert disagreed(twice).tolist() == disagreed(tables).tolist()


def test_seeds_of_one_run_are_one_line_with_a_band(three: list[Session], sessions_folder: Path) -> None:
    other = build_session(sessions_folder, three[0].spec.changed(seed=9, title="Another seed"), "d")
    groups = groups_of([*three, other])
    assert [[session.id for session in group] for group in groups] == [["a", "c", "d"], ["b"]], "b has another engineer"
    figure = over_seeds([[three[0], other]], "step").figure
    lines = [over_steps(session, "step")["valid"].to_numpy() for session in (three[0], other)]
    band, line, *_, marks = figure.data
    assert list(line.y) == pytest.approx(np.mean(lines, axis=0)) and max(band.y) == pytest.approx(np.max(lines))
    rates = [[overall(session.results(stage)).value for stage in (None, 0, 1)] for session in (three[0], other)]
    assert list(marks.y) == pytest.approx(np.mean(rates, axis=0))
    app = open_page("runs", compare="a,d")
    app.toggle(key="seeds-mean").set_value(True).run()
    assert any("2 seeds" in chart.proto.spec for chart in app.get("plotly_chart"))
    assert not [toggle for toggle in open_page("runs", compare="a,b").toggle if toggle.key == "seeds-mean"]


def test_the_results_are_a_table_for_a_paper(three: list[Session]) -> None:
    table = for_papers([one for session in three if (one := measured(session, session.id)) is not None])
    assert table["run"].tolist() == ["a", "b", "c"] and table["engineer"].tolist()[1] == "equal shares, 30 % holes"
    assert table["valid"].tolist()[0] == overall(three[0].results(1)).percent and set(table["n"]) == {20}
    assert "\\toprule" in table.to_latex(index=False, escape=True)


def test_curves_stand_at_their_steps_stages_and_boards(three: list[Session]) -> None:
    steps = three[0].spec.training
    ends = {axis: over_steps(three[0], axis)["x"].iloc[-1] for axis in ("step", "stage", "boards")}  # type: ignore[arg-type]
    minutes = over_steps(three[0], "time")["x"]
    seconds = sum(three[0].metrics(stage)["seconds"].sum() for stage in range(2))
    assert minutes.is_monotonic_increasing and minutes.iloc[-1] == pytest.approx(seconds / 60)
    assert ends == {"step": 2 * steps.steps, "stage": 2.0, "boards": 2 * steps.steps * steps.boards_per_step}
    assert [row.setting for row in spec_rows(three[:2]) if row.differs][:1] == ["engineer, kind"]
