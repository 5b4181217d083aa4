"""Warm start and GRPO step of a language model on a processor: as TRL does them, and with each saving switched on after the other.

    python -m benchmarks.processor_speed [--model FOLDER] [--examples 8] [--boards 2] [--plans 4] [--max-tokens 100]

Times are CPU seconds of this process on one thread, all of one run, so that a busy machine disturbs ratios little. The model is FOLDER, or
has random weights in the shape of SmolLM2-135M. All weights are trained. The first step counts only where it is the only one. A warm
start's row is reckoned for steps of 32 examples, from the seconds of an example and those of the optimizer's step.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from transformers import TrainerControl, TrainerState, TrainingArguments
from trl import GRPOTrainer, SFTTrainer

from benchmarks import gpu_stage
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.models.language import policy, writers
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import WarmStart
from frozenlab.models.training import warm_start
from frozenlab.models.training.runs import lean_grpo
from frozenlab.session.spec import SessionSpec

CONFIG = EnvironmentConfig.uniform((3, 4), agents=2)
BATCH = 32
Savings = dict[str, tuple[Any, str, Any] | dict[str, str]]
"""Saving -> where it is, its name there and what stands for it while it is off; or the settings of the model that it is."""
WARM_START: Savings = {
    "rows of like length": (warm_start, "by_length", lambda rows, step: list(rows)),
    "logits of learnt tokens": (warm_start, "LeanSFTTrainer", SFTTrainer),
    "AdamW instead of Muon": (warm_start, "WIDE", 10**6),
    "weights in bfloat16": {"dtype": "bfloat16"},
    "compact question": {"question": "compact"},
}
GRPO: Savings = {
    "LeanGRPOTrainer": (gpu_stage.Clocked, "TRAINER", GRPOTrainer),
    "prompts written after once": (writers, "shares_prompts", lambda model: False),
    "room for keys and values": (writers, "takes_room", lambda model: False),
    "keys and values read by groups of heads": (policy, "BY_GROUPS", "sdpa"),
    "prompts learnt from once, logits of answers": (lean_grpo, "shares_prompts", lambda model: False),
    "weights in bfloat16": {"dtype": "bfloat16"},
    "compact question": {"question": "compact"},
}


class Clock(warm_start.ProgressReport):
    """CPU seconds of each step and, in it, of the optimizer."""

    steps: list[float]
    optimizer: list[float]

    def __init__(self, on_progress: warm_start.Progress, *, keeps: bool) -> None:
        super().__init__(on_progress, keeps=keeps)
        type(self).steps, type(self).optimizer = [], []

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.steps.append(-time.process_time())

    def on_pre_optimizer_step(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.optimizer.append(-time.process_time())

    def on_optimizer_step(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.optimizer[-1] += time.process_time()
        self.steps[-1] += time.process_time()


def one_by_one(savings: Savings) -> Iterator[tuple[str, dict[str, str]]]:
    """The name of each saving and the model's settings, while it and those before it are switched on; first of all, none is."""
    for on, name in enumerate(("TRL", *savings)):
        with ExitStack() as off:
            settings = {"dtype": "float32"}
            for place, saving in enumerate(savings.values()):
                if isinstance(saving, dict):
                    settings |= saving if place < on else {}
                elif place >= on:
                    off.enter_context(patch.object(*saving))
            yield name, settings


def stage_of(options: argparse.Namespace, folder: str, settings: dict[str, str]) -> tuple[argparse.Namespace, SessionSpec]:
    """The stage as :mod:`benchmarks.gpu_stage` has it, and its session."""
    numbers = {"boards": options.boards, "plans": options.plans, "max-tokens": options.max_tokens}
    numbers |= {"rows": options.rows, "steps": options.steps}
    given = [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
    stage = gpu_stage.options_of([*given, "--full", "--checkpointing", "off"])
    spec = gpu_stage.spec_of(stage, folder, "transformers")
    assert spec.language is not None
    return stage, spec.changed(initial_config=CONFIG, language=spec.language.model_copy(update={"device": "cpu"} | settings))


def warm_start_step(options: argparse.Namespace, folder: str, settings: dict[str, str]) -> dict[str, float]:
    """Seconds of a step of BATCH examples."""
    _, spec = stage_of(options, folder, settings)
    assert spec.language is not None
    taught = HFPolicy.load(folder, spec.language, to_train=True)
    rows = list(warm_start.learnt(taught, generate(CONFIG, options.steps * options.examples, seed=1)))
    with patch.object(warm_start, "ProgressReport", Clock):
        warm_start.learn(taught, rows, WarmStart(examples=len(rows), batch=options.examples), seed=0)
    seconds, optimizer = (mean(clocked[1:] or clocked) for clocked in (Clock.steps, Clock.optimizer))
    example = (seconds - optimizer) / options.examples
    tokens = sum(len(row["input_ids"]) for row in rows) / len(rows)
    return {"step": BATCH * example + optimizer, "example": example, "optimizer": optimizer, "tokens": tokens}


def grpo_step(options: argparse.Namespace, folder: str, settings: dict[str, str]) -> dict[str, float]:
    """Seconds of a step."""
    stage, spec = stage_of(options, folder, settings)
    with patch.object(gpu_stage, "now", time.process_time):
        figures = gpu_stage.run_stage(spec, stage)
    return {name: figures[f"{name}, s"] for name in ("step", "writing", "learning")}


def table(title: str, savings: Savings, measure: Callable[[dict[str, str]], dict[str, float]]) -> None:
    print(f"\n{title}")
    first = last = 0.0
    for name, settings in one_by_one(savings):
        figures = measure(settings)
        first, last = first or figures["step"], last or figures["step"]
        parts = ", ".join(f"{part} {value:.2f}" for part, value in figures.items() if part != "step")
        print(
            f"{name:>45} {figures['step']:8.1f} s  {first / figures['step']:5.2f} x, this {last / figures['step']:.2f}  ({parts})",
            flush=True,
        )
        last = figures["step"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder; none: random weights in the shape of SmolLM2-135M")
    parser.add_argument("--shape", choices=gpu_stage.SHAPES, default="smollm2", help="of the random model")
    parser.add_argument("--examples", type=int, default=8, help="of a step of the warm start")
    parser.add_argument("--boards", type=int, default=2, help="of a step of GRPO")
    parser.add_argument("--plans", type=int, default=8, help="a board")
    parser.add_argument("--max-tokens", type=int, default=100, help="of an answer in GRPO; all of them have it if the model is random")
    parser.add_argument("--rows", type=int, default=8, help="texts that pass through the network together")
    parser.add_argument("--steps", type=int, default=2, help="of each variant")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        folder = options.model or made
        if not options.model:
            gpu_stage.build_model(gpu_stage.SHAPES[options.shape], Path(made), "float32")
        table(f"warm start, a step of {BATCH} examples", WARM_START, lambda settings: warm_start_step(options, folder, settings))
        table(
            f"GRPO, a step of {options.boards} boards x {options.plans} plans", GRPO, lambda settings: grpo_step(options, folder, settings)
        )


if __name__ == "__main__":
    main()
