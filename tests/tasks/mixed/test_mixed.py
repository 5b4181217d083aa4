"""A config of several families: drawn, asked, judged and turned cell by cell, each by its own family."""

from collections import Counter
from itertools import combinations
from typing import get_args

import numpy as np
import pytest

from frozenlab.base.cells import diff
from frozenlab.engineer.guard import guard
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.rules import FAULTS
from frozenlab.models.evaluation import answer_row, frame
from frozenlab.models.policy import Completion
from frozenlab.tasks.countdown.answer import Fault
from frozenlab.tasks.countdown.drawing import CountdownConfig
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.families import FAMILIES, family_with_suite
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.mixed.config import MEMBERS, MixedConfig, MixedPart, MixedSuite, member_naming
from frozenlab.tasks.mixed.family import MIXED, of_family, rows_of
from frozenlab.tasks.task import Attempt

CONFIG = MixedConfig(
    parts={
        "lake": MixedPart(share=0.7, config=EnvironmentConfig.uniform((4, 5))),
        "countdown": MixedPart(share=0.3, config=CountdownConfig()),
    }
)
CELLS = ["4", "5", "numbers2", "numbers3", "numbers4"]


def turned(config: MixedConfig, cell: str, **settings: float) -> MixedConfig:
    return config.with_cells(config.cells | {cell: config.cells[cell].model_copy(update=settings)})


def test_a_cell_has_its_share_of_all_tasks() -> None:
    assert {name: round(own.share, 6) for name, own in CONFIG.cells.items()} == dict(zip(CELLS, [0.35, 0.35, 0.1, 0.1, 0.1], strict=True))
    assert [cell.words for cell in CONFIG.described()][1:3] == ["size 5", "Countdown with 2 numbers"]
    assert not diff(CONFIG, CONFIG.with_cells(CONFIG.cells))


def test_shares_move_between_families() -> None:
    shares = dict(zip(CELLS, (0.1, 0.3, 0.6, 0, 0), strict=True))
    moved = CONFIG.with_cells({name: own.model_copy(update={"share": shares[name]}) for name, own in CONFIG.cells.items()})
    assert {name: round(part.share, 9) for name, part in moved.parts.items()} == {"lake": 0.4, "countdown": 0.6}
    assert [round(own.share, 9) for own in moved.cells.values()] == [0.1, 0.3, 0.6, 0, 0]
    assert round(moved.parts["lake"].config.cells["5"].share, 9) == 0.75


def test_a_part_may_have_no_share_and_come_back() -> None:
    shares = dict(zip(CELLS, (0.5, 0.5, 0, 0, 0), strict=True))
    without = CONFIG.with_cells({name: own.model_copy(update={"share": shares[name]}) for name, own in CONFIG.cells.items()})
    assert without.parts["countdown"].share == 0 and list(without.cells) == CELLS
    assert {task.family for task in MIXED.draw(without, 20, seed=0)} == {"lake"}
    again = MixedConfig.model_validate_json(without.model_dump_json())
    assert again == without and [own.share for own in again.parts["countdown"].config.cells.values()] == pytest.approx([1 / 3] * 3)
    back = again.with_cells(CONFIG.cells)
    assert not diff(CONFIG, back)


