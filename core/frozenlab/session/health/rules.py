"""What goes wrong in training, as data: a figure of the steps, its bounds, what a value outside of them means and what helps.

The bounds were set on 664 stages of real sessions, those that are recorded and those of studies. The farthest that any of these went
stands beside each rule; the only alarm among them is that six stages were slower, which ran beside other work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator

STEPS = 10
"""The last steps of a stage, whose mean has to be within bounds."""
NEW, OLD = 5, 3
"""The last steps of a stage, whose median is compared with that of so many steps before."""


@dataclass(frozen=True)
class Bounds:
    """The mean of a figure over the last steps should stay between two bounds."""

    name: str
    figure: str
    least: float
    most: float
    evidence: str
    """What is seen, with the value for ``{}``."""
    helps: str


@dataclass(frozen=True)
class Change:
    """A figure should not fall below a part of its highest value in the stage, or rise to a multiple of its lowest."""

    name: str
    figure: str
    kind: Literal["fall", "rise"]
    factor: float
    floor: float
    """The value before has to be above it: of little, a part is soon lost by chance."""
    evidence: str
    """What is seen, with the value before for ``{0}`` and the present one for ``{1}``."""
    helps: str


HELPS_UNLIKE = "They do not hold the same weights, or round too differently; try dtype float32 on a small model, or report it."
BOUNDS = (
    Bounds(
        "cut-off",
        "clipped",
        0.0,
        0.8,
        "{percent} of the answers are cut off before they end, so they earn nothing.",
        "Let them be longer (max_tokens), or begin with smaller boards or a warm start.",
    ),
    Bounds(
        "unlike-weights",
        "sampling_kl",
        -0.05,
        0.05,
        "Engine and trainer disagree about the probability of a token: their divergence (KL) is {:.2f} nats and should be 0.",
        HELPS_UNLIKE,
    ),
    Bounds(
        "cut-weights",
        "sampling_cut",
        0.0,
        0.02,
        "Trainer and engine disagree: {percent} of the tokens are so much likelier for the trainer that their weight is cut.",
        HELPS_UNLIKE,
    ),
    Bounds(
        "nothing-to-learn",
        "mixed",
        0.1,  # the least was 0.43
        1.0,
        "In only {percent} of the groups the answers differ in reward, and the others teach nothing.",
        "The boards are too hard or too easy, or the plans are drawn too cold: change the config, raise the temperature, ask for more "
        "plans per board, or begin with a warm start.",
    ),
    Bounds(
        "too-hard",
        "valid",
        0.02,  # the least was 0.04
        1.0,
        "Only {percent} of the sampled plans are valid.",
        "The boards are too hard for this model: give it smaller maps or fewer agents first, or begin with a warm start.",
    ),
)
CHANGES = (
    Change(
        "reward-collapse",
        "reward",
        "fall",
        0.4,  # the least was 0.55
        0.1,
        "The reward fell from {0:.2f} to {1:.2f} on boards of one config.",
        "The learning rate is probably too high: stop, and begin again with a third of it.",
    ),
    Change(
        "entropy-collapse",
        "entropy",
        "fall",
        0.2,  # the least was 0.33
        0.02,
        "The entropy of a token fell from {0:.3f} to {1:.3f}: the plans of a board are hardly different from each other any more.",
        "Lower the learning rate or raise the temperature.",
    ),
    Change(
        "entropy-blow-up",
        "entropy",
        "rise",
        4.0,  # the most was 2.1
        0.02,
        "The entropy of a token rose from {0:.3f} to {1:.3f}: the model is losing what it knew.",
        "The learning rate is probably too high: stop, and begin again with a third of it.",
    ),
    Change(
        "longer-answers",
        "length",
        "rise",
        3.0,  # the most was 2.1
        0.0,
        "An answer takes {1:.0f} tokens, after {0:.0f} at its shortest.",
        "Look at some answers on this page: if they repeat themselves, lower the learning rate or the largest length.",
    ),
    Change(
        "slower",
        "seconds_a_token",
        "rise",
        4.0,
        0.0,
        "A step takes {1:.2g} s for each token of an answer, after {0:.2g} s at its fastest.",
        "Something else is using this machine, or it is short of memory.",
    ),
)

NOT_FINITE = "not-finite"
ALWAYS_FINITE = ("reward", "entropy", "grad_norm")
"""Figures that every step has, if its method has them at all."""
HELPS_NOT_FINITE = "Nothing can be learnt any more: begin again, or fork before this stage, with a third of the learning rate."
WORSE, FORGOTTEN = "worse-than-before", "forgotten"
"""Falls of the valid rate on the same held-out boards: on all of them, or on those of a cell."""
HELPS_WORSE = (
    "Fork the session before this stage with a lower learning rate or with other boards; the Story shows which boards were solved before."
)
HELPS_FORGOTTEN = "Give these boards a share of the next stage's config."
STRICT = 3.3
"""Standard errors that a fall on the same boards must measure before it counts: p < 0.001, because many are looked at."""
FEWEST = 20
"""Held-out boards of a cell below which its fall is not looked at: on fewer, the standard error says little."""

NAMES = (*(rule.name for rule in (*BOUNDS, *CHANGES)), NOT_FINITE, WORSE, FORGOTTEN)
"""Rules that look at what is learnt; others look at the worker and its machine."""


def known(name: str) -> str:
    """Raises ValueError if there is no rule of this name that could stop a session."""
    if name not in NAMES:
        raise ValueError(f"there is no rule {name!r}; there is {', '.join(NAMES)}")
    return name


RuleName = Annotated[str, AfterValidator(known)]
