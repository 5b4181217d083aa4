"""The memory per GPU and the time that a language model's session needs, computed from the model's shape before anything is loaded.

The parts follow from what training keeps (weights, gradients, Adam's two moments; ZeRO's counting, Rajbhandari et al. 2020) and what
passes through it (activations, keys and values). They leave out the libraries' own memory: real use is some per cent higher. The time is
rougher, good to a factor of two or three: it assumes a fraction of a chip's published speed, see EFFICIENCY.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec

from frozenlab.engineer.engineers import BaseEngineer
from frozenlab.engineer.own_model import ModelEngineer
from frozenlab.loop.gpus import SPEEDS, Gpu, gpus
from frozenlab.loop.model_shape import Shape, shape_of
from frozenlab.loop.spec import SessionSpec
from frozenlab.policy.folders import on_hub

GIB = 2**30
LARGEST_WITHOUT_GPU = GIB
"""Largest session, in bytes, that is reasonable to train on a processor."""
BF16, FLOAT32 = 2, 4
"""Bytes of a number."""
LOGIT_TOKENS = 1024
"""Number of tokens with logits in memory at a time: the network's head is applied in pieces."""
SEQUENCES = 8
"""Fewest answers of the longest length that vLLM must hold at a time to be worth its memory."""
EFFICIENCY, BANDWIDTH_EFFICIENCY = 0.35, 0.6
"""Fractions of a chip's published compute and memory speed that training and writing reach."""


@dataclass(frozen=True)
class Footprint:
    """Bytes on each GPU, by purpose, and the work of a step on it."""

    parts: dict[str, int]
    step_operations: float
    """Floating-point operations of learning from a step's plans."""
    step_reads: float
    """Bytes that writing a step's plans reads from memory, if each has half the longest length."""

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    def step_seconds(self, gpu: Gpu) -> float | None:
        """Rough seconds per step on this GPU; None if SPEEDS does not list it."""
        speed = next((published for word, published in SPEEDS.items() if word in gpu.name), None)
        if speed is None:
            return None
        return self.step_operations / (EFFICIENCY * speed[0]) + self.step_reads / (BANDWIDTH_EFFICIENCY * speed[1])


def footprint(spec: SessionSpec, shape: Shape) -> Footprint:
    """The footprint of the spec's session on each of its GPUs."""
    language, training = spec.language, spec.training
    assert language is not None, "a lab model runs on any machine"
    plans = training.boards_per_step * training.completions_per_board // language.launcher.processes
    prompt = prompt_tokens(spec)
    longest = prompt + language.max_tokens
    computed = BF16 if language.dtype == "bfloat16" else FLOAT32
    n = shape.parameters
    cache = shape.cache * computed
    if language.lora is not None:
        trained = shape.adapters(language.lora)
        parts = {"weights": n * computed, "adapters and their optimizer": trained * 4 * FLOAT32}
    else:
        trained = n
        copies = n * BF16 if computed == BF16 else 0  # autocast keeps them through a pass
        parts = {"weights": n * FLOAT32 + copies, "gradients and optimizer": n * 3 * FLOAT32}
        if isinstance(spec.engineer, BaseEngineer):
            parts["the model before training, as engineer"] = n * FLOAT32
    # What a token leaves in a layer: its input alone with checkpointing, else all that the backward pass needs.
    within = 8 * shape.hidden + 4 * shape.intermediate + 2 * (shape.heads + 2 * shape.pairs) * shape.head
    kept = shape.layers * shape.hidden + within if language.gradient_checkpointing else shape.layers * within
    logits = min(LOGIT_TOKENS, language.rows * language.max_tokens) * shape.vocabulary * 2 * FLOAT32
    parts["activations"] = language.rows * longest * kept * computed + logits
    proposal = spec.engineer.max_tokens if isinstance(spec.engineer, ModelEngineer) else 0
    engine = n * computed + SEQUENCES * max(longest, proposal * 2) * cache
    if language.vllm is None:
        parts["keys and values while it writes"] = plans * longest * cache
    elif language.vllm.mode == "colocate":
        # Asleep, it shares the room of the activations: the two are never wanted at once.
        parts["vLLM engine"] = max(0, engine - parts["activations"]) if language.vllm.sleep else engine
    passes = 3 if trained == n else 2  # with frozen weights, no gradients of theirs
    again = 1 if language.gradient_checkpointing else 0
    tokens = plans * (prompt + language.max_tokens / 2)
    waves = max(1.0, plans * longest * cache / (64 * GIB))
    reads = waves * language.max_tokens * n * computed + plans * (language.max_tokens / 2) * (prompt + language.max_tokens / 4) * cache
    return Footprint(parts, step_operations=2 * n * tokens * (passes + again), step_reads=reads)


def prompt_tokens(spec: SessionSpec) -> int:
    """About how many tokens the session's longest prompt about a task has: words and marks, as tokenizers cut plain text."""
    return len(re.findall(r"\w+|[^\w\s]", spec.tasks.longest_prompt(spec.initial_config)))


def shortfalls(spec: SessionSpec) -> list[str]:
    """What this machine lacks for a language model's session, as far as is known before the start; empty if nothing."""
    language = spec.language
    assert language is not None, "a lab model runs on any machine"
    lacking = []
    if language.vllm is not None and find_spec("vllm") is None:
        lacking.append('it lacks vLLM: pip install -e ".[gpu]" on a GPU machine, or let the transformers library write')
    if on_hub(spec.policy) and spec.policy.count("/") != 1:
        lacking.append(f"there is no folder {spec.policy}, and models on the hub are named like Qwen/Qwen3-4B")
    if language.device == "cpu":
        return lacking
    shape = shape_of(spec.policy, language.revision)
    needed = footprint(spec, shape).total if shape else 0
    processes, here = language.launcher.processes, gpus()
    if not here and needed > LARGEST_WITHOUT_GPU:
        lacking.append(f"it needs a GPU with at least {needed / GIB:.0f} GiB of memory, and there is none")
    elif here and len(here) < processes:
        lacking.append(f"its {processes} processes need a GPU each, and there {'is one' if len(here) == 1 else f'are {len(here)}'}")
    elif here and needed > min(gpu.memory for gpu in here):
        lacking.append(f"it needs a GPU with at least {needed / GIB:.0f} GiB of memory; {here[0].name} has {here[0].memory / GIB:.0f}")
    return lacking
