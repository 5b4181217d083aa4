"""How two results differ on the same boards, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from frozenlab.app.benchmark.lake.lines import Metric
from frozenlab.app.session.board_by_board import board_by_board
from frozenlab.base.numbers import ComparisonError, Interval, paired_change


@dataclass(frozen=True)
class Change(Interval):
    """How two results differ on the boards of one team size."""

    agents: int = field(kw_only=True)
    before: float = field(kw_only=True)
    after: float = field(kw_only=True)
    gained: int = field(kw_only=True)
    """Boards that only the second solves."""
    lost: int = field(kw_only=True)


def changes(before: pd.DataFrame, after: pd.DataFrame, metric: Metric) -> list[Change]:
    """The paired change for each team size that both tables have. Raises ComparisonError if they share no board."""
    found = []
    for agents in sorted({*before["agents"]} & {*after["agents"]}):
        old, new = (table[table["agents"] == agents] for table in (before, after))
        pairs = board_by_board(old, new, metric)
        change = paired_change(old, new, metric)
        found.append(
            Change(
                change.value, change.low, change.high, change.n, agents=int(agents), before=pairs.before, after=pairs.after,
                gained=pairs.gained, lost=pairs.lost,
            )
        )  # fmt: skip
    if not found:
        raise ComparisonError("the two results share no board")
    return found


def in_words(change: Change, before: str, after: str, metric: Metric) -> str:
    """``After stage 3 solves 41 more of 1,200 boards than the base: +3.4 points (+1.9 to +4.9).``"""
    verb = "solves" if metric == "valid" else "optimally solves"
    net = change.gained - change.lost
    how = f"{abs(net):,} {'more' if net > 0 else 'fewer'} of {change.n:,} boards than" if net else f"as many of {change.n:,} boards as"
    sentence = f"{after[:1].upper()}{after[1:]} {verb} {how} {before}: {change.points}."
    return sentence if change.clear else f"{sentence} Chance could explain that."
