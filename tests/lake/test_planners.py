"""Planners for any number of agents: their plans are valid, and what they promise and say of the costs is true."""

import heapq
import random
import time
from collections.abc import Sequence
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from numba import njit

from frozenlab.base.errors import LabError
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.kernels import ecbs, paths
from frozenlab.lake.planners import PLANNERS, Found, Planner
from frozenlab.lake.planners.ecbs import ECBS
from frozenlab.lake.planners.planner import SLICE, Clock, Looks, crowd_of
from frozenlab.lake.rules import Path, judge, walk
from frozenlab.lake.solvers import cbs
from frozenlab.lake.solvers.priorities import keep_off
from frozenlab.lake.solvers.solver import solve, stacked
from tests.lake.boards import boards, connected_board, numbered_board
from tests.lake.brute_force import Truth, brute_force

BY_NAME = pytest.mark.parametrize("planner", PLANNERS.values(), ids=lambda planner: planner.name)
ENDING = {"lacam", "lacam-star", "exact"}
"""Planners that end on their own on small boards."""


@pytest.fixture(autouse=True)
def processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets are of this process, so that a busy machine changes nothing."""
    monkeypatch.setattr(Clock, "now", staticmethod(time.process_time))


def crowd(seed: int, agents: int, side: int = 12) -> Board:
    return connected_board(random.Random(seed), side, side, agents, side * side // 10)


SMALL = boards(most_side=4, most_agents=3, furnished=True, shared=True)


def assert_true(board: Board, found: Found) -> None:
    """The plan is what the planner says of it."""
    if found.plan is not None:
        verdict = judge(board, found.plan)
        assert (verdict.fault, verdict.sum_of_costs, verdict.makespan) == (None, found.cost, found.makespan)
        assert found.lower_bound <= verdict.sum_of_costs


def promises_held(planner: Planner, board: Board, budget: float, truth: Truth) -> Found:
    """What the planner finds, if it keeps its promise at all times; ``truth`` is that of the board."""
    seen: list[Found] = []
    found = planner.plan(board, budget, seed=1, report=seen.append)
    for one in (*seen, found):
        assert_true(board, one)
    if truth.sum_of_costs is not None:
        assert found.lower_bound <= truth.sum_of_costs <= (found.cost or truth.sum_of_costs)
    assert not found.unsolvable or truth.status == "unsolvable"
    if planner.promise in ("complete", "optimal") and found.seconds < budget:
        assert found.unsolvable is (truth.status == "unsolvable") and (found.plan is None) is found.unsolvable
    if planner.promise == "optimal" and found.seconds < budget:
        assert found.proven
    if isinstance(planner, ECBS) and found.cost is not None:
        assert found.cost <= planner.factor * found.lower_bound
    return found


@BY_NAME
@given(board=SMALL)
def test_plans_are_valid_and_promises_hold(planner: Planner, board: Board) -> None:
    promises_held(planner, board, 5.0 if planner.name in ENDING else 0.1, brute_force(board))


@given(board=SMALL)
def test_in_some_order_each_agent_takes_its_shortest_path_around_those_before_it(board: Board) -> None:
    plans: list[Found] = []
    PLANNERS["prioritized"].plan(board, 0.05, report=lambda found: plans.append(found) if found.plan else None)
    for found in plans[:1]:
        taken = [path[: 1 + max((t for t, cell in enumerate(path, 1) if cell != path[-1]), default=0)] for path in walk(board, found.plan)]
        assert any(are_shortest(board, order, taken) for order in permutations(range(board.num_agents)))


def are_shortest(board: Board, order: Sequence[int], taken: Sequence[Path]) -> bool:
    """Whether no agent could be on its goal for good any sooner, around the paths of those before it."""
    settled = max(map(len, taken)) + board.height * board.width
    for place, agent in enumerate(order):
        constraints = [constraint for other in order[:place] for constraint in keep_off(agent, taken[other], settled)]
        path = cbs.shortest_path(board, agent, board.distances_to_goal(agent), constraints)
        if path is None or len(path) != len(taken[agent]):
            return False
    return True


def test_a_search_without_room_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MOST_NODES", 24)
    for number in range(80):
        board = numbered_board(number)
        truth = brute_force(board)
        for name in ("ecbs", "exact"):
            assert_true(board, found := PLANNERS[name].plan(board, 0.05))
            assert truth.sum_of_costs is None or (found.lower_bound <= truth.sum_of_costs and not found.unsolvable)


def test_nobody_is_pulled_into_a_door_of_another_agent() -> None:
    board = Board(("FF", "0F", "FF", "F0"), (Agent((3, 0), (0, 1)), Agent((1, 1), (0, 0))))
    assert_true(board, PLANNERS["lacam"].plan(board, 5.0, seed=1))


def least_loss(board: Board) -> int:
    """The least sum over all time steps of the agents that are not at rest on their goals (Dijkstra over joint states)."""
    goals = tuple(agent.goal for agent in board.agents)
    queue, done = [(0, tuple(agent.start for agent in board.agents))], set()
    while queue:
        cost, here = heapq.heappop(queue)
        if here == goals:
            return cost
        if here in done:
            continue
        done.add(here)
        ways = [
            [cell, *(other for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0)) if board.has_exit(cell, other := (cell[0] + r, cell[1] + c)))]
            for cell in here
        ]
        for there in product(*ways):
            swaps = any(there[i] == here[j] and there[j] == here[i] for i, j in combinations(range(len(here)), 2))
            if len(set(there)) == len(there) and not swaps and not any(map(board.is_locked, there, range(len(there)))):
                loss = sum(a != goal or b != goal for a, b, goal in zip(here, there, goals, strict=True))
                heapq.heappush(queue, (cost + loss, there))
    raise AssertionError("no plan")


@given(board=SMALL)
def test_lacam_star_ends_with_the_least_loss(board: Board) -> None:
    found = PLANNERS["lacam-star"].plan(board, 60.0)
    if not found.unsolvable:
        assert found.lower_bound == least_loss(board)


@BY_NAME
def test_one_seed_makes_the_same_plans(planner: Planner) -> None:
    board = crowd(3, 20)

    def plans(seed: int) -> list[object]:
        seen: list[Found] = []
        planner.plan(board, 0.2, seed, seen.append)
        return [(found.plan, found.lower_bound) for found in seen]

    one, again = plans(1), plans(1)
    both = min(len(one), len(again))
    assert both > 0 and one[:both] == again[:both]


@BY_NAME
def test_a_planner_stops_at_a_look_at_a_clock_that_is_up_and_where_its_report_raises(planner: Planner) -> None:
    board = crowd(4, 100, side=20)
    reached = crowd_of(board, stacked([board]), Clock(30.0))
    assert reached is not None
    for looks in (0, 1, 5, 40):
        clock = Looks(0)
        clock.left = looks
        for _ in planner.search(board, reached, clock, seed=1):
            pass
        assert clock.left >= -2, "the exact one looks twice: its two searches do"
        assert looks > 1 or clock.left < 0, "so soon none has ended by itself"
    with pytest.raises(KeyboardInterrupt):
        planner.plan(board, 30.0, report=lambda found: (_ for _ in ()).throw(KeyboardInterrupt))


def test_between_two_looks_at_the_clock_a_kernel_runs_for_about_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(Clock, "now", staticmethod(lambda: now[0]))
    clock = Clock(30.0)
    for step in (1e-6, 1e-4, 1e-5):  # seconds; the search slows down, and gets faster
        for _ in range(20):
            took = step * clock.effort()
            now[0] += took
        assert SLICE / 2 <= took <= SLICE


def test_sums_of_costs_beyond_packed_states_are_decided() -> None:
    """10 agents on 32x32 with a fifth blocked, against the readable search."""
    for seed in range(4):
        board = connected_board(random.Random(seed), 32, 32, 10, 205)
        *_, last = cbs.search(board, max_nodes=300)
        found = solve(board, sum_of_costs=True)
        assert judge(board, found.cheapest_plan).sum_of_costs == found.sum_of_costs
        assert last.action != "solved" or last.node.cost == found.sum_of_costs


def test_400_agents_on_32x32() -> None:
    board = connected_board(random.Random(5), 32, 32, 400, 102)
    for name in ("pibt", "lacam"):
        assert_true(board, found := PLANNERS[name].plan(board, 30.0))
        assert found.plan is not None


def test_impossible_settings_and_endless_ways_are_refused() -> None:
    with pytest.raises(LabError, match=r"the factor is 0.5; ECBS takes one from 1"):
        ECBS(0.5)
    with pytest.raises(LabError, match="the budget is 0 s"):
        PLANNERS["pibt"].plan(crowd(1, 2), 0)
    side = 248  # a way to and fro through all rows
    rows = tuple("F" * side if r % 2 == 0 else ("H" * (side - 1) + "F" if r % 4 == 1 else "F" + "H" * (side - 1)) for r in range(side - 1))
    long = Board.known_good(rows, (Agent((0, 0), (side - 2, 0)),))
    with pytest.raises(LabError, match="agent 0 is more than 29,999 steps away"):
        PLANNERS["pibt"].plan(long)


@njit
def cheapest_first(costs, tree):  # type: ignore[no-untyped-def]
    """The nodes of some costs, as a heap gives them out."""
    order = np.empty_like(costs)
    for node in range(len(costs)):
        ecbs.push(ecbs.OPEN, costs[node], np.int64(70_000), np.int64(node), tree)
        tree.expanded[node] = 0
    for place in range(len(costs)):
        order[place] = ecbs.top(ecbs.OPEN, tree)
        ecbs.pop(ecbs.OPEN, tree)
    return order


def test_the_heaps_of_ecbs_hold_costs_of_millions() -> None:
    tree = ecbs.new_tree(1, 4, np.array([0]), 8, 8)
    assert cheapest_first(np.array([3_000_000, 5, 30_000_000, 2_000_000]), tree).tolist() == [1, 3, 0, 2]
