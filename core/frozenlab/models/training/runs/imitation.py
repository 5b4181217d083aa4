"""Online imitation: from where the policy's own answers lead, a teacher shows how to go on (DAgger, Ross et al. 2011).

A policy that has only ever seen good answers does not know what to do where its own have brought it. So it writes answers, and from each
that is not optimal it learns how the family's teacher mends it: the lake's is the exact solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frozenlab.base import seeds
from frozenlab.models.training.examples import Example, to_example
from frozenlab.models.training.runs.sft import SFTRun
from frozenlab.tasks.teacher import Attempt


class ImitationRun(SFTRun):
    """For each task the policy writes ``completions_per_board`` answers, and the teacher mends those that are not optimal."""

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        teacher, group = self.policy.family.teacher, self.settings.completions_per_board
        assert teacher is not None, "the spec checks that the family has one"
        written, judged = self.sample_and_judge(model, boards, step)
        wrong = [(place, boards[place // group]) for place in np.flatnonzero(~judged["optimal"])]
        attempts = [
            Attempt(self.stage.tasks[i], self.policy.completion(written[place]).text, seeds.rng(self.seed, "imitation/cuts", step, place))
            for place, i in wrong
        ]
        return [
            to_example(f"{self.prompts[i]} {mended.kept}".strip(), mended.learned)
            for (_, i), mended in zip(wrong, teacher.mend(attempts), strict=True)
            if mended is not None
        ]
