"""What is evidence and what is noise: the lines that a stage's tables give."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from frozenlab.base.cells import KnobChange
from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.engineer.sections import NAMES, USUAL, describe
from frozenlab.engineer.sections.preserved import LUCK, Preserved, luck
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate, realised
from frozenlab.lake.suites import SuiteSpec, build_suite
from tests.builders import answers
from tests.engineer.builders import MIXED, record_of

CONFIG = EnvironmentConfig.uniform((4,), agents=2)
BOARD = generate(CONFIG, 1, seed=0)[0].board


def table(valid: list[bool]) -> pd.DataFrame:
    """A validation of 4x4 boards."""
    rows = {"board_id": [f"b{i}" for i in range(len(valid))], "config_cell": "4", "size": 4, "agents": 2, "valid": valid, "optimal": False}
    return pd.DataFrame(rows).assign(
        fault=[None if ok else "hole" for ok in valid],
        step=0,
        fault_agents="[0]",
        cell=None,
        optimal_makespan=3,
        board=json.dumps(BOARD.to_dict()),
        paths=None,
    )


def stage(won: int, lost: int, boards: int = 40) -> StageMeasurements:
    """A stage that won and lost so many of the boards, half of which it had, while half of its samples are valid."""
    before = np.arange(boards) < boards // 2
    after = before.copy()
    after[boards - won :], after[:lost] = True, False
    metrics = pd.DataFrame({"step": [1, 2, 3], "valid_4": 0.5, "optimal_4": 0.5})
    return StageMeasurements(0, CONFIG, {}, metrics, table(after.tolist()), table(before.tolist()), None)


@pytest.mark.parametrize(("won", "lost"), [(5, 0), (12, 4)])
def test_a_size_that_gained_more_than_chance_explains_is_preserved(won: int, lost: int) -> None:
    [line] = Preserved().lines(stage(won, lost))
    assert line.cell == "4" and line.numbers["gain"] == pytest.approx((won - lost) / 40)


@pytest.mark.parametrize(("won", "lost"), [(4, 0), (6, 1), (11, 4), (2, 0), (0, 5)])
def test_a_gain_within_the_noise_of_few_boards_is_not_preserved(won: int, lost: int) -> None:
    """A gain of 5 points on 40 boards, the threshold until now, is two boards."""
    assert not list(Preserved().lines(stage(won, lost)))


def test_on_many_boards_a_clear_gain_has_to_be_large_enough_too() -> None:
    assert not list(Preserved().lines(stage(30, 0, boards=1000))), "3 points"
    assert list(Preserved().lines(stage(60, 0, boards=1000)))


def test_of_twenty_sizes_that_nothing_happened_to_one_at_most_is_called_lucky() -> None:
    rng = np.random.default_rng(0)
    null = [(table((rng.random(40) < 0.7).tolist()), table((rng.random(40) < 0.7).tolist())) for _ in range(400)]
    assert np.mean([luck(before, after) <= LUCK for before, after in null]) < 0.065


def test_before_training_there_is_neither_behaviour_nor_anything_preserved() -> None:
    before = StageMeasurements(None, CONFIG, {}, pd.DataFrame(), table([True, False] * 20), None, None)
    context = describe(before, USUAL)
    assert context.stage is None and {section: len(lines) > 0 for section, lines in context.sections.items()} == {
        "behaviour": False, "failures": True, "statistics": False, "preserved": False, "history": False,
    }  # fmt: skip


def measured(config: EnvironmentConfig, suite: SuiteSpec, last: ProposalRecord | None = None) -> StageMeasurements:
    """A stage on real boards: half of the held-out ones went wrong before, and all went right after."""
    boards = build_suite(suite, config, sum_of_costs=False)
    after, drawn = answers(boards, skill=9.0, seed=1), generate(config, 12, seed=1)
    before = after.assign(valid=np.arange(len(after)) % 2 == 0)
    metrics = {f"{name}_{cell}": 0.5 for cell in config.cells for name in ("valid", "optimal")}
    sampled = answers(drawn, skill=9.0, seed=2).assign(training_step=1, reward=1.0)
    return StageMeasurements(0, config, realised(drawn), pd.DataFrame([{"step": 1} | metrics]), after, before, last, sampled=sampled)


def test_every_section_speaks_of_the_cells_of_several_teams() -> None:
    changes = (KnobChange(cell="3@4", knob="hole_ratio", before=0.1, after=0.2),)
    last = record_of(MIXED, changes=changes)
    context = describe(measured(MIXED, SuiteSpec(agents=(2, 3), sizes=(4, 6), boards_per_cell=20), last), NAMES)
    cells = ("2@4", "3@4", "3@6")
    assert context.names == cells
    for section, lines in context.sections.items():
        assert [line.cell for line in lines if line.cell] == list(cells), section
        assert all(line.id[1:] == (line.cell or "") for line in lines), section
    for section, start in {
        "behaviour": "Size 4 with 3 agents: 50% of sampled plans valid",
        "failures": "Size 4 with 3 agents: 100% of 20 held-out boards valid",
        "statistics": "Size 4 with 3 agents: config share 0.25, hole ratio 0.10, wait ratio 0.30; drawn 3 boards",
        "preserved": "Size 4 with 3 agents already works and still teaches: 100% valid, +50 points",
        "history": "Size 4 with 3 agents: after stage 1, hole ratio +0.10; valid then went 50% to 100%",
        "self": "Size 4 with 3 agents: of 3 recorded groups",
    }.items():
        line = context.evidence(section, "3@4")
        assert line is not None and line.text.startswith(start), line
    kept = context.evidence("history", "2@4")
    assert kept is not None and "ratios kept" in kept.text


def held_out_boards(config: EnvironmentConfig, *teams: int) -> dict[str, float]:
    """Cell -> how many held-out boards its line counts, of 4 boards of each team and size."""
    context = describe(measured(config, SuiteSpec(agents=teams, sizes=(4, 6), boards_per_cell=4)), ("failures",))
    return {line.cell: line.numbers["n"] for line in context.lines if line.cell}


def test_held_out_boards_of_another_team_count_for_the_nearest_team() -> None:
    assert held_out_boards(EnvironmentConfig.uniform((4, 6), agents=2), 3, 4) == {"4": 8, "6": 8}
    assert held_out_boards(MIXED, 3, 4) == {"3@4": 8, "3@6": 8}, "none for 2 agents, so 2@4 has no held-out line"
    assert held_out_boards(MIXED, 2, 3, 4) == {"2@4": 4, "3@4": 8, "3@6": 12}, "no other cell has 6x6 boards"
    assert held_out_boards(EnvironmentConfig.uniform((4,), agents=(2, 4)), 3) == {"2@4": 4}, "the smaller of two teams as near"
