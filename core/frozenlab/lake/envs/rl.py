"""The lake for reinforcement learning with TRL: a dataset of boards in words, and the reward for a completion.

    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.envs.rl import boards_dataset, reward

    GRPOTrainer(model, reward_funcs=reward, train_dataset=boards_dataset(EnvironmentConfig.uniform(), 1000, seed=0)).train()

The completions are read as words/answers.py says and checked all at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.board import read_board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.reward import plan_reward
from frozenlab.lake.suites import held_out
from frozenlab.lake.words.answers import prompt
from frozenlab.lake.words.checking import Checked, check

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
    """What each completion earns, 0..1, by :func:`frozenlab.lake.reward.plan_reward`; TRL's signature of a reward function.

    Args:
        board, optimal_makespan: the columns of :func:`boards_dataset`.
        log_metric: TRL's; called with the shares of valid and of optimal plans, as ``valid_rate`` and ``optimal_rate``.

    Raises:
        ValueError: not as many boards or makespans as completions.
        BoardError: a board cannot be read.
    """
    boards = {line: read_board(line) for line in set(board)}
    checked = check([boards[line] for line in board], [answer_text(completion) for completion in completions], optimal_makespan)
    if log_metric is not None and len(completions):
        log_metric("valid_rate", float(checked.valid.mean()))
        log_metric("optimal_rate", float((checked.optimal == 1).mean()))
    return rewards(checked)


def rewards(checked: Checked) -> list[float]:
    """What checked answers earn. Raises ValueError where a board's optimal makespan is not known."""
    earned = []
    for i, (makespan, step) in enumerate(zip(checked.makespan.tolist(), checked.step.tolist(), strict=True)):
        optimum = checked.optimal_makespans[i]
        if optimum is None:
            raise ValueError(f"completion {i}: its board has no optimal makespan, which the reward is measured against")
        home = checked.on_goal[i] / checked.boards[i].num_agents
        earned.append(plan_reward(optimum, None if makespan < 0 else makespan, None if step < 0 else step, float(home)))
    return earned


def answer_text(completion: Completion) -> str:
    """The text of a completion; of a chat the content of its last message."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""
