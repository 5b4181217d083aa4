"""The course says nothing of its boards that is not proven, and its exercises mark by the rules and the solver."""

import re
from html import unescape
from itertools import permutations
from pathlib import Path

import pytest

from frozenlab.app.learn import boards, pictures, records, sheet
from frozenlab.app.learn.address import MOST_BOARDS, Lesson, codes_in
from frozenlab.app.learn.chapters import CHAPTERS
from frozenlab.app.learn.exercises import Choice, OnBoard, Ordering, Steering
from frozenlab.app.learn.records import LessonError
from frozenlab.app.views.lake.search import WORTH_WATCHING
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.board import Board, BoardError
from frozenlab.lake.rules import judge
from frozenlab.lake.solvers.cbs import search
from frozenlab.lake.solvers.priorities import plan_in_order
from frozenlab.lake.solvers.solver import solve
from frozenlab.session.store import SessionStore


def orders_that_work(board: Board) -> list[tuple[int, ...]]:
    return [order for order in permutations(range(board.num_agents)) if len(plan_in_order(board, order)) == board.num_agents]


def tree(board: Board) -> int:
    """Nodes of the search for the smallest sum of costs, which ends."""
    steps = list(search(board))
    assert steps[-1].action == "solved" and steps[-1].node.cost == solve(board, sum_of_costs=True).sum_of_costs
    return len({step.node.id for step in steps})


def test_no_order_of_priorities_works_although_there_is_a_plan() -> None:
    assert orders_that_work(boards.NO_ORDER) == [] and solve(boards.NO_ORDER).status == "solved"
    for first in range(2):  # whichever shortest path the first agent takes: there is only one
        path = plan_in_order(boards.NO_ORDER, (first,))[first]
        assert len(path) - 1 == abs(path[0][1] - path[-1][1]), "it goes straight along the corridor"


def test_two_of_six_orders_work() -> None:
    assert len(orders_that_work(boards.SOME_ORDERS)) == 2


def test_the_crowd_must_wait_and_the_aims_differ() -> None:
    assert solve(boards.CROWD).needs_wait
    solution = solve(boards.TWO_AIMS, sum_of_costs=True)
    assert solution.plan and solution.cheapest_plan
    quick, cheap = (judge(boards.TWO_AIMS, plan) for plan in (solution.plan, solution.cheapest_plan))
    assert quick.makespan < cheap.makespan and cheap.sum_of_costs < quick.sum_of_costs  # type: ignore[operator]
    # No plan has both: the smallest sum of costs within the best makespan is larger than the smallest of all.
    assert quick.makespan == solution.makespan and cheap.sum_of_costs == solution.sum_of_costs


def test_the_way_around_the_holes_is_long() -> None:
    board = boards.AROUND_HOLES
    [agent] = board.agents
    straight = abs(agent.start[0] - agent.goal[0]) + abs(agent.start[1] - agent.goal[1])
    assert board.distances_to_goal(0)[agent.start] == solve(board).makespan == 12 >= 2 * straight


@pytest.mark.parametrize(("board", "nodes"), [(boards.MEETINGS, 7), (boards.MORE_MEETINGS, 11), (boards.MANY_MEETINGS, 17)])
def test_the_trees_are_worth_watching(board: Board, nodes: int) -> None:
    assert tree(board) == nodes and nodes in WORTH_WATCHING


def test_the_plans_that_the_pictures_show_are_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, list[str]] = {}
    monkeypatch.setattr(
        pictures, "board_player", lambda board, tracks, *, key, **_: shown.update({key: [t.verdict.outcome for t in tracks]})
    )
    for chapter in CHAPTERS[1:5]:
        chapter.picture()
    assert shown == {
        "learn-meeting": ["vertex_conflict", "optimal"],
        "learn-swapping": ["edge_conflict", "optimal"],
        "learn-waiting": ["suboptimal", "optimal"],
        "learn-aims": ["optimal", "suboptimal"],
    }


