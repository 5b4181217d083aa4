from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.app.session.claims import claim_outcomes, judgement, was_it_right
from frozenlab.app.session.proposals import config_rows, what_changed
from frozenlab.app.views.lake.tracks import showcase
from frozenlab.base.cells import diff
from frozenlab.base.numbers import board_by_board, sign_test
from frozenlab.engineer.schema import Claim, GuardReport, ProposalRecord, Repair
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import CellConfig


def table(valid: list[bool], size: int = 4, outcomes: list[str] | None = None) -> pd.DataFrame:
    n = len(valid)
    return pd.DataFrame(
        {
            "board_id": [f"b{i}" for i in range(n)], "config_cell": [str(size)] * n,
            "size": [size] * n, "agents": [2] * n, "needs_wait": [False] * n, "valid": valid,
            "outcome": outcomes or ["optimal" if v else "hole" for v in valid],
        }
    )  # fmt: skip


def config(**hole: float) -> EnvironmentConfig:
    return EnvironmentConfig.of(CellConfig(size=int(name[1:]), share=1 / len(hole), hole_ratio=ratio) for name, ratio in hole.items())


def record(before: EnvironmentConfig, after: EnvironmentConfig, **fields: object) -> ProposalRecord:
    return ProposalRecord(
        stage=0, engineer="rules", attempts=(), proposal=None, guard=GuardReport(), config_before=before, config_after=after,
        changes=tuple(diff(before, after)), **fields,
    )  # fmt: skip


def test_boards_are_compared_one_by_one() -> None:
    before, after = table([True, False, False, False]), table([False, True, True, False])
    change = board_by_board(before, after)
    assert (change.n, change.gained, change.lost, change.before, change.after) == (4, 2, 1, 0.25, 0.5)
    assert "gained 2 and lost 1: chance could explain that" in change.sentence


def test_boards_that_only_one_table_holds_do_not_count() -> None:
    assert board_by_board(table([True, True, True]), table([True])).n == 1


@pytest.mark.parametrize(("wins", "losses", "p"), [(0, 0, 1.0), (5, 5, 1.0), (6, 0, 2 / 64), (1, 7, 2 * 9 / 256)])
def test_the_sign_test_is_exact(wins: int, losses: int, p: float) -> None:
    assert sign_test(wins, losses) == pytest.approx(p)
    assert sign_test(losses, wins) == pytest.approx(p)


def test_a_change_has_a_sign_and_a_word() -> None:
    rows = {row.knob: row for row in config_rows(config(s4=0.2), config(s4=0.25)) if row.cell == "4"}
    assert rows["hole_ratio"].words == "+5 up"
    assert rows["share"].words == "same"
    down = config_rows(config(s4=0.25), config(s4=0.2))
    assert "−5 down" in [row.words for row in down]


def test_a_size_that_comes_or_goes_is_new_or_gone() -> None:
    rows = config_rows(config(s4=0.2), config(s5=0.2))
    assert {(row.cell, row.words) for row in rows} == {("4", "gone"), ("5", "new")}


def test_the_guards_repair_stands_with_its_knob() -> None:
    repair = Repair(cell="4", knob="hole_ratio", proposed=0.9, used=0.4, reason="too far")
    rows = config_rows(config(s4=0.2), config(s4=0.4), [repair])
    assert [row.knob for row in rows if row.repair] == ["hole_ratio"]


def test_what_changed_names_sizes() -> None:
    words = what_changed(record(config(s4=0.2, s5=0.2, s6=0.3), config(s4=0.3, s5=0.3, s6=0.2)))
    assert words == "raised the hole ratio of 4×4 and 5×5 and lowered the hole ratio of 6×6"


def test_an_unchanged_config_differs_from_an_unusable_answer() -> None:
    same = config(s4=0.2)
    assert what_changed(record(same, same)) == "kept the config as it was"
    assert "no answer that could be used" in what_changed(record(same, same, kept_because="broken"))


def claim(expected: float | None, size: int = 4) -> Claim:
    return Claim(cell=str(size), knob="hole_ratio", before=0.2, after=0.3, expected=expected)


