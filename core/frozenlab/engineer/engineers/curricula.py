"""Curricula without a language model, `learnability`, `bandit` and `lowest`: the shares follow a number that each cell has, and the
ratios stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from frozenlab.base.cells import Config, with_shares
from frozenlab.base.numbers import listed
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Evidence, Proposal
from frozenlab.engineer.sentences import claim_on

UNKNOWN = 0.5
"""The valid rate that learnability takes a size without samples to have: it is worth trying."""
EXPLORED = 0.3
"""Part of the boards that the bandit shares alike among all sizes, whatever they have paid."""

Lines = Mapping[str, Evidence | None]
"""Cell -> the line that is read of it; None: there is none."""


def sampled(context: Context) -> Lines:
    """What the section ``behaviour`` says of each cell."""
    return {name: context.evidence("behaviour", name) for name in context.names}


def rated(context: Context) -> Lines:
    """The line that says the valid rate of each cell, of whatever section has one."""
    return {name: context.rated(name) for name in context.names}


def numbers(lines: Lines, number: str, unknown: float) -> dict[str, float]:
    """A number that the line of each cell has; ``unknown`` for a cell without a line."""
    return {name: line.numbers[number] if line else unknown for name, line in lines.items()}


def in_proportion(values: Mapping[str, float]) -> dict[str, float]:
    """Shares in proportion to what each cell has; the same for each if none has anything.

    >>> in_proportion({"4": 1.0, "6": 3.0}), in_proportion({"4": 0.0, "6": 0.0})
    ({'4': 0.25, '6': 0.75}, {'4': 0.5, '6': 0.5})
    """
    total = sum(values.values())
    return {name: value / total if total else 1 / len(values) for name, value in values.items()}


def by_shares(context: Context, config: Config, shares: Mapping[str, float], read: Lines, summary: str) -> Proposal:
    """The proposal of these shares, a claim for each, which cites the line that was read of the cell."""
    proposed, claims = with_shares(config, shares), []
    for name, words in context.words.items():
        line = read[name]
        cited, now = ((line.id,), line.numbers["valid"]) if line else ((), None)
        before, after = (own.cells[name].settings() for own in (config, proposed))
        claims.append(claim_on(name, words, "share", before, after, evidence=cited, now=now))
    return Proposal(summary=summary, claims=tuple(claims), config=proposed)


class LearnabilityEngineer(Scripted):
    """Shares by p(1-p), sampling for learnability (SFL, Rutherford et al. 2024, "No Regrets").

    p is the valid rate of a map size's sampled training plans. p(1-p) is the variance of success, the largest where half of the plans
    succeed: GRPO learns from groups that mix success and failure, and a size that always or never succeeds gives it none. SFL trains on the
    tasks of highest p(1-p); here the shares are proportional to it, because a config has a few sizes instead of thousands of levels.
    """

    kind: Literal["learnability"] = "learnability"
    title = "what is half solved"
    label = "more boards where success and failure mix"
    help = (
        "Shares follow p(1-p), p being the valid rate of a size's sampled plans: sizes that always or never succeed teach little. The "
        "ratios stay. A curriculum without a language model (SFL)."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without the section ``behaviour``, or if no size mixes success and failure, every size counts the same."""
        lines = sampled(context)
        rates = numbers(lines, "valid", UNKNOWN)
        learnability = {name: p * (1 - p) for name, p in rates.items()}
        best = max(learnability, key=learnability.__getitem__)
        most = f"most to {context.words[best]}, where {rates[best]:.0%} of sampled plans are valid"
        summary = f"Boards go to where success and failure mix: {most}."
        if not learnability[best]:
            summary = "No size mixes success and failure, so each gets as many boards."
        return by_shares(context, config, in_proportion(learnability), lines, summary)


class BanditEngineer(Scripted):
    """Shares by learning progress (Teacher-Student Curriculum Learning, Matiisen et al. 2017).

    A map size is an arm. What it has paid is the absolute change of its sampled valid rate over the stage: a size that is getting better is
    being learnt, and one that is getting worse is being forgotten, so both are worth boards, and one that stays as it is is either mastered
    or out of reach. Every size keeps a part for exploring. The ratios stay, for a bandit has no word for why a size is hard.
    """

    kind: Literal["bandit"] = "bandit"
    title = "what changes most"
    label = "more boards where plans change most"
    who = "the bandit"
    help = (
        "Shares follow learning progress: how much the sampled valid rate of a size changed over the stage. The ratios stay. A curriculum "
        "without a language model."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without the section ``behaviour``, or where no size has moved, every size counts the same."""
        lines = sampled(context)
        progress = {name: abs(change) for name, change in numbers(lines, "delta", 0.0).items()}
        alike = 1 / len(progress)
        shares = {name: EXPLORED * alike + (1 - EXPLORED) * share for name, share in in_proportion(progress).items()}
        fastest = max(progress, key=progress.__getitem__)
        most = f"{context.words[fastest]}, by {100 * progress[fastest]:.0f} points"
        summary = f"Boards go to where sampled plans changed most over the stage: {most}."
        if not progress[fastest]:
            summary = "No size moved over the stage, so each gets as many boards."
        return by_shares(context, config, shares, lines, summary)


class LowestEngineer(Scripted):
    """All boards to the cell that is solved least often: one line of code, which every engineer that reads failures has to beat.

    It cannot tell a cell that has been lost from one that is hard by nature.
    """

    kind: Literal["lowest"] = "lowest"
    title = "the lowest rate"
    label = "all boards where the valid rate is lowest"
    who = "the lowest-rate rule"
    help = (
        "All boards go to the cell with the lowest valid rate, read from failures, else behaviour, else preserved. The ratios stay. The "
        "simplest rule that reads the evidence."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Cells with the same rate share the boards; so do all cells if no section says a rate."""
        lines = rated(context)
        rates = numbers(lines, "valid", 1.0)
        lowest = min(rates.values())
        where = [name for name, rate in rates.items() if rate == lowest]
        summary = f"All boards go to {listed([context.words[name] for name in where])}, where {lowest:.0%} of plans are valid, the fewest."
        if not any(lines.values()):
            summary = "Nothing says how often any cell is solved, so each gets as many boards."
        return by_shares(context, config, in_proportion({name: float(name in where) for name in rates}), lines, summary)
