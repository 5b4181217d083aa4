"""Supervised training with TRL's ``SFTTrainer``. The current policy produces the examples at each step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from datasets import Dataset
from trl import SFTConfig, SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from frozenlab.models.training.examples import Example
from frozenlab.models.training.optimizers import MuonAndAdamW
from frozenlab.models.training.stage_run import StageRun

BATCH_ROWS = 32
"""Examples that pass through the network together."""
IGNORED = -100


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