def test_every_exercise_can_be_solved_and_failed() -> None:
    for chapter in CHAPTERS:
        exercise = chapter.exercise()
        if isinstance(exercise, Steering):
            solution = solve(exercise.board, sum_of_costs=True)
            assert solution.plan is not None and solution.cheapest_plan is not None
            best = solution.plan if exercise.objective == "makespan" else solution.cheapest_plan
            right, wrong = exercise.mark(best), exercise.mark(("",) * exercise.board.num_agents)
            assert (
                "proves that nothing less is possible" in right.reason and "not on the goal" in wrong.reason and "The rule:" in wrong.reason
            )
        elif isinstance(exercise, Ordering):
            marks = [exercise.mark(order) for order in permutations(range(exercise.board.num_agents))]
            right, wrong = next(mark for mark in marks if mark.right), next(mark for mark in marks if not mark.right)
            assert "finds no path around" in wrong.reason
        elif isinstance(exercise, Choice):
            right, wrong = exercise.mark(exercise.right), exercise.mark((exercise.right + 1) % len(exercise.options))
            assert len(exercise.options) == len(exercise.reasons)
        else:
            continue
        assert right.right and not wrong.right and wrong.reason


def test_a_plan_that_is_not_the_best_is_told_what_is_possible() -> None:
    mark = Steering("", boards.CROSSING).mark(("RR", "WWDD"))
    assert not mark.right and "after 4 steps" in mark.reason and "proves that 3 is possible" in mark.reason


def test_the_results_of_a_class_count_tries(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    for learner, chapter, right in (("Ada", "one", False), ("Ada", "one", True), ("Ada", "one", True), ("  Bo  b ", "one", False)):
        records.hand_in("mapf", learner, chapter, right, store)
    table = records.results("mapf", store)
    assert table.loc["Ada", "one"] == "✓ 2 tries" and table.loc["Bo b", "one"] == "1 try, not yet"
    with records.file_of("mapf", store).open("a") as file:
        file.write('{"learner": 3}\n{"half')
    assert len(records.results("mapf", store)) == 2, "what is damaged is left out"
    assert records.results("other", store).empty


@pytest.mark.parametrize(("name", "learner"), [("../up", "Ada"), ("", "Ada"), ("a" * 41, "Ada"), ("mapf", ""), ("mapf", "x" * 41)])
def test_names_that_cannot_be_used_are_refused(tmp_path: Path, name: str, learner: str) -> None:
    with pytest.raises(LessonError):
        records.hand_in(name, learner, "one", True, SessionStore(tmp_path))
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_full_file_of_a_class_takes_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LARGEST", 10)
    records.hand_in("mapf", "Ada", "one", True, SessionStore(tmp_path))
    with pytest.raises(LessonError, match="full"):
        records.hand_in("mapf", "Ada", "one", True, SessionStore(tmp_path))


def test_a_teachers_boards_are_codes_or_links() -> None:
    code = encode(boards.CROSSING)
    assert codes_in(f"{code}\n\n http://lab.example/play?presenter=true&board={code} ") == [code, code]
    with pytest.raises(BoardError, match="'nonsense!' holds no board"):
        codes_in("nonsense!")
    with pytest.raises(BoardError, match="too many"):
        codes_in("\n".join([code] * (MOST_BOARDS + 1)))


def test_the_sheet_has_every_chapter_and_its_board() -> None:
    text = sheet.page(Lesson("mapf", (boards.CROWD, boards.CROSSING)))
    assert all(chapter.title in text for chapter in CHAPTERS) and "<script" not in text and "*" not in text.split("</style>")[1]
    on_boards = sum(isinstance(chapter.exercise(), OnBoard) for chapter in CHAPTERS)
    assert text.count("<svg") == on_boards + 1 + 2, "that of the recorded answer, and the teacher's"
    assert "Class: mapf" in text and "Your teacher&#x27;s board 2" in text and "Class" not in sheet.page(Lesson())


def test_all_that_an_answer_needs_is_on_paper() -> None:
    text = unescape(sheet.page(Lesson()))
    first, _ = pictures.before_and_after()
    assert first.completion is not None
    cells = re.findall(r"<td>(r\dc\d)</td>", text)
    assert cells == first.completion.split()
    assert len(pictures.decision().failures) == 6 and all(line.text in text for line in pictures.decision().failures)
    assert (
        "Press" not in text and "First conflict: Step 2: agents 0 and 1 are both on (2, 2)." in text and text.count("is expanded next") == 2
    )


def test_the_first_choice_of_the_search_on_paper_has_one_answer() -> None:
    root, *others = [step.node for step in search(boards.MEETINGS) if step.action == "generated"]
    costs = [node.cost for node in others if node.parent is root]
    assert len(costs) == 2 and costs[0] != costs[1]
    assert root.verdict is not None and root.verdict.fault == "vertex_conflict", "the blanks forbid a cell"
