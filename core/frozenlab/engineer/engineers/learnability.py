"""The ``learnability`` engineer: shares by p(1-p), sampling for learnability (SFL, Rutherford et al. 2024, "No Regrets").

p is the valid rate of a map size's sampled training plans. p(1-p) is the variance of success, the largest where half of the plans succeed:
GRPO learns from groups that mix success and failure, and a size that always or never succeeds gives it none. SFL trains on the tasks of
highest p(1-p); here the shares are proportional to it, because a config has a few sizes instead of thousands of levels. The ratios stay.
"""

from __future__ import annotations

from typing import Literal

from frozenlab.base.cells import Config
from frozenlab.engineer.curriculum import by_shares, in_proportion
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal

UNKNOWN = 0.5
"""The valid rate that stands for a size without samples: it is worth trying."""


class LearnabilityEngineer(Scripted):
    kind: Literal["learnability"] = "learnability"
    label = "more boards where success and failure mix"
    help = (
        "Shares follow p(1-p), p being the valid rate of a size's sampled plans: sizes that always or never succeed teach little. The "
        "ratios stay. A curriculum without a language model (SFL)."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without the section ``behaviour``, or if no size mixes success and failure, every size counts the same."""
        lines = {name: context.evidence("behaviour", name) for name in context.names}
        rates = {name: line.numbers["valid"] if line else UNKNOWN for name, line in lines.items()}
        learnability = {name: p * (1 - p) for name, p in rates.items()}
        best = max(learnability, key=learnability.__getitem__)
        most = f"most to {context.words[best]}, where {rates[best]:.0%} of sampled plans are valid"
        summary = f"Boards go to where success and failure mix: {most}."
        if not learnability[best]:
            summary = "No size mixes success and failure, so each gets as many boards."
        return by_shares(context, config, in_proportion(learnability), summary)
