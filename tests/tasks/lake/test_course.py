"""The course says nothing of its boards that is not proven, and its exercises mark by the rules and the solver."""

import math
import re
from collections.abc import Sequence
from html import unescape
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from statistics import fmean

import pytest

from frozenlab.app.learn import boards, exercises, pictures, planners, records, sheet
from frozenlab.app.learn.address import MOST_BOARDS, Lesson, boards_in
from frozenlab.app.learn.chapters import BY_NAME, CHAPTERS, TRACKS, Track, shared_out
from frozenlab.app.learn.exercises import Choice, Mark, OnBoard, Ordering, Prediction, Steering, Stepping, shortest_alone
from frozenlab.app.learn.records import LessonError
from frozenlab.app.views.lake.search import WORTH_WATCHING
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import fault_sentence, plain_track
from frozenlab.base.numbers import paired_change
from frozenlab.lake.board import Agent, Board, BoardError, Cell
from frozenlab.lake.execution import by_the_clock, in_order
from frozenlab.lake.planners import ECBS, PLANNERS
from frozenlab.lake.rules import Path as CellPath
from frozenlab.lake.rules import Paths, judge, judge_paths, walk
from frozenlab.lake.solvers.cbs import search
from frozenlab.lake.solvers.priorities import plan_in_order, step_by_urgency
from frozenlab.lake.solvers.solver import solve
from frozenlab.session.store import SessionStore

OPPOSITE = {"U": "D", "D": "U", "L": "R", "R": "L"}


def shortest_paths(board: Board, agent: int, others: Sequence[CellPath]) -> list[CellPath]:
    """Every path of the fewest steps around the paths of others, which stay where they end. Written without the lab's planner."""
    goal = board.agents[agent].goal
    last = max((len(path) - 1 for path in others), default=0)

    def at(path: CellPath, step: int) -> Cell:
        return path[min(step, len(path) - 1)]

    def is_free(here: Cell, there: Cell, step: int) -> bool:
        return not any(at(path, step) == there or (at(path, step), at(path, step - 1)) == (here, there) for path in others)

    def stays(step: int) -> bool:
        return all(at(path, later) != goal for path in others for later in range(step, max(step, last) + 1))

    layers: list[dict[Cell, list[Cell]]] = [{board.agents[agent].start: []}]
    while not (goal in layers[-1] and stays(len(layers) - 1)):
        if len(layers) > last + board.height * board.width:
            return []
        after: dict[Cell, list[Cell]] = {}
        for here in layers[-1]:
            for there in reached(here):
                if board.contains(there) and not board.is_hole(there) and is_free(here, there, len(layers)):
                    after.setdefault(there, []).append(here)
        layers.append(after)
    paths: list[CellPath] = [(goal,)]
    for layer in reversed(layers[1:]):
        paths = [(before, *path) for path in paths for before in layer[path[0]]]
    return paths


def ends_of(board: Board, order: Sequence[int], planned: tuple[CellPath, ...] = ()) -> set[bool]:
    """Whether every agent finds a path in this order of priorities: all that can be, over all equally short paths of all agents."""
    if len(planned) == len(order):
        return {True}
    paths = shortest_paths(board, order[len(planned)], planned)
    return set().union(*(ends_of(board, order, (*planned, path)) for path in paths)) if paths else {False}


@pytest.mark.parametrize(
    ("board", "working"), [(boards.NO_ORDER, set()), (boards.BLOCKED, set()), (boards.SOME_ORDERS, {(1, 2, 0), (2, 1, 0)})]
)
def test_as_many_orders_work_as_the_chapter_says_whichever_shortest_paths_are_taken(board: Board, working: set[tuple[int, ...]]) -> None:
    assert solve(board).status == "solved"
    for order in permutations(range(board.num_agents)):
        assert ends_of(board, order) == {order in working}
        assert (len(plan_in_order(board, order)) == board.num_agents) is (order in working), "and the lab's planner agrees"


