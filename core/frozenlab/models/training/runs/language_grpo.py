"""GRPO for Hugging Face language models, on one GPU or on several: the policy's writer writes, TRL's trainer learns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import torch
from accelerate import PartialState
from accelerate.utils import gather_object
from transformers import TrainerControl, TrainerState, TrainingArguments
from trl import GRPOTrainer

from frozenlab.base import seeds
from frozenlab.base.files import read_json, write_text
from frozenlab.models.folders import note_question
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.language.writers import Begun, Text
from frozenlab.models.policy import Sampling
from frozenlab.models.training.optimizers import step_in_float32
from frozenlab.models.training.runs.grpo import GRPORun, group_figures
from frozenlab.models.training.runs.lean_grpo import LeanGRPOTrainer
from frozenlab.models.training.stage_run import CHECKPOINT_EVERY, Stage
from frozenlab.models.training.stage_settings import StageSettings

MARGIN = 5
"""The last part of the longest answer in which a penalty grows: a fifth."""
BEGUN = "begun.json"
"""A checkpoint's file of the plans that are still being written: number of a board in its stage -> a list for each plan."""


class LanguageGRPORun(GRPORun):
    """All stages of a session with one trainer. The writer that validates and engineers writes the plans to learn from too.

    **Without waiting for the longest.** Where the engine's ``done`` is below 1, more boards are begun than a step learns from, and it
    learns from those whose plans are over first, the same number each time. The other plans go on in the next step by the weights of then;
    each token keeps the probability that it was drawn with, so its weight corrects for both (:mod:`..lean_grpo`). No plan is given up and
    each board is learnt from once, long answers later than short ones; the last step of a stage waits for all that is left.
    """

    FIGURES: ClassVar[dict[str, str]] = GRPORun.FIGURES | {
        "clipped": "completions/clipped_ratio",
        "sampling_kl": "sampling/kl",
        "sampling_cut": "sampling/cut",
        "sampling_ratio": "sampling/importance_sampling_ratio/mean",
        "sampling_difference": "sampling/sampling_logp_difference/mean",
    }
    TRAINER: ClassVar[type[GRPOTrainer]] = LeanGRPOTrainer
    policy: HFPolicy

    def __init__(self, policy: HFPolicy, settings: StageSettings, *, stages: int, seed: int) -> None:
        super().__init__(policy, settings, stages=stages, seed=seed)
        self.kept: GRPOTrainer | None = None
        self.late: dict[str, float] = {}
        self.checkpoints = policy.settings.gradient_checkpointing is not False
        """Whether less of the forward pass is kept and computed again (:func:`frozenlab.session.footprint.checkpoints`)."""

    def begin(self, stage: Stage) -> None:
        """Processes that learn together stop together: at the first step before which any was asked to."""
        self.begun: dict[int, list[Begun]] = {}
        tasks = [*stage.earlier, *stage.tasks] if self.ahead else stage.tasks  # plans about earlier ones may be under way
        super().begin(replace(stage, tasks=tasks, stopping=lambda: any(gather_object([stage.stopping()]))))

    @property
    def ahead(self) -> int:
        """How many boards more than a step learns from are begun."""
        vllm = self.policy.settings.vllm
        return max(1, round(self.settings.boards_per_step * (1 / vllm.done - 1))) if vllm and vllm.done < 1 else 0

    def start_engine(self, folder: Path | None = None) -> None:
        """Lets the policy write with vLLM, where the settings say so; ``folder`` is that of the session."""
        if self.policy.settings.vllm:
            from frozenlab.models.language.engines import engine_for  # with it comes vLLM

            self.policy.writer = engine_for(self.policy.model, self.policy.settings, folder)

    def trainer(self, folder: Path) -> GRPOTrainer:
        if self.kept is None:
            self.kept = self.attach(self.TRAINER(**self.task(folder), rollout_func=self.rollout))
            self.kept.largest_weight = vllm.largest_weight if (vllm := self.policy.settings.vllm) else None
            if self.kept.args.device.type == "cpu":  # of several processes each calls it cpu:0, to which torch can load no optimizer
                vars(self.kept.args)["_setup_devices"] = torch.device("cpu")
                step_in_float32(self.kept.create_optimizer())
        self.kept.train_dataset, self.kept.args.output_dir = self.dataset(), str(folder)
        return self.kept

    def arguments(self, folder: Path) -> dict[str, Any]:
        settings = self.policy.settings
        passes = self.settings.plans_per_step // (settings.rows * PartialState().num_processes)
        return super().arguments(folder) | {
            "per_device_train_batch_size": settings.rows,
            "gradient_accumulation_steps": passes,
            "steps_per_generation": passes,
            "max_completion_length": settings.max_tokens,
            "save_steps": 1 if settings.lora else CHECKPOINT_EVERY,  # adapters are small, and a step may take minutes
            **self.policy.autocast,
            "gradient_checkpointing": self.checkpoints,
            "mask_truncated_completions": self.settings.overlong == "masked",
        }

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        draw = seeds.derive(self.seed, "training/texts", trainer.state.global_step, PartialState().process_index)
        sampling = Sampling(self.settings.temperature, seed=draw)
        self.policy.writer.refresh()
        chosen: dict[str, Any] = {}
        if self.ahead:
            chosen["index"], asked, written = self.first_over(trainer.state.global_step - self.stage.first_step, sampling)
        else:
            asked = list(map(self.policy.asked_ids, prompts))
            written = self.policy.write(asked, limit=self.policy.settings.max_tokens, sampling=sampling)
        logprobs = [text.logprobs for text in written]
        if any(text.own for text in written):
            chosen["env_mask"] = [text.own or [1] * len(text.ids) for text in written]
        ids = [text.ids for text in written]
        return {"prompt_ids": asked, "completion_ids": ids, "logprobs": logprobs if all(logprobs) else None, **chosen}

    def first_over(self, step: int, sampling: Sampling) -> tuple[list[int], list[list[int]], list[Text]]:
        """The plans of a step of the stage, from 0, whose boards have all of them first: number of the board, prompt and text of each.
        TRL hands the number on to :meth:`reward_func` in place of that of the board whose turn it was."""
        group, boards, limit = self.settings.completions_per_board, self.settings.boards_per_step, self.policy.settings.max_tokens
        before, after = (min(n * boards + self.ahead, len(self.prompts)) if n else 0 for n in (step, step + 1))
        under_way = self.begun | {board: [Begun([], [])] * group for board in range(before, after)}
        engine: Any = self.policy.writer
        asked = {board: self.policy.asked_ids(self.prompts[board]) for board in under_way}
        plans = engine.go_on(
            [asked[board] for board in under_way for _ in range(group)],
            [plan for begun in under_way.values() for plan in begun],
            group=group,
            enough=boards,
            limit=self.policy.before_the_close(limit),
            sampling=sampling,
        )
        under_way = {board: plans[place * group :][:group] for place, board in enumerate(under_way)}
        over = [board for board, begun in under_way.items() if all(plan.over for plan in begun)][:boards]
        self.begun = {board: begun for board, begun in under_way.items() if board not in over}
        self.late = {"late": sum(board < before for board in over) / boards}
        prompts = [asked[board] for board in over for _ in range(group)]
        texts = [Text(plan.ids, plan.logprobs) for board in over for plan in under_way[board]]
        numbers = [board for board in over for _ in range(group)]
        return numbers, prompts, self.policy.with_close(prompts, texts, limit=limit, sampling=sampling)

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if (file := Path(str(args.output_dir)) / f"checkpoint-{state.global_step}" / BEGUN).is_file():
            self.begun = {int(board): [Begun(*plan) for plan in plans] for board, plans in read_json(file).items()}

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if PartialState().is_main_process:
            checkpoint = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
            note_question(checkpoint, self.policy.settings.question)
            if self.begun:
                write_text(checkpoint / BEGUN, json.dumps(self.begun))
        super().on_save(args, state, control)

    def penalty(self, tokens: int) -> float:
        """DAPO's soft punishment (Yu et al. 2025), as in TRL's ``get_soft_overlong_punishment``."""
        if self.settings.overlong != "penalised":
            return 0.0
        longest = self.policy.settings.max_tokens
        margin = max(1, longest // MARGIN)
        return min(1.0, max(0.0, (tokens - (longest - margin)) / margin))

    def everywhere(self, judged: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(gather_object(judged.to_dict("records")))

    def group_figures(self, judged: pd.DataFrame, group: int) -> dict[str, float]:
        """Groups that differ only in the small credit of invalid plans, of which a weak model has many, do not count as mixed."""
        return group_figures(*(judged[name].to_numpy().reshape(-1, group) for name in ("reward", "valid"))) | self.late
