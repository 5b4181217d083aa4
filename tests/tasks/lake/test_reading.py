"""Whatever a language model writes ends in a plan or in the right fault."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Board
from frozenlab.lake.rules import judge_paths, walk
from frozenlab.lake.words.answers import ACTIONS, read_answer
from frozenlab.tasks.lake.reading import parse_answer

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
    assert read.paths is not None
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


fillers = st.sampled_from([" ", ", ", " -> ", "; ", " → ", "`, `"])
actions = st.lists(st.sampled_from([*ACTIONS, *map(str.lower, ACTIONS)]), min_size=1, max_size=12)


@given(st.lists(actions, min_size=2, max_size=2), fillers)
def test_a_plan_that_the_strict_reader_of_the_lake_knows_is_read_as_the_same(plan: list[list[str]], filler: str) -> None:
    text = "\n".join(f"Agent {i}: {filler.join(actions)}" for i, actions in enumerate(plan))
    motions = read_answer(text, 2)
    assert parse_answer(BOARD, text, finished=True).paths == walk(BOARD, (motions[0], motions[1]))


@pytest.mark.parametrize(
    "text", ["[" * 32_000, '{"agent 0":' * 900 + "[]" + "}" * 900, "[" * 900 + "]" * 900], ids=["open", "objects", "lists"]
)
def test_brackets_without_end_are_no_plan_and_no_error(text: str) -> None:
    assert parse_answer(BOARD, text, finished=True).fault == "parse_error"
