"""What a study's file says before it runs: the confirmatory comparisons, and that only these are called so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

from frozenlab.experiments.studies.effects import contrast
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.report import confirmatory
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import holm
from frozenlab.experiments.studies.store import Study, outcomes
from frozenlab.experiments.studies.tables import StudyReport, recorded_report
from frozenlab.session.store import SessionStore
from tests.studies.builders import imagined, imagined_report

PRIMARY = ({"arm": "uniform", "than": "rules"}, {"arm": "uniform", "than": "fixed", "outcome": "optimal"})


def spec_of(**changes: object) -> StudySpec:
    written = {"primary": PRIMARY, "hypothesis": "H", "prediction": "P", "stopping_rule": "S"}
    return engineers_study(4, engineers=("fixed", "rules", "uniform")).changed(**written | changes)


def boards_of(spec: StudySpec) -> pd.DataFrame:
    return imagined(spec, lambda cell: 0.5 + 0.2 * (cell.arm.name == "uniform"), boards=100, draw=3)


def report_of(spec: StudySpec, registered: bool) -> StudyReport:
    boards = boards_of(spec)
    found = confirmatory(boards, spec) if registered else ()
    return imagined_report(spec, boards, registered=registered, confirmatory=found)


def test_only_the_named_comparisons_are_confirmatory_and_corrected_together() -> None:
    spec = spec_of()
    boards = boards_of(spec)
    first, second = confirmatory(boards, spec)
    table = outcomes(boards, "valid").pivot(index="seed", columns="arm", values="value")
    assert first.name == "uniform instead of rules" and second.measure == "optimal"
    assert first.p == pytest.approx(stats.ttest_rel(table["uniform"], table["rules"]).pvalue)
    ps = [contrast(outcomes(boards, one.outcome), [one.arm], [one.than]).p for one in spec.primary]
    assert [first.p_holm, second.p_holm] == holm(ps) and first.p_smaller_holm > 0
    assert "uniform instead of fixed changed the final optimal rate" in second.sentence
    unfinished = boards[boards["arm"] != "fixed"]
    assert [row.name for row in confirmatory(unfinished, spec)] == ["uniform instead of rules"]


def test_the_report_says_in_words_what_is_confirmatory() -> None:
    named, late, none = report_of(spec_of(), True), report_of(spec_of(), False), report_of(spec_of(primary=()), True)
    assert named.standing == "Confirmatory are the 2 comparisons that the study's file named before it ran; all others are exploratory."
    assert "changed after its first session began" in late.standing and none.standing.startswith("Exploratory: the study's file named no")
    page = html_page(named)
    parts = ("Hypothesis: H", "Written before it ran: P", "Stopping rule: S", "Confirmatory comparisons", "Exploratory comparisons")
    assert all(part in page for part in parts) and page.index(parts[3]) < page.index(parts[4])
    assert "Written in its file: P" in html_page(late) and "Confirmatory comparisons" not in html_page(late)


def test_people_read_the_ratios_of_the_arm_uniform_and_files_keep_its_name() -> None:
    report = recorded_report(next(study for study in Study.shipped() if study.id == "confirm-again"))
    shown = html_page(report)
    assert "taught instead of equal shares, 30 % holes" in shown and "oracle less equal shares, 30 % holes" in shown
    assert not re.search(r"instead of uniform", shown) and "equal shares, 30 % holes (" not in shown
    assert [arm.arm for arm in report.valid.arms] == ["taught", "taught-blind", "uniform", "oracle"]
    assert [arm.arm for arm in report.for_people.valid.arms][2] == "equal shares, 30 % holes"


@pytest.mark.parametrize("study", Study.shipped(), ids=lambda study: study.id)
def test_recorded_studies_confirm_only_what_they_named(study: Study) -> None:
    report = recorded_report(study)
    assert report.standing.startswith("Exploratory") == (not report.confirmatory)
    assert {row.name for row in report.confirmatory} <= {one.name for one in report.spec.primary}


def test_a_file_that_changed_after_the_first_session_confirms_nothing(tmp_path: Path) -> None:
    study = Study.create(spec_of(), SessionStore(tmp_path), "named")
    assert not study.registered
    study.register()
    assert study.registered
    study.register()
    path = study.dir / "study.json"
    changed = json.loads(path.read_text(encoding="utf-8")) | {"primary": []}
    path.write_text(json.dumps(changed), encoding="utf-8")
    study.register()
    assert not study.registered, "a checksum is written once"
    late = Study.create(spec_of(), SessionStore(tmp_path), "late")
    late.sessions.create(late.spec.spec_of(late.spec.arms[0], 0), late.cells[0].id)
    late.register()
    assert not late.registered, "a session had begun before"


@pytest.mark.parametrize(
    ("primary", "message"),
    [
        ([{"arm": "uniform", "than": "nobody"}], "names the arm nobody"),
        ([{"arm": "rules", "than": "rules"}], "of two different arms"),
        ([PRIMARY[0], PRIMARY[0]], "named once"),
    ],
)
def test_primary_comparisons_that_make_no_sense_are_refused(primary: list, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec_of(primary=primary)
