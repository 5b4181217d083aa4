"""One stage of training: GRPO on the boards of the stage (Shao et al. 2024, through TRL's ``GRPOTrainer``).

A stage starts from where the last one ended, weights, optimizer, scheduler and step count included, by TRL's own checkpoint; the same line
resumes a stage that was interrupted. The boards come in a fixed order, so a resumed stage takes exactly the boards that are left.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from safetensors.torch import load_model
from torch.nn.functional import pad
from transformers import PrinterCallback, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl import GRPOConfig, GRPOTrainer

from core.lake.instance import Instance
from core.policy.answer import judge_answer
from core.policy.evaluation import answer_row
from core.policy.generation import sample
from core.policy.plan_dialect import max_plan_words, parse_plan, render_board
from core.policy.policy import Completion, Policy
from core.training.reward import reward
from core.training.settings import StageStopped, TrainingSettings

RECORDED_BOARDS = 4
"""Boards a step whose completions are kept for people to look at."""
CHECKPOINT_EVERY = 10
RESUME_FILES = ("optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json")
"""What a checkpoint holds beside the policy, needed only to go on training from it."""

StepReport = Callable[[dict[str, float], list[dict[str, Any]]], None]
"""Told after each step: its figures, and the rows of its recorded completions."""


def train_stage(
    policy: Policy,
    instances: Sequence[Instance],
    settings: TrainingSettings,
    *,
    stage: int,
    seed: int,
    folder: Path,
    previous: Path | None,
    report: StepReport,
    stopping: Callable[[], bool],
) -> None:
    """Trains ``policy`` in place and leaves the checkpoint in ``folder/policy``.

    Args:
        instances: ``steps * boards_per_step`` solved boards, in the order in which they are trained on.
        stage: number of the stage, 0-based; the step count runs on over the stages.
        folder: of the stage; a part-trained stage in it is taken up again.
        previous: the ``policy`` folder of the stage before, None for the first.
        stopping: asked after each step.

    Raises:
        StageStopped: ``stopping`` said so; what was done is saved in ``folder``.
    """
    first_step = stage * settings.steps
    work = folder / "trainer"
    interrupted = newest_checkpoint(work)
    done = steps_of(interrupted) - first_step if interrupted else 0
    left = instances[done * settings.boards_per_step :]
    if interrupted and not left:  # it ended between the last step and the line that keeps it
        load_model(policy.model, interrupted / "model.safetensors")
    else:
        checkpoint = interrupted or previous
        stage_run = StageRun(policy, left, settings, seed, first_step, report, stopping)
        trainer = stage_run.trainer(work, max_steps=first_step + settings.steps)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        policy.model.eval()
        if trainer.state.global_step < first_step + settings.steps:
            raise StageStopped
    keep_checkpoint(work / f"checkpoint-{first_step + settings.steps}", folder / "policy")
    if previous:
        drop_resume_files(previous)


def newest_checkpoint(work: Path) -> Path | None:
    """The furthest checkpoint in a trainer's folder that is complete; one that was being written when the worker died is not."""
    complete = [path for path in work.glob("checkpoint-*") if all((path / name).exists() for name in ("model.safetensors", *RESUME_FILES))]
    return max(complete, key=steps_of, default=None)


def steps_of(checkpoint: Path) -> int:
    """The step count in a checkpoint's name."""
    return int(checkpoint.name.split("-")[-1])


def keep_checkpoint(checkpoint: Path, place: Path) -> None:
    """Moves a finished checkpoint to its place and clears the trainer's folder."""
    (checkpoint / "training_args.bin").unlink(missing_ok=True)  # a pickle with this machine's paths; nobody reads it
    if place.exists():
        shutil.rmtree(place)
    checkpoint.rename(place)
    shutil.rmtree(checkpoint.parent)


def drop_resume_files(policy_folder: Path) -> None:
    """Leaves only the policy of a checkpoint that nobody will resume from."""
    for name in RESUME_FILES:
        (policy_folder / name).unlink(missing_ok=True)


