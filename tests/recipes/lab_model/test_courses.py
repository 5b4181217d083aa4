"""The courses of the warm start: what their lessons show, and which boards and tasks they leave out."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.hashes import canonical_hash, canonical_hashes
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.rules import judge_paths
from frozenlab.lake.suites import held_out
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.tasks.countdown.answer import Answer
from frozenlab.tasks.countdown.dialects import read_steps
from frozenlab.tasks.countdown.drawing import CountdownConfig, CountdownTask
from frozenlab.tasks.countdown.drawing import held_out as countdown_held_out
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.lake.dialects import parse_plan, render_board
from frozenlab.tasks.vocabulary import END, NUMBERS, WORDS
from recipes.lab_model import courses
from recipes.lab_model.auxiliary import IGNORED
from recipes.lab_model.courses import COURSES, SMALLER_TEAMS, TEAMS, Lesson, SolvedBoards, boards, countdown, drawn, proposals
from recipes.lab_model.guises import guise
from recipes.lab_model.proposals import demonstrations

LAYOUTS = {"scatter": TEAMS, "corridor": SMALLER_TEAMS, "oneway": SMALLER_TEAMS, "doors": SMALLER_TEAMS}
FURNITURE = {"oneway": ARROWS, "doors": DOORS[: max(SMALLER_TEAMS)]}


def texts(lesson: Lesson) -> tuple[str, str]:
    """Prompt and completion in words, without the end word."""
    prompt, completion = ([WORDS[i] for i in ids] for ids in (lesson.example.prompt, lesson.example.completion))
    assert completion[-1] == END
    return " ".join(prompt), " ".join(completion[:-1])


def test_every_kind_of_lesson_has_a_course() -> None:
    assert set(COURSES) == {*LAYOUTS, "countdown", "proposals"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_boards_of_a_layout_weigh_teams_and_have_plans_of_equal_length(layout: str) -> None:
    course, teams = COURSES[layout](200, 5), LAYOUTS[layout]
    assert isinstance(course, SolvedBoards)
    assert Counter(board.num_agents for board, _ in course.solved) == {team: 200 * share for team, share in teams.items()}
    assert {board.size for board, _ in course.solved} == set(range(3, 11))
    assert {letter for board, _ in course.solved for row in board.rows for letter in row} == {"F", "H", *FURNITURE.get(layout, "")}
    for board, paths in course.solved:
        assert judge_paths(board, paths).valid and len({len(path) for path in paths}) == 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_lesson_shows_a_board_in_a_guise_with_a_plan_that_is_as_good_on_it(layout: str) -> None:
    course = COURSES[layout](20, 5)
    assert isinstance(course, SolvedBoards)
    makespans = {canonical_hash(board): judge_paths(board, paths).makespan for board, paths in course.solved}
    for seed in range(40):
        lesson, again = course.lesson(np.random.default_rng(seed)), np.random.default_rng(seed)
        shown, _ = guise(*course.solved[again.integers(len(course.solved))], again)
        prompt, completion = texts(lesson)
        assert prompt == render_board(shown)
        paths = parse_plan(shown, completion, finished=True).paths
        assert paths is not None
        verdict = judge_paths(shown, paths)
        assert verdict.valid and verdict.makespan == makespans[canonical_hash(shown)]
        assert len(lesson.insight.distance) == len(lesson.example.completion) and lesson.insight.distance[0] >= 0


def test_a_few_lessons_are_at_least_one_board_of_each_team() -> None:
    assert sorted(board.num_agents for board, _ in boards("scatter", TEAMS, 1, 0).solved) == sorted(TEAMS)


def test_boards_that_are_held_out_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> NDArray[np.uint64]:
        return canonical_hashes([board for board, _ in boards("doors", {2: 1.0}, 100, 5).solved])

    usual = drawn()
    assert not np.isin(usual, held_out()).any()
    monkeypatch.setattr(courses, "held_out", lambda: usual)
    assert not np.isin(drawn(), usual).any()


def test_a_lesson_in_countdown_has_a_shortest_solution_of_the_task_in_its_prompt() -> None:
    course = countdown(30, 5)
    drawn = {task.key for task in course.tasks}
    assert not drawn & countdown_held_out()
    rng, orders = np.random.default_rng(0), set()
    for _ in range(300):
        lesson = course.lesson(rng)
        prompt, completion = texts(lesson)
        first, *numbers, target, wanted, last = prompt.split()
        assert (first, target, last) == ("<countdown>", "target", "moves")
        task = CountdownTask.certified("shown", "", tuple(map(NUMBERS.index, numbers)), NUMBERS.index(wanted))
        assert task.key in drawn
        chain, whole = read_steps(completion)
        judged = COUNTDOWN.judge(task, Answer(chain))
        assert whole and judged.optimal and len(chain) == task.optimal_steps
        assert (lesson.insight.distance == IGNORED).all()
        orders.add((prompt, completion))
    assert len(orders) > 3 * len(drawn), "numbers in other orders, and other solutions"


def test_proposals_are_the_demonstrations_as_they_stand() -> None:
    course, demonstrated = proposals(10, 5), set(demonstrations(10, 5))
    rng = np.random.default_rng(0)
    lessons = [course.lesson(rng) for _ in range(100)]
    assert {texts(lesson) for lesson in lessons} == demonstrated
    assert all((lesson.insight.ways == IGNORED).all() for lesson in lessons)


def test_own_rates_are_those_of_the_models_sampled_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    easy = EnvironmentConfig.uniform((3,), hole_ratio=0.0, wait_ratio=0.0)
    monkeypatch.setattr("recipes.lab_model.own_rates.kinds", lambda: [easy, CountdownConfig()])
    untrained = LabPolicy(build_network(hidden=32, layers=2, intermediate=64), build_tokenizer())
    course = drawn("own-rates", 12, 5, untrained)
    asked = [texts(course.lesson(np.random.default_rng(seed))) for seed in range(30)]
    assert {prompt.split()[1] for prompt, _ in asked} == {"<plan>", "<countdown>"}
    assert {completion for _, completion in asked} == {"0%"}, "it can do nothing yet"
