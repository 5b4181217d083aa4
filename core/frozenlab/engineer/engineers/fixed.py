"""The ``fixed`` baseline: the first config stays, as in the paper's fixed environment."""

from __future__ import annotations

from typing import Literal

from frozenlab.base.cells import Config
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal


class FixedEngineer(Scripted):
    kind: Literal["fixed"] = "fixed"
    label = "keeps the first config"
    who = "the fixed baseline"
    help = "The config stays as it is: what training alone brings."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        return Proposal(summary="The config stays as it is.", preserved=context.names, config=config)
