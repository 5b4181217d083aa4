"""By what was left: what a comparison comes to over students that had lost more and that had lost less."""

from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.experiments.studies.depths import by_what_was_left, depths_table, has_depths
from frozenlab.experiments.studies.grid import Primary
from frozenlab.experiments.studies.presets import ladder_study
from frozenlab.experiments.studies.report import what_was_left
from frozenlab.models.folders import student_label
from tests.studies.builders import imagined, imagined_report, small_study

SPEC = ladder_study(engineers=("lowest",)).model_copy(update={"primary": (Primary(arm="oracle", than="equal"),)})
LEFT = {f"ladder-{n}": n / 20 for n in range(1, 16)}


def test_what_was_left_is_the_rate_before_in_the_cells_that_the_oracle_favours() -> None:
    assert SPEC.arms[-1].configs
    student, config = next(iter(SPEC.arms[-1].configs.items()))
    lost = [name for name, own in config.cells.items() if own.share > 0.1]
    other = next(name for name in config.cells if name not in lost)
    rows = [(0, lost[0], True), (0, lost[0], False), (0, lost[1], False), (0, other, True), (1, lost[1], True)]
    learning = pd.DataFrame(rows, columns=["trained", "config_cell", "valid"]).assign(student=student_label(student))
    assert what_was_left(SPEC, learning) == {student_label(student): 0.25}
    assert what_was_left(small_study("rules", "fixed"), learning) == {}


def test_a_comparison_is_shown_over_groups_of_students() -> None:
    """The oracle gains 40 points over students with little left and nothing over the others."""
    boards = imagined(SPEC, lambda cell: 0.5 + 0.4 * (cell.arm.name == "oracle" and LEFT[cell.label] < 0.4), boards=400)
    report = imagined_report(SPEC, boards, left=LEFT)
    assert not has_depths(imagined_report(SPEC, boards[boards["arm"] != "oracle"], left=LEFT)), "its arm is not finished"
    columns, lines = by_what_was_left(report, "valid")
    assert has_depths(report) and not has_depths(report.model_copy(update={"left": {}}))
    assert columns == ["5 to 20 % left", "25 to 40 % left", "45 to 60 % left", "65 to 75 % left"]
    won = lines["oracle", "equal"]
    assert [own and own.mean for own in won] == pytest.approx([0.4, 0.3, 0.0, 0.0], abs=0.05)
    assert [own and own.n for own in won] == [4, 4, 4, 3]
    table = depths_table(report, "valid")
    assert table["comparison"].tolist() == ["oracle − equal shares"] and table[columns[0]][0].startswith("+")
