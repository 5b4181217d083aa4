"""The rungs of the ladder: what an engineer wins over equal shares, beside the lab's own."""

from __future__ import annotations

import re

from frozenlab.engineer.engineers import name_of
from frozenlab.experiments.studies.design import words_of
from frozenlab.experiments.studies.ladder import COLUMNS, column_of, ladder_pictures, own_rungs, rungs, rungs_table, shipped, what_they_do
from frozenlab.experiments.studies.presets import ladder_study
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import StudyReport, recorded_report
from tests.studies.builders import imagined, imagined_report, small_study

LOWEST = name_of("lowest")
WINS = {"equal": 0.0, "rules": -0.05, "lowest": 0.1, "oracle": 0.2}


def report(decoys: bool = True) -> StudyReport:
    """Of a study whose arms win what WINS says."""
    spec = ladder_study(engineers=("lowest", "rules"), decoys=decoys)
    return imagined_report(spec, imagined(spec, lambda cell: 0.5 + WINS[cell.arm.name]))


def test_a_rung_is_what_an_arm_wins_over_equal_shares() -> None:
    found = rungs(report(), "valid")
    assert list(found) == ["oracle", "lowest", "rules"]
    for arm, won in found.items():
        assert won.n == len(won.students) == 15 and won.low < WINS[arm] < won.high


def test_arms_that_no_student_has_both_of_are_not_compared() -> None:
    spec = ladder_study(engineers=("lowest", "rules"))
    boards = imagined(spec, lambda cell: 0.5 + WINS[cell.arm.name])
    first = boards["student"].isin(["ladder-1", "ladder-2"])
    there = boards[(boards["arm"] == "lowest") | ((boards["arm"] == "rules") & first) | ((boards["arm"] == "equal") & ~first)]
    assert list(rungs(imagined_report(spec, there), "valid")) == ["lowest"]


def test_a_study_stands_in_its_own_column_beside_the_labs() -> None:
    own = report(decoys=False)
    assert column_of(own.spec) == "without decoys" and "oracle" not in own_rungs(own, "valid")
    by_grpo = [column_of(ladder_study(engineers=("lowest",), method="grpo", decoys=decoys)) for decoys in (True, False)]
    assert by_grpo == ["with decoys, GRPO", ""] and column_of(small_study("rules", "fixed")) == ""
    assert column_of(next(study for study in Study.shipped() if study.id == "doses").spec) == "", "the same students, but no engineers"
    table = rungs_table(own, "valid")
    assert table["engineer"].tolist()[:2] == [f"yours: {LOWEST}", "yours: rules"]
    assert set(table["with decoys"][:2]) == {""} and table["without decoys"][0].startswith("+")
    assert {words_of(arm) for arm in shipped("valid")["with decoys"]} <= set(table["engineer"])
    said = what_they_do(own)
    assert said.keys() >= {"oracle", "taught", "tutor", LOWEST, f"yours: {LOWEST}"} and said[f"yours: {LOWEST}"] == said[LOWEST]
    picture, on_phone = ladder_pictures(own, "valid")
    rows = [name for name in re.findall(r">([^<>]+)</text>", picture) if name in set(table["engineer"])]
    assert f'aria-label="yours: {LOWEST}: without decoys +' in picture and rows[0] == f"yours: {LOWEST}" and rows[-1] == "yours: rules", (
        "best on top"
    )
    assert picture.count('r="6"') == sum(table[words].ne("").sum() for words in COLUMNS.values()), "a large dot for each effect"
    assert on_phone.count('r="6"') == picture.count('r="6"') and f">yours: {LOWEST}, without decoys</text>" in on_phone, "a row for each"
    labs = recorded_report(next(study for study in Study.shipped() if study.id == "ladder-10"))
    assert "yours" not in "".join(ladder_pictures(labs, "valid")) and not own_rungs(labs, "optimal")