@pytest.mark.parametrize(
    ("board", "fault"),
    [
        (boards.CROSSING, "vertex_conflict"),
        (boards.SAME_CELL, "vertex_conflict"),
        (boards.FACE_TO_FACE, "edge_conflict"),
        (boards.NARROW, "edge_conflict"),
    ],
)
def test_shortest_paths_collide_as_the_chapter_says_whichever_are_taken(board: Board, fault: str) -> None:
    teams = product(*(shortest_paths(board, i, ()) for i in range(board.num_agents)))
    assert {judge_paths(board, team).fault for team in teams} == {fault}


def is_possible(board: Board, makespan: int, sum_of_costs: int) -> bool:
    """Whether some plan needs no more of either, over all plans: an agent may settle on its goal for good, and costs one in each step
    before."""
    away = [board.distances_to_goal(i) for i in range(board.num_agents)]
    teams = {(tuple(agent.start for agent in board.agents), (False,) * board.num_agents): 0}
    for left in range(makespan, -1, -1):
        after: dict[tuple[tuple[Cell, ...], tuple[bool, ...]], int] = {}
        for (cells, before), cost in teams.items():
            at_goal = [cell == agent.goal for cell, agent in zip(cells, board.agents, strict=True)]
            for settled in product(*([done] if done or not there else [False, True] for done, there in zip(before, at_goal, strict=True))):
                if all(settled):
                    return True
                ways = [
                    [cell] if done else [to for to in reached(cell) if away[i].get(to, left) < left]
                    for i, (cell, done) in enumerate(zip(cells, settled, strict=True))
                ]
                spent = cost + settled.count(False)
                for now in product(*ways):
                    rest = sum(away[i][cell] for i, cell in enumerate(now) if not settled[i])
                    swaps = any(now[i] == cells[j] and now[j] == cells[i] for i, j in combinations(range(len(now)), 2))
                    if spent + rest <= sum_of_costs and len(set(now)) == len(now) and not swaps:
                        after[now, settled] = min(spent, after.get((now, settled), spent))
        teams = after
    return False


def reached(cell: Cell) -> list[Cell]:
    """In one step, holes and what is off the board included."""
    return [cell, *((cell[0] + r, cell[1] + c) for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0)))]


def tree(board: Board) -> int:
    """Nodes of the search for the smallest sum of costs, which ends."""
    steps = list(search(board))
    assert steps[-1].action == "solved" and steps[-1].node.cost == solve(board, sum_of_costs=True).sum_of_costs
    return len({step.node.id for step in steps})


@pytest.mark.parametrize("board", [boards.TWO_AIMS, boards.OTHER_AIMS])
def test_the_crowd_must_wait_and_the_aims_differ(board: Board) -> None:
    assert solve(boards.CROWD).needs_wait
    solution = solve(board, sum_of_costs=True)
    assert solution.plan and solution.cheapest_plan
    quick, cheap = (judge(board, plan) for plan in (solution.plan, solution.cheapest_plan))
    assert quick.makespan < cheap.makespan and cheap.sum_of_costs < quick.sum_of_costs  # type: ignore[operator]
    # No plan has both.
    assert solution.makespan and cheap.makespan and cheap.sum_of_costs
    assert not is_possible(board, solution.makespan, cheap.sum_of_costs) and is_possible(board, cheap.makespan, cheap.sum_of_costs)
    assert not is_possible(board, cheap.makespan, cheap.sum_of_costs - 1)
    assert quick.makespan == solution.makespan and cheap.sum_of_costs == solution.sum_of_costs


@pytest.mark.parametrize(("board", "steps"), [(boards.AROUND_HOLES, 12), (boards.LONG_WAY, 14)])
def test_the_way_around_the_holes_is_long(board: Board, steps: int) -> None:
    [agent] = board.agents
    straight = abs(agent.start[0] - agent.goal[0]) + abs(agent.start[1] - agent.goal[1])
    assert board.distances_to_goal(0)[agent.start] == solve(board).makespan == steps >= 2 * straight


