"""The report of a study: its figures can be recomputed from its boards, and its page is self-contained."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from itertools import product
from math import isnan
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from frozenlab.app.studies.page import FINDINGS
from frozenlab.base.places import ROOT
from frozenlab.experiments.studies.arms import only_one, without_one
from frozenlab.experiments.studies.design import design, of_sections
from frozenlab.experiments.studies.effects import contrast, smaller_than
from frozenlab.experiments.studies.grid import Arm
from frozenlab.experiments.studies.noise import detectable_effect, noise_of, visible
from frozenlab.experiments.studies.pictures import SMALLEST_REACH, clear_in_words, reach_of, shade
from frozenlab.experiments.studies.presets import engineers_study, guard_study, sections_study
from frozenlab.experiments.studies.report import measured, report_of, save_report
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import holm, smallest_visible
from frozenlab.experiments.studies.store import Configs, Study, StudyError, outcomes
from frozenlab.experiments.studies.tables import MeasureReport, StudyReport, recorded_report
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session.presets import preset_spec
from frozenlab.session.store import SessionStore
from recipes import findings
from tests.builders import build_session, small_spec


def imagined(spec: StudySpec, gain: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """Boards of a study in which showing failures adds ``gain`` to the chance of a valid plan."""
    rng = np.random.default_rng(seed)
    hardness, boards = rng.random(60) * 0.8, pd.DataFrame({"board_id": [f"b{i}" for i in range(60)], "size": [3, 4, 5] * 20, "agents": 2})
    boards = boards.assign(config_cell=boards["size"].astype(str), cell="2x" + boards["size"].astype(str))
    tables = []
    for (arm, shown), seed in product(spec.sections_of().items(), spec.seeds):
        chance = hardness + gain * ("failures" in shown) + rng.normal(0, 0.01)
        valid = rng.random(60) < chance
        tables.append(boards.assign(arm=arm, seed=seed, valid=valid, optimal=valid & (boards.index % 2 == 1)))
    return pd.concat(tables, ignore_index=True)


def test_a_factorial_study_reports_main_effects_and_interactions() -> None:
    spec = sections_study(4)
    boards = imagined(spec, gain=0.3)
    report = measured(boards, "valid", spec)
    assert [(row.kind, row.name) for row in report.effects] == [
        ("main effect", "failures"), ("main effect", "preserved"), ("main effect", "statistics"),
        ("interaction", "failures and preserved"), ("interaction", "failures and statistics"), ("interaction", "preserved and statistics"),
    ]  # fmt: skip
    shown = {name: "failures" in sections for name, sections in spec.sections_of().items()}
    expected = contrast(outcomes(boards), [name for name in shown if shown[name]], [name for name in shown if not shown[name]])
    failures = report.effects[0]
    assert (failures.mean, failures.low, failures.p, failures.n) == (expected.mean, expected.low, expected.p, 4)
    assert failures.mean == pytest.approx(0.25, abs=0.1) and failures.low > 0 and isnan(failures.board_low)
    assert len(report.sentences) == 3 and all(re.search(r"[0-9]", sentence) for sentence in report.sentences)
    assert failures.clear and report.verdict.startswith("1 of 6 comparisons is clear of chance (n = 4 seeds): showing failures +")
    assert {arm.arm: arm.mean for arm in report.arms} == pytest.approx(outcomes(boards).groupby("arm")["value"].mean().to_dict())


def test_other_studies_report_their_own_comparisons() -> None:
    base = sections_study(3)
    for arms, kind, begin in (
        (without_one(), "leave-one-out", ["Showing behaviour changed", "Showing failures changed"]),
        (only_one(), "one-at-a-time", ["Showing behaviour alone changed", "Showing failures alone changed"]),
        (engineers_study().arms, "arm", ["base instead of policy changed", "rules instead of policy changed"]),
        (guard_study().arms, "arm", ["strict instead of usual changed", "loose instead of usual changed"]),
    ):
        spec = base.changed(arms=arms)
        report = measured(imagined(spec), "optimal", spec)
        assert {row.kind for row in report.effects} == {kind} and len(report.effects) == len(report.sentences) == len(arms) - 1
        assert all("the final optimal rate" in sentence for sentence in report.sentences)
        assert all(sentence.startswith(words) for sentence, words in zip(report.sentences, begin, strict=False))


def test_the_reference_of_one_section_at_a_time_shows_none() -> None:
    spec = sections_study(4).changed(arms=only_one())
    boards = imagined(spec, gain=0.3)
    found = {row.name: row for row in measured(boards, "valid", spec).effects}
    expected = contrast(outcomes(boards), ["only-failures"], ["none"])
    assert (found["failures"].mean, found["failures"].p) == (expected.mean, expected.p) and found["failures"].mean > 0.1


def test_section_effects_are_reported_only_if_nothing_else_differs() -> None:
    """With another engineer in the same arm a difference could be the engineer's."""
    arms = (Arm(name="all"), Arm(name="none", sections=(), engineer="rules"))
    spec = sections_study(3).changed(arms=arms)
    [row] = measured(imagined(spec), "valid", spec).effects
    assert (row.kind, row.name) == ("arm", "none instead of all")
    alone = measured(imagined(spec), "valid", spec)
    assert (alone.verdict,) == alone.sentences and "n = 3 seeds): undecided" in alone.verdict


