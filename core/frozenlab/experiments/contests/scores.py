"""The score of a contest: what every side gained on the same boards, which no side trained on or could read about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from frozenlab.base.numbers import Interval, paired_change
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import Entry


class Score(NamedTuple):
    """What one entry won."""

    entry: Entry
    label: str
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


def label_of(entry: Entry, entries: Sequence[Entry]) -> str:
    """The name of an entry, with a number if the same name has several."""
    same = [other.number for other in entries if (other.name, other.kind) == (entry.name, entry.kind)]
    return entry.name + (f" ({same.index(entry.number) + 1})" if len(same) > 1 else "")


def answers(contest: Contest, number: int | None) -> pd.DataFrame | None:
    """The answers to the boards of the score after an entry's training, or before any; None if they are not measured yet."""
    side = contest.base if number is None else contest.side(number)
    return None if side is None else side.test(None if number is None else 0)


def scores(contest: Contest) -> list[Score]:
    """Of all entries that are done, most points first."""
    before, entries = answers(contest, None), contest.entries
    done = [entry for entry in entries if contest.standing(entry.number) == "done"]
    tables = {entry.number: table for entry in done if (table := answers(contest, entry.number)) is not None}
    if before is None or not tables:
        return []
    gains = {number: paired_change(before, table) for number, table in tables.items()}
    order = sorted((entry for entry in done if entry.number in gains), key=lambda entry: (-gains[entry.number].value, entry.number))
    best = order[0]
    behind = {entry.number: paired_change(tables[entry.number], tables[best.number]) for entry in order[1:]}
    return [Score(entry, label_of(entry, entries), gains[entry.number], behind.get(entry.number)) for entry in order]


def between(contest: Contest, one: int, other: int | None, cell: str | None = None) -> Interval | None:
    """What entry ``one`` has gained more than entry ``other``, or than there was before training, on the same boards, all or those of a
    cell; None if one of them has no score yet."""
    first, second = answers(contest, one), answers(contest, other)
    if first is None or second is None:
        return None
    return paired_change(*(table if cell is None else table[table["config_cell"] == cell] for table in (second, first)))


def by_cell(contest: Contest, number: int | None) -> dict[str, float]:
    """Cell -> the valid rate of an entry after training, or of the student before any."""
    table = answers(contest, number)
    return {} if table is None else {str(cell): float(rate) for cell, rate in table.groupby("config_cell")["valid"].mean().items()}


def table_of(contest: Contest) -> pd.DataFrame:
    """The scoreboard as a table, one row per entry that is done."""
    before = by_cell(contest, None)
    rows = []
    for score in scores(contest):
        entry, gain = score.entry, score.gain
        after, side = by_cell(contest, entry.number), contest.side(entry.number)
        record = side.proposal(None) if side else None
        row: dict[str, object] = {
            "entry": entry.number, "name": score.label, "kind": entry.kind, "gain": gain.value, "gain_low": gain.low,
            "gain_high": gain.high, "n": gain.n, "place": score.place, "why": entry.why, "guess": entry.guess,
        }  # fmt: skip
        if record is not None:
            row |= {f"share_{name}": cell.share for name, cell in record.config_after.cells.items()}
        rows.append(row | {f"gain_{name}": after[name] - before[name] for name in before})
    return pd.DataFrame(rows)
