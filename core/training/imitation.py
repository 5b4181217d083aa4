"""Online imitation: the policy learns to write the exact solver's plans on the boards of the stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.lake.instance import Instance
from core.lake.rules import walk
from core.training.demonstrations import Example, guise, padded, plan_example
from core.training.sft import SFTRun

SAMPLED_EVERY = 5
"""Steps between looks at what the policy writes by itself: they teach it nothing, and are there for the people and the engineer."""


class ImitationRun(SFTRun):
    """Each board is shown ``completions_per_board`` times with an optimal plan, each time in another guise."""

    def lessons(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        instances = [self.instances[i] for i in boards]
        last = self.first_step + self.settings.steps - 1
        if step in (self.first_step, last) or (step + 1) % SAMPLED_EVERY == 0:  # before it has seen the solver's plans
            self.judge(instances, self.write_plans(model, [self.prompts[i] for i in boards], 1, step), 1)
        guises = self.settings.completions_per_board
        return [
            presentation(instance, np.random.default_rng((self.seed, step, place, guise)))
            for place, instance in enumerate(instances)
            for guise in range(guises)
        ]


def presentation(instance: Instance, rng: np.random.Generator) -> Example:
    """The board with an optimal plan, both in a guise of their own."""
    board, plan = instance.board, instance.solution.plan
    assert plan is not None, "boards to train on are solved"
    return plan_example(*guise(board, padded(walk(board, plan)), rng))
