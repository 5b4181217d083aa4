"""What curricula without a language model share: they move the shares by a number that each cell has, and keep the ratios."""

from __future__ import annotations

from collections.abc import Mapping

from frozenlab.base.cells import Config
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.engineer.sentences import claim_on


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
