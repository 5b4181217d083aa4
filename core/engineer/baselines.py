"""Engineers that do not look at the evidence: the paper's fixed-environment baselines."""

from __future__ import annotations

import numpy as np

from core.engineer.schema import Context, Proposal
from core.lake.config import EnvironmentConfig, SizeConfig


def fixed(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """Keeps the config as it is."""
    return Proposal(summary="The config stays as it is.", preserved=context.sizes, config=config)


def uniform(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """Every size equally often, with the middle of the paper's ratios; the same after every stage."""
    even = EnvironmentConfig.uniform(context.sizes, context.agents, hole_ratio=0.3, wait_ratio=0.5)
    return Proposal(summary="Every size equally often, hole ratio 0.30, wait ratio 0.50.", config=even)


def random(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """Shares from a flat Dirichlet, ratios evenly from the paper's range, anew after every stage."""
    rng = np.random.default_rng([seed, context.stage])
    shares = rng.dirichlet(np.ones(len(context.sizes)))
    cells = {
        size: SizeConfig(share=float(share), hole_ratio=float(rng.uniform(0.1, 0.5)), wait_ratio=float(rng.uniform(0, 1)))
        for size, share in zip(context.sizes, shares, strict=True)
    }
    return Proposal(summary="Shares and ratios drawn at random.", config=EnvironmentConfig(agents=context.agents, sizes=cells))
