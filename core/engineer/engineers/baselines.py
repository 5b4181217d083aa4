"""Engineers that do not look at the evidence: the paper's fixed-environment baselines."""

from __future__ import annotations

from frozenlab import seeds
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.lake import presets
from frozenlab.lake.config import EnvironmentConfig


def fixed(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """Keeps the config as it is."""
    return Proposal(summary="The config stays as it is.", preserved=context.sizes, config=config)


def uniform(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """Every size equally often, with the middle of the paper's ratios; the same after every stage."""
    even = presets.uniform(context.sizes, context.agents).with_layouts_of(config)
    return Proposal(summary="Every size equally often, hole ratio 0.30, wait ratio 0.50.", config=even)


def random(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """Shares from a flat Dirichlet, ratios evenly from the paper's range, and a mix of the layouts that may be used; anew after every
    stage."""
    rng = seeds.rng(seed, "engineer/random", -1 if context.stage is None else context.stage)
    drawn = presets.random_config(context.sizes, context.agents, rng, context.layouts)
    if context.layouts:
        return Proposal(summary="Shares, ratios and layouts drawn at random.", config=drawn)
    return Proposal(summary="Shares and ratios drawn at random.", config=drawn.with_layouts_of(config))
