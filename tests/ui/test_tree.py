"""The words and the tree that the Play page shows of a search."""

import pytest

from frozenlab.lake.board import Board, read_board
from frozenlab.lake.solvers.cbs import Constraint
from frozenlab.lake.solvers.solver import Solution, solve
from frozenlab.tasks.lake.view.search import MAX_NODES, Search, ending, explained, forbids

HEAD_ON = read_board("S g F G s\nH H F H H")
NO_WAY_PAST = read_board("S g F F s F F G")
EASY = read_board("S F G\nF F F\ng F s")


@pytest.fixture(scope="module")
def found() -> Search:
    return Search.of(HEAD_ON, "sum_of_costs")


def test_the_whole_tree_has_room(found: Search) -> None:
    assert [node.id for node in found.nodes] == list(range(len(found.nodes)))
    leaves = [place for node, place in zip(found.nodes, found.places, strict=True) if not any(n.parent == node for n in found.nodes)]
    assert sorted(x for x, _ in leaves) == list(range(len(leaves)))
    for node, (x, depth) in zip(found.nodes, found.places, strict=True):
        children = [found.places[child.id] for child in found.nodes if child.parent == node]
        assert not children or (x == sum(x for x, _ in children) / 2 and {y for _, y in children} == {depth + 1})


def test_every_step_is_described_in_words(found: Search) -> None:
    texts = [explained(found, now) for now in range(len(found.steps))]
    assert "its own shortest path" in texts[0] and "Step 2: agents 0 and 1 are both on (0, 2)." in texts[0]
    assert texts[1].startswith("Node 0 is the cheapest that is open.")
    assert texts[2].startswith("Child of node 0: agent 0 must not be on (0, 2) at step 2.")
    assert "optimal, with a sum of costs of 9" in texts[-1]
    assert all(text.count("..") == 0 for text in texts)


def test_constraints_in_words() -> None:
    assert forbids(Constraint(1, 3, (0, 2))) == "agent 1 must not be on (0, 2) at step 3"
    assert forbids(Constraint(1, 3, (0, 2), (0, 1))) == "agent 1 must not go from (0, 1) to (0, 2) in step 3"


@pytest.mark.parametrize(
    ("board", "solution", "words"),
    [
        (HEAD_ON, None, ""),
        (EASY, None, "nobody meets anybody"),
        (NO_WAY_PAST, None, "proven that this board has no solution"),
        (NO_WAY_PAST, Solution("solved", 20, 30), "knows: it is 30"),
        (NO_WAY_PAST, Solution("undecided"), "no plan has a smaller sum of costs than"),
        (read_board("S H G"), None, ""),
    ],
)
def test_the_end_is_honest(board: Board, solution: Solution | None, words: str) -> None:
    text = ending(Search.of(board, "sum_of_costs"), solution or solve(board, sum_of_costs=True))
    assert words in text and bool(words) == bool(text)


def test_a_search_that_gives_up_stays_small() -> None:
    endless = Search.of(NO_WAY_PAST, "sum_of_costs")
    assert len(endless.nodes) <= MAX_NODES and "gives up" in explained(endless, len(endless.steps) - 1)
    assert any("this branch ends here" in explained(endless, i) for i, step in enumerate(endless.steps) if step.action == "pruned")


def test_a_search_is_worth_watching_if_it_branches_and_ends(found: Search) -> None:
    assert len(found.nodes) >= 3 and found.worth_watching is (7 <= len(found.nodes) <= 25)
    assert not Search.of(EASY, "sum_of_costs").worth_watching and not Search.of(NO_WAY_PAST, "sum_of_costs").worth_watching
