"""Supervised training with TRL's ``SFTTrainer``, whose examples come from the policy or its teacher at each step: imitation, practice and
expert iteration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from trl import SFTConfig, SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from frozenlab.base import seeds
from frozenlab.models.training.optimizers import MuonAndAdamW
from frozenlab.models.training.runs.packing import IGNORED, Example
from frozenlab.models.training.stage_run import StageRun
from frozenlab.tasks.task import Attempt
from frozenlab.tasks.vocabulary import END, ID_OF


def to_example(prompt: str, completion: str) -> Example:
    """Prompt and completion (without its end token) as token ids. Raises KeyError for a word outside the vocabulary."""
    return Example(tuple(ID_OF[word] for word in prompt.split()), tuple(ID_OF[word] for word in [*completion.split(), END]))


BATCH_ROWS = 32
"""Examples that pass through the network together."""


class SFTRun(StageRun):
    """A stage of supervised steps; the method says in :meth:`training_examples` what the policy is to write."""

    @abstractmethod
    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        """What a step learns from its boards, which are given by number; it may be nothing. ``step`` is the session's step count."""

    def sample_and_judge(self, model: Any, boards: Sequence[int], step: int) -> tuple[list[list[int]], pd.DataFrame]:
        """What the policy writes by itself for the boards, ``completions_per_board`` plans each, and how that is judged."""
        group = self.settings.completions_per_board
        written = self.write_plans(model, [self.prompts[i] for i in boards], group, step)
        return written, self.judge([self.stage.tasks[i] for i in boards], written, group)

    def trainer(self, folder: Path) -> SFTTrainer:
        config = SFTConfig(
            **self.arguments(folder),
            per_device_train_batch_size=self.settings.boards_per_step,
            train_sampling_strategy="sequential",
            dataset_kwargs={"skip_prepare_dataset": True},  # its rows are only the numbers of the boards
            remove_unused_columns=False,
        )
        trainer = StepwiseSFTTrainer(
            model=self.policy.model,
            processing_class=self.policy.tokenizer,
            args=config,
            train_dataset=Dataset.from_dict({"index": list(range(len(self.stage.tasks)))}),
            data_collator=lambda rows: {"index": [row["index"] for row in rows]},
            optimizers=(MuonAndAdamW(self.policy.model, self.settings.learning_rate), None),
        )
        trainer.run = self
        return self.attach(trainer)


class StepwiseSFTTrainer(SFTTrainer):
    """TRL's trainer, which takes a batch of board numbers and asks its run for the examples when their step has come.

    A data loader is one batch ahead of the optimizer, too early for plans that the policy of this very step is to write. Examples of like
    length pass the network together: padded to the longest of a step, most of the work would be padding.
    """

    run: SFTRun

    def training_step(self, model: Any, inputs: dict[str, Any], num_items_in_batch: torch.Tensor | int | None = None) -> torch.Tensor:
        """The mean loss over all tokens of the step's completions; no gradient where there is nothing to learn from."""
        examples = sorted(self.run.training_examples(model, inputs["index"], self.state.global_step), key=lambda example: example.length)
        self.run.figures["learnt"] = len(examples)
        tokens = torch.tensor(sum(len(example.completion) for example in examples))
        collate = DataCollatorForLanguageModeling(self.processing_class.pad_token_id)
        loss = torch.zeros((), device=self.args.device)
        for first in range(0, len(examples), BATCH_ROWS):
            batch = collate([labelled(example) for example in examples[first : first + BATCH_ROWS]])
            loss += super().training_step(model, batch, tokens)
        if examples:
            self.run.figures["loss"] = float(loss)
        return loss


def labelled(example: Example) -> dict[str, list[int]]:
    """The example as TRL's collator takes it: only the completion is learnt."""
    return {"input_ids": [*example.prompt, *example.completion], "labels": [IGNORED] * len(example.prompt) + [*example.completion]}


class ImitationRun(SFTRun):
    """For each task the policy writes ``completions_per_board`` answers, and the teacher mends those that are not optimal: online imitation
    (DAgger, Ross et al. 2011).

    A policy that has only ever seen good answers does not know what to do where its own have brought it. So it learns to go on from there.
    """

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        teacher, group = self.policy.family.teacher, self.settings.completions_per_board
        assert teacher is not None, "the spec checks that the family has one"
        written, judged = self.sample_and_judge(model, boards, step)
        wrong = [(place, boards[place // group]) for place in np.flatnonzero(~judged["optimal"])]
        attempts = [
            Attempt(self.stage.tasks[i], self.policy.completion(written[place]).text, seeds.rng(self.seed, "imitation/cuts", step, place))
            for place, i in wrong
        ]
        return [
            to_example(f"{self.prompts[i]} {mended.kept}".strip(), mended.learned)
            for (_, i), mended in zip(wrong, teacher.mend(attempts), strict=True)
            if mended is not None
        ]


class PracticeRun(SFTRun):
    """Each step learns the teacher's whole answers to its tasks, and the policy writes nothing itself.

    So practice takes no time for sampling, and a policy that can do nothing yet learns from it too. On some cells the teacher may be asked
    for wrong answers instead, which plants a weakness.
    """

    misled: Collection[str] = ()
    """The cells on which the teacher's answers are wrong."""

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        teacher = self.policy.family.teacher
        assert teacher is not None, "the recipe checks that the family has one"
        empty = [
            Attempt(self.stage.tasks[i], "", seeds.rng(self.seed, "practice/solutions", step, place)) for place, i in enumerate(boards)
        ]
        shown = teacher.answers(empty)
        wrong = [place for place, i in enumerate(boards) if self.stage.tasks[i].cell in self.misled]
        for place, answer in zip(wrong, teacher.wrong_answers([empty[place] for place in wrong]) or (), strict=True):
            shown[place] = answer
        return [to_example(self.prompts[i], answer.learned) for i, answer in zip(boards, shown, strict=True) if answer is not None]


class ExpertIterationRun(SFTRun):
    """For each board the policy samples ``completions_per_board`` plans and learns from the best of those that are valid (expert iteration;
    STaR, Zelikman et al. 2022, ReST-EM, Singh et al. 2023). No answer of a teacher is ever shown; the family's judge alone chooses."""

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        group = self.settings.completions_per_board
        written, judged = self.sample_and_judge(model, boards, step)
        examples = []
        for place, i in enumerate(boards):
            rows = slice(place * group, (place + 1) * group)
            prompt = tuple(self.policy.tokenizer(self.prompts[i])["input_ids"])
            examples += [Example(prompt, plan) for plan in best_plans(judged[rows], written[rows])]
        return examples


def best_plans(judged: pd.DataFrame, written: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The different valid answers to one task that cost least: on the lake the shortest makespan, then the least sum of costs.

    Of those, too, only the shortest texts: WAITs after the last arrival cost nothing, and a policy that learns from plans with some of them
    soon writes more and more (in a trial, half as many words again within 25 steps). A board whose plans are all as good as each other, or
    all invalid, teaches nothing, as in GRPO.

    Args:
        judged: one row a plan, as :meth:`StageRun.judge` gives it.
        written: the same plans as token ids.
    """
    costs = [(plan.cost, len(ids)) if plan.valid else None for ids, plan in zip(written, judged.itertuples(), strict=True)]
    if len(set(costs)) < 2:
        return []
    best = min(cost for cost in costs if cost)
    return list(dict.fromkeys(tuple(ids) for ids, cost in zip(written, costs, strict=True) if cost == best))
