"""Countdown: the enumeration against an independent one, the judge, the draws, the dialects and the teacher."""

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.base.errors import GenerationError, one_line
from frozenlab.models.evaluation import answer_row, frame
from frozenlab.models.policy import Completion
from frozenlab.tasks.countdown.dialects import last_chain, render_chain
from frozenlab.tasks.countdown.drawing import NAMED, CountdownCell, CountdownConfig, CountdownSuite, CountdownTask, held_out, name_of
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.countdown.steps import LARGEST, Step, fewest_steps, shortest_chains
from frozenlab.tasks.task import ROW_COLUMNS, Attempt, Dialect, Judged
from frozenlab.tasks.vocabulary import ID_OF

GIVEN = st.lists(st.integers(1, 20), min_size=2, max_size=4).map(tuple)
TASK = CountdownTask.certified("one", "numbers3", (3, 7, 12), 33)
ALL = CountdownConfig(cells={name_of(count): CountdownCell(share=0.25) for count in (2, 3, 4, 5)})


def judged(text: str, task: CountdownTask = TASK, dialect: Dialect = COUNTDOWN.plain, finished: bool = True) -> Judged:
    return COUNTDOWN.judge(task, dialect.read(task, text, finished))


@cache
def values(numbers: tuple[int, ...], operations: str) -> frozenset[int]:
    """What formulas that use all of the numbers are worth: those of each part and those of the rest, under each operation."""
    if len(numbers) == 1:
        return frozenset(numbers)
    found = set()
    for size in range(1, len(numbers)):
        for part in combinations(range(len(numbers)), size):
            rest = tuple(number for place, number in enumerate(numbers) if place not in part)
            for a in values(tuple(numbers[place] for place in part), operations):
                for b in values(rest, operations):
                    found |= {{"+": a + b, "-": a - b, "*": a * b}[operation] for operation in operations}
    return frozenset(value for value in found if 0 <= value <= LARGEST)


def fewest(numbers: tuple[int, ...], operations: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for size in range(2, len(numbers) + 1):
        for part in combinations(numbers, size):
            for value in values(part, operations):
                found.setdefault(value, size - 1)
    return found


@given(GIVEN, st.sampled_from(["+-*", "+-"]))
def test_the_enumeration_agrees_with_formulas(numbers: tuple[int, ...], operations: str) -> None:
    assert fewest_steps(tuple(sorted(numbers)), operations) == fewest(numbers, operations)


@st.composite
def tasks(draw: st.DrawFn) -> CountdownTask:
    numbers = draw(GIVEN.filter(lambda numbers: set(fewest(numbers, "+-*")) - {0, *numbers}))
    target = draw(st.sampled_from(sorted(set(fewest(numbers, "+-*")) - {0, *numbers})))
    return CountdownTask.certified("one", name_of(len(numbers)), numbers, target)


@given(tasks())
def test_every_certified_solution_is_judged_optimal_in_both_dialects(task: CountdownTask) -> None:
    chains = shortest_chains(task.numbers, task.target)
    assert task.needs_product == (task.target not in fewest(task.numbers, "+-"))
    assert chains and len(set(chains)) == len(chains) and {len(chain) for chain in chains} == {fewest(task.numbers, "+-*")[task.target]}
    for chain in chains:
        lab = COUNTDOWN.lab.read(task, render_chain(chain), finished=True)
        plain = COUNTDOWN.plain.read(task, "\n".join(map(str, chain)), finished=True)
        assert lab == plain and COUNTDOWN.judge(task, lab).outcome == "optimal"
        assert len(render_chain(chain).split()) < COUNTDOWN.lab.limit(task)


WORDS = st.sampled_from(["n3", "n4", "n7", "n12", "n21", "n33", "n40", "+", "-", "*", "=", "target"])
STEPS = st.tuples(st.integers(0, 40), st.sampled_from("+-*"), st.integers(0, 40), st.integers(0, 99)).map(lambda step: Step(*step))


@given(tasks(), st.lists(WORDS, max_size=12), st.integers(0, 9))
def test_the_teacher_mends_anything(task: CountdownTask, words: list[str], seed: int) -> None:
    """Solutions of the same numbers for other targets, followed by words at random."""
    rng = np.random.default_rng(seed)
    others = [chain for other in fewest_steps(task.key[0]) for chain in shortest_chains(task.numbers, other)]
    text = " ".join([render_chain(others[seed % len(others)]), *words])
    [mended] = COUNTDOWN.teacher.mend([Attempt(task, text, rng)])
    assert mended is not None and text.startswith(mended.kept)
    found = judged(f"{mended.kept} {mended.learned}".strip(), task, COUNTDOWN.lab)
    assert found.valid and (mended.kept or found.optimal)


def test_the_teacher_solves_a_task_in_every_way() -> None:
    task = CountdownTask.certified("one", "numbers3", (2, 3, 4), 24)
    mended = COUNTDOWN.teacher.mend([Attempt(task, "", np.random.default_rng(seed)) for seed in range(40)])
    assert {pair.learned for pair in mended if pair} == {render_chain(chain) for chain in shortest_chains((2, 3, 4), 24)}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("3 * 7 = 21\n21 + 12 = 33", "optimal"),
        ("7 × 3 = 21, then 12 + 21 = 33.", "optimal"),
        ("1. 3*7=21\n2. 21+12=33", "optimal"),
        ("- `3 * 7 = 21`\n- **21 + 12 = 33**", "optimal"),
        ("3 + 7 = 10 leads nowhere. 3 * 7 = 21\n21 + 12 = 33", "optimal"),
        ("3 * 7 = 21\n21 + 11 = 32", "not_on_list"),
        ("3 * 7 = 21\n3 + 12 = 15", "used_twice"),
        ("3 * 7 = 22\n22 + 12 = 34", "wrong_step"),
        ("3 - 7 = -4", "wrong_step"),
        ("12 * 7 = 84\n84 * 3 = 252", "wrong_step"),
        ("3 * 7 = 21", "wrong_total"),
        ("3 * 7 + 12 = 33", "parse_error"),
        ("3 * 7 = 21 + 12 = 33", "optimal"),
        ("It cannot be done.", "parse_error"),
        ("<think>7 * 3 = 21\n21 + 12 = 33", "parse_error"),
        ("<think>7 * 3 = 21\n21 + 12 = 33</think>3 + 7 = 10", "wrong_total"),
        ("7 \uff0a 3 \uff1d 21\n21 + 12 = 33<|im_end|>", "optimal"),
        ("", "parse_error"),
    ],
)
def test_answers_in_plain_text(text: str, outcome: str) -> None:
    found = judged(text)
    assert found.outcome == outcome and found.valid == COUNTDOWN.outcomes[outcome].valid
    assert judged(text, finished=False).outcome == "truncated"


