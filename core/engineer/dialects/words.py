"""Words of the lab dialect that the prompt's sections and the proposal share."""

from __future__ import annotations

from frozenlab.tasks.lake.dialects import vocabulary as v

KNOB_WORDS: dict[str, str] = {"share": "share", "hole_ratio": "hole", "wait_ratio": "wait"}
"""Knob -> the sized word that names its value."""


def signed(change: float) -> list[str]:
    """``+0.05`` -> ``["+", "5%"]``."""
    size = v.percent_word(abs(change))
    return ["-" if change < 0 and size != v.PERCENTS[0] else "+", size]
