from __future__ import annotations

import json
import os
import re
import time
from html import escape
from math import nan
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.studies.figures import Ink, curves_figure, sizes_figure
from frozenlab.app.studies.page import confirmed
from frozenlab.app.studies.views import BETWEEN
from frozenlab.app.ui.markup import plain
from frozenlab.base.numbers import MANY, points
from frozenlab.base.places import ASSETS
from frozenlab.engineer import hosts
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.studies.design import arm_titles, confounded
from frozenlab.experiments.studies.noise import detectable_effect
from frozenlab.experiments.studies.presets import SEEDS, engineers_study, fit_for_study, sections_study, sweep_study
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import recorded_report
from frozenlab.jobs.machine import gpus
from frozenlab.jobs.state import WorkerState, own_process, store_state
from frozenlab.session.presets import preset_spec
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, shown, tables, words

CHARTS = {"effects": 1, "arms": 2, "sizes": 1}
"""Figures of each view."""


SHIPPED = {study.id: recorded_report(study).for_people for study in Study.shipped()}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize(("view", "measure"), [("effects", "valid"), ("arms", "optimal"), ("sizes", "valid")])
def test_a_recorded_study_opens_by_its_address(name: str, measure: str, view: str) -> None:
    report = SHIPPED[name]
    rates = getattr(report, measure)
    app = open_page("studies", study=f"recorded-{name}", measure=measure, view=view)
    mixed = confounded(report.spec)
    assert [one.value for one in app.warning] == ["  \n".join(map(plain, mixed))][: bool(mixed)]
    said = words(app)
    assert ("see below the figure" in said) == bool(mixed)
    answer = confirmed(report.confirmatory) if report.confirmatory else rates.verdict
    assert f"{report.cells} of {report.cells} sessions" in said and escape(answer) in said
    charts = app.get("plotly_chart")
    assert len(charts) == CHARTS[view]
    assert all(json.loads(chart.proto.config)["toImageButtonOptions"]["format"] == "svg" for chart in charts)
    assert {name: str(app.query_params[name]) for name in ("measure", "view")} == {"measure": measure, "view": view}
    if view == "effects":
        assert tables(app)[0]["comparison"].tolist() == [row.name for row in rates.effects]
        named = [row for row in report.confirmatory if row.measure == measure]
        told = [one["text"] for one in json.loads(charts[0].proto.spec)["layout"]["annotations"]]
        assert len(told) == len({frozenset(row.name.split(BETWEEN)) for row in (*named, *rates.compared)}), "each once"
        assert all(any(row.change in line for line in told) for row in named or rates.compared)
    elif view == "arms":
        assert tables(app)[0]["arm"].tolist() == [arm.arm for arm in rates.arms] and "95 % t interval" in said
    else:
        assert f"These are {len(rates.sizes)} comparisons; after Holm's correction for all of them" in said
    if report.spec.suite_by_seed:
        assert escape(report.beforehand) in said and "test boards, which no engineer saw" in said
    else:
        assert "An early study" in said and "This is an earlier study" in said and "all its seeds have the same boards" in said
    assert not re.search("more (seeds|probably)", said)


def test_a_choice_changes_the_address_and_the_figure() -> None:
    app = open_page("studies", study="recorded-sections")
    assert str(app.query_params["view"]) == "effects"
    app.segmented_control(key="study-view").set_value("sizes").run()
    app.segmented_control(key="study-measure").set_value("optimal").run()
    assert (str(app.query_params["view"]), str(app.query_params["measure"])) == ("sizes", "optimal")
    assert "18 comparisons" in words(app) and "optimal plans" in words(app)


def test_an_unknown_study_is_reported_and_an_impossible_choice_is_replaced() -> None:
    app = open_page("studies", study="<script>", view="<b>", measure="best")
    assert "no such study" in app.warning[0].value
    assert str(app.query_params["study"]).startswith("recorded-")
    assert [str(app.query_params[name]) for name in ("view", "measure")] == ["ladder", "valid"]


def test_an_older_report_has_fewer_views(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = json.loads((Study.place(ASSETS) / "sections" / "report.json").read_text())
    for measure in ("valid", "optimal"):
        for new in ("curves", "sizes", "sentences"):
            del old[measure][new]
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "report.json").write_text(json.dumps(old))
    monkeypatch.setattr(Study, "shipped", lambda: [Study(folder)])
    app = open_page("studies", study="recorded-old", view="sizes")
    assert str(app.query_params["view"]) == "effects"
    assert app.segmented_control(key="study-view").options == ["Effects", "Learning"], "its predictions were scored by hits"
    assert "None of 6 comparisons is clear of chance (n = 3 seeds); the largest is" in words(app)
    app.segmented_control(key="study-view").set_value("arms").run()
    assert "from before learning curves were kept" in words(app)


