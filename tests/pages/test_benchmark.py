from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.benchmark.lake.address import ALL, EMPTIED, FILTERS, Boards, behind
from frozenlab.app.benchmark.lake.lines import as_table, first_choice, line_of, looks, paper_line, paper_models
from frozenlab.app.benchmark.lake.results import outcomes_figure, rates_figure
from frozenlab.app.benchmark.lake.tables import cells_table, changes, changes_table, in_words, leaderboard, more_table
from frozenlab.app.ui.figures import overall
from frozenlab.app.ui.theme import DARK, LIGHT, Palette
from frozenlab.base.files import write_text
from frozenlab.experiments.benchmark.lake.paper_results import paper_results
from frozenlab.experiments.benchmark.report import best_of
from frozenlab.experiments.benchmark.results import Result, results_folder
from frozenlab.experiments.benchmark.task import Task
from frozenlab.lake.instance import Instance
from frozenlab.lake.suites import SuiteSpec, build_suite
from frozenlab.session.store import SessionStore
from tests.builders import build_result, build_session
from tests.pages.apptest import open_page, shown, words
from tests.ui.test_contrast import contrast

SPEC = SuiteSpec(agents=(3, 4), sizes=(3, 4, 5), boards_per_cell=10, seed=5)


@pytest.fixture(scope="module")
def suite() -> list[Instance]:
    return build_suite(SPEC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, suite: list[Instance]) -> Path:
    root = tmp_path_factory.mktemp("benchmark")
    build_result(root, "base", suite, 0.0, title="lab model")
    for stage in range(2):
        about = {"title": f"long, after stage {stage + 1}", "method": "grpo", "session": "long", "stage": stage}
        build_result(root, f"stage-{stage + 1}", suite, (stage + 1) / 2, **about)
    build_result(root, "pairs", build_suite(SPEC.model_copy(update={"agents": (2,)})), 0.5, title="lab model", suite="train-shape")
    return root


