"""The lake's rules and searches in the browser are those of :mod:`frozenlab.lake`: the same verdicts, the same trees, node for node. Their
words, and a search that a reader does by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise, permutations

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from frozenlab.app.ui.components import text_of
from frozenlab.app.views.lake import drawing, player
from frozenlab.app.views.lake import search as view
from frozenlab.app.views.lake.pictures import LANE, _trails, columns_of
from frozenlab.app.views.lake.search import COSTS, MAX_NODES, Solved, solved_of, worth_watching
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import SENTENCES, fault_sentence
from frozenlab.base import seeds
from frozenlab.lake.board import MOVES, Board, Plan, read_board
from frozenlab.lake.draw.generator import random_instances
from frozenlab.lake.picture import GOAL_DISC
from frozenlab.lake.rules import Verdict, judge_paths, walk
from frozenlab.lake.solvers.cbs import Objective, search
from frozenlab.lake.solvers.priorities import plan_in_order
from frozenlab.lake.solvers.solver import Solution, solve
from tests.browser.conftest import AT_REST, App

HEAD_ON = read_board("S g F G s\nH H F H H")
NO_WAY_PAST = read_board("S g F F s F F G")
EASY = read_board("S F G\nF F F\ng F s")
NAMES = {"measure": COSTS["sum_of_costs"], "sentences": SENTENCES}
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
globalThis.textsOf = (board, most, names, solver) => {
  const tree = new ConstraintTree(new Lake(board), "sum_of_costs");
  const steps = [...tree.search(most)];
  return { actions: steps.map(({ action }) => action), texts: steps.map((step) => explained(step, tree, names)),
    ending: ending(steps[steps.length - 1], tree, names, solver), nodes: tree.nodes.length };
};
globalThis.trailsAt = (paths, time) => paths.map((_, i) => pointsBetween(trailIn(paths, i, time), 0, time));
globalThis.shared = { LANE, GOAL_DISC, columns: [1, 2, 3, 4, 5, 6, 7].map(columnsOf) };
globalThis.forbids = forbids;
"""


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """An empty page with the code of the engine and the words of a search."""
    page = browser.new_page()
    page.evaluate(f"() => {{ {drawing.CODE} {drawing.ENGINE} {player.SAVING} {text_of(view.__file__, 'words.js')} {HERE} }}")
    yield page
    page.close()


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


def test_trails_in_the_browser_are_those_of_pictures(blank: Page) -> None:
    apart = 0
    for board in boards("corridor", 6):
        paths = walk(board, drawn_plan(board, seeds.rng(3, "test/trails")))
        for time in range(1, max(map(len, paths))):
            found = blank.evaluate("([...given]) => trailsAt(...given)", [paths, time])
            for trail, wanted in zip(found, _trails(paths, time), strict=True):
                assert np.allclose(trail[:-1], wanted[:-1]), (board, paths, time)  # the last is where the agent stands
                apart += any(at % 1 not in (0, 0.2, 0.8) for place in trail for at in place)
    assert apart, "some agents share an edge"
    assert blank.evaluate("() => shared") == {"LANE": LANE, "GOAL_DISC": GOAL_DISC, "columns": [*map(columns_of, range(1, 8))]}


def texts(blank: Page, board: Board, solution: Solution | None = None) -> dict:
    found = solution or solve(board, sum_of_costs=True)
    solver = {"status": found.status, "best": found.sum_of_costs}
    return blank.evaluate("([...given]) => textsOf(...given)", [drawing.plain_board(board), MAX_NODES, NAMES, solver])


def test_every_step_is_described_in_words(blank: Page) -> None:
    found = texts(blank, HEAD_ON)["texts"]
    assert "its own shortest path" in found[0] and "Step 2: agents 0 and 1 are both on (0, 2)." in found[0]
    assert found[1].startswith("Node 0 is the cheapest that is open.")
    assert found[2].startswith("Child of node 0: agent 0 must not be on (0, 2) at step 2.")
    assert "optimal, with a sum of costs of 9" in found[-1]
    assert all(text.count("..") == 0 for text in found)


