"""The ``uniform`` baseline: every map size equally often, with the middle of the paper's ratios, after every stage."""

from __future__ import annotations

from typing import Literal

from frozenlab.base.cells import Config
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.tasks.families import family_of


class UniformEngineer(Scripted):
    kind: Literal["uniform"] = "uniform"
    label = "every size equally, always"
    who = "the uniform baseline"
    help = "Every size equally often, with the middle of the paper's hole and wait ratios; the same after every stage."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        family = family_of(config.family)
        even = family.even(config)
        ratios = {knob: value for own in reversed(even.cells.values()) for knob, value in own.settings().items()}
        values = "".join(f", {family.knobs[knob].label} {ratios[knob]:.2f}" for knob in family.ratios if knob in ratios)
        noun = "size" if all(name.isdigit() for name in config.cells) else "cell"
        return Proposal(summary=f"Every {noun} equally often{values}.", config=even)
