"""The cost of a stage with a language model on this machine: tokens per second, seconds per step, memory; vLLM next to transformers.

    python -m benchmarks.gpu_stage [--shape Qwen/Qwen3-4B] [--steps 4] [--boards 16] [--plans 8] [--max-tokens 1024] [--mixed] [--full]
                                   [--teaching 0.5] [--trl] [--attention sdpa] [--checkpointing off] [--writers vllm vllm-fifths]

The model has the shape of the real one and random weights: nothing is downloaded. It never ends an answer, so every completion has the full
length, and a step costs the same whoever writes (with ``--mixed`` they differ in length, and only then can a step learn before the
longest has ended). It never solves a board either, so rewards are drawn: what it learns is nothing, but the
gradient is computed. A stage runs from its boards to its checkpoint, through the classes that a session uses, each writer in a process of
its own. The first step, in which memory is made ready, is not counted. Beside the measured memory stands what
:mod:`frozenlab.session.footprint` tells a user before the start. Two runs that differ in one option tell what it is worth.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, TrainerControl, TrainerState, TrainingArguments
from trl import GRPOTrainer

from frozenlab.base import seeds
from frozenlab.engineer.engineers.baselines import FixedEngineer
from frozenlab.jobs.machine import gpus
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.suites import SuiteSpec
from frozenlab.lake.words.answers import prompt
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import LanguageSettings, Lora, Vllm
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.runs.language_grpo import LanguageGRPORun
from frozenlab.models.training.stage_run import train_stage
from frozenlab.session.footprint import COMMON, GIB, Shape, checkpoints, footprint
from frozenlab.session.spec import SessionSpec

SHAPES = COMMON | {
    "smollm2-fifth": Shape(6, 576, 1536, 9, 3, 64, 9_830, True),
    "tiny": Shape(2, 64, 128, 2, 1, 32, 2048, True),
    "small": Shape(12, 256, 768, 4, 2, 64, 2048, True),
}
"""``smollm2-fifth`` has a fifth of the layers and words, so that parts keep their shares; ``tiny`` is for tests of benchmarks, ``small``
for that of the memory told before a session."""
CONFIG = EnvironmentConfig.uniform((4, 6, 8), agents=2, hole_ratio=0.2)
ENGINES: dict[str, dict[str, Any]] = {
    "vllm": {},
    "vllm-merged": {"merged": True},
    "vllm-fp8": {"cache": "fp8"},
    "vllm-merged-fp8": {"merged": True, "cache": "fp8"},
    "vllm-fifths": {"done": 0.8},
}
"""Writer -> settings of its engine."""
WRITERS = ("transformers", *ENGINES)


def build_model(shape: Shape, folder: Path, dtype: str) -> None:
    """Random weights in the shape, and a byte-level tokenizer that has seen questions about boards."""
    texts = [prompt(instance.board) for instance in generate(CONFIG, 30, seed=0)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1000, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>", pad_token="<|endoftext|>").save_pretrained(folder)
    config = Qwen3Config(
        num_hidden_layers=shape.layers, hidden_size=shape.hidden, intermediate_size=shape.intermediate, num_attention_heads=shape.heads,
        num_key_value_heads=shape.pairs, head_dim=shape.head, vocab_size=shape.vocabulary, tie_word_embeddings=shape.tied,
        max_position_embeddings=32_768, eos_token_id=0, pad_token_id=0, bos_token_id=None, dtype=dtype,
    )  # fmt: skip
    torch.manual_seed(seeds.derive(0, "gpu-stage/weights"))
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = Qwen3ForCausalLM(config).to(getattr(torch, dtype))
    model.save_pretrained(folder)


def mixed_lengths(n: int, longest: int, rng: np.random.Generator) -> list[int]:
    """Log-normal lengths as of a model that thinks: the longest is about four times the mean, and among them."""
    return [longest, *(longest / 4 * rng.lognormal(0, 0.7, n)).clip(2, longest).astype(int).tolist()[1:]]


def shortened(written: dict[str, Any], step: int) -> dict[str, Any]:
    """The answers cut to log-normal lengths, the longest whole: what is learnt from is then like the answers of a model that ends them."""
    ids = written["completion_ids"]
    lengths = mixed_lengths(len(ids), max(map(len, ids)), seeds.rng(0, "gpu-stage/lengths", step))
    cut = {
        name: written[name] and [row[:n] for row, n in zip(written[name], lengths, strict=True)] for name in ("completion_ids", "logprobs")
    }
    return written | cut


def end_early(engine: Any, longest: int) -> None:
    """Lets an engine's answers end at exponential lengths, the mean a quarter of the longest. What is left of one that is written in parts
    has the same distribution, so that it can be drawn anew."""
    add, drawn = engine.llm.llm_engine.add_request, seeds.rng(0, "gpu-stage/ends")

    def add_request(number: str, prompt: Any, asked: Any, *more: Any, **named: Any) -> Any:
        ended = asked.clone()
        ended.max_tokens = min(asked.max_tokens, 2 + int(drawn.exponential(longest / 4)))
        return add(number, prompt, ended, *more, **named)

    engine.llm.llm_engine.add_request = add_request


class Clocked(LanguageGRPORun):
    """A stage with a clock at its steps and at their writing, whose rewards are drawn."""

    options: argparse.Namespace

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.steps: list[dict[str, float]] = []

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        began = now()
        written = super().rollout(prompts, trainer)
        self.steps[-1] |= {"writing": now() - began, "written": sum(map(len, written["completion_ids"]))}
        if self.options.mixed and not self.policy.settings.vllm:
            written = shortened(written, trainer.state.global_step)
        self.steps[-1]["learned"] = sum(map(len, written["completion_ids"]))
        return written

    def reward_func(
        self, prompts: list[str], completions: list[str], completion_ids: list[list[int]], index: list[int], **_: Any
    ) -> list[float]:
        super().reward_func(prompts, completions, completion_ids, index)
        assert self.kept is not None
        rng, groups = seeds.rng(0, "gpu-stage/earned", self.kept.state.global_step), len(index) // self.settings.completions_per_board
        differ = np.arange(groups) < self.options.teaching * groups
        return np.where(differ[:, None], rng.random((groups, self.settings.completions_per_board)), 0.0).ravel().tolist()

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any) -> None:
        super().on_step_begin(args, state, control, **named)
        self.steps.append({"step": -now()})

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **named: Any) -> None:
        super().on_step_end(args, state, control, **named)
        self.steps[-1]["step"] += now()


class ClockedTRL(Clocked):
    """The same, learnt by TRL's own trainer."""

    TRAINER = GRPOTrainer

    def trainer(self, folder: Path) -> GRPOTrainer:
        trainer = super().trainer(folder)
        if self.policy.settings.vllm:
            as_if_vllm_wrote(trainer)
        return trainer