def test_designs_are_known_by_their_sections() -> None:
    base = sections_study()
    kinds = {"main effect": base.arms, "arm": engineers_study().arms, "leave-one-out": without_one(), "one-at-a-time": only_one()}
    for kind, arms in kinds.items():
        spec = base.changed(arms=arms)
        assert design(spec).kind == kind
        assert of_sections(spec.sections_of()) == (None if kind == "arm" else design(spec))


def test_differences_by_size_use_the_boards_of_that_size_and_are_corrected_for_all_sizes() -> None:
    for spec in (sections_study(4), engineers_study(3), sections_study(3).changed(arms=only_one())):
        boards = imagined(spec, gain=0.3)
        whole, rows = measured(boards, "valid", spec), measured(boards, "valid", spec).sizes
        compared = [row for row in whole.effects if row.kind != "interaction"]
        assert len(rows) == 3 * len(compared) and {row.cell for row in rows} == {"3", "4", "5"}
        for size in (3, 4, 5):
            alone = measured(boards[boards["size"] == size], "valid", spec).effects[: len(compared)]
            own = [row for row in rows if row.cell == str(size)]
            assert [(row.mean, row.low, row.high, row.p, row.n) for row in own] == [(r.mean, r.low, r.high, r.p, r.n) for r in alone]
        ps = [row.p for row in rows]
        assert [row.p_holm for row in rows] == holm(ps) and not any(map(isnan, ps))
        of_all = {name: np.mean([row.mean for row in rows if row.name == name]) for name in {row.name for row in rows}}
        assert sorted(of_all.values()) == pytest.approx(sorted(row.mean for row in compared)), "sizes count alike"


def test_a_difference_by_size_is_clear_only_if_it_survives_all_the_others() -> None:
    rows = measured(imagined(sections_study(4), gain=0.1), "valid", sections_study(4)).sizes
    by_itself = [row for row in rows if row.p < 0.05]
    clear = [row for row in rows if row.clear]
    assert len(by_itself) > len(clear) > 0 and all(row.p_holm < 0.05 for row in clear)
    assert f"after Holm's correction for all of them clear of chance are {clear[0].name} on" in clear_in_words(rows)


def test_the_full_colour_never_stands_for_less_than_a_few_points() -> None:
    rows = measured(imagined(engineers_study(3)), "valid", engineers_study(3)).sizes
    near = tuple(row.model_copy(update={"mean": 0.001}) for row in rows)
    assert reach_of(near) == SMALLEST_REACH and reach_of((rows[0].model_copy(update={"mean": -0.4}),)) == 0.4
    assert shade(0.0, 0.1).endswith("0.000)") and shade(0.1, 0.1).endswith("0.750)") and shade(-0.1, 0.1) != shade(0.1, 0.1)


# --- dose, noise and what is small ------------------------------------------------------------------------------------


