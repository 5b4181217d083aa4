"""Lessons in self-assessment: how often the lab model's own sampled answers to a task are valid."""

from __future__ import annotations

from collections.abc import Iterator

from frozenlab.base import seeds
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.lab.self_assessment import question
from frozenlab.models.policy import Sampling
from frozenlab.tasks.families import family_of
from frozenlab.tasks.vocabulary import percent_word
from recipes.lab_model.usual_rates import kinds

PLANS = 8
TEMPERATURE = 0.7


def own_rates(policy: LabPolicy, n: int, seed: int) -> Iterator[tuple[str, str]]:
    """About ``n`` questions about tasks of every kind, with the valid rate of PLANS answers of ``policy`` to each."""
    every = list(kinds())
    sampling = Sampling(TEMPERATURE, PLANS, seeds.derive(seed, "own-rates/answers"))
    for config in every:
        family = family_of(config.family)
        asked = LabPolicy(policy.model, policy.tokenizer, family)
        tasks = family.draw(config, -(-n // len(every)), seeds.derive(seed, "own-rates/tasks"))
        for task, written in zip(tasks, asked.answer(tasks, sampling), strict=True):
            valid = [family.judge(task, asked.read(task, completion)).valid for completion in written]
            yield question(asked.prompt(task)), percent_word(sum(valid) / len(valid))