@pytest.fixture(autouse=True)
def none_shipped(sessions_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.experiments.benchmark.results.SHIPPED", tmp_path / "shipped")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The measurements that a page started; no worker runs."""
    asked: list[Task] = []
    monkeypatch.setattr("frozenlab.experiments.benchmark.task.Evaluation.start", lambda task, store: asked.append(task))
    return asked


def result(name: str) -> Result:
    return Result(results_folder(SessionStore()) / name)


@pytest.fixture
def lines() -> list[Any]:
    """The three results and the rows of the paper."""
    reports = [result(name).report for name in ("base", "stage-1", "stage-2")]
    ours = [line_of(report, look) for report, look in zip(reports, looks(reports, "#10233F").values(), strict=True)]
    return [*ours, *(paper_line(name, paper_results()) for name in paper_models(paper_results()))]


def asked(app: AppTest, name: str) -> list[str]:
    """The values of a name in the address."""
    value = app.query_params[name]
    return value if isinstance(value, list) else [value]


# --- the figures -----------------------------------------------------------------------------------------------------


def test_results_are_shown_next_to_the_paper_with_the_difference() -> None:
    app = open_page("benchmark")
    said = words(app)
    assert "Long, after stage 2 solves" in said
    assert "Not the same test." in said and "generator drew in the same shape" in said and "trained on plans of the exact solver" in said
    assert asked(app, "result") == ["base", "stage-1", "stage-2"]
    assert "Qwen3-4B + GRPO + Ours" in asked(app, "paper")
    assert asked(app, "suite") == ["paper"]
    assert len(app.get("plotly_chart")) == 2


def test_another_suite_has_no_rows_of_the_paper() -> None:
    app = open_page("benchmark", suite="train-shape")
    assert "Not the same test." not in words(app)
    assert "paper" not in app.query_params
    assert "with 2 agents" in words(app)
    app.selectbox(key="bench-suite").set_value("paper").run()
    assert "Not the same test." in words(app)
    assert asked(app, "result") == ["base", "stage-1", "stage-2"]


def test_choices_are_kept_in_the_address() -> None:
    app = open_page("benchmark")
    app.multiselect(key="bench-results").set_value(["base", "stage-1"]).run()
    app.multiselect(key="bench-paper").set_value([]).run()
    app.segmented_control(key="bench-metric").set_value("optimal").run()
    app.segmented_control(key="bench-agents").set_value(4).run()
    chosen = {name: asked(app, name) for name in ("result", "paper", "metric", "agents", "before", "after")}
    assert chosen == {
        "result": ["base", "stage-1"], "paper": [EMPTIED], "metric": ["optimal"], "agents": ["4"], "before": ["base"], "after": ["stage-1"],
    }  # fmt: skip
    again = open_page("benchmark", **chosen)
    assert dict(again.query_params) == dict(app.query_params)
    assert "Not the same test." not in words(again)
    assert "optimally solves" in words(again)


def test_a_leaderboard_is_sorted_and_says_its_method_n_and_interval(lines: list[Any]) -> None:
    table = leaderboard(lines, 4, "valid")
    shown = [float(row.cells[0].text.removesuffix(" %")) for row in table.rows]
    assert shown == sorted(shown, reverse=True)
    assert {row.tag for row in table.rows} == {"base", "GRPO", "paper"}
    ours = next(row for row in table.rows if row.name == "long, after stage 1")
    team = result("stage-1").report.teams[1]
    low, high = team.mean_valid_interval
    assert ours.cells[0].small == f"{100 * low:.0f}–{100 * high:.0f}"
    assert [head.text for head in table.heads] == ["", "valid", "optimal", "n"], "ours and the paper's differ in their numbers of boards"
    assert {row.cells[2].text for row in table.rows} == {"20", "1,050"}


def test_the_papers_rows_are_the_printed_ones() -> None:
    line = paper_line("Qwen3-4B + GRPO + Ours", paper_results())
    assert line.means[3, "valid"].value == pytest.approx(0.5167, abs=1e-4)
    assert line.cells[3, 3, "valid"].value == pytest.approx(0.6867)
    assert line.cells[3, 3, "valid"].low < 0.6867 < line.cells[3, 3, "valid"].high
    assert line.means[5, "optimal"].n == 900


def test_every_number_of_ours_leads_to_the_boards_it_counts(lines: list[Any]) -> None:
    here = {name: result(name).report for name in ("base", "stage-1", "stage-2")}
    tables = {name: result(name).rows for name in here}

    def boards(code: str) -> Any:
        way = Boards.of_code(code, here)
        assert way is not None and way.code == code
        other = None if way.versus is None else tables[way.versus]
        return behind(tables[way.of], way.agents, way.size, way.outcome, "valid", other)

    for agents in (3, 4):
        for row in cells_table(lines, agents, "valid").rows:
            for cell in row.cells:
                assert bool(cell.leads) == (row.tag != "paper" and cell.text != "–")
                if cell.leads:
                    assert overall(boards(cell.leads)).percent == cell.text
        for row in leaderboard(lines, agents, "valid").rows:
            if row.tag != "paper":
                assert boards(row.cells[0].leads)["valid"].all()
                assert boards(row.cells[1].leads)["optimal"].all()
        for row in more_table(lines, agents, "valid").rows:
            assert len(boards(row.cells[0].leads)) == 10 * (6 - agents)
        for trace in outcomes_figure(lines, agents, "valid").figure.data:
            for code, count, _, _ in trace.customdata:
                assert len(boards(code)) == count
    paired = changes(tables["base"], tables["stage-2"], "valid")
    for change, row in zip(paired, changes_table(paired, lines[0], lines[2]).rows, strict=True):
        assert [len(boards(row.cells[i].leads)) for i in (3, 4)] == [change.gained, change.lost]


def test_points_of_the_plot_lead_to_their_cells_and_the_papers_are_hollow(lines: list[Any]) -> None:
    traces = rates_figure(lines, "valid").figure.data
    here = {"base": result("base").report}
    base = next(trace for trace in traces if trace.name == "lab model")
    assert [Boards.of_code(point[0], here).size for point in base.customdata] == [3, 4, 5]
    paper = [trace for trace in traces if trace.name in paper_models(paper_results())]
    assert all(trace.marker.symbol.endswith("-open") and trace.line.dash != "solid" for trace in paper)
    assert not any(point[0] for trace in paper for point in trace.customdata)
    assert len({trace.marker.symbol for trace in traces}) == 3 + 7, "readable without colour"


def test_the_change_is_paired_and_in_plain_words() -> None:
    before, after = (result(name).rows for name in ("base", "stage-2"))
    change = changes(before, after, "valid")[0]
    net = int(after[after["agents"] == 3]["valid"].sum() - before[before["agents"] == 3]["valid"].sum())
    assert change.gained - change.lost == net > 0
    assert in_words(change, "the base", "stage 2", "valid").startswith(f"Stage 2 solves {net} more of 30 boards than the base: +")
    assert in_words(changes(before, before, "valid")[0], "a", "b", "valid").endswith("Chance could explain that.")
    assert f"solves {net} more of 30 boards than lab model" in words(open_page("benchmark"))


def test_the_best_of_guises_is_a_row_of_its_own_that_says_what_it_is(suite: list[Instance], elsewhere: Path) -> None:
    build_result(elsewhere, "single", suite, 0.5, title="lab model")
    assert "Not one answer" not in words(open_page("benchmark"))
    build_result(elsewhere, "best", suite, 0.9, title=f"lab model, {best_of(8)}", guises=8)
    app = open_page("benchmark")
    said = words(app)
    assert app.multiselect(key="bench-results").value == ["single", "best"]
    assert "more of 30 boards than lab model" in said and "Lab model, best of 8 rotations and reflections, self-checked solves" in said
    assert "the shortest legal one of 8 answers to each board. The paper's rows are single answers." in said


def test_results_on_other_boards_are_not_paired(suite: list[Instance], elsewhere: Path) -> None:
    build_result(elsewhere, "one", suite, 0.5)
    build_result(elsewhere, "two", suite[:-1], 0.5)
    assert any("different boards" in info.value for info in open_page("benchmark").info)


def test_what_is_shown_first_are_bases_and_ends_and_all_of_a_session_that_is_alone(suite: list[Instance], tmp_path: Path) -> None:
    reports = [build_result(tmp_path, "base", suite, 0.0).report]
    for session in ("a", "b"):
        reports += [build_result(tmp_path, f"{session}-{i}", suite, 0.5, session=session, stage=i, method="grpo").report for i in range(4)]
    assert [report.id for report in first_choice(reports)] == ["base", "a-3", "b-3"]
    assert [report.id for report in first_choice(reports[:5])] == ["base", "a-0", "a-1", "a-2", "a-3"]
    best = build_result(tmp_path, "a-3-best", suite, 0.9, session="a", stage=3, guises=8).report
    assert [report.id for report in first_choice([*reports, best])] == ["base", "a-3", "a-3-best", "b-3"], "beside the single answers"


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_stages_of_a_session_are_one_ramp_that_stays_visible(colors: Palette, suite: list[Instance], tmp_path: Path) -> None:
    reports = [build_result(tmp_path, "base", suite, 0.0).report]
    reports += [build_result(tmp_path, f"a-{i}", suite, 0.5, session="a", stage=i, method="grpo").report for i in range(4)]
    look = looks(reports, colors.text)
    assert len({each.sign for each in look.values()}) == 5  # readable without colour
    seen = [contrast(look[f"a-{i}"].color, colors.ground) for i in range(4)]
    assert seen == sorted(seen) and seen[0] >= 3 and len(set(seen)) == 4


def test_the_csv_has_all_cells_of_all_rows(lines: list[Any]) -> None:
    table = as_table(lines, "paper")
    assert len(table) == 3 * 5 + 7 * 21
    assert set(table["method"]) == {"base", "grpo", "paper"}
    row = table[(table["name"] == "lab model") & (table["agents"] == 4) & (table["size"] == 5)].iloc[0]
    assert row["n"] == 10 and row["valid_low"] <= row["valid_rate"] <= row["valid_high"]


# --- the boards ------------------------------------------------------------------------------------------------------


def test_a_link_opens_the_boards_of_a_cell() -> None:
    app = open_page("benchmark", boards="stage-1~4~5~failed~~~")
    rows = result("stage-1").rows
    cell = rows[(rows["agents"] == 4) & (rows["size"] == 5)]
    said = words(app)
    assert f"Long, after stage 1 solves <b>{cell['valid'].sum()} of 10</b> boards with 4 agents on 5×5." in said
    assert f"{(~cell['valid']).sum()} boards" in said
    assert app.multiselect(key="bench-beside").value == ["stage-2"]
    first = cell[~cell["valid"]].sort_values("hole_ratio", kind="stable").iloc[0]
    assert first["completion"] in [code.value for code in app.code]
    assert f">{first['optimal_makespan']}</b><span>best makespan</span>" in said


def test_filters_narrow_the_boards_and_are_kept_in_the_address() -> None:
    app = open_page("benchmark", boards="base~3~3~all~~~")
    app.selectbox(key="bench-boards-size").set_value("all").run()
    app.selectbox(key="bench-boards-outcome").set_value("valid").run()
    app.selectbox(key="bench-boards-of").set_value("stage-2").run()
    rows = result("stage-2").rows
    assert asked(app, "boards") == ["stage-2~3~all~valid~~~"]
    assert f"{rows[rows['agents'] == 3]['valid'].sum()} boards" in words(app)
    app.multiselect(key="bench-beside").set_value([]).run()
    assert asked(app, "boards") == [f"stage-2~3~all~valid~~{EMPTIED}~"]
    assert len(app.code) == 1
    app.button(key="bench-back").click().run()
    assert "boards" not in app.query_params
    assert app.title[0].value == "How good is a checkpoint?"


def test_a_board_in_the_address_is_the_one_that_is_shown() -> None:
    row = result("base").rows.iloc[-1]
    app = open_page("benchmark", boards=f"base~{row['agents']}~{row['size']}~all~~stage-1.stage-2~{row['board_id']}")
    assert f"board {row['board_id']}" in shown(app.expander[0].label)
    assert len(app.code) == 3


@pytest.mark.parametrize(
    "code", ["", "~", "base", "nobody~3~3~all~~~", "base~9~99~all~~~", "base~3~3~gained~~~", "base~3~3~gained~base~~", "base~3~3~x~..~!~`"]
)  # fmt: skip
def test_a_damaged_link_shows_what_it_can(code: str) -> None:
    assert not open_page("benchmark", boards=code, agents="77", metric="x", suite="y", before="z").error


def test_each_outcome_finds_its_own_boards() -> None:
    rows, other = result("stage-1").rows, result("base").rows
    found = {outcome: behind(rows, 3, None, outcome, "valid", other) for outcome in FILTERS}
    assert len(found[ALL]) == 30 == len(found["valid"]) + len(found["failed"])
    right, right_before = set(rows.loc[rows["valid"], "board_id"]), set(other.loc[other["valid"], "board_id"])
    own = set(rows.loc[rows["agents"] == 3, "board_id"])
    boards = {outcome: set(table["board_id"]) for outcome, table in found.items()}
    assert boards["gained"] == own & right - right_before and boards["lost"] == own & right_before - right
    assert boards["gained"] and boards["valid"] == own & right and boards["optimal"] == set(rows.loc[rows["optimal"], "board_id"]) & own
    faults = [outcome for outcome in FILTERS if outcome not in (ALL, "valid", "optimal", "failed", "gained", "lost")]
    of_outcome = rows[rows["board_id"].isin(own)].groupby("outcome")["board_id"].agg(set).to_dict()
    assert {outcome: boards[outcome] for outcome in faults if boards[outcome]} == {
        name: of for name, of in of_outcome.items() if name in faults
    }
    assert any(boards[outcome] for outcome in faults)


# --- what is not there or broken -------------------------------------------------------------------------------------


def test_an_empty_lab_offers_to_measure_the_lab_model(elsewhere: Path, started: list[Task]) -> None:
    app = open_page("benchmark")
    assert any("No checkpoint has been measured yet" in info.value for info in app.info)
    app.button(key="measure-first").click().run()
    assert [(task.policy, task.suite) for task in started] == [("lab-model", "quick")]


def test_damaged_results_are_named_and_the_rest_is_shown(suite: list[Instance], elsewhere: Path) -> None:
    build_result(elsewhere, "whole", suite, 0.5, title="whole one")
    (build_result(elsewhere, "torn", suite, 0.5).dir / "report.json").write_text("{")
    (build_result(elsewhere, "hollow", suite, 0.5).dir / "boards.parquet").write_bytes(b"PAR1")
    app = open_page("benchmark")
    assert "hole one solves" in words(app)
    warned = "\n".join(warning.value for warning in app.warning)
    assert "torn" in warned and "hollow" in warned
    assert "cannot be read" in open_page("benchmark", boards="hollow~3~3~all~~~").error[0].value


def test_a_missing_result_in_the_address_is_reported() -> None:
    warned = [warning.value for warning in open_page("benchmark", result="![x](http://example.com/x)").warning]
    assert any("Not on this machine" in warning and "![x](" not in warning for warning in warned)


def test_titles_are_text(suite: list[Instance], elsewhere: Path) -> None:
    for name in ("one", "two"):
        build_result(elsewhere, name, suite, 0.5, title="<img src=x> ![x](http://example.com/x)")
    app = open_page("benchmark")
    assert not any("![x](" in element.value or "<img" in element.value.replace("\\<", "") for element in [*app.markdown, *app.caption])
    assert not any("<img" in element.proto.body for element in app.get("html"))


# --- measuring -------------------------------------------------------------------------------------------------------


def test_a_checkpoint_of_a_session_can_be_measured(suite: list[Instance], elsewhere: Path, started: list[Task]) -> None:
    build_result(elsewhere, "base", suite, 0.0)
    write_text(build_session(elsewhere).stage_dir(1) / "policy" / "model.safetensors", "")
    app = open_page("benchmark")
    app.session_state["measure-model"], app.session_state["measure-suite"] = "built:2", "quick"
    app.button(key="measure").click().run()
    app.button(key="measure-start").click().run()
    assert [(task.session, task.stage, task.suite, task.method) for task in started] == [("built", 1, "quick", "grpo")]