def test_constraints_in_words(blank: Page) -> None:
    rule = {"agent": 1, "step": 3, "cell": [0, 2], "origin": None}
    assert blank.evaluate("(rule) => forbids(rule)", rule) == "agent 1 must not be on (0, 2) at step 3"
    rule["origin"] = [0, 1]
    assert blank.evaluate("(rule) => forbids(rule)", rule) == "agent 1 must not go from (0, 1) to (0, 2) in step 3"


@pytest.mark.parametrize(
    ("board", "solution", "words"),
    [
        (HEAD_ON, None, ""),
        (EASY, None, "no two agents collide"),
        (NO_WAY_PAST, None, "proven that this board has no solution"),
        (NO_WAY_PAST, Solution("solved", 20, 30), "knows the smallest: 30"),
        (NO_WAY_PAST, Solution("undecided"), "no plan has a smaller sum of costs than"),
        (read_board("S H G"), None, ""),
    ],
)
def test_the_end_is_honest(blank: Page, board: Board, solution: Solution | None, words: str) -> None:
    text = texts(blank, board, solution)["ending"]
    assert words in text and bool(words) == bool(text)


def test_a_search_that_gives_up_stays_small(blank: Page) -> None:
    endless = texts(blank, NO_WAY_PAST)
    assert endless["nodes"] <= MAX_NODES and "gives up" in endless["texts"][-1]
    pruned = [text for action, text in zip(endless["actions"], endless["texts"], strict=True) if action == "pruned"]
    assert pruned and all("this branch ends here" in text for text in pruned)


def test_a_search_is_worth_watching_if_it_branches_and_ends() -> None:
    assert worth_watching(HEAD_ON, "sum_of_costs")
    assert not worth_watching(EASY, "sum_of_costs") and not worth_watching(NO_WAY_PAST, "sum_of_costs")


@pytest.mark.parametrize("sent", [None, 3, {"base": "b", "cost": 3}, {"base": "b", "cost": "3", "wrong": 0, "nodes": 1}, {"base": "a"}])
def test_only_a_whole_result_of_this_search_is_taken(sent: object) -> None:
    assert solved_of(sent, "b") is None
    assert solved_of({"base": "b", "cost": 9, "wrong": 0, "nodes": 7}, "b") == Solved(9, 0, 7)


def test_a_reader_searches_by_hand_without_the_server(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/play?board={encode(HEAD_ON)}")
    page.get_by_text("Step through Conflict-Based Search").click()
    search = page.locator(".search")
    expect(search.get_by_text("its own shortest path")).to_be_visible()
    page.locator(AT_REST).wait_for()
    search.get_by_role("button", name="You choose").click()
    expect(search.locator(".words")).to_contain_text("Which open node comes next?")
    expect(search.locator(".tree g")).to_have_count(1)
    wrong = 0
    while "is optimal" not in search.locator(".words").inner_text():
        marks = search.locator(".tree g.open")
        costs = [int(re.findall(r"sum of costs (\d+)", mark.get_attribute("aria-label") or "")[0]) for mark in marks.all()]
        if max(costs) > min(costs) and not wrong:
            marks.nth(costs.index(max(costs))).click()
            expect(search.locator(".words")).to_contain_text("A cheaper plan may still lie below it.")
            wrong = 1
        before = search.locator(".clock").first.inner_text()
        marks.nth(costs.index(min(costs))).press("Enter")
        expect(search.locator(".clock").first).not_to_have_text(before)
    assert wrong
    expect(search.locator(".head .badge")).to_have_text("valid")
    search.get_by_role("button", name="You choose").click()
    search.get_by_role("button", name="You choose").click()
    search.get_by_role("button", name="Let it run").click()
    expect(search.locator(".words")).to_contain_text("is optimal")
