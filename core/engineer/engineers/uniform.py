"""The ``uniform`` baseline: every map size equally often, with the middle of the paper's ratios, after every stage."""

from __future__ import annotations

from typing import ClassVar, Literal

from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.lake import presets
from frozenlab.lake.config import EnvironmentConfig


class UniformEngineer(Scripted):
    kind: Literal["uniform"] = "uniform"
    label: ClassVar[str] = "every size equally, always"
    who: ClassVar[str] = "the uniform baseline"
    help: ClassVar[str] = "Every size equally often, with the middle of the paper's hole and wait ratios; the same after every stage."

    def propose(self, context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
        even = presets.uniform([cell.kind for cell in config.cells.values()]).with_layouts_of(config)
        return Proposal(
            summary=f"Every {'size' if len(config.teams) == 1 else 'cell'} equally often, hole ratio 0.30, wait ratio 0.50.", config=even
        )
