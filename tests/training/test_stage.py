"""One stage by each method: what it leaves, that a stop loses nothing, and what it lets the policy learn from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from frozenlab.base.errors import Stopped
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Verdict
from frozenlab.lake.solvers.solver import solve
from frozenlab.lake.words.reading import judge_answer
from frozenlab.models.folders import LAB_MODEL
from frozenlab.models.lab.generation import sample
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.training import stage_run
from frozenlab.models.training.methods import BY_NAME as METHOD_OF
from frozenlab.models.training.methods import NAMES as METHODS
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.runs.sft import ID_OF, Example, ExpertIterationRun, best_plans
from frozenlab.models.training.stage_run import Stage, step_figures, train_stage
from frozenlab.models.training.stage_settings import Schedule
from frozenlab.tasks.lake import teacher
from frozenlab.tasks.lake.dialects import CELL_OF, parse_plan
from frozenlab.tasks.lake.teacher import Cut, cut
from frozenlab.tasks.vocabulary import END, MOVES, WORDS

STEPS = 4
both_runs = pytest.mark.parametrize("method", ["grpo", "imitation"])
"""A method that rewards and one that shows plans: the others share the run of one of them."""
every_method = pytest.mark.parametrize(
    "method", [name if name in ("grpo", "imitation") else pytest.param(name, marks=pytest.mark.slow) for name in METHODS]
)


def boards_of(stage: int) -> list[Instance]:
    return generate(EnvironmentConfig.uniform((3, 5), agents=2), STEPS * 4, seed=stage)


def train(
    folder: Path, method: str, stage: int = 0, stop_after: int | None = None, schedule: Schedule = "linear", warmup: int = 0
) -> list[dict[str, float]]:
    """Trains a stage of the lab model in small, on from the stage before; returns the figures of its steps."""
    figures: list[dict[str, float]] = []
    previous = folder / f"{stage - 1}" / "policy" if stage else None
    settings = TrainingSettings(
        method=method, steps=STEPS, boards_per_step=4, completions_per_board=4, schedule=schedule, warmup_steps=warmup
    )
    train_stage(
        METHOD_OF[method].run(LabPolicy.load(previous or LAB_MODEL), settings, stages=2, seed=1),
        boards_of(stage),
        stage=stage,
        folder=folder / f"{stage}",
        previous=previous,
        recorded=STEPS,
        report=lambda step, rows, saving: figures.append(step),
        stopping=lambda: len(figures) + 1 == stop_after,  # a step is asked about before it is reported
    )
    return figures


def weights(folder: Path, stage: int = 0) -> dict[str, torch.Tensor]:
    return load_file(folder / f"{stage}" / "policy" / "model.safetensors")


class Trained(NamedTuple):
    """A session of two stages."""

    folder: Path
    figures: list[list[dict[str, float]]]
    """Of each stage and step."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """Two stages by the method, trained once for all tests."""

    @cache
    def by(method: str) -> Trained:
        folder = tmp_path_factory.mktemp(method)
        return Trained(folder, [train(folder, method, stage) for stage in range(2)])

    return by


@every_method
def test_a_stage_trains_and_reports_each_step(method: str, trained: Callable[[str], Trained]) -> None:
    folder, (figures, _) = trained(method)
    assert [step["step"] for step in figures] == [1, 2, 3, 4]
    assert all(step["seconds"] > 0 for step in figures)
    fallen = [METHOD_OF[method].learning_rate * (1 - step / (2 * STEPS)) for step in range(STEPS)]
    assert [step["learning_rate"] for step in figures] == pytest.approx(fallen), "it falls to zero over the session, not the stage"
    for step in (figures[0], figures[-1]):  # whatever the method, its first and last step show what the policy writes by itself
        assert {"reward", "valid", "optimal", "length"} <= set(step)
    before = load_file(LAB_MODEL / "model.safetensors")
    assert any(not torch.equal(before[name], tensor) for name, tensor in weights(folder).items())
    assert not (folder / "0" / "trainer").exists()


def test_all_processes_have_left_the_trainer_before_its_folder_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer_there: list[bool] = []

    class Processes:
        is_main_process, process_index = True, 0

        def wait_for_everyone(self) -> None:
            trainer_there.append((tmp_path / "0" / "trainer").exists())

    monkeypatch.setattr(stage_run, "PartialState", Processes)
    train(tmp_path, "imitation")
    assert trainer_there == [True, True, False], "the first is for the checkpoint"


@both_runs
def test_the_next_stage_goes_on_with_the_optimizer(method: str, trained: Callable[[str], Trained]) -> None:
    first, second = (trained(method).folder / f"{stage}" / "policy" for stage in range(2))
    assert json.loads((second / "trainer_state.json").read_text())["global_step"] == 2 * STEPS
    optimizer = torch.load(second / "optimizer.pt", weights_only=True)
    adam = optimizer["state"] if METHOD_OF[method].rewards else optimizer["parts"][-1]["state"]
    assert all(STEPS < int(state["step"]) <= 2 * STEPS for state in adam.values())  # a step that teaches nothing does not count
    assert (first / "optimizer.pt").exists(), "a fork may go on from it"


@both_runs
@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_stopped_stage_ends_where_an_unstopped_one_does(
    method: str, stop_after: int, trained: Callable[[str], Trained], tmp_path: Path
) -> None:
    shutil.copytree(trained(method).folder / "0", tmp_path / "0")
    with pytest.raises(Stopped):
        train(tmp_path, method, stage=1, stop_after=stop_after)
    rest = train(tmp_path, method, stage=1)
    assert [step["step"] for step in rest] == list(range(stop_after + 1, STEPS + 1))
    torch.testing.assert_close(weights(tmp_path, 1), weights(trained(method).folder, 1), atol=0.0, rtol=0.0)


@both_runs
def test_a_rate_that_falls_per_stage_begins_anew_in_each_and_is_taken_up_after_a_stop(method: str, tmp_path: Path) -> None:
    per_stage = partial(train, method=method, schedule="per-stage", warmup=1)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    first = per_stage(whole)
    shutil.copytree(whole, stopped)
    straight = per_stage(whole, stage=1)
    with pytest.raises(Stopped):
        per_stage(stopped, stage=1, stop_after=2)
    rest = per_stage(stopped, stage=1)
    shares = [1 / 2, 1, 2 / 3, 1 / 3]
    for figures, expected in ((first, shares), (straight, shares), (rest, shares[2:])):
        assert [step["learning_rate"] for step in figures] == pytest.approx([METHOD_OF[method].learning_rate * share for share in expected])
    assert all(torch.equal(tensor, weights(stopped, 1)[name]) for name, tensor in weights(whole, 1).items())


def begun(method: str, boards: list[Instance], seed: int, **settings: Any) -> Any:
    """A run of the shipped lab model at the beginning of a stage on these boards."""
    chosen = TrainingSettings(method=method, boards_per_step=len(boards), **settings)
    run = METHOD_OF[method].run(LabPolicy.load(LAB_MODEL), chosen, stages=1, seed=seed)
    run.begin(Stage(boards))
    return run


def board_of(prompt: tuple[int, ...]) -> Board:
    """The square board that a prompt tells."""
    words = [WORDS[i] for i in prompt]
    side, holes = int(words[1][1:]), {CELL_OF[word] for word in words[words.index("holes") + 1 : words.index("agent0")]}
    cells = [CELL_OF[word] for word in words[words.index("agent0") : -1] if word in CELL_OF]
    rows = tuple("".join("H" if (r, c) in holes else "F" for c in range(side)) for r in range(side))
    return Board(rows, tuple(Agent(*pair) for pair in zip(cells[::2], cells[1::2], strict=True)))


def verdict_of(example: Example, optimum: int | None = None) -> Verdict:
    words = [WORDS[i] for i in example.completion]
    assert words.pop() == END
    board = board_of(example.prompt)
    return judge_answer(board, parse_plan(board, " ".join(words), finished=True), optimum)


@pytest.mark.parametrize("seed", range(3))
def test_imitation_learns_optimal_ways_home_from_where_its_own_plans_led(seed: int) -> None:
    boards = generate(EnvironmentConfig.uniform((4, 7), agents=3, hole_ratio=0.2), 24, seed)
    run = begun("imitation", boards, seed, completions_per_board=4, temperature=1.3)
    examples, same, others = (run.training_examples(run.policy.model, range(24), step) for step in (5, 5, 6))
    assert examples == same != others
    written = run.write_plans(run.policy.model, run.prompts, 4, 5)
    assert len(examples) == (~run.judge(boards, written, 4)["optimal"]).sum()
    assert any(example.prompt[-1] != ID_OF[MOVES] for example in examples), "some begin in the middle of a plan"
    for example in examples:
        words = [WORDS[i] for i in example.prompt]
        start = words.index(MOVES) + 1
        own = [WORDS.index(word) for word in words[start:]]
        place = next(place for place, board in enumerate(boards) if run.prompts[place].split() == words[:start])
        assert any(ids[: len(own)] == own for ids in written[place * 4 : place * 4 + 4])
        board = boards[place].board
        whole = parse_plan(board, " ".join([*words[start:], *(WORDS[i] for i in example.completion[:-1])]), finished=True)
        assert judge_answer(board, whole).valid
        here = [CELL_OF[word] for word in words[start:][-3:]] or [agent.start for agent in board.agents]
        state = Board.known_good(board.rows, tuple(Agent(*ends) for ends in zip(here, (a.goal for a in board.agents), strict=True)))
        assert len(example.completion) - 1 == 3 * (solve(state).makespan or 0)


def test_imitation_cuts_a_plan_by_other_draws_than_those_it_was_sampled_with(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, list[int]] = {"sampled": [], "cut": []}

    def sampled(*given: Any, **named: Any) -> list[list[int]]:
        drawn["sampled"] += [state_of(rng) for rng in given[3]]
        return sample(*given, **named)

    def cut_off(board: Board, text: str, rng: np.random.Generator) -> Cut:
        drawn["cut"].append(state_of(rng))
        return cut(board, text, rng)

    monkeypatch.setattr(stage_run, "sample", sampled)
    monkeypatch.setattr(teacher, "cut", cut_off)
    boards = generate(EnvironmentConfig.uniform((4,), agents=3, hole_ratio=0.2), 8, seed=0)
    run = begun("imitation", boards, 0, temperature=1.3)
    run.training_examples(run.policy.model, range(8), step=5)
    assert len(drawn["sampled"]) == 64 and drawn["cut"]
    assert not set(drawn["sampled"]) & set(drawn["cut"])


def state_of(rng: np.random.Generator) -> int:
    return rng.bit_generator.state["state"]["state"]


@pytest.mark.parametrize("seed", range(3))
def test_expert_iteration_learns_from_the_best_of_its_own_valid_plans_alone(seed: int) -> None:
    boards = generate(EnvironmentConfig.uniform((4, 7), agents=3, hole_ratio=0.2), 24, seed)
    run = begun("expert-iteration", boards, seed, temperature=1.3)
    examples = run.training_examples(run.policy.model, range(24), step=5)
    assert len(examples) > 0 and run.figures["valid"] < 1, "some plans are valid and some are not"
    written = run.write_plans(run.policy.model, run.prompts, run.settings.completions_per_board, 5)
    for place, board in enumerate(instance.board for instance in boards):
        own = [verdict_of(example) for example in examples if board_of(example.prompt) == board]
        texts = [[WORDS[i] for i in ids] for ids in written[place * 8 : place * 8 + 8]]
        sampled = [judge_answer(board, parse_plan(board, " ".join(text[:-1]), text[-1] == END)) for text in texts]
        costs = [(verdict.makespan, verdict.sum_of_costs) if verdict.valid else (999, 999) for verdict in sampled]
        assert all(verdict.valid and (verdict.makespan, verdict.sum_of_costs) == min(costs) for verdict in own)
        assert own or len(set(costs)) == 1, "only a board whose plans are all as good teaches nothing"
    assert len({(example.prompt, example.completion) for example in examples}) == len(examples)


def judged(*costs: tuple[int, int] | None) -> pd.DataFrame:
    rows = [{"valid": cost is not None, "cost": cost or ()} for cost in costs]
    return pd.DataFrame(rows)


def test_of_equally_good_plans_the_shortest_texts_are_learnt_once() -> None:
    written = [[5, 6, 6, 1], [5, 6, 1], [7, 6, 1], [5, 6, 1], [8, 1], [5, 9, 6, 1]]
    costs = [(2, 3), (2, 3), (2, 3), (2, 3), None, (3, 3)]
    assert best_plans(judged(*costs), written) == [(5, 6, 1), (7, 6, 1)]


@pytest.mark.parametrize("cost", [None, (2, 3)])
def test_a_board_whose_plans_are_all_as_good_teaches_nothing(cost: tuple[int, int] | None) -> None:
    assert best_plans(judged(cost, cost), [[5, 6, 1], [7, 6, 1]]) == []


def test_a_step_without_a_valid_plan_changes_nothing(tmp_path: Path) -> None:
    class Hopeless(ExpertIterationRun):
        def training_examples(self, model: object, boards: object, step: int) -> list[Example]:
            return []

    policy = LabPolicy.load(LAB_MODEL)
    before = {name: tensor.clone() for name, tensor in policy.model.state_dict().items()}
    figures: list[dict[str, float]] = []
    settings = TrainingSettings(method="expert-iteration", steps=2, boards_per_step=4)
    run = Hopeless(policy, settings, stages=1, seed=0)
    run.begin(Stage(boards_of(0), report=lambda step, *_: figures.append(step)))
    run.trainer(tmp_path).train()
    assert all(torch.equal(before[name], tensor) for name, tensor in policy.model.state_dict().items())
    assert [step["learnt"] for step in figures] == [0, 0]
    assert not any("loss" in step for step in figures)


def test_step_figures_tell_sizes_apart() -> None:
    rows = [("3", 1.0, True, True, 5), ("3", 1.0, True, False, 7), ("6", 0.0, False, False, 9), ("6", 1.0, True, True, 11)]
    figures = step_figures(pd.DataFrame(rows, columns=["cell", "reward", "valid", "optimal", "tokens"]))
    assert (figures["valid"], figures["reward"], figures["length"]) == (0.75, 0.75, 8.0)
    assert (figures["valid_3"], figures["valid_6"], figures["optimal_3"]) == (1.0, 0.5, 0.5)
    assert figures["optimal"] == pytest.approx(0.5)