def configs_of(spec: StudySpec, holes: dict[str, float]) -> Configs:
    """What the arms trained on: two stages, the second with these hole ratios."""
    first = spec.session.initial_config
    return {
        (arm.name, seed): (first, EnvironmentConfig.uniform(tuple(first.sizes), 3, holes[arm.name], 0.2))
        for arm in spec.arms
        for seed in spec.seeds
    }


def test_arms_with_identical_configs_are_reported_as_no_contrast() -> None:
    spec = engineers_study(4, engineers=("policy", "base", "rules"))
    boards = imagined(spec)
    found = measured(boards, "valid", spec, configs=configs_of(spec, {"policy": 0.2, "base": 0.2, "rules": 0.5}))
    base, rules = found.effects
    assert base.alike and base.dose == 0 and all(map(isnan, (base.p, base.p_holm, base.low))) and not base.clear
    assert not rules.alike and rules.dose == pytest.approx(0.3 / 3 / 2), "one of three knobs, in one of two stages"
    assert rules.p_holm == rules.p, "the other is no comparison, so there is nothing to correct for"
    assert "base instead of policy: no contrast" in found.sentences[0]
    assert "No contrast, as both sides trained on identical configs: base instead of policy." in found.verdict
    assert {row.name for row in found.sizes} == {"rules"}
    one = configs_of(spec, {"policy": 0.2, "base": 0.2, "rules": 0.5}) | {
        ("base", 0): configs_of(spec, dict.fromkeys(("policy", "base", "rules"), 0.21))["base", 0]
    }
    assert not measured(boards, "valid", spec, configs=one).effects[0].alike, "in one seed they differ"


def test_a_section_is_no_contrast_only_if_all_its_pairs_of_arms_trained_alike() -> None:
    spec = sections_study(2)
    names = [arm.name for arm in spec.arms]
    found = measured(imagined(spec), "valid", spec, configs=configs_of(spec, {name: 0.5 if "failures" in name else 0.2 for name in names}))
    assert {row.name: row.alike for row in found.effects if row.kind == "main effect"} == {
        "failures": False, "preserved": True, "statistics": True,
    }  # fmt: skip


def test_an_effect_that_is_shown_to_be_small_is_a_finding() -> None:
    spec = engineers_study(6, engineers=("policy", "base")).changed(smallest_effect=0.2)
    found = measured(imagined(spec, seed=1), "valid", spec)
    [row] = found.effects
    assert row.p_smaller == pytest.approx(smaller_than(row, 0.2)) and row.smaller and not row.clear
    assert (found.verdict,) == found.sentences and "smaller than 20 points (p" in found.verdict
    assert found.visible is not None and 0 < found.visible < 0.3


def test_seeds_with_different_boards_have_no_interval_over_boards() -> None:
    spec = engineers_study(3, engineers=("policy", "base"))
    assert isnan(measured(imagined(spec), "valid", spec).effects[0].board_low)
    shared = spec.changed(suite_by_seed=False)
    assert not isnan(measured(imagined(spec), "valid", shared).effects[0].board_low)


def test_a_study_says_beforehand_what_it_can_see_and_by_which_noise() -> None:
    spec = engineers_study(5)
    few, many = visible(spec), visible(spec.changed(seeds=tuple(range(20))))
    assert few is not None and many is not None and few.deviation == many.deviation and many.effect < few.effect / 2
    assert few.effect == pytest.approx(smallest_visible(few.deviation, 5))
    assert "recorded stud" in few.sentence and f"{100 * few.effect:.1f} points or more" in detectable_effect(spec)
    small = visible(engineers_study(5, preset_spec("smoke")))
    assert small is not None and small.deviation > few.deviation, "a sixth of the boards, more noise"
    factorial = visible(sections_study(5))
    assert factorial is not None and factorial.effect == pytest.approx(few.effect / 2), "four pairs of arms in each seed"
    assert "will mostly go undetected" in detectable_effect(spec.changed(smallest_effect=0.001))
    assert detectable_effect(engineers_study(1)).startswith("One seed can detect no effect")
    assert "not known" in detectable_effect(engineers_study(3, preset_spec("paper")))


