"""Signs in the log of a stage that a language model's training goes wrong, and what helps."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

STEPS = 10
"""The last steps of a stage, whose mean is looked at."""


@dataclass(frozen=True)
class Sign:
    """One figure of a step that should stay between two bounds."""

    figure: str
    least: float
    most: float
    words: str
    """What a value outside means and what helps, with the value for ``{}``."""


SIGNS = (
    Sign(
        "clipped",
        0.0,
        0.8,
        "{:.0%} of the answers are cut off before they end, so they earn nothing. Let them be longer (max_tokens), or begin with smaller "
        "boards or a warm start.",
    ),
    Sign(
        "sampling_ratio",
        0.9,
        1.1,
        "Engine and trainer disagree about the probability of a token: their mean ratio is {:.2f} and should be 1. They do not hold the "
        "same weights, or round too differently; try dtype float32 on a small model, or report it.",
    ),
    Sign(
        "mixed",
        0.1,
        1.0,
        "In only {:.0%} of the groups the answers differ in reward, and the others teach nothing. The boards are too hard or too easy: "
        "change the config, ask for more plans a board, or begin with a warm start.",
    ),
)


def signs(metrics: pd.DataFrame) -> list[str]:
    """What looks wrong in the last steps of a stage, a paragraph each; nothing before there are enough steps to tell."""
    if len(metrics) < STEPS:
        return []
    last = metrics.tail(STEPS)
    means = {sign: float(last[sign.figure].mean()) for sign in SIGNS if sign.figure in last and last[sign.figure].notna().all()}
    return [sign.words.format(mean) for sign, mean in means.items() if not sign.least <= mean <= sign.most]
