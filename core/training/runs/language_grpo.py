"""GRPO for Hugging Face language models: TRL's trainer as it is, which writes by itself or through vLLM, on one GPU or on several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import torch
from accelerate import PartialState
from accelerate.utils import gather_object
from datasets import Dataset
from trl import GRPOTrainer

from frozenlab.policy.language.policy import HFPolicy, user
from frozenlab.policy.language.writers import VllmWriter
from frozenlab.policy.settings import LanguageSettings
from frozenlab.tasks.task import Task
from frozenlab.training.runs.grpo import GRPORun
from frozenlab.training.stage_run import CHECKPOINT_EVERY, Stage
from frozenlab.training.stage_settings import StageSettings


class LanguageGRPORun(GRPORun):
    """All stages of a session with one trainer, so that its vLLM engine is built once; validation and engineer are served by it too."""

    FIGURES: ClassVar[dict[str, str]] = GRPORun.FIGURES | {
        "clipped": "completions/clipped_ratio",
        "sampling_ratio": "sampling/importance_sampling_ratio/mean",
        "sampling_difference": "sampling/sampling_logp_difference/mean",
    }
    policy: HFPolicy

    def __init__(self, policy: HFPolicy, settings: StageSettings, *, stages: int, seed: int) -> None:
        super().__init__(policy, settings, stages=stages, seed=seed)
        self.kept: GRPOTrainer | None = None

    def begin(self, stage: Stage) -> None:
        """Processes that learn together stop together: at the first step before which any was asked to."""
        super().begin(replace(stage, stopping=lambda: any(gather_object([stage.stopping()]))))

    def start_engine(self, tasks: Sequence[Task], folder: Path) -> None:
        """Builds the trainer ahead of the first stage where it brings a vLLM engine, and lets the policy write with that.

        ``tasks`` stand in for those of a stage, which are not drawn yet.
        """
        if self.policy.settings.vllm:
            self.begin(Stage(tasks))
            self.policy.writer = VllmWriter(self.trainer(folder).vllm_generation)

    def trainer(self, folder: Path) -> GRPOTrainer:
        if self.kept is None:
            self.kept = self.attach(GRPOTrainer(**self.task(folder)))
            if self.kept.args.device.type == "cpu":  # of several processes each calls it cpu:0, to which torch can load no optimizer
                vars(self.kept.args)["_setup_devices"] = torch.device("cpu")
        self.kept.train_dataset, self.kept.args.output_dir = self.dataset(), str(folder)
        return self.kept

    def arguments(self, folder: Path) -> dict[str, Any]:
        settings = self.policy.settings
        plans = self.settings.boards_per_step * self.settings.completions_per_board
        passes = plans // (settings.rows * PartialState().num_processes)
        return super().arguments(folder) | {
            "per_device_train_batch_size": settings.rows,
            "gradient_accumulation_steps": passes,
            "steps_per_generation": passes,
            "max_completion_length": settings.max_tokens,
            "save_steps": 1 if settings.lora else CHECKPOINT_EVERY,  # adapters are small, and a step may take minutes
            "bf16": settings.dtype == "bfloat16",
            "gradient_checkpointing": settings.gradient_checkpointing,
            "chat_template_kwargs": {"enable_thinking": settings.thinking},
            **vllm_arguments(settings),
        }

    def dataset(self) -> Dataset:
        chats = self.policy.tokenizer.chat_template is not None
        prompts = [[user(prompt)] if chats else f"{prompt}\n\n" for prompt in self.prompts]
        return Dataset.from_dict({"prompt": prompts, "index": list(range(len(prompts)))})

    def everywhere(self, judged: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(gather_object(judged.to_dict("records")))


def vllm_arguments(settings: LanguageSettings) -> dict[str, Any]:
    """How TRL is to reach its engine."""
    vllm = settings.vllm
    if vllm is None:
        return {}
    return {
        "use_vllm": True,
        "vllm_mode": vllm.mode,
        "vllm_server_base_url": vllm.url,
        "vllm_gpu_memory_utilization": vllm.memory,
        "vllm_enable_sleep_mode": vllm.sleep and torch.cuda.is_available(),
        "vllm_max_model_length": settings.context,
    }