def test_the_noise_of_a_recorded_study_is_that_of_its_table() -> None:
    """Two-way: what is left of arms by seeds beside the means of both."""
    study = next(study for study in Study.shipped() if study.id == "engineers")
    rates = outcomes(pd.read_parquet(study.dir / "boards.parquet")).pivot(index="arm", columns="seed", values="value").drop("base")
    left = rates.sub(rates.mean(axis=1), axis=0).sub(rates.mean(axis=0), axis=1) + rates.to_numpy().mean()
    known = noise_of(study)
    assert known.between_arms**2 == pytest.approx(2 * (left**2).to_numpy().sum() / (3 * 4))
    assert known.between_seeds**2 == pytest.approx(2 * rates.var(axis=1).mean())


# --- learning --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study whose cells are built, not trained."""
    spec = engineers_study(2, small_spec(stages=2, sizes=(3, 4), boards_per_size=6), engineers=("uniform", "fixed", "rules"))
    study = Study.create(spec, SessionStore(tmp_path_factory.mktemp("learnt")), "learnt")
    for cell in study.cells:
        build_session(study.sessions.root, spec.spec_of(cell.arm, cell.seed), cell.id)
    return study


def test_curves_are_the_rates_before_training_and_after_each_stage(learnt: Study) -> None:
    report = report_of(learnt)
    assert [curve.arm for curve in report.valid.curves] == ["uniform", "fixed", "rules"]
    for curve, arm in zip(report.optimal.curves, report.optimal.arms, strict=True):
        assert [point.trained for point in curve.points] == [0, 1, 2]
        assert (curve.points[-1].by_seed, curve.points[-1].mean) == (arm.by_seed, arm.mean)
    point = report.valid.curves[1].points[0]
    table = learnt.session(learnt.cells[1]).test(None)  # type: ignore[union-attr]
    assert point.by_seed[0] == pytest.approx(table.groupby("size")["valid"].mean().mean())
    for point in (point for curve in report.valid.curves for point in curve.points):
        low, high = point.band
        assert 0 <= low <= point.mean <= high <= 1


def test_a_study_with_one_finished_arm_has_no_report(tmp_path: Path) -> None:
    spec = engineers_study(1, small_spec(stages=2, sizes=(3, 4), boards_per_size=4), engineers=("uniform", "fixed"))
    study = Study.create(spec, SessionStore(tmp_path), "begun")
    build_session(study.sessions.root, spec.spec_of(spec.arms[0], 0), study.cells[0].id)
    with pytest.raises(StudyError, match="only the arm uniform is finished"):
        report_of(study)


def apart_from_draws(found: MeasureReport) -> MeasureReport:
    """What hangs on the sessions alone."""
    effects = tuple(row.model_copy(update={"board_low": 0.0, "board_high": 0.0}) for row in found.effects)
    return found.model_copy(update={"effects": effects, "curves": (), "sentences": ()})  # in the words of their day


TODAY, OLDER = ([study for study in Study.shipped() if study.spec.suite_by_seed is today] for today in (True, False))
"""Recorded studies with boards by seed, which know what their arms trained on, and the others."""


@pytest.mark.parametrize("study", TODAY, ids=lambda study: study.id)
def test_recorded_rates_are_those_of_the_recorded_boards(study: Study) -> None:
    report, boards = recorded_report(study), pd.read_parquet(study.dir / "boards.parquet")
    for found, measure in ((report.valid, "valid"), (report.optimal, "optimal")):
        again = measured(boards, measure, report.spec)  # type: ignore[arg-type]
        assert again.arms == found.arms and [row.mean for row in again.effects] == [row.mean for row in found.effects]
    assert report.beforehand and not report.missing and report.beforehand in unescape(html_page(report))