def test_the_numbers_of_the_flood_are_the_steps_left_and_tell_where_a_trail_does_not_go_down() -> None:
    board, exercise = boards.LONG_WAY, Steering("", boards.LONG_WAY)
    [agent], [best] = board.agents, exercise.best()
    for cell, left in {(r, c): left for r, row in enumerate(exercise.flood()) for c, left in enumerate(row)}.items():
        paths = [] if board.is_hole(cell) else shortest_paths(Board(board.rows, (Agent(cell, agent.goal),)), 0, ())
        assert left == (len(paths[0]) - 1 if paths else None)
    told = [exercise.mark((letters,)).reason for letters in (best, f"{best}W", f"W{best}", f"{best[0]}{OPPOSITE[best[0]]}{best}")]
    assert [re.findall(r"trail: (.*)$", one) for one in told] == [
        ["every step went one number down, from 14 to 0."], ["every step went one number down, from 14 to 0."],
        ["step 1 stayed on 14."], ["step 2 went from 13 up to 14."],
    ]  # fmt: skip


def steps_by_priority(board: Board) -> set[tuple[Cell, ...]]:
    """Where PIBT lets the agents stand one step on: all that can be, over all ties of the distances. Written without the lab's planner."""
    away, start = [board.distances_to_goal(i) for i in range(board.num_agents)], [agent.start for agent in board.agents]
    found = set()
    for ranks in product(*(permutations([cell for cell in reached(start[i]) if cell in away[i]]) for i in range(len(start)))):
        if any(away[i][a] > away[i][b] for i, own in enumerate(ranks) for a, b in pairwise(own)):
            continue
        after: dict[int, Cell] = {}

        def place(i: int, pusher: int | None, ranks: Sequence[Sequence[Cell]] = ranks, after: dict[int, Cell] = after) -> bool:
            for cell in ranks[i]:
                if cell not in after.values() and (pusher is None or cell != start[pusher]):
                    after[i] = cell
                    pushed = next((j for j, place in enumerate(start) if place == cell and j != i and j not in after), None)
                    if pushed is None or place(pushed, i):
                        return True
            after[i] = start[i]
            return False

        for i in sorted(range(len(start)), key=lambda i: -away[i][start[i]]):
            if i not in after:
                place(i, None)
        found.add(tuple(after[i] for i in range(len(start))))
    return found


def test_one_step_is_right_and_it_is_that_of_pibt_whichever_ties_it_breaks() -> None:
    exercise = planners.pibt_step()
    assert isinstance(exercise, Stepping)
    board = exercise.board
    [cells] = steps_by_priority(board)
    right = [plan for plan in product("UDLRW", repeat=board.num_agents) if exercise.mark(plan).right]
    assert right == [("D", "D", "R", "R")] and tuple(path[1] for path in walk(board, right[0])) == cells
    ways = [board.distances_to_goal(i)[agent.start] for i, agent in enumerate(board.agents)]
    assert ways == sorted(set(ways), reverse=True), "no two are as urgent, and the task names them in this order"
    for seed in range(50):
        plan = PLANNERS["pibt"].plan(board, 60.0, seed).plan
        assert plan and tuple(letters[0] for letters in plan) == right[0]
    assert "a sum of costs of 37, where 24 is possible" in exercise.mark(right[0]).reason
    for wrong in set(product("UDLRW", repeat=board.num_agents)) - set(right):
        assert re.match(r"Agent \d (goes|waits)|Step 1: agents \d and \d .* PIBT avoids that: (when )?agent", exercise.mark(wrong).reason)
    said = [exercise.mark(plan).reason for plan in (("R", "D", "R", "R"), ("D", "R", "R", "R"), ("D", "D", "R", "U"))]
    assert [("nearer its goal" in one, "has taken that cell" in one, "inherits the priority" in one) for one in said] == [
        (True, False, False), (False, True, False), (False, False, True)
    ]  # fmt: skip