# --- figures ---------------------------------------------------------------------------------------------------------

INK = Ink("#123456", 14)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_arm_has_a_panel_with_the_first_arm_in_grey(name: str) -> None:
    curves = SHIPPED[name].valid.curves
    drawn = curves_figure(curves, "valid", INK)
    assert [note.text for note in drawn.figure.layout.annotations] == [curve.arm for curve in curves]
    first = [point.mean for point in curves[0].points]
    greys = [trace for trace in drawn.figure.data if trace.line.width == 6]
    assert len(greys) == len(curves) and all(list(trace.y) == first for trace in greys)
    means = [trace for trace in drawn.figure.data if trace.mode == "lines+markers+text"]
    assert [list(trace.y) for trace in means] == [[point.mean for point in curve.points] for curve in curves]
    low, high = drawn.figure.layout.yaxis.range
    assert all(low <= rate <= high for trace in drawn.figure.data for rate in trace.y)
    assert all(f"{curve.arm}: " in drawn.alt for curve in curves)


def test_hovering_a_curve_shows_its_distance_from_the_first_arm_in_the_same_seeds() -> None:
    engineers = SHIPPED["engineers"]
    drawn = curves_figure(engineers.valid.curves, "valid", INK)
    uniform = next(trace for trace in drawn.figure.data if trace.hovertext and trace.hovertext[-1].startswith("equal shares, 30 % holes"))
    effect = next(row for row in engineers.valid.effects if row.name == "equal shares, 30 % holes instead of the model itself")
    assert f"{points(effect.mean, MANY)} from the model itself" in uniform.hovertext[-1] and "5 seeds" in uniform.hovertext[-1]
    assert "interval" not in uniform.hovertext[0], "before training all seeds are the same model"


def test_every_difference_by_size_is_a_number_with_its_interval_and_only_clear_ones_are_marked() -> None:
    rows = SHIPPED["engineers"].valid.sizes
    lucky = rows[3].model_copy(update={"mean": 0.12, "low": 0.1, "high": 0.14, "p": 1e-6, "p_holm": 1e-4})
    drawn = sizes_figure((*rows[:3], lucky, *rows[4:]), "valid", INK)
    [trace] = drawn.figure.data
    assert len(trace.text) == len(rows) == len(drawn.figure.layout.shapes)
    assert [place for place, text in enumerate(trace.text) if text.startswith("<b>")] == [3]
    assert [place for place, shape in enumerate(drawn.figure.layout.shapes) if shape.line.color == INK.color] == [3]
    assert "+12.0 points" in trace.hovertext[3] and "+10.0 to +14.0" in trace.hovertext[3]
    assert f"{lucky.name}, {lucky.cell}×{lucky.cell}: +12.0 points (+10.0 to +14.0)" in drawn.alt


# --- starting ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[StudySpec, int]]:
    """What is asked to be started, which is only written down."""
    asked: list[tuple[StudySpec, int]] = []

    def start(spec: StudySpec, store: SessionStore, run: RunSettings, study_id: str | None = None) -> Any:
        asked.append((spec, run.jobs or 0))
        return Study.create(spec, store, "made")

    monkeypatch.setattr("frozenlab.experiments.studies.store.Study.start", start)
    return asked


def begin(app: AppTest, started: list[tuple[StudySpec, int]]) -> StudySpec:
    """What the button of the form asks to be started."""
    app.button(key="study-start").click().run()
    [(spec, jobs)] = started
    assert jobs == os.cpu_count() and app.query_params["study"] == "made"
    return spec


def form(**chosen: Any) -> AppTest:
    """The page with the form open, where these values are chosen; keys without ``study-``. A test's run draws a dialog only if the button
    that opens it was clicked in that run."""
    app = open_page("studies")
    for key, value in chosen.items():
        app.session_state[f"study-{key.replace('__', '-')}"] = value
    return app.button(key="study-new").click().run()


def test_a_study_is_started_from_the_form(started: list[tuple[StudySpec, int]]) -> None:
    app = form(kind="engineers", seeds__engineers=4)
    assert "20 sessions" in words(app)
    assert re.search(r"\*\*About \d+ (s|min|h).*, judging by \S", words(app)), "what it takes stands there before it starts"
    assert detectable_effect(engineers_study(4)) in words(app), "what it can see stands there before it starts"
    assert "frozenlab study engineers --engineers policy,base,rules,uniform,fixed --seeds 4" in words(app)
    spec = begin(app, started)
    assert spec.seeds == (0, 1, 2, 3) and len(spec.arms) == 5