@pytest.mark.parametrize("study", OLDER, ids=lambda study: study.id)
def test_recorded_reports_have_everything_and_old_ones_open_without(study: Study) -> None:
    report, boards = recorded_report(study), pd.read_parquet(study.dir / "boards.parquet")
    for measure, found in (("valid", report.valid), ("optimal", report.optimal)):
        again = measured(boards, measure, report.spec)  # type: ignore[arg-type]
        assert found.curves and found.sizes and apart_from_draws(again) == apart_from_draws(found)
        for bound in ("board_low", "board_high"):  # a bootstrap, with other draws than when this was recorded
            ours, theirs = ([getattr(row, bound) for row in each.effects] for each in (again, found))
            assert ours == pytest.approx(theirs, abs=0.005)
    old = json.loads((study.dir / "report.json").read_text())
    for measure in ("valid", "optimal"):
        for new in ("curves", "sizes", "sentences"):
            del old[measure][new]
    opened = StudyReport.model_validate(old)
    assert opened.valid.effects == report.valid.effects
    assert "its engineers read the same boards that its results are measured on" in opened.missing
    assert "This is an earlier study: its engineers read" in html_page(opened)
    assert not re.search("more (seeds|probably)", html_page(opened)), "how many more would tell follows from p alone"
    assert "Learning" in html_page(report) and "Learning" not in html_page(opened) and "By cell" not in html_page(opened)


def test_the_report_of_a_study_without_finished_cells_says_so(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no cell is finished"):
        report_of(Study.create(sections_study(), SessionStore(tmp_path), "empty"))


class Tags(HTMLParser):
    """Which tags are open at the end, and what the page asks others for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "html"):
            self.open.append(tag)
        self.asked += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_saved_report_is_complete_and_its_page_self_contained(learnt: Study, tmp_path: Path) -> None:
    boards = learnt.boards()
    report = report_of(learnt)
    found = report.model_copy(update={"spec": report.spec.model_copy(update={"title": "<script>alert(1)</script>"})})
    save_report(tmp_path, found, boards)
    assert StudyReport.model_validate_json((tmp_path / "report.json").read_text()) == found
    again = measured(pd.read_parquet(tmp_path / "boards.parquet"), "valid", learnt.spec, configs=learnt.configs())
    assert again == found.valid.model_copy(update={"curves": ()})
    assert found.beforehand == detectable_effect(learnt.spec) and not found.missing
    assert len(pd.read_csv(tmp_path / "arms.csv")) == 2 * 6 and len(pd.read_csv(tmp_path / "effects.csv")) == 4
    page, found = (tmp_path / "report.html").read_text(), found.for_people
    tags = Tags()
    tags.feed(page)
    assert not tags.open and not tags.asked and "<script>" not in page
    assert page.index(found.beforehand[:40]) < page.index(found.valid.sentences[0][:30]), "what it can see comes first"
    assert all(sentence.split(":")[0] in page for sentence in (*found.valid.sentences, found.optimal.verdict))
    pictures = re.findall(r"<svg.*?</svg>", page)
    assert len(pictures) == 2 * 3, "effects, curves and map sizes, for both measures"
    for picture in pictures:
        ElementTree.fromstring(picture)
    assert "fixed: " in pictures[1] and "after stage 2" in pictures[1] and "fixed, 3×3: " in pictures[2]


def test_readme_and_the_page_show_the_same_findings() -> None:
    found = FINDINGS.read_text(encoding="utf-8")
    assert f"{findings.BEGIN}{found}{findings.END}" in findings.README.read_text(encoding="utf-8")
    assert len(re.findall(r"^\| \d+ \|", found, re.MULTILINE)) <= 10


def test_every_figure_of_the_findings_is_computed_from_the_shipped_tables() -> None:
    found, text = findings.figures(), findings.README.read_text(encoding="utf-8")
    assert findings.table(found) == FINDINGS.read_text(encoding="utf-8")
    values = {name: value for name, (value, _) in found.items()}
    assert f"quick session gains {values['quick']} points" in text
    assert f"{values['quick, stages 2 and 3']} points of the gain ({values['quick, stages 2 and 3 interval']})" in text
    assert f"gained {values['long, 3 agents']} to {values['long, 5 agents']} points (one seed)" in text
    sources = {name for _, source in found.values() for name in re.findall(r"assets/\S+", source)}
    assert all((ROOT / source).exists() for source in sources)