def test_one_factor_is_quick_and_close_enough() -> None:
    exercise = planners.factor_for()
    marks = {factor: exercise.mark(factor) for factor in exercise.factors}
    ends = {factor: planners.planned(exercise.board, ECBS(factor), 60.0)[-1] for factor in exercise.factors}
    fits = [factor for factor, end in ends.items() if end.nodes <= 50 and end.cost <= 1.1 * end.lower_bound]
    assert [factor for factor, mark in marks.items() if mark.right] == fits == [1.1]
    assert sorted((end.nodes for end in ends.values()), reverse=True) == [end.nodes for end in ends.values()], "as the first hint says"
    assert "nodes, more than 50" in marks[1.05].reason and "not at most 10 %" in marks[1.2].reason
    assert "38 nodes" in marks[1.1].reason and "In truth it is 2.6 % above, as w = 1 proves 234." in marks[1.1].reason


def least_anew(board: Board, paths: Paths, two: Sequence[int]) -> int:
    """The least steps of two agents together that move at once around the paths of all others. Written without the lab's planners."""
    others = [path for i, path in enumerate(paths) if i not in two]
    last = max(map(len, others))
    goals, away = [board.agents[i].goal for i in two], [board.distances_to_goal(i) for i in two]
    most = sum(len(paths[i]) - 1 for i in two)
    level = {(tuple(board.agents[i].start for i in two), (False, False)): 0}
    ended = []
    for time in range(1, last + 20):
        after: dict[tuple, int] = {}
        for (cells, done), cost in level.items():
            for now in product(*(reached(cell) if not end else [cell] for cell, end in zip(cells, done, strict=True))):
                there = [(path[min(time - 1, len(path) - 1)], path[min(time, len(path) - 1)]) for path in others]
                steps = [*zip(cells, now, strict=True), *there]
                meet = len({to for _, to in steps}) < len(steps) or any((to, at) in steps for at, to in steps if at != to)
                costs = cost + done.count(False)
                if meet or costs + sum(far.get(cell, most + 1) for far, cell in zip(away, now, strict=True)) > most:
                    continue
                for rests in product(*([True] if end else {False, cell == goal} for end, cell, goal in zip(done, now, goals, strict=True))):
                    after[now, rests] = min(costs, after.get((now, rests), costs))
        level = after
        ended += [cost for (_, done), cost in level.items() if all(done) and time >= last]
    return min(ended)


def test_two_agents_save_most_whichever_others_are_tried() -> None:
    exercise = planners.two_anew()
    board, paths = exercise.board, exercise.anew(())
    assert judge_paths(board, paths).valid
    saved = {}
    for two in combinations(range(board.num_agents), 2):
        saved[two] = exercise.saves(two)
        assert judge_paths(board, exercise.anew(two)).valid
        assert saved[two] <= sum(len(paths[i]) - 1 for i in two) - least_anew(board, paths, two)
    first, second = sorted(saved, key=lambda two: -saved[two])[:2]
    assert exercise.best() == first == (1, 4) and (saved[first], saved[second]) == (11, 5)
    best = {two: sum(len(paths[i]) - 1 for i in two) - least_anew(board, paths, two) for two in saved}
    assert best[first] == saved[first] and all(best[two] < best[first] for two in saved if two != first), "also if both move at once"
    assert [two for two in saved if exercise.mark(two).right] == [first] and "save 5 of 38" in exercise.mark(second).reason


