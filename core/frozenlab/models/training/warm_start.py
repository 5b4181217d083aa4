"""The warm start of a language model: it learns to write short reasoning and a right answer, supervised, before it learns from rewards.

GRPO learns from groups whose answers differ in reward. A small model that solves nothing has none, so it never begins. Solved tasks cost
nothing here: they are drawn with their best answers.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from torch.nn.functional import cross_entropy
from transformers import PrinterCallback, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl import SFTConfig, SFTTrainer

from frozenlab.base import seeds
from frozenlab.base.errors import LabError
from frozenlab.jobs.disk import check_room
from frozenlab.models.language.policy import THINK, THOUGHT, HFPolicy
from frozenlab.models.policy import not_finite
from frozenlab.models.settings import WarmStart
from frozenlab.models.training.checkpoints import newest_checkpoint, room, seal
from frozenlab.models.training.optimizers import MuonAndAdamW, step_in_float32
from frozenlab.models.training.runs.packing import IGNORED
from frozenlab.models.training.scoring import logits_of
from frozenlab.tasks.task import Task

Row = dict[str, list[int]]
"""An example as TRL's trainer takes it: ``input_ids``, and ``completion_mask``, 1 for each token that is learnt."""
Progress = Callable[[int, int, float], None]
"""Called with (steps done, of, loss); before the first step that follows a checkpoint the loss is NaN."""
KEEP_EVERY = 600.0
"""Seconds between two checkpoints of a warm start: one of SmolLM2 has 2 GB."""

WIDE = 512
"""Largest width of a network that Muon teaches on a processor, AdamW if it is wider: at 576 a step of Muon costs as much as learning from
2,300 tokens, a third of a step of 32 examples."""


class WarmStartError(LabError, ValueError):
    """There is nothing to learn from, or nothing was learnt; the message says why."""


def learnt(policy: HFPolicy, tasks: Sequence[Task]) -> Iterator[Row]:
    """Each task with its worked answer. Raises WarmStartError if the family shows none."""
    for task in tasks:
        shown = policy.dialect.demonstrate(task)
        if shown is None:
            raise WarmStartError(f"the family {policy.family.name} has no worked answers to learn from")
        thought = f"{THINK}\n{shown.reasoning}\n{THOUGHT}" if policy.settings.thinking else shown.reasoning
        yield as_row(policy, policy.asked_ids(policy.prompt(task)), "\n\n".join(filter(None, [thought, shown.answer])))


def as_row(policy: HFPolicy, asked: list[int], answer: str) -> Row:
    """The tokens of a question as the model is asked it, and what it should write, of which alone it learns."""
    written = [*policy.tokens(answer), policy.ends[0]]
    return {"input_ids": asked + written, "completion_mask": [0] * len(asked) + [1] * len(written)}


def warm_start(
    policy: HFPolicy,
    tasks: Sequence[Task],
    settings: WarmStart,
    seed: int,
    on_progress: Progress = lambda *_: None,
    folder: Path | None = None,
) -> None:
    """Trains the policy in place on the best answers of ``tasks``, in their order.

    Args:
        folder: where it keeps a checkpoint, and goes on to the same bits from the one that is there; None: it keeps none.

    Raises:
        DiskFullError: the folder has no room for checkpoints.
        WarmStartError: the family shows no answers, or one is longer than the policy's answers may be.
    """
    rows = list(learnt(policy, tasks))
    longest = max(sum(row["completion_mask"]) for row in rows)
    if longest > policy.settings.max_tokens:
        raise WarmStartError(f"the longest worked answer has {longest} tokens, and an answer may have {policy.settings.max_tokens}")
    learn(policy, rows, settings, seed, on_progress, folder)


