"""The ``dose``: another engineer's proposals, made larger, smaller or opposite.

If a direction is good, more of it should help more and its opposite should harm. Dose -1 is the *anti-engineer*, dose 0 keeps the config.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from frozenlab.base.cells import Config
from frozenlab.engineer.controls.control import Control
from frozenlab.engineer.protocol import Engineer, Models
from frozenlab.engineer.schema import Attempt, Context, Proposal, Written
from frozenlab.tasks.between import between


class DoseEngineer(Control):
    kind: Literal["dose"] = "dose"
    dose: Annotated[float, Field(ge=-10, le=10)]
    """How many times as far from the present config as the other engineer proposes; negative: in the opposite direction."""
    label = "another engineer's proposals, made larger, smaller or opposite"
    who = "the dose control"
    help = (
        "It asks another engineer and moves the config by a multiple of what that one proposes: -1 does the opposite, 0 keeps the config."
    )

    def build(self, models: Models) -> Engineer:
        return Dosed(self.of.build(models), self.dose)


@dataclass(frozen=True)
class Dosed:
    """An engineer with a dose."""

    engineer: Engineer
    dose: float
    kind: str = "dose"

    def prompt(self, context: Context) -> str | None:
        return self.engineer.prompt(context)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return self.engineer.answer(context, seed, failed)

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """A proposal without claims, which were about another config, unless the dose is 1."""
        proposal = self.engineer.read(context, config, raw, seed)
        if self.dose == 1:
            return proposal
        moved = between(config, proposal.config, self.dose) if self.dose else config
        return Proposal(summary=f"{self.dose:g} times what {self.engineer.kind} proposes: {proposal.summary}", config=moved)
