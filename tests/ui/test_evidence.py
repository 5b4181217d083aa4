"""Every line of evidence leads to the boards it was measured on; the whole session as a map, and next to its forks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from frozenlab.app.session.evidence import boards_behind, line_of, section_tokens
from frozenlab.app.story.whole_session import Stop, axes_of, branches_figure, family, map_figure, stops, ways
from frozenlab.engineer.dialects.lab import render_context
from frozenlab.engineer.schema import Attempt
from frozenlab.session.forks import fork
from frozenlab.session.session import Session, SessionError
from frozenlab.session.spec import Parent
from frozenlab.session.store import SessionStore
from frozenlab.tasks.lake.family import LAKE
from tests.builders import build_session


def behind(session: Session, name: str):
    return boards_behind(session, 1, line_of(session.context(1), name))


def test_a_failure_line_leads_to_the_boards_it_counts(built: Session) -> None:
    after, cell = built.validation(1), built.context(1).names[-1]  # type: ignore[union-attr]
    rows = behind(built, f"F{cell}").rows
    assert set(rows["board_id"]) == set(after.loc[(after["config_cell"] == cell) & ~after["valid"], "board_id"]) and len(rows)  # type: ignore[index]
    case = behind(built, f"F{cell}a").rows
    assert len(case) == 1 and not case["valid"].iloc[0]


def test_a_behaviour_line_leads_to_the_plans_of_the_last_third(built: Session) -> None:
    cell = next(line.cell for line in built.context(1).sections["behaviour"] if line.cell)  # type: ignore[union-attr]
    rows = behind(built, f"B{cell}").rows
    assert set(rows["config_cell"]) == {cell}
    assert rows["training_step"].min() > 0.5 * built.spec.training.steps
    assert list(rows["valid"]) == sorted(rows["valid"]), "those that failed come first"


def test_a_statistics_line_leads_to_each_drawn_board_once(built: Session) -> None:
    rows = behind(built, f"S{built.context(1).names[0]}").rows  # type: ignore[union-attr]
    assert len(rows) and rows["board_id"].is_unique


def test_a_line_that_was_not_seen_leads_nowhere(built: Session) -> None:
    assert line_of(built.context(1), "F99") is None  # type: ignore[arg-type]


def test_tokens_of_the_lab_dialect_are_counted_word_by_word(built: Session) -> None:
    context = built.context(1)
    assert context is not None and context.prompt == render_context(context)
    counts = section_tokens(context, None)
    in_sections = sum(int(words.split()[0]) for words in counts.values())
    others = 1 + 3 * len(context.cells) + 1  # the task; place, team and size of each cell; "rationale"
    assert in_sections + others == len(context.prompt.split()) and set(counts) == set(context.sections)


def test_tokens_of_another_model_are_its_own_count_shared_out(built: Session) -> None:
    context, record = built.context(1), built.proposal(1)
    worded = context.model_copy(update={"prompt": "\n".join(line.text for line in context.lines)})
    asked = record.model_copy(update={"attempts": (Attempt(raw="", seconds=1.0, prompt_tokens=1000),)})
    counts = section_tokens(worded, asked)
    assert all(words.startswith("about ") for words in counts.values())
    assert 950 <= sum(int(words.split()[1]) for words in counts.values()) <= 1000
    assert section_tokens(worded, record) == {} == section_tokens(context.model_copy(update={"prompt": None}), record)


def test_the_map_has_a_stop_for_every_size_of_every_stage(built: Session) -> None:
    [axes] = axes_of(built.spec.initial_config)
    assert [knob.name for knob in axes] == ["hole_ratio", "wait_ratio"]
    path = stops(built, axes)
    assert [(stop.stage, stop.cell) for stop in path] == [(s, n) for s in range(built.spec.stages) for n in built.spec.initial_config.cells]
    last = built.environment(built.spec.stages - 1)
    assert last is not None and [stop.at for stop in path if stop.stage == last.stage] == [
        (cell.hole_ratio, cell.wait_ratio) for cell in last.config.cells.values()
    ]
    half = Stop(0, "4", 0.5, (0.2, 0.2), 10, 0.5)
    assert half.shade("learnability") == 0.25 and half.shade("valid rate") == 0.5
    chart = map_figure(path, axes, "learnability", 0)
    for trace, cell in zip(chart.figure.data, built.spec.initial_config.cells, strict=True):
        assert {point[1] for point in trace.customdata} == {cell}
        named = [int(number) for text in trace.text for number in text.split(", ")]
        assert sorted(named) == [1, 2, 3], "every stage has its number, at one point or at one shared with others"
        assert 0 in [point[0] for point in trace.customdata], "the stage that is shown stands for its place"
    assert "p(1 − p)" in chart.alt


def test_the_map_shows_the_knobs_that_moved() -> None:
    quick = SessionStore().open("example-quick")
    [axes], [path] = ways(quick)
    assert [knob.name for knob in axes] == ["stage", "share"], "the shipped engineer moves shares"
    small = [stop.at for stop in path if stop.cell == "3"]
    assert [stage for stage, _ in small] == [1, 2, 3] and [part for _, part in small] == pytest.approx([0.167, 0.263, 0.119], abs=0.001)
    assert [knob.name for knob in axes_of(quick.spec.initial_config, ["share", "wait_ratio"])[0]] == ["wait_ratio", "share"]
    chart = map_figure(path, axes, "valid rate", 1)
    assert [note for note in chart.figure.layout.annotations if note.ax is not None], "so arrows lead from stage to stage"
    assert chart.figure.layout.coloraxis.colorbar.title.text == "valid rate<br>in training"
    assert "of the plans sampled in training" in chart.alt


def test_arrows_lead_from_stage_to_stage_where_the_ratios_moved() -> None:
    def stop(stage: int, holes: float) -> Stop:
        return Stop(stage, "4", 1.0, (holes, 0.2), 10, 0.5)

    path = [stop(0, 0.2), stop(1, 0.3), stop(2, 0.3)]
    figure = map_figure(path, (LAKE.knobs["hole_ratio"], LAKE.knobs["wait_ratio"]), "valid rate", 1).figure
    arrows = [note for note in figure.layout.annotations if note.ax is not None]
    assert [(arrow.ax, arrow.x, arrow.ay, arrow.y) for arrow in arrows] == [(0.2, 0.3, 0.2, 0.2)]
    (trace,) = figure.data
    assert list(trace.text) == ["1", "2, 3"] and list(trace.marker.line.width) == [0, 4]
    ticks = figure.layout.yaxis.range
    assert ticks[1] - ticks[0] >= 0.3, "room for three ticks"


def test_a_record_without_measurements_has_no_map(tmp_path: Path) -> None:
    fresh = build_session(tmp_path, session_id="fresh", finished_stages=0, status="running")
    assert stops(fresh, (LAKE.knobs["hole_ratio"], LAKE.knobs["wait_ratio"])) == []
    with pytest.raises(SessionError):
        fresh.measurements(0)


def test_a_family_is_the_trunk_and_all_that_was_forked_from_it(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    trunk, other = build_session(tmp_path, session_id="trunk"), build_session(tmp_path, session_id="other")
    child = fork(trunk, 0, store, "child", title="What if")
    sibling = fork(trunk, 1, store, "sibling", engineer="rules")
    of_child = trunk.spec.changed(parent=Parent(session="child", stage=0))
    grandchild = build_session(tmp_path, of_child, "grandchild")
    for session in (trunk, child, sibling, grandchild):
        names = {branch.session.id: branch.stage for branch in family(session, store)}
        assert names == {"trunk": None, "child": 0, "sibling": 1, "grandchild": 0}
        assert next(iter(names)) == "trunk"
    assert [branch.session.id for branch in family(other, store)] == ["other"]


def test_a_fork_whose_parent_is_gone_is_a_trunk_of_its_own(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    child = fork(build_session(tmp_path, session_id="trunk"), 0, store, "child")
    shutil.rmtree(tmp_path / "trunk")
    assert [(branch.session.id, branch.stage) for branch in family(child, store)] == [("child", None)]


def test_the_figure_shows_every_branch_with_its_rates(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    trunk = build_session(tmp_path, session_id="trunk")
    fork(trunk, 1, store, "child", title="What if")
    chart = branches_figure(family(trunk, store), "trunk")
    assert [trace.name for trace in chart.figure.data] == [trunk.title, "What if"]
    rates = [rate.valid for rate in trunk.state().rates]
    assert list(chart.figure.data[0].y) == rates
    assert trunk.title in chart.alt
