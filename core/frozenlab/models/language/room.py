"""The memory that writing may take, of a vLLM engine beside the model in training and of the transformers library. Light: estimates use it
before anything is loaded."""

from __future__ import annotations

import re

from frozenlab.jobs.machine import fast_bfloat16, gpus, memory
from frozenlab.models.settings import LanguageSettings

TOKENS_TOGETHER, ROWS_TOGETHER = 65_536, 64
"""Of answers that transformers writes at a time: 10 GB of keys and values for a model of the size of Qwen3-4B."""
BESIDE_ANSWERS = 1024
"""Tokens of a prompt, where the limit of main memory is reckoned."""
LIBRARIES = 3 * 2**30
"""Bytes of CUDA, its libraries and what torch keeps at hand; an estimate."""
AWAKE_BESIDE_TRAINING = 0.3
"""Share of an engine that does not sleep: it shares the card with the activations of training."""
MOST = 0.9
STEP = 0.05
"""Shares are rounded down to steps of it."""


def about_tokens(text: str) -> int:
    """About how many tokens a text has: words, marks and ends of lines, as tokenizers cut plain text.

    Example:
        >>> about_tokens("S . H\\n  agent 0: R W")
        9
    """
    return len(re.findall(r"\w+|[^\w\s]|\n", text))


def on_processor(settings: LanguageSettings) -> bool:
    """Whether a model runs on the processor of this machine."""
    return settings.device == "cpu" or not gpus()


def number_format(settings: LanguageSettings) -> str:
    """The number format in which a model computes on this machine: ``bfloat16``, ``float16`` or ``float32``."""
    if settings.dtype != "auto":
        return settings.dtype
    if on_processor(settings):
        return "bfloat16" if fast_bfloat16() else "float32"
    return "bfloat16" if all(gpu.bfloat16 for gpu in gpus()) else "float16"


def rows_together(limit: int, cache: int, *, processor: bool) -> int:
    """How many texts of up to ``limit`` tokens the transformers library writes at a time. On a processor their keys and values, ``cache``
    bytes a token, take at most a quarter of its memory: of all of it, so that a session goes on with the same draws."""
    most = min(ROWS_TOGETHER, TOKENS_TOGETHER // limit)
    if processor:
        most = min(most, memory().total // 4 // (cache * (limit + BESIDE_ANSWERS)))
    return max(1, most)


def engine_share(card: int, resident: int, *, sleeps: bool) -> float:
    """The part of a GPU that the engine may take.

    Args:
        card: bytes of the GPU.
        resident: bytes that stay while the engine writes: weights, adapters and their optimizer.
        sleeps: whether the engine gives its memory back while the model learns.

    Example:
        >>> engine_share(141 * 2**30, 9 * 2**30, sleeps=True), engine_share(24 * 2**30, 5 * 2**30, sleeps=True)
        (0.9, 0.65)
    """
    if not sleeps:
        return AWAKE_BESIDE_TRAINING
    return min(MOST, max(AWAKE_BESIDE_TRAINING, int((card - resident - LIBRARIES) / card / STEP) * STEP))
