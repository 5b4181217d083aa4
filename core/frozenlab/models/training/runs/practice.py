"""Practice: the policy learns whole solutions of given tasks, and writes nothing itself.

The family's teacher gives a whole and optimal answer. So practice takes no time for sampling, and a policy that can do nothing yet learns
from it too. On some cells the teacher may be asked for wrong answers instead, which plants a weakness.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from frozenlab.base import seeds
from frozenlab.models.training.examples import Example, to_example
from frozenlab.models.training.runs.sft import SFTRun
from frozenlab.tasks.teacher import Attempt


class PracticeRun(SFTRun):
    """Each step learns the teacher's answers to its tasks."""

    misled: Collection[str] = ()
    """The cells on which the teacher's answers are wrong."""

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        teacher = self.policy.family.teacher
        assert teacher is not None, "the recipe checks that the family has one"
        empty = [
            Attempt(self.stage.tasks[i], "", seeds.rng(self.seed, "practice/solutions", step, place)) for place, i in enumerate(boards)
        ]
        shown = teacher.answers(empty)
        wrong = [place for place, i in enumerate(boards) if self.stage.tasks[i].cell in self.misled]
        for place, answer in zip(wrong, teacher.wrong_answers([empty[place] for place in wrong]) or (), strict=True):
            shown[place] = answer
        return [to_example(self.prompts[i], answer.learned) for i, answer in zip(boards, shown, strict=True) if answer is not None]
