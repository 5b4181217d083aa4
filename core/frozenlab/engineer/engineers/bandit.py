"""The ``bandit``: shares by learning progress, a curriculum without any language model (Teacher-Student Curriculum Learning, Matiisen et
al. 2017).

A map size is an arm. What it has paid is the absolute change of its sampled valid rate over the stage: a size that is getting better is
being learnt, and one that is getting worse is being forgotten, so both are worth boards, and one that stands still is either mastered or
out of reach. Every size keeps a part for exploring. The ratios stay as they are, for a bandit has no word for why a size is hard.
"""

from __future__ import annotations

from typing import Literal

from frozenlab.base.cells import Config
from frozenlab.engineer.curriculum import by_shares, in_proportion
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal

EXPLORED = 0.3
"""Part of the boards that all sizes share alike, whatever they have paid."""


class BanditEngineer(Scripted):
    kind: Literal["bandit"] = "bandit"
    label = "more boards where plans change most"
    who = "the bandit"
    help = (
        "Shares follow learning progress: how much the sampled valid rate of a size changed over the stage. The ratios stay. A curriculum "
        "without a language model."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without the section ``behaviour``, or where no size has moved, every size counts the same."""
        lines = {name: context.evidence("behaviour", name) for name in context.names}
        progress = {name: abs(line.numbers["delta"]) if line else 0.0 for name, line in lines.items()}
        alike = 1 / len(progress)
        shares = {name: EXPLORED * alike + (1 - EXPLORED) * share for name, share in in_proportion(progress).items()}
        fastest = max(progress, key=progress.__getitem__)
        most = f"{context.words[fastest]}, by {100 * progress[fastest]:.0f} points"
        summary = f"Boards go to where sampled plans changed most over the stage: {most}."
        if not progress[fastest]:
            summary = "No size moved over the stage, so each gets as many boards."
        return by_shares(context, config, shares, summary)
