"""The ladder of engineers: what each wins over equal shares, in a study and in those that come with FrozenLab."""

from __future__ import annotations

from functools import cache

import pandas as pd

from frozenlab.base.numbers import MANY, interval, signed
from frozenlab.experiments.students.menu import DECOYS, ladder
from frozenlab.experiments.studies.design import ARM_WORDS, EQUAL, ORACLE, arm_titles, words_of
from frozenlab.experiments.studies.effects import contrast_so_far
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.pictures import PHONE, rows_picture
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import Effect
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import StudyReport, recorded_report
from frozenlab.models.folders import STUDENT

COLUMNS = {"ladder-10-plain": "without decoys", "ladder-10": "with decoys", "ladder-grpo": "with decoys, GRPO"}
"""The studies that come with FrozenLab, and what their columns are called."""
OF = {("imitation", False): "ladder-10-plain", ("imitation", True): "ladder-10", ("grpo", True): "ladder-grpo"}
"""The method of the stage, and whether there are decoys -> the study of those."""
Rungs = dict[str, Effect]
"""Arm -> what it won over equal shares, over students."""


def column_of(spec: StudySpec) -> str:
    """The column of the ladder that a study belongs to; empty if its students are others, it has more stages, or nothing is compared with
    equal shares."""
    alike = spec.session.stages == 1 and set(spec.students) == {f"{STUDENT}{name}" for name in ladder()}
    if not alike or EQUAL not in {arm.name for arm in spec.arms}:
        return ""
    decoys = set(DECOYS) <= set(spec.session.initial_config.cells)
    return COLUMNS.get(OF.get((spec.session.training.method, decoys), ""), "")


def rates_of(report: StudyReport, measure: Measure) -> pd.DataFrame:
    """The final rate of each arm, student and seed: ``arm, student, seed, value``; arms by their names, in a report for people, too."""
    names = {title: name for name, title in arm_titles(report.spec).items()}
    rows = ({"arm": names.get(one.arm, one.arm)} | row for one in report.of(measure).arms for row in one.rows)
    return pd.DataFrame(rows).rename(columns={"rate": "value"})


def rungs(report: StudyReport, measure: Measure) -> Rungs:
    """What each arm won, the best first; empty without equal shares to compare with."""
    rates = rates_of(report, measure)
    found = {arm: won for arm in rates["arm"].unique() if arm != EQUAL and (won := contrast_so_far(rates, [arm], [EQUAL]))}
    return dict(sorted(found.items(), key=lambda rung: -rung[1].mean))


@cache
def shipped(measure: Measure) -> dict[str, Rungs]:
    """Column -> the rungs that this lab measured."""
    found = {study.id: study for study in Study.shipped()}
    return {words: rungs(recorded_report(found[name]), measure) for name, words in COLUMNS.items()}


def won_by_grpo() -> Rungs:
    """The rungs of the ladder by GRPO that ships, in valid plans."""
    return shipped("valid")[COLUMNS["ladder-grpo"]]


def of_grpo() -> Study:
    """The ladder by GRPO that ships."""
    return next(study for study in Study.shipped() if study.id == "ladder-grpo")


def lesson() -> pd.DataFrame:
    """What the tutor, which taught the engineer of that ladder, makes of the evidence on one student, a row a cell: the rate that it reads
    (``now``), the ``usual`` one, the shares ``before`` and by the ``tutor``, and the engineer's ``own``, as ``recipes/lost_board.py``
    recorded them with a board of each."""
    return pd.read_json(of_grpo().dir / "lesson.json", orient="index", dtype=False)


def by_grpo() -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Of the ladder by GRPO that ships: the valid rate of each student, a column an arm; the answers of one student to a board of a cell
    that it had lost, a row an arm, as ``recipes/lost_board.py`` recorded them; and the prediction."""
    study = of_grpo()
    rates = rates_of(recorded_report(study), "valid").pivot(index="student", columns="arm", values="value")
    return rates, pd.read_json(study.dir / "example.json", orient="index", dtype=False), study.spec.prediction


def own_rungs(report: StudyReport, measure: Measure) -> Rungs:
    """The rungs of a study that does not come with FrozenLab, named so, without its oracle."""
    if report.spec in [study.spec for study in Study.shipped()]:
        return {}
    return {f"yours: {words_of(arm)}": won for arm, won in rungs(report, measure).items() if arm != ORACLE}


def lines_of(report: StudyReport, measure: Measure) -> dict[str, list[Effect | None]]:
    """Engineer -> what it won in each of COLUMNS, None where it was not measured: those of this study, then the lab's own."""
    columns, own = {words: dict(won) for words, won in shipped(measure).items()}, own_rungs(report, measure)
    columns[column_of(report.spec)] |= own
    names = dict.fromkeys((*own, *(arm for won in reversed(columns.values()) for arm in won)))
    return {words_of(name): [columns[words].get(name) for words in COLUMNS.values()] for name in names}


def what_they_do(report: StudyReport) -> dict[str, str]:
    """Engineer, as :func:`lines_of` names it -> what it does, in half a sentence; not of arms whose name says it."""
    studies = [study.spec for study in Study.shipped() if study.id in COLUMNS]
    found = {words_of(arm.name): arm.engineer.label for spec in studies for arm in spec.arms if arm.engineer and arm.name not in ARM_WORDS}
    own = {f"yours: {words_of(arm.name)}": arm.engineer.label for arm in report.spec.arms if arm.engineer}
    return found | own | {ORACLE: "knows what each student lost"}


def rungs_table(report: StudyReport, measure: Measure) -> pd.DataFrame:
    """A row an engineer: what it won in each column, in points with 95 % intervals."""

    def words(won: Effect | None) -> str:
        return "" if won is None else f"{signed(won.mean, MANY)} ({interval(won.low, won.high, MANY)})"

    return pd.DataFrame(
        {"engineer": name} | dict(zip(COLUMNS.values(), map(words, won), strict=True)) | {"n": max(one.n for one in won if one)}
        for name, won in lines_of(report, measure).items()
    )


def ladder_pictures(report: StudyReport, measure: Measure) -> tuple[str, str]:
    """The same as a picture, the best on top, in which the engineers of this study stand out; and one for phones, in which an engineer has
    a row for each column."""
    own, unit = own_rungs(report, measure), "points over equal shares"
    rows = dict(sorted(lines_of(report, measure).items(), key=lambda line: -next(won.mean for won in reversed(line[1]) if won)))
    stacked = {f"{name}, {words}": [won] for name, wins in rows.items() for words, won in zip(COLUMNS.values(), wins, strict=True) if won}
    told = {f"{name}, {words}" for name in own for words in COLUMNS.values()}
    return rows_picture([*COLUMNS.values()], rows, own, unit=unit), rows_picture([""], stacked, told, PHONE, unit=unit)
