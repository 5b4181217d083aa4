"""How two validations differ on the same boards."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import pandas as pd

CLEAR = 0.05
"""A paired change is called clear below this p value."""


@dataclass(frozen=True)
class BoardByBoard:
    """How two validations differ on the boards that both hold."""

    n: int
    gained: int
    """Boards with an invalid plan before and a valid one after."""
    lost: int
    before: float
    after: float
    p: float
    """Two-sided exact McNemar test (Dwass 1957 form: gained against lost is a fair coin)."""

    @property
    def sentence(self) -> str:
        """``On the same 120 boards it gained 22 and lost 9: more than chance explains (p = 0.03).``"""
        what = "more than chance explains" if self.p < CLEAR else "chance could explain that"
        shown = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.2g}"
        return f"On the same {self.n} boards it gained {self.gained} and lost {self.lost}: {what} ({shown})."


def board_by_board(before: pd.DataFrame, after: pd.DataFrame, column: str = "valid") -> BoardByBoard:
    """Compares two validations board by board; boards that only one of them holds are left out."""
    both = before[["board_id", column]].merge(after[["board_id", column]], on="board_id", suffixes=("_before", "_after"))
    old, new = both[f"{column}_before"].astype(bool), both[f"{column}_after"].astype(bool)
    gained, lost = int((~old & new).sum()), int((old & ~new).sum())
    n = len(both)
    return BoardByBoard(n, gained, lost, float(old.mean()) if n else 0.0, float(new.mean()) if n else 0.0, sign_test(gained, lost))


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p value of ``wins`` against ``losses`` under a fair coin; 1 where nothing differs."""
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    return min(1.0, 2 * tail)