def test_what_the_chapters_about_planners_say_is_what_the_planners_find() -> None:
    board = boards.RESERVED
    first, second = planners.paths_in_time()
    arrives, alone = len(first) - 1, board.distances_to_goal(0)[board.agents[0].start]
    around = {len(path) - 1 for path in shortest_paths(board, 0, [second])}
    assert around == {arrives} == {alone + 1} and judge_paths(board, (first, second)).fault is None
    assert {judge_paths(board, (path, second)).fault for path in shortest_paths(board, 0, [])} == {"vertex_conflict"}
    found = {factor: planners.planned(boards.TEAM_OF_24, ECBS(factor), 5.0)[-1] for factor in planners.FACTORS}
    costs = [one.cost for one in found.values()]
    assert costs == sorted(costs) and found[1.0].proven and found[1.0].cost == 234, "the larger the factor, the dearer the plan"
    assert all(one.cost <= factor * 234 and one.lower_bound <= 234 for factor, one in found.items())
    pibt = planners.planned(boards.TEAM_OF_40, PLANNERS["pibt"], 2.0)[-1]
    assert pibt.cost and pibt.cost > 1.5 * pibt.lower_bound and not pibt.proven
    solves = {name: planners.planned(boards.BLOCKED, PLANNERS[name], 0.5)[-1].plan is not None for name in ("pibt", "prioritized", "lacam")}
    assert solves == {"pibt": False, "prioritized": False, "lacam": True}


def test_late_agents_meet_by_the_clock_only() -> None:
    paths = walk(boards.CROSSING, exercises.best_plan(boards.CROSSING))
    assert judge_paths(boards.CROSSING, by_the_clock(paths, 0, 0, 1)).fault == "vertex_conflict"
    for late in range(5):
        assert judge_paths(boards.CROSSING, in_order(paths, 0, 0, late)).fault is None


def test_two_agents_come_late_behind_the_one_that_starts_late_and_no_other_answer_is_right() -> None:
    exercise = planners.who_waits()
    board, paths, agent = exercise.board, exercise.paths(), exercise.agent
    held = in_order(paths, agent, 0)
    assert judge_paths(board, by_the_clock(paths, agent, 0)).fault == "vertex_conflict" and judge_paths(board, held).fault is None
    arrive = [[max(step for step, cell in enumerate(path) if cell != path[step - 1]) for path in one] for one in (paths, held)]
    assert [i for i, (planned, came) in enumerate(zip(*arrive, strict=True)) if came > planned] == [0, 3, 4]
    assert {*paths[2]} & {*paths[agent]} and not {*paths[4]} & {*paths[agent]}, "agent 2 crosses its way, and agent 4 does not"
    others = [i for i in range(board.num_agents) if i != agent]
    answers = [list(some) for n in range(1, len(others) + 1) for some in combinations(others, n)]
    assert [some for some in answers if exercise.mark(some).right] == [[0, 4]]
    assert "agent 3 has left (2, 2)" in exercise.mark([4]).reason and "Agents 1 and 2 are on time" in exercise.mark([0, 1, 2]).reason


def test_one_step_leads_out_where_pibt_swings() -> None:
    exercise = planners.another_step()
    board = exercise.board
    assert planners.planned(board, PLANNERS["pibt"], 0.5)[-1].plan is None and planners.planned(board, PLANNERS["lacam"], 0.5)[-1].plan
    marks = {plan: exercise.mark(plan) for plan in product("UDLRW", repeat=board.num_agents)}
    assert [plan for plan, mark in marks.items() if mark.right] == [exercise.way_out]
    assert "a sum of costs of 24, where 22 is possible" in marks[exercise.way_out].reason
    assert judge(board, exercise.goes_on(exercise.way_out)).fault is None
    assert {mark.fault for mark in marks.values()} >= {"two agents on one cell", "PIBT finds no plan"}


