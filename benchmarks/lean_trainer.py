"""What a step of GRPO costs a language model with TRL's trainer and with ours, on answers of very different lengths.

    python -m benchmarks.lean_trainer [--steps 10] [--boards 8] [--plans 8] [--longest 512] [--mixed 0.5]

Both train the same small model from the same weights, on the same answers, with the same corrections for what an engine's probabilities are
off, one after the other on one thread. Answers are random tokens; their lengths are log-normal, so that the longest is about
four times the mean, as with a model that thinks. In ``--mixed`` of the groups the rewards differ, in the others all are equal. Printed are
the tokens that passed the network, CPU seconds (writing is not counted), and the largest difference of any weight at the end. Both go down
the plain gradient, so that weights differ as gradients do: Adam makes a whole step of a gradient that is nothing but rounding.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from datasets import Dataset
from transformers import AutoTokenizer, PrinterCallback, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from benchmarks.gpu_stage import as_if_vllm_wrote, build_model, mixed_lengths
from frozenlab.base import seeds
from frozenlab.models.training.runs.lean_grpo import LeanGRPOTrainer
from frozenlab.session.footprint import Shape

SHAPE = Shape(2, 128, 384, 4, 2, 32, 2048, True)
PROMPT = "Which moves?"
LARGEST_WEIGHT = 2.0


@dataclass(frozen=True)
class Made:
    """The steps that are trained."""

    boards: int = 4
    plans: int = 4
    steps: int = 2
    rows: int = 2
    """Answers that pass the network together."""
    longest: int = 24
    mixed: float = 0.5
    """Of the groups: those in which rewards differ."""
    loss: str = "dapo"
    off: float = 0.02
    """How far the engine's log-probabilities are from the network's, at every third token."""

    def answers(self, step: int) -> list[list[int]]:
        rng = seeds.rng(0, "lean-trainer/answers", step)
        lengths = mixed_lengths(self.boards * self.plans, self.longest, rng)
        return [rng.integers(5, 900, length).tolist() for length in lengths]

    def rewards(self, step: int) -> list[float]:
        rng = seeds.rng(0, "lean-trainer/rewards", step)
        mixed = rng.random(self.boards) < self.mixed
        mixed[0] = True
        return [float(rng.random() if teaches else 0.0) for teaches in mixed for _ in range(self.plans)]


@dataclass
class Side:
    """One trainer, its model and what it has cost."""

    model: Qwen3ForCausalLM
    trainer: GRPOTrainer | None = None
    tokens: int = 0
    seconds: float = 0.0
    counting: bool = True
    figures: dict[str, float] = field(default_factory=dict)


def run(which: str, made: Made, folder: Path) -> Side:
    """Trains all the steps by TRL's trainer (``trl``) or ours (``lean``)."""
    folder.mkdir(parents=True)
    build_model(SHAPE, folder, "float32")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    side = Side(Qwen3ForCausalLM.from_pretrained(folder))
    passes = made.boards * made.plans // made.rows

    def rollout(prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """The step's answers, with the probabilities of an engine that is a little off."""
        began = time.process_time()
        side.counting = False
        asked, answers = tokenizer(prompts)["input_ids"], made.answers(trainer.state.global_step)
        logprobs = []
        for prompt, answer in zip(asked, answers, strict=True):
            with torch.no_grad():
                logits = side.model(input_ids=torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1]
            own = logits.log_softmax(-1)[torch.arange(len(answer)), torch.tensor(answer)]
            own[::3] += made.off
            logprobs.append(own.tolist())
        side.counting = True
        side.seconds -= time.process_time() - began
        return {"prompt_ids": asked, "completion_ids": answers, "logprobs": logprobs}

    config = GRPOConfig(
        output_dir=str(folder / "out"), max_steps=made.steps,
        optim="sgd", learning_rate=0.1, lr_scheduler_type="constant", loss_type=made.loss,
        per_device_train_batch_size=made.rows, gradient_accumulation_steps=passes, steps_per_generation=passes, num_generations=made.plans,
        max_completion_length=made.longest, beta=0.0, bf16=False, gradient_checkpointing=False, use_cpu=True, save_strategy="no",
        report_to="none", disable_tqdm=True, logging_steps=1, shuffle_dataset=False, vllm_importance_sampling_mode="token_truncate",
        vllm_importance_sampling_clip_max=LARGEST_WEIGHT,
    )  # fmt: skip
    kind = LeanGRPOTrainer if which == "lean" else GRPOTrainer
    trainer: GRPOTrainer = kind(
        model=side.model, processing_class=tokenizer, args=config, rollout_func=rollout,
        train_dataset=Dataset.from_dict({"prompt": [PROMPT + " Now?" * (board % 3) for board in range(made.boards * made.steps)]}),
        reward_funcs=lambda prompts, **_: made.rewards(trainer.state.global_step),
    )  # fmt: skip
    if isinstance(trainer, LeanGRPOTrainer):
        trainer.largest_weight = LARGEST_WEIGHT
    else:
        as_if_vllm_wrote(trainer)
    side.model.register_forward_pre_hook(lambda _, args, kwargs: count(side, kwargs), with_kwargs=True)
    began = time.process_time()
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    side.seconds += time.process_time() - began
    last = [entry for entry in trainer.state.log_history if "grad_norm" in entry][-1]
    side.figures = {
        "grad_norm": last["grad_norm"],
        "importance_sampling_ratio": last["sampling/importance_sampling_ratio/mean"],
    }
    return side


def count(side: Side, given: dict[str, Any]) -> None:
    if side.counting:
        side.tokens += given["input_ids"].numel()


def compare(first: Side, second: Side) -> float:
    """The largest difference of any weight."""
    pairs = zip(first.model.parameters(), second.model.parameters(), strict=True)
    return max(float((one - other).detach().abs().max()) for one, other in pairs)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--boards", type=int, default=8, help="a step")
    parser.add_argument("--plans", type=int, default=8, help="a board")
    parser.add_argument("--rows", type=int, default=4, help="answers that pass the network together")
    parser.add_argument("--longest", type=int, default=512, help="tokens of the longest answer")
    parser.add_argument("--mixed", type=float, nargs="+", default=[1.0, 0.5], help="share of groups in which rewards differ")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for mixed in options.mixed:
        made = Made(options.boards, options.plans, options.steps, options.rows, options.longest, mixed)
        trl, lean = both(made)
        print(f"rewards differ in {mixed:.0%} of the groups, {made.steps} steps of {made.boards} x {made.plans} answers")
        for name, side in (("TRL", trl), ("lean", lean)):
            print(f"  {name:<5} {side.tokens:>10,} tokens {side.seconds:8.1f} CPU s")
        print(f"  ratio {lean.tokens / trl.tokens:>10.2f} {lean.seconds / trl.seconds:>15.2f}")
        print(f"  largest difference of a weight {compare(trl, lean):.1e}\n", flush=True)


def both(made: Made) -> tuple[Side, Side]:
    with tempfile.TemporaryDirectory() as folder:
        return run("trl", made, Path(folder) / "trl"), run("lean", made, Path(folder) / "lean")


if __name__ == "__main__":
    main()