@pytest.mark.parametrize(("kind", "arms"), [("sections", 8), ("leave-one-out", 6), ("one-at-a-time", 6), ("guard", 3)])
def test_every_kind_can_be_started(kind: str, arms: int, started: list[tuple[StudySpec, int]]) -> None:
    spec = begin(form(kind=kind, base="example-quick"), started)
    assert (len(spec.arms), len(spec.seeds)) == (arms, SEEDS[kind])
    own = SessionStore().open("example-quick").spec
    per_stage = own.training.scheduled("per-stage")
    assert spec.session == own.changed(ask_first=True, training=per_stage) and spec.suite_by_seed


def test_a_sweep_of_two_settings_is_started_from_the_form(started: list[tuple[StudySpec, int]]) -> None:
    assert form(kind="sweep").text_input(key="study-values-study-learning_rate").value == "2e-4, 1e-4", "the session's, and half of it"
    linked = open_page("studies", new="sweep")
    assert linked.text_input(key="study-values-study-learning_rate").value == "2e-4, 1e-4", "the address names the kind"
    chosen = {"kind": "sweep", "varied": ["learning_rate", "steps"], "values__study__steps": "10, 25"}
    app = form(**chosen)
    assert "4 arms × 3 seeds" in words(app) and "The reference is **learning rate 2e-4, steps 10**" in words(app)
    assert "Measured before" in words(form(kind="guard")) and "Measured before" not in words(app), "that is about configs"
    assert begin(app, started) == sweep_study(3, varied={"learning_rate": (2e-4, 1e-4), "steps": (10, 25)})


def test_sections_are_chosen_and_any_arm_is_removed(started: list[tuple[StudySpec, int]]) -> None:
    chosen = {"kind": "sections", "sections__sections": ["failures", "history"]}
    made = sections_study(varied=("failures", "history"))
    assert "4 arms × 3 seeds" in words(form(**chosen))
    names = [arm.name for arm in made.arms]
    app = form(**chosen, **{f"arms__{'__'.join('-'.join(names).split('-'))}": names[:2]})
    assert "2 arms × 3 seeds" in words(app) and "frozenlab study study.json" in words(app)
    grid = next(block.value for block in app.get("html") if "Arms and the sections" in str(block.value))
    assert grid.count("<tr>") == 3 and "failures-history" in grid
    assert begin(app, started) == made.changed(arms=made.arms[:2])


def test_a_study_is_the_beginning_of_another_one(started: list[tuple[StudySpec, int]]) -> None:
    like = Study.shipped()[0].spec
    app = open_page("studies", study=f"recorded-{Study.shipped()[0].id}")
    app.button(key="study-again").click().run()
    assert f"The reference is **{arm_titles(like)[like.arms[0].name]}**" in words(app)
    app.session_state[f"study-first-study-like-{like.title}"] = 100
    app.session_state[f"study-base-{like.title}"] = "quick"
    app.button(key="study-again").click().run()
    spec = begin(app, started)
    assert spec == like.changed(
        seeds=range(100, 100 + len(like.seeds)), session=fit_for_study(preset_spec("quick"), like.arms), prediction=""
    )


def test_a_study_file_is_the_beginning_of_a_form(started: list[tuple[StudySpec, int]]) -> None:
    made = sections_study(varied=("failures", "history"))
    app = form()
    app.file_uploader(key="study-file").set_value(("other.json", b"{}", "application/json")).run()
    assert "other.json is not the spec of a study: title" in words(app.button(key="study-new").click().run())
    app.file_uploader(key="study-file").set_value(("study.json", made.model_dump_json().encode(), "application/json")).run()
    assert begin(app.button(key="study-new").click().run(), started) == made


def test_the_smallest_effect_that_matters_and_what_is_expected_are_written_down_first(started: list[tuple[StudySpec, int]]) -> None:
    app = form(kind="guard", matters__guard=2.5, title__guard="How far?", prediction="loose moves as far as usual")
    assert "frozenlab study study.json" in words(app)
    spec = begin(app, started)
    assert (spec.title, spec.smallest_effect) == ("How far?", pytest.approx(0.025)) and spec.prediction == "loose moves as far as usual"


def test_a_study_says_first_what_it_can_see_and_what_was_expected() -> None:
    session = small_spec(stages=2, sizes=(3, 4), boards_per_size=6)
    spec = engineers_study(2, session, engineers=("uniform", "fixed", "rules")).changed(prediction="uniform helps")
    study = Study.create(spec, SessionStore(), "mine")
    for cell in study.cells:
        build_session(study.sessions.root, spec.spec_of(cell.arm, cell.seed), cell.id)
    (study.dir / "state.json").write_text(WorkerState(status="done").model_dump_json())
    for view in ("effects", "arms", "sizes", "predictions"):
        app = open_page("studies", study="mine", view=view)
        assert str(app.query_params["view"]) == view
        said = words(app)
        assert escape(detectable_effect(spec)) in said and "Written before it ran: uniform helps" in said and "test boards" in said
    assert "p + 0.3 p(1-p)" in words(app), "whose numbers they are"
    assert {"skill (95 %)", "predicted"} <= set(tables(app)[0].columns) and len(app.get("plotly_chart")) == 1


