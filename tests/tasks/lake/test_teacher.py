"""The solver as a teacher, where agents are in the middle of one-way ice and doors."""

import numpy as np

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.rules import walk
from frozenlab.lake.words.reading import judge_answer
from frozenlab.tasks.lake.dialects import parse_plan, render_plan
from frozenlab.tasks.lake.teacher import Solver, cut, padded
from frozenlab.tasks.task import Attempt


def test_optimal_plans_that_are_cut_anywhere_are_mended_to_optimal_plans() -> None:
    tasks = generate(EnvironmentConfig.uniform((4, 6, 8), 3, 0.15, 0.4, {"oneway": 0.5, "doors": 0.5}), 60, seed=9)
    texts = [render_plan(padded(walk(task.board, task.solution.plan or ()))) for task in tasks]
    begun = [cut(task.board, text, np.random.default_rng(n)).state for n, (task, text) in enumerate(zip(tasks, texts, strict=True))]
    assert any(state.rows[r][c] in "^v<>012" for state in begun for r, c in (agent.start for agent in state.agents))
    attempts = [Attempt(task, text, np.random.default_rng(n)) for n, (task, text) in enumerate(zip(tasks, texts, strict=True))]
    for task, mended in zip(tasks, Solver().mend(attempts), strict=True):
        answer = parse_plan(task.board, " ".join(part for part in mended if part), finished=True)
        assert judge_answer(task.board, answer, task.solution.makespan).outcome == "optimal"


def wrong_outcomes(config: EnvironmentConfig) -> list[str]:
    """The faults of wrong answers to 40 boards; empty where an answer is valid all the same."""
    tasks = generate(config, 40, seed=10)
    attempts = [Attempt(task, "", np.random.default_rng(n)) for n, task in enumerate(tasks)]
    answers = [answer.learned if answer else "" for answer in Solver().wrong_answers(attempts)]
    verdicts = [
        judge_answer(task.board, parse_plan(task.board, text, finished=True), task.solution.makespan)
        for task, text in zip(tasks, answers, strict=True)
    ]
    return [verdict.fault or "" for verdict in verdicts]


def test_wrong_answers_overlook_what_lies_on_the_ice_but_not_the_other_agents() -> None:
    mechanics = {"oneway": "against_arrow", "doors": "locked_door"}
    for layout, fault in mechanics.items():
        faults = wrong_outcomes(EnvironmentConfig.uniform((6,), 2, 0.15, 0.3, {layout: 1.0}))
        assert set(faults) <= {"", "hole", fault}
        assert faults.count(fault) > 3
    faults = wrong_outcomes(EnvironmentConfig.uniform((6,), 3, 0.3, 0.3))
    assert set(faults) <= {"", "hole"}
    assert faults.count("hole") > 30