@pytest.mark.parametrize(
    ("parts", "wrong"),
    [
        ({"lake": {"share": 0.7, "config": {"agents": 2, "sizes": {"4": {"share": 1}}}}}, "the shares of the parts sum to 0.7"),
        ({"chess": {"share": 1, "config": {}}}, "the family 'chess' cannot be mixed; there is lake, countdown"),
        ({"countdown": {"share": 1, "config": {"cells": {"numbers9": {"share": 1}}}}}, "countdown: "),
    ],
)
def test_a_wrong_config_is_named(parts: dict, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        MixedConfig.model_validate({"parts": parts})


def test_families_that_are_mixed_have_names_of_their_own() -> None:
    for one, other in combinations(MEMBERS, 2):
        assert not set(one.ratios) & set(other.ratios)
        for name in set(one.outcomes) & set(other.outcomes):
            assert one.outcomes[name].valid == other.outcomes[name].valid and one.outcomes[name].sentence == other.outcomes[name].sentence
        assert not set(one.named_suites()) & set(other.named_suites())
    names = ["3", "2@4", "maze5", "3@maze6", *CELLS]
    assert [member_naming(name).name for name in names] == ["lake"] * 6 + ["countdown"] * 3
    assert all(sum(family.cell_label(name) is not None for family in FAMILIES) == 1 for name in names)
    assert all(family.lab and family.teacher for family in MEMBERS)
    assert set(LAKE.faults) == set(FAULTS) and set(COUNTDOWN.faults) == set(get_args(Fault))
    assert [family_with_suite(name).name for name in ("paper", "countdown")] == ["lake", "countdown"]


def test_draws_share_out_and_mix() -> None:
    drawn = MIXED.draw(CONFIG, 100, seed=5)
    assert drawn == MIXED.draw(CONFIG, 100, seed=5) and len({task.id for task in drawn}) == 100
    assert Counter(task.cell for task in drawn) == {"4": 35, "5": 35, "numbers2": 10, "numbers3": 10, "numbers4": 10}
    assert 3 <= sum(task.family == "countdown" for task in drawn[:33]) <= 18, "any part looks like the whole"
    realised = MIXED.realised(drawn)
    assert {cell: own.share for cell, own in realised.items()} == {cell: len([t for t in drawn if t.cell == cell]) / 100 for cell in CELLS}
    held = {cell: own.model_dump() for cell, own in realised.items()}
    assert MIXED.read_realised(CONFIG, held) == realised
    with pytest.raises(ValueError, match="there is no cell 'numbers5'"):
        MIXED.read_realised(CONFIG, {"numbers5": held["numbers4"]})


def test_suites_are_those_of_each_family_and_kept_out() -> None:
    spec = MixedSuite(boards_per_cell=4, seed=2)
    suite = MIXED.suite(spec, CONFIG)
    assert Counter(task.cell for task in suite) == dict.fromkeys(CELLS, 4) and len(suite) == MIXED.suite_size(spec, CONFIG)
    drawn = MIXED.draw(CONFIG, 60, seed=2, kept_out=suite)
    assert not {task.key for task in of_family(suite, "countdown")} & {task.key for task in of_family(drawn, "countdown")}
    other = MIXED.suite(MixedSuite(boards_per_cell=4, seed=2), CONFIG, kept_out=suite)
    assert not {task.key for task in of_family(suite, "countdown")} & {task.key for task in of_family(other, "countdown")}


@pytest.mark.parametrize("shown", ["mend", "answers"])
def test_rows_of_all_families_fit_one_table(shown: str) -> None:
    suite = MIXED.suite(MixedSuite(boards_per_cell=2), CONFIG)
    prompts = [MIXED.plain.prompt(task) for task in suite]
    assert "Target:" in prompts[-1] and "Target:" not in prompts[0] and MIXED.lab.prompt(suite[-1]).startswith("<countdown>")
    mended = getattr(MIXED.teacher, shown)([Attempt(task, "", np.random.default_rng(0)) for task in suite])
    rows = []
    for task, taught in zip(suite, mended, strict=True):
        assert taught is not None and len(taught.learned.split()) < MIXED.lab.limit(task)
        rows.append(answer_row(MIXED, task, Completion(taught.learned, 9, True), MIXED.lab.read(task, taught.learned, True)))
    rows += [answer_row(MIXED, task, Completion("no", 1, True), MIXED.plain.read(task, "no", True)) for task in suite]
    table = frame(rows, MIXED)
    assert table["optimal"].sum() == len(suite) and set(table["outcome"]) == {"optimal", "parse_error"}
    assert table["agents"].isna().sum() == table["target"].notna().sum() == 12 and MIXED.unsound(table) is None
    assert rows_of(table, "lake")["agents"].dtype == "int64" and rows_of(table, "countdown")["needs_product"].dtype == "bool"
    assert MIXED.case(table.iloc[-1])[0].startswith("task countdown4_") and "board" in MIXED.case(table.iloc[len(suite)])[0]
    assert MIXED.unsound(table.assign(target=None)) == "a row lacks what its family writes"
    assert MIXED.unsound(table.assign(family="chess")) == "there is no family 'chess'"


def test_knobs_are_turned_where_a_cell_has_them() -> None:
    assert [MIXED.ratios_of(CONFIG.cells[name]) for name in ("4", "numbers2")] == [("hole_ratio", "wait_ratio"), ("times_ratio",)]
    proposed = turned(turned(CONFIG, "4", wait_ratio=0.9), "numbers3", times_ratio=0.6, share=0.0)
    used, report = guard(proposed, CONFIG)
    assert used.cells["4"].wait_ratio == pytest.approx(0.4) and used.cells["numbers3"].times_ratio == pytest.approx(0.6)
    assert used.cells["numbers3"].share == pytest.approx(0.02)
    assert {(repair.cell, repair.knob) for repair in report.repairs} == {("4", "wait_ratio"), ("numbers3", "share")}
    assert guard(used, used)[1].repairs == (), "rounding repairs nothing"
    allowed, _ = guard(turned(CONFIG, "5", layouts={"maze": 1.0}), CONFIG, layouts=("maze",))
    assert allowed.cells["5"].layouts["maze"] == pytest.approx(0.2)
    assert set(allowed.cells["numbers2"].settings()) == {"share", "times_ratio"}


def test_an_even_and_a_random_config_have_all_cells() -> None:
    even, drawn = MIXED.even(CONFIG), MIXED.at_random(CONFIG, np.random.default_rng(0), ("maze",))
    assert {round(own.share, 9) for own in even.cells.values()} == {0.2}
    assert even.cells["4"].layouts == CONFIG.cells["4"].layouts and drawn.cells["4"].layouts != CONFIG.cells["4"].layouts
    assert list(drawn.cells) == CELLS and sum(own.share for own in drawn.cells.values()) == pytest.approx(1)
    assert drawn.cells["numbers2"].times_ratio not in (0.5, drawn.cells["numbers3"].times_ratio)


def test_it_says_what_it_is() -> None:
    brief = MIXED.brief(CONFIG.described(), ("maze",))
    said = ("path finding", "Countdown", "numbers3 (Countdown with 3 numbers)", "times_percent", "hole_percent", "maze")
    assert all(words in brief for words in said)
    assert MIXED.scope(CONFIG) == f"{LAKE.scope(CONFIG.parts['lake'].config)}; Countdown with 2, 3 and 4 numbers"
    assert list(MIXED.knobs) == ["share", "hole_ratio", "wait_ratio", "times_ratio"]
    assert [name for name, outcome in MIXED.outcomes.items() if outcome.valid] == ["optimal", "suboptimal", "valid"]
    assert {*LAKE.outcomes, *COUNTDOWN.outcomes} == set(MIXED.outcomes) and MIXED.outcomes["parse_error"].label == "not readable"
    assert MIXED.undrawable(turned(CONFIG, "4", hole_ratio=0.95), "4") and MIXED.undrawable(CONFIG, "numbers2") is None
