"""The memory that writing may take, of a vLLM engine beside the model in training and of the transformers library. Light: estimates use it
before anything is loaded."""

from __future__ import annotations

import re

TOKENS_TOGETHER = 65_536
"""That transformers keeps the keys and values of at a time: 10 GB for a model of the size of Qwen3-4B."""
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