class StageRun(TrainerCallback):
    """What TRL calls back during one stage: sampling, reward, and the report of each step."""

    def __init__(
        self,
        policy: Policy,
        instances: Sequence[Instance],
        settings: TrainingSettings,
        seed: int,
        first_step: int,
        report: StepReport,
        stopping: Callable[[], bool],
    ) -> None:
        self.policy, self.instances, self.settings, self.seed = policy, instances, settings, seed
        self.first_step, self.report, self.stopping = first_step, report, stopping
        self.prompts = [render_board(instance.board) for instance in instances]
        self.limits = {prompt: max_plan_words(instance.board) for prompt, instance in zip(self.prompts, instances, strict=True)}
        self.rows: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}

    def trainer(self, folder: Path, max_steps: int) -> GRPOTrainer:
        settings = self.settings
        config = GRPOConfig(
            output_dir=str(folder),
            max_steps=max_steps,
            per_device_train_batch_size=settings.boards_per_step * settings.completions_per_board,
            num_generations=settings.completions_per_board,
            max_completion_length=max(self.limits.values()),
            temperature=settings.temperature,
            learning_rate=settings.learning_rate,
            lr_scheduler_type="constant_with_warmup",
            warmup_steps=settings.warmup_steps,
            beta=0.0,
            shuffle_dataset=False,
            ignore_data_skip=True,  # the dataset already begins with the first board that is left
            save_strategy="steps",
            save_steps=CHECKPOINT_EVERY,
            save_total_limit=1,
            logging_steps=1,
            disable_tqdm=True,
            report_to="none",
            seed=self.seed,
            bf16=False,
            use_cpu=self.policy.model.device.type == "cpu",
            gradient_checkpointing=False,
        )
        trainer = TrimmedGRPOTrainer(
            model=self.policy.model,
            processing_class=self.policy.tokenizer,
            args=config,
            train_dataset=Dataset.from_dict({"prompt": self.prompts, "index": list(range(len(self.prompts)))}),
            reward_funcs=self.pay,
            rollout_func=self.roll_out,
            callbacks=[self],
        )
        trainer.remove_callback(PrinterCallback)  # the session's own log tells each step
        return trainer

    def roll_out(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """Samples the groups; TRL hands each prompt over once for each completion it wants. No sampling log-probabilities: on-policy."""
        group = self.settings.completions_per_board
        boards = prompts[::group]
        ids = [self.policy.tokenizer(prompt)["input_ids"] for prompt in boards]
        trainer.model.eval()
        completions = sample(
            trainer.model,
            ids,
            [self.limits[prompt] for prompt in boards],
            [np.random.default_rng((self.seed, trainer.state.global_step, row)) for row in range(len(prompts))],
            temperature=self.settings.temperature,
            completions=group,
            pad=self.policy.tokenizer.pad_token_id,
            end=self.policy.tokenizer.eos_token_id,
        )
        trainer.model.train()
        return {"prompt_ids": [board for board in ids for _ in range(group)], "completion_ids": completions, "logprobs": None}

    def pay(self, prompts: list[str], completions: list[str], completion_ids: list[list[int]], index: list[int], **_: Any) -> list[float]:
        """The reward of each completion; keeps the step's figures and the first boards' completions on the way."""
        end = self.policy.tokenizer.eos_token_id
        judged = []
        self.rows = []
        for place, (text, ids, i) in enumerate(zip(completions, completion_ids, index, strict=True)):
            instance = self.instances[i]
            board, optimum = instance.board, instance.solution.makespan
            assert optimum is not None, "boards to train on are solved"
            finished = ids[-1] == end
            verdict = judge_answer(board, parse_plan(board, text, finished), optimum)
            paid = reward(board, verdict, optimum)
            judged.append({"size": board.size, "reward": paid, "valid": verdict.valid, "optimal": bool(verdict.optimal)})
            if place < RECORDED_BOARDS * self.settings.completions_per_board:
                self.rows.append(answer_row(instance, Completion(text, len(ids), finished)) | {"reward": paid})
        self.figures = step_figures(pd.DataFrame(judged), self.settings.completions_per_board)
        return [row["reward"] for row in judged]

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, float] | None = None, **_: Any
    ) -> None:
        if not logs or "reward" not in logs:  # the summary at the end of a stage
            return
        step = state.global_step - self.first_step
        names = {"entropy": "entropy", "length": "completions/mean_length", "learning_rate": "learning_rate", "grad_norm": "grad_norm"}
        trained = {name: float(logs[key]) for name, key in names.items() if key in logs}
        figures = {"step": step} | self.figures | trained | {"seconds": float(logs["step_time"])}
        self.report(figures, [row | {"training_step": step} for row in self.rows])

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.global_step >= state.max_steps:
            control.should_save = True
        elif self.stopping():
            control.should_save = control.should_training_stop = True


class TrimmedGRPOTrainer(GRPOTrainer):
    """TRL's trainer, scoring rows of similar length together.

    Plans of one step are 5 to 100 tokens long, and TRL pads all to the longest. For a small model on a CPU that padding is most of the
    work.
    """

    ROWS = 32

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor, logits_to_keep: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """As TRL's, with the padding around each chunk of rows cut off; values on padding are 0, which the loss masks anyway."""
        prompt_width = input_ids.size(1) - logits_to_keep
        prompts = attention_mask[:, :prompt_width].sum(1)
        completions = attention_mask[:, prompt_width:].sum(1)
        order = torch.argsort(prompts + completions, stable=True)
        scored: list[list[torch.Tensor]] = [[], []]
        for rows in order.split(self.ROWS):
            keep = int(completions[rows].max())
            columns = slice(prompt_width - int(prompts[rows].max()), prompt_width + keep)
            logps, entropies, _ = super()._get_per_token_logps_and_entropies(
                model, input_ids[rows, columns], attention_mask[rows, columns], keep, *args, **(kwargs | {"batch_size": None})
            )
            for kept, values in zip(scored, (logps, entropies), strict=True):
                if values is not None:
                    kept.append(pad(values, (0, logits_to_keep - keep)))
        back = torch.argsort(order)
        logps, entropies = (torch.cat(values)[back] if values else None for values in scored)
        assert logps is not None
        return logps, entropies, None


def step_figures(judged: pd.DataFrame, group: int) -> dict[str, float]:
    """Means over a step's completions, whole and by map size; ``mixed`` is the share of groups whose rewards differ, which alone teach."""
    groups = judged["reward"].to_numpy().reshape(-1, group)
    figures = {
        "reward": float(judged["reward"].mean()),
        "reward_std": float(groups.std(axis=1).mean()),
        "mixed": float((np.ptp(groups, axis=1) > 1e-9).mean()),
        "valid": float(judged["valid"].mean()),
        "optimal": float(judged["optimal"].mean()),
    }
    for size, rows in judged.groupby("size"):
        figures[f"valid_{size}"] = float(rows["valid"].mean())
        figures[f"optimal_{size}"] = float(rows["optimal"].mean())
    return figures