def learn(
    policy: HFPolicy,
    rows: Sequence[Row],
    settings: WarmStart,
    seed: int,
    on_progress: Progress = lambda *_: None,
    folder: Path | None = None,
) -> None:
    """Trains the policy in place on examples, in their order; ``folder`` is that of its checkpoint."""
    checkpoint = newest_checkpoint(folder, len(rows)) if folder else None
    if folder and not checkpoint:
        check_room(folder, room(policy.model), "the checkpoints of a warm start")
    per_pass = min(policy.settings.rows, settings.batch)
    passes = max(1, settings.batch // per_pass)
    on_processor = policy.model.device.type == "cpu"
    muon = policy.settings.lora is None and not (on_processor and policy.model.config.get_text_config().hidden_size > WIDE)
    with tempfile.TemporaryDirectory() as scratch:
        trainer = (LeanSFTTrainer if on_processor else SFTTrainer)(
            model=policy.model,
            optimizers=(MuonAndAdamW(policy.model, settings.learning_rate) if muon else None, None),
            processing_class=policy.tokenizer,
            train_dataset=Dataset.from_list(by_length(rows, per_pass * passes)),
            args=SFTConfig(
                output_dir=str(folder or scratch),
                num_train_epochs=1,
                per_device_train_batch_size=per_pass,
                gradient_accumulation_steps=passes,
                learning_rate=settings.learning_rate,
                lr_scheduler_type="cosine",
                warmup_steps=len(rows) // settings.batch // 20,
                max_length=None,
                completion_only_loss=True,
                gradient_checkpointing=policy.settings.gradient_checkpointing is not False and torch.cuda.is_available(),
                **policy.autocast,
                use_cpu=on_processor,
                train_sampling_strategy="sequential",
                save_strategy="no",  # ProgressReport says when
                logging_steps=1,
                logging_nan_inf_filter=False,
                report_to="none",
                disable_tqdm=True,
                seed=seeds.derive(seed, "warm-start/language"),
            ),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(ProgressReport(on_progress, keeps=folder is not None))
        if on_processor:
            step_in_float32(trainer.create_optimizer())
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        if weight := not_finite(policy.model, learnt=True):
            raise WarmStartError(f"after the last step {weight} is not finite (NaN or infinite): take a lower learning rate")
    policy.model.eval()


class LeanSFTTrainer(SFTTrainer):
    """TRL's trainer, which computes logits of the learnt tokens only."""

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """The loss of the pass: minus the log-probabilities of its learnt tokens, over those of the whole step.

        No mask is passed: rows are padded on the right, where causal attention does not look.
        """
        labels = inputs["labels"].roll(-1, 1)
        labels[:, -1] = IGNORED
        logits = logits_of(model, labels != IGNORED, input_ids=inputs["input_ids"], use_cache=False).logits
        return cross_entropy(logits.float(), labels[labels != IGNORED], reduction="sum") / num_items_in_batch


def by_length(rows: Sequence[Row], step: int) -> list[Row]:
    """The rows of each step in the order of their length, so that little of a pass is padding."""
    steps = [sorted(rows[first : first + step], key=lambda row: len(row["input_ids"])) for first in range(0, len(rows), step)]
    return [row for rows in steps for row in rows]


class ProgressReport(TrainerCallback):
    """Reports the loss of each step, and has a checkpoint kept from time to time."""

    def __init__(self, on_progress: Progress, *, keeps: bool = False) -> None:
        self.on_progress, self.keeps, self.kept = on_progress, keeps, time.monotonic()

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.global_step:
            self.on_progress(state.global_step, state.max_steps, math.nan)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        control.should_save = self.keeps and time.monotonic() - self.kept >= KEEP_EVERY

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        seal(Path(str(args.output_dir)) / f"checkpoint-{state.global_step}")
        self.kept = time.monotonic()

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, Any] | None = None, **_: Any
    ) -> None:
        if logs and "loss" in logs:
            loss = float(logs["loss"])
            if not math.isfinite(loss):
                raise WarmStartError(f"after step {state.global_step} the loss is not finite (NaN or infinite): take a lower learning rate")
            self.on_progress(state.global_step, state.max_steps, loss)
