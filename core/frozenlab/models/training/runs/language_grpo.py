"""GRPO for Hugging Face language models, on one GPU or on several: the policy's writer writes, TRL's trainer learns."""

from __future__ import annotations

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
from frozenlab.models.folders import note_question
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.policy import Sampling
from frozenlab.models.training.optimizers import step_in_float32
from frozenlab.models.training.runs.grpo import GRPORun, group_figures
from frozenlab.models.training.runs.lean_grpo import LeanGRPOTrainer
from frozenlab.models.training.stage_run import CHECKPOINT_EVERY, Stage
from frozenlab.models.training.stage_settings import StageSettings

MARGIN = 5
"""The last part of the longest answer in which a penalty grows: a fifth."""


class LanguageGRPORun(GRPORun):
    """All stages of a session with one trainer. The writer that validates and engineers writes the plans to learn from too."""

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
        self.checkpoints = policy.settings.gradient_checkpointing is not False
        """Whether less of the forward pass is kept and computed again (:func:`frozenlab.session.footprint.checkpoints`)."""

    def begin(self, stage: Stage) -> None:
        """Processes that learn together stop together: at the first step before which any was asked to."""
        super().begin(replace(stage, stopping=lambda: any(gather_object([stage.stopping()]))))

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
        asked = list(map(self.policy.asked_ids, prompts))
        draw = seeds.derive(self.seed, "training/texts", trainer.state.global_step, PartialState().process_index)
        self.policy.writer.refresh()
        written = self.policy.write(asked, limit=self.policy.settings.max_tokens, sampling=Sampling(self.settings.temperature, seed=draw))
        logprobs = [text.logprobs for text in written]
        given = {"env_mask": [text.own or [1] * len(text.ids) for text in written]} if any(text.own for text in written) else {}
        ids = [text.ids for text in written]
        return {"prompt_ids": asked, "completion_ids": ids, "logprobs": logprobs if all(logprobs) else None, **given}

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if PartialState().is_main_process:
            note_question(Path(str(args.output_dir)) / f"checkpoint-{state.global_step}", self.policy.settings.question)
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
        return group_figures(*(judged[name].to_numpy().reshape(-1, group) for name in ("reward", "valid")))
