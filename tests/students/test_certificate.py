"""Certificates: rates before and after on the same tasks, and when a weakness counts as real."""

from __future__ import annotations

from dataclasses import astuple

import pandas as pd
import pytest

from frozenlab.base.cells import Cell
from frozenlab.base.numbers import Interval, paired_change, wilson
from frozenlab.experiments.students.certificate import CellRates, Certificate, change, pooled, rates, refusal

CELLS = tuple(Cell(name=name, words=f"cell {name}", place={"name": name}) for name in ("a", "b", "none"))


def answers(a: str, b: str) -> pd.DataFrame:
    """Judged answers, one row per letter: ``o`` optimal, ``v`` valid, ``x`` not valid."""
    marks = [("a", mark) for mark in a] + [("b", mark) for mark in b]
    return pd.DataFrame(
        {
            "board_id": [str(i) for i in range(len(marks))],
            "config_cell": [cell for cell, _ in marks],
            "valid": [mark != "x" for _, mark in marks],
            "optimal": [mark == "o" for _, mark in marks],
        }
    )


def turned(name: str, gained: int, lost: int, before: int = 30) -> CellRates:
    """Sixty tasks, of which ``before`` were solved before practice."""
    after = before + gained - lost
    return CellRates(
        cell=name, words=name, n=60, valid_before=before, valid_after=after, optimal_before=0, optimal_after=0, gained=gained, lost=lost
    )


def rated(name: str, valid: int) -> CellRates:
    return turned(name, valid, 0, before=0)


def test_rates_count_what_was_gained_and_lost_on_the_same_tasks() -> None:
    a, b = rates(CELLS, answers("oxvx", "xx"), answers("vvxx", "ox"))
    assert (a.valid_before, a.valid_after, a.optimal_before, a.optimal_after, a.gained, a.lost) == (2, 2, 1, 0, 1, 1)
    assert (b.n, b.valid_after, b.optimal_after, b.gained, b.lost) == (2, 1, 1, 1, 0)
    assert (a.after.low, a.after.high) == wilson(2, 4)


def test_the_change_is_that_of_pairs() -> None:
    before, after = answers("oxvxxxvv", "xxvo"), answers("vvxxovvv", "oxxo")
    assert astuple(change(rates(CELLS, before, after)))[:4] == pytest.approx(astuple(paired_change(before, after))[:4])


def test_a_weakness_is_real_only_if_every_weak_cell_fell_behind_the_others() -> None:
    assert refusal([turned("weak", 0, 20)], [turned("a", 3, 3), turned("b", 2, 5)]) == ""
    assert refusal([rated("never-learnt", 0)], [rated("a", 50), rated("b", 40)]) == "", "an apprentice's practised cells rise"
    assert "fell-little changed by −3 points" in refusal([turned("weak", 0, 20), turned("fell-little", 1, 3)], [turned("a", 3, 3)])
    assert "measured" in refusal([], [turned("a", 3, 3)])
    assert "cost the practised cells too, by −25 points" in refusal([turned("weak", 0, 30)], [turned("a", 0, 15), turned("b", 0, 15)])


def test_the_certificate_says_what_the_student_can_do() -> None:
    cells = (rated("a", 54), rated("b", 6))
    certificate = Certificate(weak=("b",), cells=cells, policy_sha256="", created=0, seconds=1)
    assert certificate.as_planned
    assert [cell.cell for cell in certificate.weak_cells] == ["b"]
    assert pooled(cells)[1] == Interval.of(60, 120)
    can, weak, spilled, verdict = certificate.sentences
    assert "It solves a: 90 % (80 to 95 %, n = 60) valid, 0 % before practice" in can
    assert "It is weak at b: 10 %" in weak
    assert "raised the rates of the weak cells too, by +10 points" in spilled
    assert verdict == "The weakness is as planned."
    assert Certificate.model_validate_json(certificate.model_dump_json()) == certificate