def test_estimates_of_more_robots_are_marked_by_what_was_measured() -> None:
    rates, exercise = planners.throughputs(), planners.more_robots()
    means = {k: fmean(own) for k, own in rates.items()}
    assert means[2] < means[5] < means[10] < means[20] and abs(means[40] - means[20]) < 0.2 * means[20], "as the chapter says"
    assert f"5 robots reach {means[5]:.2f} goals" in exercise.task
    asked = [means[k] for k in planners.ASKED]
    assert exercise.mark(asked).right and exercise.mark([0.8 * mean for mean in asked]).right
    wrong = exercise.mark([asked[0], 0.7 * asked[1], 2 * asked[2]])
    assert not wrong.right and wrong.reason == "20 robots reach more goals and 40 robots reach fewer goals than you say."
    assert exercise.mark([9.0] * 3).reason == "10 robots, 20 robots and 40 robots reach fewer goals than you say."
    assert all(mean < float(exercise.hints()[2].split()[3]) for mean in means.values())


def test_ways_to_stand_are_counted_and_an_estimate_may_be_a_factor_of_ten_off() -> None:
    exercise, ways = planners.larger_teams(), {k: math.perm(64, k) for k in planners.TEAMS_ASKED}
    assert len(list(permutations(range(64), 3))) == ways[3] == 249_984 and "two in 64 · 63 = 4,032" in exercise.task
    assert f"{ways[10]:.1e}" == "5.5e+17" and ways[10] // (10**9 * 3600 * 24 * 365) == 17
    assert exercise.answer() == (
        "3 agents can stand in 249,984 ways, 6 agents in 5.4 × 10¹⁰ and 10 agents in 5.5 × 10¹⁷. "
        "To look at those of 10 agents would take 17 years, at a billion in a second."
    )
    for said in product(range(21), repeat=3):
        assert exercise.mark(said).right is all(n / 10 <= 10**x <= 10 * n for n, x in zip(ways.values(), said, strict=True))
    assert exercise.mark([4, 10, 20]).reason == "3 agents can stand in more ways and 10 agents can stand in fewer ways than you say."
    chart = planners.states_chart({k: planners.standing(k) for k in range(1, 13)}, {3: 10.0**5})
    said, true = chart.figure.data
    assert [(one.name, one.x[0], one.y[0]) for one in (said, true)] == [("your estimate", 3, 10**5), ("ways to stand", 1, 64)]
    assert (said.offset, said.width, true.offset[2], true.width[2]) == (-0.4, 0.4, 0, 0.4), "side by side"
    assert "from 64 down to 55" in exercise.hints()[2] and 1.7 < math.log10(ways[10]) / 10 < 1.8, "a bit less than two powers each"


def test_a_step_with_a_conflict_is_told_who_meets_where_and_then_what_pibt_does() -> None:
    exercise = planners.pibt_step()
    moves = step_by_urgency(exercise.board)
    told = set()
    for plan in product("UDLRW", repeat=exercise.board.num_agents):
        verdict, mark = judge(exercise.board, plan), exercise.mark(plan)
        if verdict.fault in ("vertex_conflict", "edge_conflict"):
            assert mark.reason.startswith(f"{fault_sentence(verdict)} PIBT avoids that: ")
            first, taker, i = re.search(r"(agent (\d) chooses before agent (\d)|$)", mark.reason).groups()
            assert not first or moves[int(taker)][0] == verdict.cell == walk(exercise.board, plan)[int(i)][-1]
            told.add(mark.fault)
    assert told == {"enters a cell that is taken", "overlooks an inherited priority", "not the nearest cell left"}


def test_hints_lead_from_the_distances_to_the_first_step() -> None:
    for chapter in CHAPTERS:
        exercise = chapter.exercise()
        if isinstance(exercise, Steering):
            hints, best = exercise.hints(), exercise.best()
            assert 2 <= len(hints) <= 3 and exercise.mark(best).right
            [agent] = re.findall(r"agent (\d)", hints[-1])
            assert f"agent {agent} {exercises.WORDS[best[int(agent)][0]]}" in hints[-1]
            assert ("Alone on the board" if exercise.board.num_agents > 1 else "one less") in hints[0]
        elif isinstance(exercise, Choice):
            assert len(exercise.hints()) == 2 and not any(option in hint for option in exercise.options for hint in exercise.hints())


