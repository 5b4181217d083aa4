"""The ``random`` baseline (domain randomisation): a new config at random after every stage."""

from __future__ import annotations

from typing import Literal

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.tasks.families import family_of


class RandomEngineer(Scripted):
    kind: Literal["random"] = "random"
    label = "shares and ratios at random"
    who = "the random baseline"
    help = (
        "After every stage it draws shares from a flat Dirichlet distribution, ratios evenly from the paper's range, and a mix of the "
        "layouts that it may use."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        rng = seeds.rng(seed, "engineer/random", -1 if context.stage is None else context.stage)
        drawn = family_of(config.family).at_random(config, rng, context.layouts)
        return Proposal(summary=f"Shares{', ratios and layouts' if context.layouts else ' and ratios'} drawn at random.", config=drawn)
