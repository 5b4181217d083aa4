"""Whatever a language model writes ends in a plan or in the right fault."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Board
from frozenlab.lake.envs.rl import reward
from frozenlab.lake.rules import judge, judge_paths, walk
from frozenlab.lake.words.answers import write_answer
from frozenlab.lake.words.reading import judge_answer, parse_answer

BOARD = Board.from_text("S F F g\nF F H F\nF F F F\ns F F G")
CASES = {
    name: (expected.strip("\n "), text)
    for block in (Path(__file__).parent / "answers.txt").read_text(encoding="utf-8").split("=== ")[1:]
    for head, _, text in [block.partition("\n")]
    for name, _, expected in [head.partition(" |")]
}
NAMES = {"U": "UP", "D": "DOWN", "L": "LEFT", "R": "RIGHT", "W": "WAIT"}
motions = st.text("UDLRW", min_size=1, max_size=30)


@pytest.mark.parametrize("name", CASES)
def test_what_models_write(name: str) -> None:
    expected, text = CASES[name]
    answer = parse_answer(BOARD, text, finished=True)
    if answer.paths is None:
        assert answer.fault == expected
    else:
        plan = [*expected.split(), ""][:2]
        assert answer.paths == walk(BOARD, plan)


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60


def test_windows_line_ends_are_line_ends() -> None:
    text = CASES["as asked"][1].replace("\n", "\r\n")
    assert parse_answer(BOARD, text, finished=True).paths == walk(BOARD, ("RD", "UR"))


@pytest.mark.parametrize("name", CASES)
def test_what_is_cut_off_is_truncated(name: str) -> None:
    assert parse_answer(BOARD, CASES[name][1], finished=False).fault == "truncated"


@given(motions, motions, st.sampled_from(["lines", "letters", "json", "cells", "steps"]), st.booleans())
def test_every_plan_is_read_back_from_every_shape(first: str, second: str, shape: str, thoughts: bool) -> None:
    plan = (first, second)
    words = [[NAMES[letter] for letter in motion] for motion in plan]
    paths = walk(BOARD, plan)
    text = {
        "lines": "\n".join(f"Agent {i}: {', '.join(motion)}" for i, motion in enumerate(words)),
        "letters": "\n".join(f"Agent {i}: {motion}" for i, motion in enumerate(plan)),
        "json": json.dumps({f"agent_{i}": motion for i, motion in enumerate(words)}),
        "cells": "\n".join(f"Agent {i}: {' -> '.join(map(str, path))}" for i, path in enumerate(paths)),
        "steps": "\n".join(
            f"Step {t + 1}: " + ", ".join(f"Agent {i}: {motion[t]}" for i, motion in enumerate(words) if t < len(motion))
            for t in range(max(map(len, plan)))
        ),
    }[shape]
    read = parse_answer(BOARD, f"<think>Agent 0: UP</think>\n{text}" if thoughts else text, finished=True)
    assert judge_paths(BOARD, read.paths) == judge_paths(BOARD, paths)


TOKENS = (
    'UP DOWN LEFT RIGHT WAIT U D L R W Agent Agent~0 Agent~1: agent_0 : , -> → (0,~1) [ ] { } " | Step~1: t=2 <think> </think> ``` ** x3 '
    "(2~times) 1. - and~then 0 9999999 null é \\"
)
tokens = st.lists(st.sampled_from([*(token.replace("~", " ") for token in TOKENS.split()), "\n", "\n\n", "\r"]), max_size=60)


@given(st.one_of(st.text(max_size=200), tokens.map(" ".join), tokens.map("".join)), st.booleans())
def test_no_text_is_too_strange(text: str, finished: bool) -> None:
    answer = parse_answer(BOARD, text, finished)
    assert (answer.paths is None) != (answer.fault is None)
    assert answer.fault in (None, "parse_error", "truncated", "missing_agent")
    if answer.paths is not None:
        judge_paths(BOARD, answer.paths)


LOOPS = ("Agent 0: ", "(", "[", "{", "RIGHT, ", "Step 1: ", "| ", "<think>", "(1,", "- ", "RIGHT x999 ", "Agent 0: UP\n", "```\n")


@pytest.mark.parametrize("piece", LOOPS)
def test_long_repetition_is_read_in_no_time(piece: str) -> None:
    answer = parse_answer(BOARD, piece * 4000, finished=True)
    assert answer.fault in ("parse_error", "missing_agent")


@pytest.mark.parametrize(
    "text", ["[" * 32_000, '{"agent 0":' * 900 + "[]" + "}" * 900, "[" * 900 + "]" * 900], ids=["open", "objects", "lists"]
)
def test_brackets_without_end_are_no_plan_and_no_error(text: str) -> None:
    assert parse_answer(BOARD, text, finished=True).fault == "parse_error"


GOOD = "Agent 0: RIGHT DOWN\nAgent 1: UP RIGHT"
DRAFT = "Agent 0: UP UP\nAgent 1: UP RIGHT"
LAST = "Agent 0: RIGHT DOWN"
DEEPSEEK_END = "<\uff5cend\u2581of\u2581sentence\uff5c>"
IN_FINAL = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "text",
    [
        *(GOOD + end for end in ("<|im_end|>", "</s>", "<end_of_turn>", "<|eot_id|>", "<|endoftext|>", "[EOS]", DEEPSEEK_END)),
        f"<answer>{GOOD}</answer>", GOOD.replace("\n", "<br>\n"),
        GOOD.replace("RIGHT", "<b>RIGHT</b>"), f"<|begin_of_box|>{GOOD}<|end_of_box|>",
        f"{IN_FINAL}{GOOD}<|return|>", f"analysisAgent 0: UPassistantfinal{GOOD}",
        f"{GOOD}<|im_end|>\n<|im_start|>user\nAgain!<|im_end|>\n<|im_start|>assistant\n{DRAFT}",
        GOOD.replace(":", "\uff1a"), GOOD.replace(" ", "\u00a0"), GOOD.replace("Agent ", "Agent\u202f"), GOOD.replace(" ", "\u3000"),
        GOOD.replace("0", "\uff10").replace("1", "\uff11"), GOOD.replace(" DOWN", "\u3001DOWN"), GOOD.replace(":", ":\u200b"),
        GOOD.replace("\n", "\u2028"), GOOD.replace("RIGHT", "\uff32\uff29\uff27\uff28\uff34"),
        *(f"{mark}{DRAFT}{end}\n{GOOD}" for mark, end in (
            ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]"),
            ("<seed:think>", "</seed:think>"), ("\u25c1think\u25b7", "\u25c1/think\u25b7"), ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("", "</think>"),
        )),
        f"{GOOD}\n<reasoning>{DRAFT}</reasoning>",
    ],
    ids=lambda text: ascii(text[:24]),
)  # fmt: skip
def test_marks_and_signs_around_a_plan_do_not_hide_it(text: str) -> None:
    assert parse_answer(BOARD, text, finished=True).paths == walk(BOARD, ("RD", "UR"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *((f"{mark}\n{GOOD}\nlet me check", "parse_error") for mark in (
            "<think>", "<thinking>", "[THINK]", "<reasoning>", "<|channel|>analysis<|message|>",
        )),
        *((f"{mark}\n{DRAFT}\n{end}\n{LAST}", "missing_agent") for mark, end in (("<think>", "</think>"), ("[THINK]", "[/THINK]"))),
        (f"{IN_FINAL.replace('hm', DRAFT)}{LAST}", "missing_agent"),
    ],
)  # fmt: skip
def test_what_is_only_thought_is_no_answer(text: str, fault: str) -> None:
    assert parse_answer(BOARD, text, finished=True).fault == fault
    assert reward([text], board=[json.dumps(BOARD.to_dict())], optimal_makespan=[2]) == [0.0], "nor for TRL"


@given(st.lists(st.text("UDLRW", min_size=1, max_size=6), min_size=2, max_size=2))
def test_a_written_answer_reads_as_its_plan(plan: list[str]) -> None:
    answer = parse_answer(BOARD, write_answer(tuple(plan)), finished=True)
    assert judge_answer(BOARD, answer) == judge(BOARD, tuple(plan))