@pytest.mark.parametrize(
    ("text", "outcome", "efficiency", "cost"),
    [
        ("n2 - n2 = n0 n5 + n0 = n5 n9 - n5 = n4", "wrong_total", 0, ()),
        ("n2 - n2 = n0 n9 + n0 = n9 n9 - n5 = n4", "wrong_total", 0, ()),
        ("n2 + n5 = n7", "optimal", 1, (1,)),
        ("n9 - n2 = n7", "optimal", 1, (1,)),
        ("n5 - n2 = n3 n9 - n2 = n7", "suboptimal", 0.5, (2,)),
    ],
)
def test_a_long_way_is_valid_and_earns_less(text: str, outcome: str, efficiency: float, cost: tuple[int, ...]) -> None:
    found = judged(text, CountdownTask.certified("one", "numbers4", (2, 2, 5, 9), 7), COUNTDOWN.lab)
    assert (found.outcome, found.efficiency, found.cost) == (outcome, efficiency, cost)


def test_credit_orders_what_fails() -> None:
    ordered = ["words", "3 + 8 = 11", "3 * 7 = 21\n21 + 13 = 34", "3 + 7 = 10", "12 + 7 = 19\n19 + 3 = 22", "3 * 12 = 36"]
    credits = [judged(text).credit for text in ordered]
    assert credits == sorted(set(credits)) and credits[0] == 0 and credits[-1] <= 0.1


