"""The score of a contest: what every side gained on the same boards, which no side trained on or could read about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import pandas as pd

from frozenlab.base.numbers import Interval, paired_change
from frozenlab.experiments.contests.store import Contest, Numbered


class Score(NamedTuple):
    """What one entry won."""

    number: int
    label: str
    kind: Literal["person", "engineer", "oracle"]
    gain: Interval
    """Of the valid rate on the same boards, over pairs of answers."""
    behind: Interval | None
    """What the best has gained more on the same boards; None for the best itself."""

    @property
    def place(self) -> str:
        """In words; ties are called ties."""
        if self.behind is None:
            return "most points"
        return "behind, by more than chance explains" if self.behind.clear else "level with the best: chance could explain it"


def label_of(numbered: Numbered, entries: Sequence[Numbered]) -> str:
    """The name of an entry; who enters again is told apart by a number."""
    same = [other.number for other in entries if other.entry.name == numbered.entry.name and other.entry.kind == numbered.entry.kind]
    return numbered.entry.name + (f" ({same.index(numbered.number) + 1})" if len(same) > 1 else "")


def answers(contest: Contest, number: int | None) -> pd.DataFrame | None:
    """The answers to the boards of the score after an entry's training, or before any; None if they are not measured yet."""
    side = contest.base if number is None else contest.side(number)
    return None if side is None else side.test(None if number is None else 0)


def scores(contest: Contest) -> list[Score]:
    """Of all entries that are done, most points first."""
    before = answers(contest, None)
    entries = contest.entries
    done = [numbered for numbered in entries if contest.standing(numbered.number) == "done"]
    tables = {numbered.number: table for numbered in done if (table := answers(contest, numbered.number)) is not None}
    if before is None or not tables:
        return []
    gains = {number: paired_change(before, table) for number, table in tables.items()}
    order = sorted(gains, key=lambda number: (-gains[number].value, number))
    by_number = {numbered.number: numbered for numbered in done}
    return [
        Score(
            number, label_of(by_number[number], entries), by_number[number].entry.kind, gains[number],
            None if number == order[0] else paired_change(tables[number], tables[order[0]]),
        )
        for number in order
    ]  # fmt: skip


def between(contest: Contest, one: int, other: int) -> Interval | None:
    """What entry ``one`` has gained more than entry ``other`` on the same boards; None if one of them has no score yet."""
    first, second = answers(contest, one), answers(contest, other)
    return None if first is None or second is None else paired_change(second, first)


def by_cell(contest: Contest, number: int | None) -> dict[str, float]:
    """Cell -> the valid rate of an entry after training, or of the student before any."""
    table = answers(contest, number)
    return {} if table is None else {str(cell): float(rate) for cell, rate in table.groupby("config_cell")["valid"].mean().items()}


def table_of(contest: Contest) -> pd.DataFrame:
    """The scoreboard as a table, one row per entry that is done."""
    before = by_cell(contest, None)
    entries = {numbered.number: numbered.entry for numbered in contest.entries}
    rows = []
    for score in scores(contest):
        after = by_cell(contest, score.number)
        side = contest.side(score.number)
        record = side.proposal(None) if side else None
        row: dict[str, object] = {
            "entry": score.number, "name": score.label, "kind": score.kind, "gain": score.gain.value, "gain_low": score.gain.low,
            "gain_high": score.gain.high, "n": score.gain.n, "place": score.place, "why": entries[score.number].why,
        }  # fmt: skip
        if record is not None:
            row |= {f"share_{name}": cell.share for name, cell in record.config_after.cells.items()}
        rows.append(row | {f"gain_{name}": after[name] - before[name] for name in before})
    return pd.DataFrame(rows)
