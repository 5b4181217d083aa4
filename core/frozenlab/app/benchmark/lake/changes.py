"""How two results differ on the same boards, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from frozenlab.app.benchmark.lake.lines import Metric
from frozenlab.app.session.board_by_board import board_by_board
from frozenlab.base.intervals import ComparisonError, paired_change


@dataclass(frozen=True)
class Change:
    """How two results differ on the boards of one team size."""

    agents: int
    before: float
    after: float
    value: float
    """after - before, with its 95 % interval."""
    low: float
    high: float
    n: int
    gained: int
    """Boards that only the second solves."""
    lost: int

    @property
    def clear(self) -> bool:
        """Its interval leaves out zero."""
        return self.low > 0 or self.high < 0


def changes(before: pd.DataFrame, after: pd.DataFrame, metric: Metric) -> list[Change]:
    """The paired change for each team size that both tables have. Raises ComparisonError if they share no board."""
    found = []
    for agents in sorted({*before["agents"]} & {*after["agents"]}):
        old, new = (table[table["agents"] == agents] for table in (before, after))
        value, low, high, n = paired_change(old, new, metric)
        pairs = board_by_board(old, new, metric)
        found.append(Change(int(agents), pairs.before, pairs.after, value, low, high, n, pairs.gained, pairs.lost))
    if not found:
        raise ComparisonError("the two results share no board")
    return found


def in_words(change: Change, before: str, after: str, metric: Metric) -> str:
    """``After stage 3 solves 41 more of 1,200 boards than the base: +3.4 points (+1.9 to +4.9).``"""
    verb = "solves" if metric == "valid" else "optimally solves"
    net = change.gained - change.lost
    how = f"{abs(net):,} {'more' if net > 0 else 'fewer'} of {change.n:,} boards than" if net else f"as many of {change.n:,} boards as"
    sentence = (
        f"{after[:1].upper()}{after[1:]} {verb} {how} {before}: {points(change.value)} ({signed(change.low)} to {signed(change.high)})."
    )
    return sentence if change.clear else f"{sentence} Chance could explain that."


def signed(change: float) -> str:
    """``+3.4``: a change of a rate in percentage points."""
    return f"{100 * change:+.1f}".replace("-", "\N{MINUS SIGN}")


def points(change: float) -> str:
    return f"{signed(change)} points"