@pytest.mark.parametrize(("board", "nodes"), [(boards.MEETINGS, 7), (boards.MORE_MEETINGS, 11), (boards.MANY_MEETINGS, 17)])
def test_the_trees_are_worth_watching(board: Board, nodes: int) -> None:
    assert tree(board) == nodes and nodes in WORTH_WATCHING


def test_the_plans_that_the_pictures_show_are_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, list[str]] = {}
    monkeypatch.setattr(exercises, "board_player", lambda board, tracks, *, key, **_: shown.update({key: [t.badge for t in tracks]}))
    for chapter in CHAPTERS[1:5]:
        chapter.picture()
    assert shown == {
        "learn-meeting": ["two agents on one cell", "fewest steps"],
        "learn-swapping": ["two agents swap cells", "fewest steps"],
        "learn-waiting": ["valid, more steps than needed", "fewest steps"],
        "learn-aims": ["optimal makespan", "optimal sum of costs"],
    }


def test_every_exercise_can_be_solved_and_failed() -> None:
    for chapter in CHAPTERS:
        exercise = chapter.exercise()
        if isinstance(exercise, Steering):
            solution = solve(exercise.board, sum_of_costs=True)
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
        elif isinstance(exercise, Prediction):
            right, wrong = exercise.mark(0), Mark(False, "There is no wrong prediction.")
            assert "<b>" not in right.reason and len({exercise.mark(n).reason for n in range(3)}) == 3
        else:
            continue
        assert right.right and not wrong.right and wrong.reason


def test_what_came_of_the_prediction_is_what_the_session_measured_on_its_test_boards() -> None:
    question, own = pictures.what_will_change(), pictures.session()
    before, after = own.test(0), own.test(1)
    assert before is not None and after is not None and len(before) == 600
    gains = {name: paired_change(*(table[table["config_cell"] == name] for table in (before, after))) for name in "345678"}
    said = "; ".join(f"{name}×{name} {gain.signed} ({gain.bounds})" for name, gain in gains.items())
    assert question.chart.alt.endswith(f"on 100 test boards of each size, in points: {said}.")
    drawn = [(x, y) for trace in question.chart.figure.data for x, y in zip(trace.x, trace.y, strict=True)]
    assert sorted(drawn)[4] == ("7×7<br>36.8 %", 100 * gains["7"].value) and {gain.n for gain in gains.values()} == {100}
    assert not gains["7"].clear and all(
        words.startswith("The extra boards on 7×7 made no difference that shows") for words in question.came
    )
    kept = SessionStore().open(pictures.TWIN).results(1)
    twin = paired_change(*(table[table["config_cell"] == "7"] for table in (before, kept)))
    assert all(f"came out at {twin.points} on 7×7" in words for words in question.came)
    seven, five = gains["7"], gains["5"]
    assert "7×7 came out at 0 points (−3 to +3) on the test boards, and 5×5 at +4 points (0 to +8) with 2.6 %" in question.came[0]
    assert seven.low < five.high and five.low < seven.high, "the sentence about chance holds"
    assert min(gains[name].value for name in "456") == 0 and "came out below 0, though" in question.came[1]
    assert min(gains[name].low for name in "456") < 0


def test_agents_that_have_not_planned_are_drawn_faint_and_not_in_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[dict] = []
    said: list[str] = []
    monkeypatch.setattr(exercises, "board_player", lambda board, tracks, **_: drawn.append(plain_track(board, tracks[0])))
    monkeypatch.setattr(exercises.st, "caption", said.append)
    for order in ((0, 2), (2, 1, 0)):
        exercises.priorities(boards.SOME_ORDERS, order, key="board")
    assert [(one["absent"], one["badge"]) for one in drawn] == [((1, 2), None), ((), "valid")]
    assert said == ["Planned: agent 0. Agent 2 finds no path around that.", "Planned: agents 2, 1 and 0."]


