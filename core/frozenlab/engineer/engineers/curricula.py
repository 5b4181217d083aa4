"""Curricula without a language model, `learnability` and `bandit`: the shares follow a number that each cell has, and the ratios stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from frozenlab.base.cells import Config
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.engineer.sentences import claim_on

UNKNOWN = 0.5
"""The valid rate that learnability takes a size without samples to have: it is worth trying."""
EXPLORED = 0.3
"""Part of the boards that the bandit shares alike among all sizes, whatever they have paid."""


def of_samples(context: Context, number: str, unknown: float) -> dict[str, float]:
    """A number that the section ``behaviour`` has of each cell; ``unknown`` for a cell that it does not have."""
    lines = {name: context.evidence("behaviour", name) for name in context.names}
    return {name: line.numbers[number] if line else unknown for name, line in lines.items()}


def in_proportion(values: Mapping[str, float]) -> dict[str, float]:
    """Shares in proportion to what each cell has; the same for each if none has anything.

    >>> in_proportion({"4": 1.0, "6": 3.0}), in_proportion({"4": 0.0, "6": 0.0})
    ({'4': 0.25, '6': 0.75}, {'4': 0.5, '6': 0.5})
    """
    total = sum(values.values())
    return {name: value / total if total else 1 / len(values) for name, value in values.items()}


def by_shares(context: Context, config: Config, shares: Mapping[str, float], summary: str) -> Proposal:
    """The proposal of these shares, a claim for each, which cites what the section ``behaviour`` says about the cell."""
    cells = {name: cell.model_copy(update={"share": shares[name]}) for name, cell in config.cells.items()}
    claims = []
    for name, words in context.words.items():
        line = context.evidence("behaviour", name)
        cited, now = ((line.id,), line.numbers["valid"]) if line else ((), None)
        before, after = (own[name].settings() for own in (config.cells, cells))
        claims.append(claim_on(name, words, "share", before, after, evidence=cited, now=now))
    return Proposal(summary=summary, claims=tuple(claims), config=config.with_cells(cells))


class LearnabilityEngineer(Scripted):
    """Shares by p(1-p), sampling for learnability (SFL, Rutherford et al. 2024, "No Regrets").

    p is the valid rate of a map size's sampled training plans. p(1-p) is the variance of success, the largest where half of the plans
    succeed: GRPO learns from groups that mix success and failure, and a size that always or never succeeds gives it none. SFL trains on the
    tasks of highest p(1-p); here the shares are proportional to it, because a config has a few sizes instead of thousands of levels.
    """

    kind: Literal["learnability"] = "learnability"
    label = "more boards where success and failure mix"
    help = (
        "Shares follow p(1-p), p being the valid rate of a size's sampled plans: sizes that always or never succeed teach little. The "
        "ratios stay. A curriculum without a language model (SFL)."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without the section ``behaviour``, or if no size mixes success and failure, every size counts the same."""
        rates = of_samples(context, "valid", UNKNOWN)
        learnability = {name: p * (1 - p) for name, p in rates.items()}
        best = max(learnability, key=learnability.__getitem__)
        most = f"most to {context.words[best]}, where {rates[best]:.0%} of sampled plans are valid"
        summary = f"Boards go to where success and failure mix: {most}."
        if not learnability[best]:
            summary = "No size mixes success and failure, so each gets as many boards."
        return by_shares(context, config, in_proportion(learnability), summary)


class BanditEngineer(Scripted):
    """Shares by learning progress (Teacher-Student Curriculum Learning, Matiisen et al. 2017).

    A map size is an arm. What it has paid is the absolute change of its sampled valid rate over the stage: a size that is getting better is
    being learnt, and one that is getting worse is being forgotten, so both are worth boards, and one that stays as it is is either mastered
    or out of reach. Every size keeps a part for exploring. The ratios stay, for a bandit has no word for why a size is hard.
    """

    kind: Literal["bandit"] = "bandit"
    label = "more boards where plans change most"
    who = "the bandit"
    help = (
        "Shares follow learning progress: how much the sampled valid rate of a size changed over the stage. The ratios stay. A curriculum "
        "without a language model."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without the section ``behaviour``, or where no size has moved, every size counts the same."""
        progress = {name: abs(change) for name, change in of_samples(context, "delta", 0.0).items()}
        alike = 1 / len(progress)
        shares = {name: EXPLORED * alike + (1 - EXPLORED) * share for name, share in in_proportion(progress).items()}
        fastest = max(progress, key=progress.__getitem__)
        most = f"{context.words[fastest]}, by {100 * progress[fastest]:.0f} points"
        summary = f"Boards go to where sampled plans changed most over the stage: {most}."
        if not progress[fastest]:
            summary = "No size moved over the stage, so each gets as many boards."
        return by_shares(context, config, shares, summary)
