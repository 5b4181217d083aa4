"""Studies of several students: cells, seeds, clustered intervals and what the report says."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

from frozenlab.experiments.studies.effects import contrast
from frozenlab.experiments.studies.grid import StudyError
from frozenlab.experiments.studies.noise import recorded_noise
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.report import save_report
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import clustered, mean_of
from frozenlab.experiments.studies.store import Study, outcomes
from frozenlab.session.store import SessionStore
from tests.studies.builders import imagined, imagined_report

STUDENTS = ("lab-model", "student:weak-at-waits", "/checkpoints/mine")
LABELS = ("lab-model", "weak-at-waits", "mine")


def with_students(seeds: int = 3) -> StudySpec:
    return engineers_study(seeds, engineers=("rules", "uniform", "fixed")).changed(students=STUDENTS)


def answers(spec: StudySpec, effects: dict[str, float]) -> pd.DataFrame:
    """Boards of a study in which the arm uniform gains ``effects`` over the others, by student."""
    return imagined(spec, lambda cell: 0.5 + effects[cell.label] * (cell.arm.name == "uniform"))


def test_cells_are_arms_by_students_by_seeds_and_without_students_as_before() -> None:
    spec = with_students(2)
    assert [cell.id for cell in spec.cells][:4] == ["rules-student1-s0", "uniform-student1-s0", "fixed-student1-s0", "rules-student2-s0"]
    assert len(spec.cells) == 3 * 3 * 2 and spec.units == 6
    plain = spec.model_copy(update={"students": ()})
    assert [cell.id for cell in plain.cells] == ["rules-s0", "uniform-s0", "fixed-s0", "rules-s1", "uniform-s1", "fixed-s1"]


def test_arms_of_a_student_and_seed_share_seed_and_boards_and_no_other_unit_has_them() -> None:
    spec = with_students(2)
    cells = {cell: spec.spec_of(cell.arm, cell.seed, cell.student) for cell in spec.cells}
    of_units: dict[tuple[str, int], set[tuple[int, int, str]]] = {}
    for cell, session in cells.items():
        of_units.setdefault((cell.label, cell.seed), set()).add((session.seed, session.suite.seed, session.policy))
    assert all(len(found) == 1 for found in of_units.values()) and len(set.union(*of_units.values())) == 6
    plain = spec.model_copy(update={"students": ()})
    first, same = spec.spec_of(spec.arms[0], 1, "lab-model"), plain.spec_of(plain.arms[0], 1)
    assert first.model_copy(update={"title": same.title}) == same, "the first student has the draws of a study without students"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"students": ("student:a", "/checkpoints/a")}, "two students are the same"),
        ({"arms": [{"name": "a" * 50}, {"name": "b"}], "seeds": [1234567890]}, "the name of the arm is too long"),
    ],
)
def test_students_that_cannot_be_told_apart_and_long_names_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        with_students().changed(**changes)


def test_a_student_without_weights_is_refused_before_anything_runs() -> None:
    Study.check(with_students().model_copy(update={"students": ("lab-model",)}), SessionStore())
    with pytest.raises(StudyError, match="there is no student 'student:weak-at-waits'"):
        Study.check(with_students(), SessionStore())


def test_the_clustered_interval_is_the_t_interval_of_cluster_means() -> None:
    groups = [[0.1, 0.3], [0.0, 0.1, 0.2], [0.5], [0.2, 0.2]]
    found, means = clustered(groups), [0.2, 0.1, 0.5, 0.2]
    low, high = stats.ttest_1samp(means, 0.0).confidence_interval(0.95)
    assert (found.mean, found.n) == (pytest.approx(0.25), 4)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.p == pytest.approx(stats.ttest_1samp(means, 0.0).pvalue)
    assert clustered(groups[:1]) == mean_of(groups[0]), "one student: the interval is over its seeds"
    assert isnan(clustered([[0.1], [0.1]]).low) and clustered([[0.0], [0.0, 0.0]]).p == 1.0


@pytest.mark.parametrize("students", [2, 4])
def test_clustered_intervals_have_their_nominal_rate_where_seeds_alone_would_not(students: int) -> None:
    """Effects that differ from student to student around 0: the mean over students is no finding."""
    rng = np.random.default_rng(1)
    draws, seeds = 4000, 6
    of_students = rng.normal(0, 0.02, (draws, students, 1)) + rng.normal(0, 0.01, (draws, students, seeds))
    found = np.mean([clustered(list(values)).p < 0.05 for values in of_students.tolist()])
    naive = np.mean([mean_of(values.ravel().tolist()).p < 0.05 for values in of_students])
    assert found == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / draws)) and naive > 0.2


def test_effects_are_clustered_by_student_and_each_student_has_its_own() -> None:
    spec = with_students(3)
    boards = answers(spec, {"lab-model": 0.0, "weak-at-waits": 0.2, "mine": 0.4})
    table = outcomes(boards)
    found = contrast(table, ["uniform"], ["rules"])
    wide = table.pivot(index=["student", "seed"], columns="arm", values="value")
    means = (wide["uniform"] - wide["rules"]).groupby("student").mean()
    assert found.n == 3 and found.mean == pytest.approx(means.mean())
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp(means, 0).confidence_interval(0.95))
    assert [own.student for own in found.students] == list(LABELS) and all(own.n == 3 for own in found.students)
    assert {own.student: own.mean for own in found.students} == pytest.approx(means.to_dict())
    incomplete = table[~((table["arm"] == "rules") & (table["student"] == "mine") & (table["seed"] == 0))]
    assert [own.n for own in contrast(incomplete, ["uniform"], ["rules"]).students] == [3, 3, 2]


def test_one_student_has_the_interval_over_its_seeds() -> None:
    spec = with_students(4).model_copy(update={"students": STUDENTS[:1]})
    table = outcomes(answers(spec, {"lab-model": 0.3}))
    found = contrast(table, ["uniform"], ["rules"])
    assert found.n == 4 and (found.mean, found.low, found.p) == (found.students[0].mean, found.students[0].low, found.p)
    assert contrast(table.drop(columns="student"), ["uniform"], ["rules"]).low == found.low


def test_the_report_says_how_many_students_and_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = with_students(3)
    report = imagined_report(spec, answers(spec, {"lab-model": 0.1, "weak-at-waits": 0.2, "mine": 0.3}))
    found, row = report.valid, report.valid.effects[0]
    assert row.units == "3 students with 3 seeds each" and len(row.students) == 3 and len(row.rows) == 4
    assert any("n = 3 students with 3 seeds each" in sentence for sentence in found.sentences)
    arm = found.arms[0]
    assert set(arm.by_unit) == set(LABELS) and len(arm.rows) == 9
    assert arm.mean == pytest.approx(np.mean(list(arm.by_unit.values())))
    page = html_page(report)
    assert "students lab-model, weak-at-waits, mine" in page and "95 % over students" in page
    assert Study.create(spec, SessionStore(tmp_path), "students").spec == spec
    save_report(tmp_path / "recorded", report, answers(spec, dict.fromkeys(LABELS, 0.1)))
    monkeypatch.setattr(Study, "shipped", lambda: [Study(tmp_path / "recorded")])
    assert not recorded_noise(), "its noise is not that of the lab model"
