"""The lake for reinforcement learning with TRL: a dataset of boards in words, and the reward for a completion.

    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.envs.rl import boards_dataset, reward

    GRPOTrainer(model, reward_funcs=reward, train_dataset=boards_dataset(EnvironmentConfig.uniform(), 1000, seed=0)).train()

The completions are read as those of sessions, by words/reading.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.board import Board, read_board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.reward import earned
from frozenlab.lake.suites import held_out
from frozenlab.lake.words.answers import prompt
from frozenlab.lake.words.reading import judge_answer, parse_answer

if TYPE_CHECKING:
    from datasets import Dataset

Completion = str | Sequence[dict[str, Any]]
"""What the model wrote: a text, or chat messages of which the last one is the answer."""


def boards_dataset(
    config: EnvironmentConfig, n: int, seed: int, *, chat: bool = True, exclude: NDArray[np.uint64] | None = None
) -> Dataset:
    """Draws ``n`` solved boards, in an order in which any part looks like the whole; the same for the same arguments, everywhere.

    Columns: ``prompt``, ``board`` (one JSON line), ``optimal_makespan``, ``id``.

    Args:
        chat: the prompt is a list with one user message, for models with a chat template; else it is a text.
        exclude: canonical hashes of boards that must not come out, ascending; None: those of all named suites.

    Raises:
        GenerationError: the config cannot be filled.
    """
    from datasets import Dataset

    def row(text: str) -> str | list[dict[str, str]]:
        return [{"role": "user", "content": text}] if chat else text

    instances = generate(config, n, seed, exclude=held_out() if exclude is None else exclude)
    return Dataset.from_dict(
        {
            "prompt": [row(prompt(instance.board)) for instance in instances],
            "board": [json.dumps(instance.board.to_dict()) for instance in instances],
            "optimal_makespan": [instance.solution.makespan for instance in instances],
            "id": [instance.id for instance in instances],
        }
    )


def reward(
    completions: Sequence[Completion],
    board: Sequence[str],
    optimal_makespan: Sequence[int],
    log_metric: Callable[[str, float], None] | None = None,
    **_: Any,
) -> list[float]:
    """What each completion earns, 0..1, by :func:`frozenlab.lake.reward.earned`; TRL's signature of a reward function.

    Args:
        board, optimal_makespan: the columns of :func:`boards_dataset`.
        log_metric: TRL's; called with the shares of valid and of optimal plans, as ``valid_rate`` and ``optimal_rate``.

    Raises:
        ValueError: not as many boards or makespans as completions, or a board whose optimal makespan is not known.
        BoardError: a board cannot be read.
    """
    for name, given in (("boards", board), ("optimal makespans", optimal_makespan)):
        if len(given) != len(completions):
            raise ValueError(f"{len(given)} {name} for {len(completions)} completions; give one for each")
    if None in optimal_makespan:
        place = list(optimal_makespan).index(None)  # type: ignore[arg-type]
        raise ValueError(f"completion {place}: its board has no optimal makespan, which the reward is measured against")
    boards = {line: read_board(line) for line in set(board)}
    scores = [score(boards[line], answer_text(text), best) for text, line, best in zip(completions, board, optimal_makespan, strict=True)]
    if log_metric is not None and scores:
        log_metric("valid_rate", sum(one.valid for one in scores) / len(scores))
        log_metric("optimal_rate", sum(one.optimal for one in scores) / len(scores))
    return [one.reward for one in scores]


class Score(NamedTuple):
    """What an answer is worth."""

    reward: float
    valid: bool
    optimal: bool


def score(board: Board, text: str, optimal_makespan: int) -> Score:
    """Reads and judges an answer as a session does."""
    answer = parse_answer(board, text, finished=True)
    verdict = judge_answer(board, answer, optimal_makespan)
    return Score(earned(board, answer.paths, verdict, optimal_makespan), verdict.valid, bool(verdict.optimal))


def answer_text(completion: Completion) -> str:
    """The text of a completion; of a chat the content of its last message."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""