def as_if_vllm_wrote(trainer: GRPOTrainer) -> None:
    """TRL corrects for an engine's probabilities only where it knows of vLLM, and then wants to hand over the weights itself."""
    trainer.use_vllm, trainer.vllm_generation, trainer._last_loaded_step = True, SimpleNamespace(sync_weights=lambda: None), -1


def now() -> float:
    """Seconds, when all that was asked of the GPU is done."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def spec_of(options: argparse.Namespace, model: str, writer: str) -> SessionSpec:
    """The session of which the stage is the first."""
    cuda = torch.cuda.is_available()
    return SessionSpec(
        policy=model,
        language=LanguageSettings(
            dtype="bfloat16" if cuda else "float32",
            lora=None if options.full else Lora(),
            rows=options.rows,
            attention=options.attention,
            gradient_checkpointing={"auto": None, "on": True, "off": False}[options.checkpointing],
            max_tokens=options.max_tokens,
            context=2 * options.max_tokens + 2048,
            vllm=Vllm(memory=options.memory, sleep=cuda, **ENGINES[writer]) if writer in ENGINES else None,
        ),
        engineer=FixedEngineer(),  # nobody is asked
        stages=1,
        initial_config=CONFIG,
        training=TrainingSettings(
            steps=options.steps, boards_per_step=options.boards, completions_per_board=options.plans, temperature=1.0
        ),
        suite=SuiteSpec(agents=(2,), sizes=(4,), boards_per_cell=5),
    )


def run_stage(spec: SessionSpec, options: argparse.Namespace) -> dict[str, Any]:
    """One stage, start to checkpoint: seconds of the whole and of a step, tokens a second, how the writer's probabilities agree with the
    network's, and the most memory that was taken."""
    language, training = spec.language, spec.training
    assert language is not None and isinstance(spec.initial_config, EnvironmentConfig)
    began = now()
    policy = HFPolicy.load(spec.policy, language, to_train=True)
    run = (ClockedTRL if options.trl else Clocked)(policy, training, stages=1, seed=0)
    run.options, run.checkpoints = options, checkpoints(spec)
    kls = []
    loaded = psutil.Process().memory_info().rss
    boards = generate(spec.initial_config, training.steps * training.boards_per_step, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        run.start_engine()
        if options.mixed and language.vllm:
            end_early(policy.writer, options.max_tokens)
        ready = now()
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
        train_stage(
            run, boards, stage=0, folder=Path(folder), previous=None, recorded=0, stopping=lambda: False,
            report=lambda figures, *_: kls.append(figures.get("sampling_kl")),
        )  # fmt: skip
        whole = now() - ready
    counted = run.steps[1:] or run.steps
    mean = {name: sum(step[name] for step in counted) / len(counted) for name in ("step", "writing", "written", "learned")}
    cuda = torch.cuda.is_available()
    free, total = torch.cuda.mem_get_info() if cuda else (0, 0)
    return {
        "start, s": ready - began,
        "stage, s": whole,
        "step, s": mean["step"],
        "writing, s": mean["writing"],
        "learning, s": mean["step"] - mean["writing"],
        "tokens/s written": mean["written"] / mean["writing"],
        "tokens/s learned": mean["learned"] / (mean["step"] - mean["writing"]),
        "sampling KL of the last step": kls[-1],
        "main memory that the stage added, GiB": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - loaded) / GIB,
        "peak memory in use, GiB": torch.cuda.max_memory_allocated() / GIB if cuda else None,
        "peak memory of torch with its cache, GiB": torch.cuda.max_memory_reserved() / GIB if cuda else None,
        "memory taken of the GPU, GiB": (total - free) / GIB if cuda else None,
    }


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="Qwen/Qwen3-4B")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--boards", type=int, default=16, help="a step")
    parser.add_argument("--plans", type=int, default=8, help="a board")
    parser.add_argument("--max-tokens", type=int, default=1024, help="of a completion; all of them have it")
    parser.add_argument("--mixed", action="store_true", help="answers of mixed lengths, the mean a quarter of the longest")
    parser.add_argument("--rows", type=int, default=8, help="completions that pass through the network together")
    parser.add_argument("--memory", type=float, help="part of the GPU's memory for vLLM (default: what the model leaves)")
    parser.add_argument("--full", action="store_true", help="train all weights instead of LoRA's")
    parser.add_argument("--writers", nargs="+", choices=WRITERS, default=WRITERS if find_spec("vllm") else WRITERS[:1])
    parser.add_argument("--teaching", type=float, default=1.0, help="share of the boards whose plans differ in reward")
    parser.add_argument("--trl", action="store_true", help="learn by TRL's own trainer instead of the lean one")
    parser.add_argument("--attention", choices=("auto", "sdpa", "flash_attention_2"), default="auto")
    parser.add_argument("--checkpointing", choices=("auto", "on", "off"), default="auto", help="save memory: the forward pass twice")
    parser.add_argument("--model", help=argparse.SUPPRESS)  # one writer, in the process that was started for it
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(arguments)
    if options.model:
        [writer] = options.writers
        print(json.dumps(run_stage(spec_of(options, options.model, writer), options)), flush=True)
        return 0
    shape = SHAPES[options.shape]
    device = gpus()[0].name if torch.cuda.is_available() and gpus() else "the processor"
    step = f"{options.boards} boards x {options.plans} plans of {options.max_tokens} tokens"
    print(f"{options.shape}, {shape.parameters / 1e9:.2f} billion weights, {'all' if options.full else 'LoRA'}, {step} a step, on {device}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        build_model(shape, Path(folder), "bfloat16" if torch.cuda.is_available() else "float32")
        for writer in options.writers:
            given = list(arguments if arguments is not None else sys.argv[1:])
            command = [sys.executable, "-m", "benchmarks.gpu_stage", *given, "--writers", writer, "--model", folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            failed += done.returncode != 0
            print(f"\n{writer}" + (" failed" if done.returncode else ""))
            if not done.returncode:
                estimated = footprint(spec_of(options, folder, writer), shape, gpus()[0] if gpus() else None)
                figures = json.loads(done.stdout.strip().splitlines()[-1]) | {"estimated before the start, GiB": estimated.total / GIB}
                for name, value in figures.items():
                    print(f"{name:>40}  " + ("-" if value is None else f"{value:,.2f}"))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
