"""What plans are worth: valid beats invalid, optimal beats slow, and failing later beats failing at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Board
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Verdict, judge, walk
from frozenlab.lake.solvers.solver import Solution
from frozenlab.lake.words.reading import Answer
from frozenlab.tasks.lake.answer import judged
from frozenlab.tasks.lake.family import LAKE

BOARD = Board.from_text("S F F G\nF F F F\ns F F g")


def paid(*plan: str, optimality: float = 0.7) -> float:
    return judged(judge(BOARD, plan, 3), 3).reward(optimality)


def test_an_optimal_plan_earns_everything() -> None:
    assert paid("RRR", "RRR") == 1.0


def test_a_slower_plan_earns_less_but_at_least_the_valid_share() -> None:
    assert paid("WRRR", "RRR") == pytest.approx(0.3 + 0.7 * 3 / 4 / 2)
    assert paid("WRRR", "RRR") > paid("WWRRR", "RRR") > 0.3


def test_optimality_weighs_the_makespan_of_valid_plans_alone() -> None:
    assert paid("WRRR", "RRR", optimality=0.8) == pytest.approx(0.2 + 0.8 * 3 / 4 / 2)
    assert paid("WRRR", "RRR", optimality=0.0) == 1.0
    assert paid("RR", "RRR", optimality=0.8) == paid("RR", "RRR", optimality=0.0)


def test_failing_later_and_bringing_an_agent_home_earn_a_little() -> None:
    at_once, later, one_home = paid("U", "RRR"), paid("RRU", "RR"), paid("RR", "RRR")
    assert at_once < later < one_home <= 0.1


def test_what_cannot_be_read_earns_nothing() -> None:
    assert judged(Verdict("parse_error", optimal=False, on_goal=(False, False)), 3).reward(0.7) == 0.0


def credits(*plans: tuple[str, str]) -> list[float]:
    """What the plans earn where standing still earns nothing."""
    task = Instance("b", BOARD, Solution("solved", 3))
    answers = [Answer(paths=walk(BOARD, plan)) for plan in plans]
    return [LAKE.credit(task, answer, LAKE.judge(task, answer)) for answer in answers]


def test_standing_still_walking_to_and_fro_and_going_back_earn_nothing_where_agents_have_to_come_nearer() -> None:
    idle = [("WWW", "WWW"), ("RLRLRL", "W"), ("U", "U"), ("D" * 9, "R"), ("RW", "RLW")]
    assert credits(*idle)[:4] == [0.0] * 4
    assert min(paid(*plan) for plan in (("WWW", "WWW"), ("RLRLRL", "W"))) > 0.02, "by the other credit"
    near, nearer, home = credits(("RW", "RW"), ("RRW", "RRW"), ("RRRW", "RRW"))
    assert 0 < near < nearer < home <= 0.1


motions = st.text("UDLRW", max_size=8)


@given(motions, motions)
def test_any_valid_plan_beats_any_other(first: str, second: str) -> None:
    verdict = judge(BOARD, (first, second), 3)
    earned = judged(verdict, 3).reward(0.8)
    assert earned >= 0.2 if verdict.valid else earned <= 0.1
