"""Expert iteration: the policy imitates the best of its own plans (Anthony et al. 2017; for language models STaR, Zelikman et al. 2022,
and ReST-EM, Singh et al. 2023). No answer of a teacher is ever shown; the family's judge alone chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from frozenlab.models.training.examples import Example
from frozenlab.models.training.runs.sft import SFTRun


class ExpertIterationRun(SFTRun):
    """For each board the policy samples ``completions_per_board`` plans and learns from the best of those that are valid."""

    def training_examples(self, model: Any, boards: Sequence[int], step: int) -> list[Example]:
        group = self.settings.completions_per_board
        written, judged = self.sample_and_judge(model, boards, step)
        examples = []
        for place, i in enumerate(boards):
            rows = slice(place * group, (place + 1) * group)
            prompt = tuple(self.policy.tokenizer(self.prompts[i])["input_ids"])
            examples += [Example(prompt, plan) for plan in best_plans(judged[rows], written[rows])]
        return examples


def best_plans(judged: pd.DataFrame, written: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The different valid answers to one task that cost least: on the lake the shortest makespan, then the least sum of costs.

    Of those, too, only the shortest texts: WAITs after the last arrival cost nothing, and a policy that learns from plans with some of them
    soon writes more and more (in a trial, half as many words again within 25 steps). A board whose plans are all as good as each other, or
    all invalid, teaches nothing, as in GRPO.

    Args:
        judged: one row a plan, as :meth:`StageRun.judge` gives it.
        written: the same plans as token ids.
    """
    costs = [(plan.cost, len(ids)) if plan.valid else None for ids, plan in zip(written, judged.itertuples(), strict=True)]
    if len(set(costs)) < 2:
        return []
    best = min(cost for cost in costs if cost)
    return list(dict.fromkeys(tuple(ids) for ids, cost in zip(written, costs, strict=True) if cost == best))
