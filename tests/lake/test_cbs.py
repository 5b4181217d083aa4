import random

import pytest

from frozenlab.lake.board import Board, read_board
from frozenlab.lake.rules import judge_paths
from frozenlab.lake.solvers.cbs import Constraint, Step, search, shortest_path, split
from frozenlab.lake.solvers.solver import solve
from tests.lake.boards import random_board, reachable_board

HEAD_ON = read_board("S g F G s\nH H F H H")


def last(board: Board, **settings: object) -> Step:
    return list(search(board, **settings))[-1]  # type: ignore[arg-type]


@pytest.mark.parametrize("part", range(2))
def test_agrees_with_the_kernels(part: int) -> None:
    rng = random.Random(part)
    solved = 0
    for _ in range(100):
        size, agents = rng.randint(3, 8), rng.randint(1, 4)
        board = reachable_board(rng, size, size, agents, min(round(rng.uniform(0, 0.4) * size * size), size * size - 2 * agents))
        solution = solve(board, sum_of_costs=True)
        by_costs, by_makespan = last(board, max_nodes=300), last(board, objective="makespan", max_nodes=300)
        for step, optimum in ((by_costs, solution.sum_of_costs), (by_makespan, solution.makespan)):
            if step.action == "solved":
                assert step.node.cost == optimum, board.to_text()
                solved += 1
            else:
                assert step.action == "gave_up" and (optimum is None or step.node.cost <= optimum), board.to_text()
    assert solved > 150


def test_every_step_follows_from_the_one_before() -> None:
    rng = random.Random(7)
    for _ in range(30):
        board = random_board(rng, 6, 6, 4, 8)
        waiting = {}
        for step in search(board, max_nodes=200):
            node = step.node
            if step.action in ("expanded", "solved", "gave_up"):
                assert node.id == min(waiting, key=lambda i: (waiting[i], -i))
                del waiting[node.id]
            if step.action == "generated":
                waiting[node.id] = node.cost
                assert node.paths is not None and node.verdict == judge_paths(board, node.paths)
                assert node.verdict.fault in (None, "vertex_conflict", "edge_conflict")
                assert all(obeys(node.paths[rule.agent], rule) for rule in node.constraints())
                if node.parent is not None:
                    assert node.cost >= node.parent.cost and node.constraint in split(node.parent)
            assert step.open == len(waiting)


def obeys(path: tuple, rule: Constraint) -> bool:
    def at(step: int) -> object:
        return path[min(step, len(path) - 1)]

    return at(rule.step) != rule.cell or (rule.origin is not None and at(rule.step - 1) != rule.origin)


def test_the_search_is_the_same_every_time() -> None:
    board = random_board(random.Random(1), 6, 6, 4, 8)
    assert list(search(board)) == list(search(board))


def test_a_head_on_meeting_is_split_at_the_edge_where_they_meet() -> None:
    root, expanded, first, second, *_ = search(HEAD_ON)
    assert (root.action, root.node.cost, expanded.action, expanded.node) == ("generated", 6, "expanded", root.node)
    assert [step.node.constraint for step in (first, second)] == [Constraint(0, 2, (0, 2)), Constraint(1, 2, (0, 2))]
    solved = last(HEAD_ON)
    assert (solved.action, solved.node.cost) == ("solved", solve(HEAD_ON, sum_of_costs=True).sum_of_costs)


def test_agents_that_swap_are_forbidden_their_moves_not_their_cells() -> None:
    first, second = split(next(iter(search(read_board("g S s G\nF F F F")))).node)
    assert (first, second) == (Constraint(0, 1, (0, 2), origin=(0, 1)), Constraint(1, 1, (0, 1), origin=(0, 2)))


def test_an_agent_cannot_stop_on_a_goal_that_it_has_to_leave_again() -> None:
    board = read_board("S G F")
    path = shortest_path(board, 0, board.distances_to_goal(0), [Constraint(0, 4, (0, 1))])
    assert path is not None and len(path) - 1 == 5 and path[4] != (0, 1) and path[5] == (0, 1)


def test_where_there_is_no_plan_it_says_so_or_gives_up() -> None:
    alone = list(search(read_board("S H G")))
    assert [step.action for step in alone] == ["no_plan"] and alone[0].node.paths is None
    assert last(read_board("S g F F s F F G"), max_nodes=50).action == "gave_up"


def test_a_branch_without_a_path_is_pruned() -> None:
    pruned = [step for step in search(read_board("S g F F s F F G"), max_nodes=300) if step.action == "pruned"]
    assert pruned and all(step.node.paths is None and step.node.verdict is None for step in pruned)
