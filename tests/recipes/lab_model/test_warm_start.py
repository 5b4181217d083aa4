"""The supervised start of the lab model: its data and its training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate, random_instances
from frozenlab.lake.draw.hashes import canonical_hash
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, judge_paths, walk
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.training.runs.sft import Example, to_example
from frozenlab.tasks.lake.dialects import parse_plan, render_board
from frozenlab.tasks.lake.teacher import padded, vary
from frozenlab.tasks.vocabulary import END, WORDS
from recipes.lab_model.courses import SolvedBoards, Texts
from recipes.lab_model.guises import disguise, guise, plan_example
from recipes.lab_model.warm_start import (
    Progress,
    WarmStartSettings,
    batches,
    completion_states,
    draw,
    learning_rate,
    main,
    share_of_course,
    train,
)

torch.set_num_threads(1)  # as small a network is slower on several, all the more beside other tests
QUICK = WarmStartSettings(presentations=640, batch_tokens=1024, batch_rows=32, compiled=False)
PROPOSAL = to_example("<engineer> k2 sizes size3 <rationale>", "size3 keep <config> share3 100% hole3 20%")


def tiny_policy() -> LabPolicy:
    return LabPolicy(build_network(hidden=32, layers=2, intermediate=64), build_tokenizer())


FURNISHED = EnvironmentConfig.uniform((4, 6), 3, 0.1, 0.3, {"oneway": 0.5, "doors": 0.5})


def some_boards(n: int = 40) -> list[tuple[Board, Paths]]:
    instances = [*random_instances((3, 4, 5), (2, 3), (0.1, 0.3), n, seed=3), *generate(FURNISHED, n, seed=3)]
    return [(instance.board, padded(walk(instance.board, instance.solution.plan or ()))) for instance in instances]


BOARDS = some_boards()
PLANS, PROPOSALS = SolvedBoards(BOARDS), Texts([PROPOSAL])


@given(st.sampled_from(BOARDS), st.integers(0, 2**32))
def test_a_disguise_is_the_same_board_and_plan_seen_otherwise(solved: tuple[Board, Paths], seed: int) -> None:
    board, paths = solved
    other, moved = disguise(board, paths, np.random.default_rng(seed))
    assert canonical_hash(other) == canonical_hash(board)
    before, after = judge_paths(board, paths), judge_paths(other, moved)
    assert (after.valid, after.makespan, after.sum_of_costs) == (True, before.makespan, before.sum_of_costs)


@given(st.sampled_from(BOARDS), st.integers(0, 2**32))
def test_a_varied_plan_is_as_good_as_the_original(solved: tuple[Board, Paths], seed: int) -> None:
    board, paths = solved
    before, after = judge_paths(board, paths), judge_paths(board, vary(board, paths, np.random.default_rng(seed)))
    assert (after.valid, after.makespan, after.sum_of_costs) == (True, before.makespan, before.sum_of_costs)


def test_plans_are_varied_and_boards_disguised_in_every_way() -> None:
    rng = np.random.default_rng(0)
    board = Board.from_text("S F F\nF F F\nF F G")
    paths = (((0, 0), (0, 1), (0, 2), (1, 2), (2, 2)),)
    assert len({vary(board, paths, rng) for _ in range(500)}) == 6  # all shortest ways from corner to corner
    lopsided = Board.from_text("S F g\nF H F\nF s G")
    assert len({disguise(lopsided, (((0, 0),), ((2, 1),)), rng)[0] for _ in range(300)}) == 16  # 8 symmetries x 2 orders


def test_an_example_is_prompt_and_plan_as_the_dialect_writes_them() -> None:
    example = plan_example(*guise(*BOARDS[0], np.random.default_rng(0)))
    prompt, completion = ([WORDS[i] for i in ids] for ids in (example.prompt, example.completion))
    assert prompt[0] == "<plan>" and prompt[-1] == "moves"
    assert completion[-1] == END and len(completion) % BOARDS[0][0].num_agents == 1


def test_a_pool_mixes_courses_by_their_shares_and_batches_hold_each_example_once() -> None:
    rng = np.random.default_rng(0)
    pool = draw({PLANS: 0.75, PROPOSALS: 0.25}, 600, rng)
    assert len(pool) == 600
    assert 0.15 < sum(lesson.example is PROPOSAL for lesson in pool) / len(pool) < 0.35
    cut = list(batches(pool, QUICK, rng))
    assert sorted(map(id, pool)) == sorted(id(lesson) for batch in cut for lesson in batch)
    for batch in cut:
        assert len(batch) <= QUICK.batch_rows and len(batch) * max(lesson.example.length for lesson in batch) <= QUICK.batch_tokens


def test_the_learning_rate_rises_then_falls_to_nothing() -> None:
    settings = WarmStartSettings(learning_rate=1.0, warmup=0.1)
    rates = [learning_rate(done, settings) for done in np.linspace(0, 1, 101)]
    peak = int(np.argmax(rates))
    assert rates[0] > 0 and rates[-1] == pytest.approx(0) and 5 <= peak <= 15
    assert rates[: peak + 1] == sorted(rates[: peak + 1]) and rates[peak:] == sorted(rates[peak:], reverse=True)


@pytest.mark.parametrize("bfloat16", [True, False])
def test_only_the_completion_is_learnt_whatever_the_padding(bfloat16: bool) -> None:
    policy, slack = tiny_policy(), 0.05 if bfloat16 else 1e-5
    short, long = Example((2, 5), (7, 1)), Example((2, 5, 9, 11), (7, 8, 1))
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        together, targets = completion_states(policy.model.model, [short, long])
        alone = [completion_states(policy.model.model, [example])[0] for example in (short, long)]
    assert targets.tolist() == [7, 1, 7, 8, 1]
    assert torch.allclose(together, torch.cat(alone), atol=slack)
    with torch.inference_mode():
        states = policy.model.model(input_ids=torch.tensor([short.prompt + short.completion])).last_hidden_state[0]
    assert torch.allclose(alone[0].float(), states[1:3], atol=slack)


@pytest.mark.parametrize("bfloat16", [True, False])
def test_twenty_steps_lower_the_loss_of_both_courses_and_leave_a_usable_policy(bfloat16: bool) -> None:
    policy, reports = tiny_policy(), list[Progress]()
    train(policy, {PLANS: 0.5, PROPOSALS: 0.5}, replace(QUICK, bfloat16=bfloat16), reports.append, report_every=10)
    assert len(reports) == 2 and reports[-1].presentations <= QUICK.presentations
    assert reports[0].losses.keys() == reports[-1].losses.keys() == {"<plan>", "<engineer>"}
    assert all(reports[-1].losses[kind] < before - 0.3 for kind, before in reports[0].losses.items())
    assert not policy.model.training and policy.model.config._attn_implementation == "sdpa"
    board = BOARDS[0][0]
    assert policy.tokenizer(render_board(board))
    parse_plan(board, policy.answer([Instance.unsolved(board)])[0][0].text, finished=True)


def test_training_is_the_same_for_the_same_seed() -> None:
    weights = []
    for _ in range(2):
        policy = tiny_policy()
        train(policy, {PLANS: 1.0}, WarmStartSettings(presentations=64, batch_rows=16, compiled=False), lambda progress: None)
        weights.append(policy.model.lm_head.weight.detach().clone())
    assert torch.equal(*weights)


def test_a_course_is_read_with_its_share() -> None:
    assert share_of_course("doors=0.25") == ("doors", 0.25)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "--out, --course"),
        (["--course", "chess=1"], "there is no course 'chess'; there are scatter, "),
        (["--course", "doors"], "the share of doors is ''; it must be a number above 0, up to 1"),
        (["--course", "doors=half"], "the share of doors is 'half'"),
        (["--course", "doors=nan"], "the share of doors is 'nan'"),
        (["--course", "doors=0"], "the share of doors is '0'"),
        (["--course", "doors=1.5"], "the share of doors is '1.5'"),
        (["--course", "doors=0.5", "--course", "doors=0.5"], "a course is there twice"),
        (["--course", "doors=0.5", "--course", "countdown=0.4"], "add up to 0.9; they must add up to 1"),
    ],
)
def test_the_command_line_says_what_is_wrong(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main([*arguments, "--out", str(tmp_path)] if arguments else [])
    assert error in capsys.readouterr().err


def test_the_command_line_trains_on_its_courses(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch, "compile", lambda network, dynamic: network)  # it takes most of a minute
    few = ["--lessons", "20", "--presentations", "8", "--threads", "1"]
    main(["--out", str(tmp_path), "--course", "doors=0.5", "--course", "countdown=0.5", *few])
    assert "{'doors': 0.5, 'countdown': 0.5}" in capsys.readouterr().out
    assert LabPolicy.load(tmp_path).model.num_parameters() > 0
