"""The ``schedule``: configs that were chosen before the session began.

With one config it is a constant config, such as the best one over all students; with the best config of one student it is an oracle; with
the configs of another session it is a yoked control: the same changes, but not in answer to this session's evidence.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from frozenlab.base.cells import Config
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.tasks.families import AnyConfig


class ScheduleEngineer(Scripted):
    kind: Literal["schedule"] = "schedule"
    configs: Annotated[tuple[AnyConfig, ...], Field(min_length=1)]
    """The config of each stage; the last one repeats. If the engineer is first asked after stage 1, the first is never used."""
    label = "configs that were chosen before"
    who = "the schedule"
    help = "It proposes configs that were chosen before the session began, whatever the evidence says."

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        number = 0 if context.stage is None else context.stage + 1
        place = min(number, len(self.configs) - 1)
        summary = f"Config {place + 1} of {len(self.configs)} that were chosen before."
        return Proposal(summary=summary, config=self.configs[place])