@given(st.text(alphabet="0123456789 +-*x=\n.,then()`", max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    found = judged(text)
    assert found.outcome in COUNTDOWN.outcomes and 0 <= found.credit <= 0.1
    assert all(isinstance(step, Step) for step in last_chain(text))


@given(st.lists(STEPS, min_size=1, max_size=4))
def test_the_judge_says_which_step_is_wrong(chain: list[Step]) -> None:
    """What it calls sound has only steps that hold, of numbers that are there."""
    found = judged("\n".join(map(str, chain)))
    if found.detail is not None:
        left = Counter(TASK.numbers)
        for step in chain[: found.detail.sound]:
            assert step.holds
            left.subtract([step.left, step.right])
            left[step.result] += 1
            assert min(left.values()) >= 0


def test_draws_keep_to_the_config_and_repeat() -> None:
    config = CountdownConfig(cells={"numbers2": CountdownCell(share=0.3, times_ratio=0.25), "numbers4": CountdownCell(share=0.7)})
    drawn = COUNTDOWN.draw(config, 100, seed=3)
    assert drawn == COUNTDOWN.draw(config, 100, seed=3) != COUNTDOWN.draw(config, 100, seed=4)
    assert len({task.id for task in drawn}) == 100 and Counter(task.cell for task in drawn) == {"numbers2": 30, "numbers4": 70}
    realised = COUNTDOWN.realised(drawn)
    assert [(name, round(own.times_ratio, 2)) for name, own in realised.items()] == [("numbers2", 0.23), ("numbers4", 0.5)]
    first = Counter(task.cell for task in drawn[:40])
    assert 4 <= first["numbers2"] <= 20, "any part looks like the whole"
    for task in drawn:
        assert len(task.numbers) == int(task.cell[-1]) and task.target not in task.numbers
        assert task.needs_product == (task.target not in fewest(task.numbers, "+-"))


def test_suites_and_draws_share_no_task() -> None:
    suite = COUNTDOWN.suite(CountdownSuite(boards_per_cell=30, seed=1), ALL)
    other = COUNTDOWN.suite(CountdownSuite(boards_per_cell=30, seed=1), ALL, kept_out=suite)
    drawn = COUNTDOWN.draw(ALL, 400, seed=1, kept_out=[*suite, *other])
    assert [len({task.key for task in tasks}) for tasks in (suite, other)] == [120, 120]
    assert Counter((task.cell, task.needs_product) for task in suite) == {
        (name, needs): 15 for name in ALL.cells for needs in (False, True)
    }
    keys = [{task.key for task in tasks} for tasks in (suite, other, drawn)]
    assert not keys[0] & keys[1] and not (keys[0] | keys[1] | held_out()) & keys[2]


def test_the_named_suite_is_held_out() -> None:
    opened = COUNTDOWN.open_suite("countdown", lambda done, total: None)
    assert opened.spec == NAMED and {task.key for task in opened.tasks} == held_out() and len(opened.tasks) == 150


def test_a_cell_that_has_no_tasks_left() -> None:
    pairs = CountdownConfig(cells={"numbers2": CountdownCell(share=1, times_ratio=1)})
    suite = COUNTDOWN.suite(CountdownSuite(boards_per_cell=2000), pairs)
    assert 50 < sum(task.needs_product for task in suite) < 150
    with pytest.raises(GenerationError, match="no tasks of 2 numbers that need a product are left"):
        COUNTDOWN.draw(pairs, 4, seed=0, kept_out=suite)


@pytest.mark.parametrize("name", ["numbers1", "numbers6", "6", "three"])
def test_cells_are_counts_of_numbers(name: str) -> None:
    with pytest.raises(ValueError) as error:
        CountdownConfig.model_validate({"cells": {name: {"share": 1}}})
    assert name in one_line(error.value)  # type: ignore[arg-type]


def test_the_lab_dialect_has_words_for_everything() -> None:
    for task in COUNTDOWN.draw(ALL, 50, seed=0):
        assert set(COUNTDOWN.lab.prompt(task).split()) <= ID_OF.keys()
    assert COUNTDOWN.lab.prompt(TASK) == "<countdown> n3 n7 n12 target n33 moves"
    whole = "n7 * n3 = n21 n21 + n12 = n33"
    assert COUNTDOWN.lab.limit(TASK) == len(whole.split()) + 1
    outcomes = {"n7 * n3 = n21 n21 +": "parse_error", "n7 n3": "parse_error", "": "parse_error", whole: "optimal"}
    assert {text: judged(text, dialect=COUNTDOWN.lab).outcome for text in outcomes} == outcomes
    assert judged(whole, dialect=COUNTDOWN.lab, finished=False).outcome == "truncated"


def test_rows_hold_the_answer_and_a_case_tells_it() -> None:
    texts = ["7 * 3 = 21\n21 + 12 = 33", "7 * 3 = 20", "none"]
    rows = [answer_row(COUNTDOWN, TASK, Completion(t, 9, True), COUNTDOWN.plain.read(TASK, t, finished=True)) for t in texts]
    table = frame(rows, COUNTDOWN)
    assert list(table.columns) == list(COUNTDOWN.columns) and set(ROW_COLUMNS) <= set(table.columns) and COUNTDOWN.unsound(table) is None
    assert table["steps"].tolist()[:2] == ['[[7, "*", 3, 21], [21, "+", 12, 33]]', '[[7, "*", 3, 20]]']
    assert COUNTDOWN.case(table.iloc[1]) == ("task one (3, 7, 12 to 33, optimum 2 steps): wrong step at step 1 in 7 * 3 = 20", 1)
    assert COUNTDOWN.unsound(table.assign(numbers="<b>")) == "the column 'numbers' holds what it cannot hold"


def test_the_statistics_state_config_and_draw() -> None:
    config = CountdownConfig()
    drawn = COUNTDOWN.realised(COUNTDOWN.draw(config, 60, seed=0))
    cell = config.described()[1]
    text, numbers = COUNTDOWN.statistics(cell, config.cells[cell.name], drawn[cell.name])
    assert text.startswith("Countdown with 3 numbers: config share 0.33, products 0.50; drawn 20 tasks, products 0.50, mean optimum 1.")
    assert numbers["drawn_boards"] == 20 and numbers["times_ratio"] == 0.5 and cell.place == {"numbers": 3}
    assert COUNTDOWN.ratios == COUNTDOWN.ratios_of(config.cells["numbers3"]) == ("times_ratio",)


def test_wrong_answers_are_sound_steps_that_miss_the_target() -> None:
    tasks = [*COUNTDOWN.draw(ALL, 60, 4), CountdownTask.certified("sum-only", "numbers2", (60, 50), 10)]
    answers = COUNTDOWN.teacher.wrong_answers([Attempt(task, "", np.random.default_rng(n)) for n, task in enumerate(tasks)])
    assert answers[-1] is None, "50 and 60 make nothing but 10"
    for task, answer in zip(tasks[:-1], answers, strict=False):
        if answer is not None:
            verdict = judged(answer.learned, task, COUNTDOWN.lab)
            assert verdict.fault == "wrong_total"
    assert sum(answer is not None for answer in answers) > 50