def test_a_claim_is_scored_by_the_change_on_the_same_boards() -> None:
    now, following = table([True] * 20 + [False] * 20), table([True] * 24 + [False] * 16)
    (outcome,) = claim_outcomes([claim(0.7)], now, following)
    assert outcome.predicted == pytest.approx(0.2) and outcome.off == pytest.approx(0.1)
    assert outcome.measured is not None and outcome.measured.value == pytest.approx(0.1) and outcome.measured.n == 40
    assert outcome.measured.low < 0.1 < outcome.measured.high
    (silent,) = claim_outcomes([claim(None)], now, following)
    assert silent.predicted is None and silent.off is None


def test_a_claim_waits_for_its_stage() -> None:
    now = table([True, False])
    assert claim_outcomes([claim(0.5)], now, None)[0].measured is None
    assert claim_outcomes([claim(0.5, size=9)], now, now)[0].measured is None
    assert was_it_right(claim_outcomes([claim(0.5)], now, None), "4") == "No stage has tested that yet."
    assert was_it_right(claim_outcomes([claim(None)], now, None), "4") == "It predicted no numbers."


def test_a_proposal_is_judged_once_per_size_against_no_change() -> None:
    now, following = table([True] * 20 + [False] * 20), table([True] * 24 + [False] * 16)
    outcomes = claim_outcomes([claim(0.9), claim(0.7), claim(0.7, size=9)], now, following)
    judged = judgement(outcomes)
    assert judged is not None and judged.predicted == pytest.approx(0.2), "the last claim about a size counts"
    assert (judged.error, judged.naive_error, judged.skill) == (pytest.approx(0.1), pytest.approx(0.1), pytest.approx(0.0))
    assert was_it_right(outcomes, "4") == "It predicted +20 points of valid plans; the next stage brought +10."
    some = "On 1 of 3 map sizes (4×4) it predicted +20 points of valid plans; the next stage brought +10."
    assert was_it_right(outcomes, "469") == some, "a mean over the cells that it spoke of is not that of all"
    perfect, worse = (judgement(claim_outcomes([claim(rate)], now, following)) for rate in (0.6, 0.9))
    assert perfect is not None and perfect.skill == pytest.approx(1) and worse is not None and worse.skill == pytest.approx(-8)
    unmoved = judgement(claim_outcomes([claim(0.6)], now, now))
    assert unmoved is not None and unmoved.skill is None


def test_results_on_other_boards_test_no_claim() -> None:
    now, following = table([True, False]), table([True, False])
    outcomes = claim_outcomes([claim(0.9)], now, following.assign(board_id=["x", "y"]))
    assert outcomes[0].measured is None and judgement(outcomes) is None


def test_the_showcase_is_a_board_that_turned_from_a_visible_fault_to_optimal() -> None:
    before = table([False, False, True], outcomes=["goal_not_reached", "vertex_conflict", "optimal"])
    after = table([True, True, True])
    assert showcase(before, after) == "b1"
    assert showcase(after, after) is None


def test_layouts_are_named_if_they_are_not_scatter() -> None:
    before = EnvironmentConfig.uniform((4, 6))
    mixed = before.cells["6"].model_copy(update={"layouts": {"scatter": 0.8, "maze": 0.2}})
    after = before.with_cells({**before.cells, "6": mixed})
    words = {(row.cell, row.knob): row.words for row in config_rows(before, after)}
    assert words["6", "maze"] == "+20 up" and words["6", "scatter"] == "−20 down"
    assert ("4", "scatter") not in words
    assert what_changed(record(before, after)) == "put more boards of 6×6 in the layout maze"


def test_a_layout_that_the_guard_undid_is_named() -> None:
    plain = config(s4=0.2)
    repair = Repair(cell="4", knob="maze", proposed=1.0, used=0.0, reason="not allowed")
    rows = {row.knob: row for row in config_rows(plain, plain, [repair])}
    assert rows["maze"].repair == repair and rows["scatter"].words == "same"
