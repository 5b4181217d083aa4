"""Do greedy plans get better if a joint state may not come twice? Of the lab model's failures half are plans that go round until cut off.

python -m benchmarks.loop_free [MODEL ...] [--out TABLE.csv]

A state is where all agents stand. The word of the last agent in a time step may not complete a state that was there before, the starts
among them; the model takes its next best word. No best plan has a state twice, and the rule knows neither goals nor holes. Both ways are
measured on the same boards, in the shape of the suite `paper`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from benchmarks.guised_grpo import SUITE
from frozenlab.base.files import as_csv, write_text
from frozenlab.base.numbers import MANY, percent
from frozenlab.experiments.benchmark.task import task_for
from frozenlab.experiments.studies.statistics import mean_of
from frozenlab.lake.instance import Instance
from frozenlab.lake.suites import build_suite
from frozenlab.models.evaluation import evaluate
from frozenlab.models.lab.generation import Decoder
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import GREEDY, Completion, Progress, Sampling
from frozenlab.session.store import SessionStore
from frozenlab.tasks.family import Family
from frozenlab.tasks.vocabulary import ID_OF, cell_word

ROWS = 128


@dataclass(frozen=True)
class LoopFree:
    """A lab model whose plans have no joint state twice; it answers greedily."""

    policy: LabPolicy

    @property
    def family(self) -> Family:
        return self.policy.family

    def answer(self, tasks: Sequence[Any], sampling: Sampling = GREEDY, on_progress: Progress | None = None) -> list[list[Completion]]:
        return [[answer] for first in range(0, len(tasks), ROWS) for answer in self.some(tasks[first : first + ROWS])]

    def read(self, task: Any, completion: Completion) -> Any:
        return self.policy.read(task, completion)

    @torch.inference_mode()
    def some(self, tasks: Sequence[Instance]) -> list[Completion]:
        """The answers to a batch of boards."""
        tokenizer = self.policy.tokenizer
        prompts = [tokenizer(self.policy.prompt(task))["input_ids"] for task in tasks]
        limits, width = [self.policy.limit(task) for task in tasks], max(map(len, prompts))
        ids = torch.tensor([[tokenizer.pad_token_id] * (width - len(prompt)) + prompt for prompt in prompts])
        mask = torch.tensor([[False] * (width - len(prompt)) + [True] * len(prompt) for prompt in prompts])
        decoder = Decoder(self.policy.model, ids, mask, 1)
        seen = [{tuple(ID_OF[cell_word(agent.start)] for agent in task.board.agents)} for task in tasks]
        texts: list[list[int]] = [[] for _ in tasks]
        ended = [False] * len(tasks)
        while not all(ended):
            for row, (task, text) in enumerate(zip(tasks, texts, strict=True)):
                begun = tuple(text[len(text) - len(text) % task.board.num_agents :])
                if len(begun) == task.board.num_agents - 1:
                    decoder.logits[row, [state[-1] for state in seen[row] if state[:-1] == begun]] = -torch.inf
            chosen = decoder.logits.argmax(1)
            for row, word in enumerate(chosen.tolist()):
                if ended[row]:
                    continue
                texts[row].append(word)
                ended[row] = word == tokenizer.eos_token_id or len(texts[row]) == limits[row]
                if len(texts[row]) % (agents := tasks[row].board.num_agents) == 0:
                    seen[row].add(tuple(texts[row][-agents:]))
            decoder.read(chosen)
        return [self.policy.completion(text) for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("models", nargs="*", default=["lab-model"], metavar="MODEL")
    parser.add_argument("--out", type=Path, help="a table of all answers: model, way, board, cell, valid, optimal")
    options = parser.parse_args()
    torch.set_num_threads(1)
    boards, tables, store = build_suite(SUITE, sum_of_costs=False), [], SessionStore()
    for model in options.models:
        policy = load_policy(task_for(model, "paper", store).policy)
        assert isinstance(policy, LabPolicy)
        of_way = {"usual": evaluate(policy, boards), "loop-free": evaluate(LoopFree(policy), boards)}
        for name, answered in of_way.items():
            tables.append(answered[["board_id", "cell", "valid", "optimal"]].assign(model=model, way=name))
        for agents in (3, 4, 5, None):
            rows = [agents in (None, board.board.num_agents) for board in boards]
            for measure in ("valid", "optimal"):
                before, after = (answered[measure][rows].astype(float) for answered in of_way.values())
                change = mean_of((after - before).tolist())
                print(
                    f"{model}, {agents or 'all'} agents, n {len(before)}, {measure}: {percent(before.mean(), MANY)}, {change.change}",
                    flush=True,
                )
    if options.out:
        write_text(options.out, as_csv(pd.concat(tables)))


if __name__ == "__main__":
    main()
