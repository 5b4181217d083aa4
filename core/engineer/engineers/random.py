"""The ``random`` baseline (domain randomisation): a new config at random after every stage."""

from __future__ import annotations

from typing import ClassVar, Literal

from frozenlab import seeds
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.lake import presets
from frozenlab.lake.config import EnvironmentConfig


class RandomEngineer(Scripted):
    kind: Literal["random"] = "random"
    label: ClassVar[str] = "shares and ratios at random"
    who: ClassVar[str] = "the random baseline"
    help: ClassVar[str] = (
        "After every stage it draws shares from a flat Dirichlet distribution, ratios evenly from the paper's range, and a mix of the "
        "layouts that it may use."
    )

    def propose(self, context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
        rng = seeds.rng(seed, "engineer/random", -1 if context.stage is None else context.stage)
        drawn = presets.random_config([cell.kind for cell in config.cells.values()], rng, context.layouts)
        if context.layouts:
            return Proposal(summary="Shares, ratios and layouts drawn at random.", config=drawn)
        return Proposal(summary="Shares and ratios drawn at random.", config=drawn.with_layouts_of(config))