def test_a_plan_that_is_not_the_best_is_told_what_is_possible() -> None:
    mark = Steering("", boards.CROSSING).mark(("RR", "WWDD"))
    assert not mark.right and "after 4 steps" in mark.reason and "proves that 3 is possible" in mark.reason


def test_the_results_of_a_class_count_tries(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    for learner, right in (("Ada", False), ("Ada", True), ("Ada", False), ("  Bo  b ", False)):
        records.hand_in("mapf", learner, "one", right, store, "meet on a cell")
    found = records.standings("mapf", store)
    assert str(found["Ada"]["one"]) == "✓ 2 tries" and str(found["Bo b"]["one"]) == "1 try, not yet: meet on a cell"
    with records.file_of("mapf", store).open("a") as file:
        file.write('{"learner": 3}\n{"half')
    assert len(records.standings("mapf", store)) == 2, "what is damaged is left out"
    assert not records.standings("other", store)


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
    assert boards_in(f"{code}\n\n http://lab.example/play?presenter=true&board={code} ") == (boards.CROSSING, boards.CROSSING)
    with pytest.raises(BoardError, match="'nonsense!' holds no board"):
        boards_in("nonsense!")
    with pytest.raises(BoardError, match="too many"):
        boards_in("\n".join([code] * (MOST_BOARDS + 1)))


def test_the_sheet_has_every_chapter_and_its_board() -> None:
    text = sheet.page(Lesson("mapf", (boards.CROWD, boards.CROSSING)))
    assert all(chapter.title in text for chapter in CHAPTERS) and "<script" not in text and "*" not in text.split("</style>")[1]
    on_boards = sum(isinstance(chapter.exercise(), OnBoard) for chapter in CHAPTERS)
    assert text.count("<svg") == on_boards + 2 + 2, "those of the reserved cells and of the recorded answer, and the teacher's"
    assert "Class: mapf" in text and "Your teacher&#x27;s board 2" in text and "Class" not in sheet.page(Lesson())


def test_the_answers_are_right_by_the_marks_of_their_exercises() -> None:
    text = unescape(sheet.answers(Lesson("mapf", (boards.CROWD,))))
    for chapter in CHAPTERS:
        exercise = chapter.exercise()
        assert chapter.ask in text and chapter.hear in text
        if isinstance(exercise, Steering):
            assert exercise.mark(exercise.best()).right and all(letters in text for letters in exercise.best())
        if isinstance(exercise, Choice):
            assert exercise.mark(exercise.right).right and exercise.reasons[exercise.right].replace("*", "") in text
    assert "in the order 1-2-0 or 2-1-0" in text


def test_what_the_teacher_hears_is_true() -> None:
    solution = solve(boards.SAME_CELL)
    assert solution.makespan == 4 == len(shortest_alone(boards.SAME_CELL, 0)), "the team takes no longer because one waits"
    square = Board(("FF", "FF"), tuple(Agent(at, to) for at, to in pairwise([(0, 0), (0, 1), (1, 1), (1, 0), (0, 0)])))
    assert judge(square, ("R", "D", "L", "U")).fault is None, "four agents may go round"
    assert math.factorial(5) == 120 and math.factorial(10) == 3_628_800


@pytest.mark.parametrize("track", TRACKS.values())
def test_a_plan_takes_its_minutes(track: Track) -> None:
    chapters = [BY_NAME[name] for name in track.chapters]
    assert sum(shared_out(track.minutes, chapters)) == track.minutes
    assert len({chapter.ask for chapter in CHAPTERS}) == len(CHAPTERS)


def test_all_that_an_answer_needs_is_on_paper() -> None:
    text = unescape(sheet.page(Lesson()))
    first, _ = pictures.before_and_after()
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