def test_its_progress_then_its_result_stand_before_what_other_studies_found() -> None:
    study = Study.create(engineers_study(2, small_spec()), SessionStore(), "mine")
    running = {"status": "running", "heartbeat": time.time(), **own_process()}
    store_state(study.dir, study.state().model_copy(update=running))
    cell = study.cells[0]
    session = build_session(study.sessions.root, study.spec.spec_of(cell.arm, cell.seed), cell.id, broken_stage=0)
    store_state(session.dir, session.state().model_copy(update=running | {"answers": session.usable_answers()}))
    app = open_page("studies", study="mine")
    drawn = [element.type for element in app.main]
    assert drawn.index("progress") < drawn.index("warning") < drawn.index("expander")
    assert "now the model itself (seed 0)" in app.get("progress")[0].proto.text
    assert "the model itself: 1 of 4 answers could not be used, so the config was kept (the first: word 2 is" in shown(app.warning[0].value)
    drawn = [element.type for element in open_page("studies", study="recorded-sections").main]
    assert drawn.index("plotly_chart") < drawn.index("expander")


def test_what_cells_run_can_be_chosen_of_what_runs_here() -> None:
    app = form()
    offered = app.selectbox(key="study-base").options
    assert offered[0].startswith("preset study") and any(words.startswith("as in Quick session · recorded") for words in offered)
    assert any(words.startswith("preset demo") for words in offered), "its one stage is enough, as its engineer is asked first"
    assert any("preset paper" in words for words in offered) == bool(gpus())


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that the form names at first may be asked."""
    monkeypatch.setenv(hosts.VARIABLE, "127.0.0.1:8000")


@pytest.mark.usefixtures("allowed")
def test_the_cost_of_an_api_engineer_is_shown_before_the_start(started: list[tuple[StudySpec, int]]) -> None:
    chosen = {"kind": "engineers", "engineers__asked": ["policy", "api", "bandit"]}
    assert "Which model is the engineer?" in form(**chosen).info[0].value
    app = form(**chosen, api_model="some-model", api_input_price=2.0, api_output_price=10.0)
    said = words(app)
    assert "**15 requests** to the API" in said and "at most about **2.49**" in said and "frozenlab study study.json" in said
    spec = begin(app, started)
    assert [arm.engineer.kind for arm in spec.arms] == ["policy", "api", "bandit"]
    assert (spec.arms[1].engineer.model, spec.arms[1].engineer.output_price) == ("some-model", 10.0)


@pytest.mark.usefixtures("allowed")
def test_guidance_is_asked_of_an_api_where_a_lab_model_is_trained(started: list[tuple[StudySpec, int]]) -> None:
    app = form(kind="guidance", api_model="some-model")
    assert "without both prices their cost is not known" in words(app)
    assert [arm.engineer.guidance for arm in begin(app, started).arms] == [True, False]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"kind": "engineers", "engineers__asked": ["policy"]}, "Choose two engineers or more."),
        ({"kind": "sweep", "varied": []}, "Choose a training setting."),
        ({"kind": "sections", "sections__sections": []}, "Choose a section."),
        ({"kind": "guard", "arms__usual__strict__loose": ["loose"]}, "Choose two arms or more."),
        ({"kind": "sweep", "values__study__learning_rate": "1, 2"}, "rate: Input should be less than or equal to 0.01"),
        ({"kind": "guidance", "api_model": "some", "api_base_url": "nowhere"}, "This cannot run: base"),
    ],
)
def test_the_form_says_why_a_study_cannot_run(chosen: dict[str, Any], message: str) -> None:
    app = form(**chosen)
    assert message in words(app)
    assert all(button.key != "study-start" for button in app.button)


@pytest.mark.parametrize(
    ("corrected", "sentence"),
    [
        ([0.01], "ROW."),
        ([0.2], "The comparison named beforehand is not clear of chance."),
        ([0.01, 0.2, 0.3], "ROW. The other 2 comparisons named beforehand are not clear of chance."),
        ([0.2, nan], "The 2 comparisons named beforehand are not clear of chance."),
        ([0.01, 0.02], "ROW and 6.8 over rules."),
    ],
)
def test_the_answer_is_which_of_the_confirmatory_comparisons_are_clear(corrected: list[float], sentence: str) -> None:
    row = SHIPPED["confirm"].confirmatory[0]
    in_full = sentence.replace("ROW", "The taught engineer gains 6.8 points of valid plans over rules")
    assert confirmed([row.model_copy(update={"p_holm": p}) for p in corrected]) == in_full
