"""The lake's rules and searches in the browser are those of :mod:`frozenlab.lake`: the same verdicts, the same trees, node for node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise, permutations

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake.tracks import SENTENCES, fault_sentence
from frozenlab.base import seeds
from frozenlab.lake.board import MOVES, Board, Plan
from frozenlab.lake.draw.generator import random_instances
from frozenlab.lake.rules import Verdict, judge_paths, walk
from frozenlab.lake.solvers.cbs import Objective, search
from frozenlab.lake.solvers.priorities import plan_in_order
from frozenlab.lake.solvers.solver import solve
from tests.browser.conftest import running

MAX_NODES = 300
HERE = """
globalThis.verdictOf = (board, plan, sentences) => {
  const lake = new Lake(board);
  const verdict = lake.judge(lake.walk(plan));
  return { ...verdict, words: verdict.fault ? faultSentence(verdict, sentences) : null };
};
globalThis.searchOf = (board, objective, most) => {
  const tree = new ConstraintTree(new Lake(board), objective);
  return [...tree.search(most)].map(({ action, node, open }) => [
    action, node.id, open, node.parent?.id ?? null, node.cost, node.paths?.map((path) => lettersOf(path).join("")) ?? null,
    node.constraint && [node.constraint.agent, node.constraint.step, node.constraint.cell, node.constraint.origin],
  ]);
};
globalThis.inOrder = (board, order) =>
  [...planInOrder(new Lake(board), order).planned].map(([agent, path]) => [agent, lettersOf(path).join("")]);
"""


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    with running(browser, drawing.CODE, drawing.ENGINE, HERE) as page:
        yield page


def boards(layout: str, count: int, sizes: tuple[int, ...] = (3, 4, 5, 6), teams: tuple[int, ...] = (2, 3, 4)) -> list[Board]:
    return [
        instance.board
        for size in sizes
        for instance in random_instances((size,), teams, (0.1, 0.25), count // len(sizes), seed=size, layout=layout)
    ]


def drawn_plan(board: Board, rng: np.random.Generator) -> Plan:
    """Mostly legal moves, so that faults of every kind come up at some step."""
    solution = solve(board).plan
    assert solution is not None
    plan = [list(letters) for letters in solution]
    for letters in plan:
        for _ in range(int(rng.integers(0, 3))):
            letters.insert(int(rng.integers(0, len(letters) + 1)), str(rng.choice(list(MOVES))))
    return tuple("".join(letters) for letters in plan)


def plain(verdict: Verdict) -> dict[str, object]:
    cell = None if verdict.cell is None else list(verdict.cell)
    return {
        "fault": verdict.fault, "step": verdict.step, "agents": list(verdict.agents), "cell": cell, "outcome": verdict.outcome,
        "makespan": verdict.makespan, "sumOfCosts": verdict.sum_of_costs, "words": None if verdict.valid else fault_sentence(verdict),
    }  # fmt: skip


@pytest.mark.parametrize("layout", ["scatter", "corridor", "oneway", "doors"])
def test_the_browser_judges_as_python_does(blank: Page, layout: str) -> None:
    rng = seeds.rng(7, "test/engine")
    seen = set()
    for board in boards(layout, 60):
        plan = drawn_plan(board, rng)
        found = blank.evaluate("([...given]) => verdictOf(...given)", [drawing.plain_board(board), plan, SENTENCES])
        wanted = plain(judge_paths(board, walk(board, plan)))
        assert found == wanted, (board, plan)
        seen.add(wanted["outcome"])
    assert len(seen) > 4, "the plans show faults of many kinds"


@pytest.mark.parametrize("layout", ["scatter", "corridor", "oneway", "doors"])
@pytest.mark.parametrize("objective", ["sum_of_costs", "makespan"])
def test_the_tree_in_the_browser_is_that_of_python_node_for_node(blank: Page, layout: str, objective: Objective) -> None:
    solved = 0
    for board in boards(layout, 28):  # 8 x 28 boards
        steps = [
            [
                step.action, step.node.id, step.open, step.node.parent and step.node.parent.id, step.node.cost,
                step.node.paths and [moves(path) for path in step.node.paths],
                (rule := step.node.constraint) and [rule.agent, rule.step, rule.cell, rule.origin],
            ]
            for step in search(board, objective, MAX_NODES)
        ]  # fmt: skip
        found = blank.evaluate("([...given]) => searchOf(...given)", [drawing.plain_board(board), objective, MAX_NODES])
        assert found == json.loads(json.dumps(steps)), board
        if found[-1][0] == "solved":
            solution = solve(board, sum_of_costs=True)
            assert found[-1][4] == (solution.sum_of_costs if objective == "sum_of_costs" else solution.makespan)
            solved += 1
    assert solved >= 20, "most of these boards are solved"


def test_prioritized_planning_in_the_browser_is_that_of_python(blank: Page) -> None:
    failed = 0
    for board in boards("corridor", 16, teams=(2, 3)):
        for order in permutations(range(board.num_agents)):
            planned = plan_in_order(board, order)
            found = blank.evaluate("([...given]) => inOrder(...given)", [drawing.plain_board(board), order])
            assert found == [[agent, moves(path)] for agent, path in planned.items()], (board, order)
            failed += len(planned) < board.num_agents
    assert failed, "some order fails"


def moves(path: tuple[tuple[int, int], ...]) -> str:
    steps = {step: letter for letter, step in MOVES.items()}
    return "".join(steps[there[0] - here[0], there[1] - here[1]] for here, there in pairwise(path))
