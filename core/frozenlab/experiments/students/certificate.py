"""The certificate of a student: what it could do before practice and what it can do now, and whether its weakness is real."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from frozenlab.base.cells import Cell, CellName
from frozenlab.base.numbers import Z95, Interval, listed

if TYPE_CHECKING:
    import pandas as pd


SPILT = 0.1
"""The most that a weakness may cost the cells that are meant to stay as they are."""


class CellRates(BaseModel):
    """One cell on the same held-out tasks before and after practice. Answers are greedy."""

    model_config = ConfigDict(frozen=True)

    cell: CellName
    words: str
    """The cell in a sentence."""
    n: int
    valid_before: int
    """Valid answers before practice."""
    valid_after: int
    optimal_before: int
    optimal_after: int
    gained: int
    """Tasks that failed before practice and are solved now."""
    lost: int
    """Tasks that were solved before practice and fail now."""

    @property
    def before(self) -> Interval:
        return Interval.of(self.valid_before, self.n)

    @property
    def after(self) -> Interval:
        return Interval.of(self.valid_after, self.n)


class Certificate(BaseModel):
    """``certificate.json``: what a student can and cannot do, on held-out tasks by seed."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = 1
    weak: tuple[CellName, ...]
    """The cells that were meant to stay weak."""
    cells: tuple[CellRates, ...]
    """The cells of the recipe's config."""
    elsewhere: tuple[CellRates, ...] = ()
    """The cells of the recipe's test config."""
    refused: str = ""
    """Why the student is not as planned; empty: it is."""
    policy_sha256: str
    """Checksum of the student's weights."""
    created: float
    """Unix seconds."""
    seconds: float
    """Seconds of processor time that practice and measurements took, as far as this process did them."""

    @property
    def as_planned(self) -> bool:
        """Whether the weakness is real."""
        return not self.refused

    @property
    def weak_cells(self) -> tuple[CellRates, ...]:
        return tuple(cell for cell in self.cells if cell.cell in self.weak)

    @property
    def mastered_cells(self) -> tuple[CellRates, ...]:
        """The cells that were practised."""
        return tuple(cell for cell in self.cells if cell.cell not in self.weak)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the student can and cannot do, in words."""
        said = (_ability("It solves", self.mastered_cells), _ability("It is weak at", self.weak_cells), spill_over(self.weak_cells))
        return (*said, f"Not as planned: {self.refused}." if self.refused else "The weakness is as planned.")


def rates(cells: Sequence[Cell], before: pd.DataFrame, after: pd.DataFrame) -> tuple[CellRates, ...]:
    """The rates of each cell from two tables of judged answers to the same tasks, which must be in the same order. A cell without tasks is
    left out."""
    found = []
    for cell in cells:
        was, now = (table[table["config_cell"] == cell.name] for table in (before, after))
        if not len(was):
            continue
        valid_before, valid_after = was["valid"].to_numpy(), now["valid"].to_numpy()
        counts = {
            "valid_before": valid_before, "valid_after": valid_after, "optimal_before": was["optimal"], "optimal_after": now["optimal"],
            "gained": valid_after & ~valid_before, "lost": valid_before & ~valid_after,
        }  # fmt: skip
        found.append(CellRates(cell=cell.name, words=cell.words, n=len(was), **{name: int(of.sum()) for name, of in counts.items()}))
    return tuple(found)


def refusal(weak: Sequence[CellRates], mastered: Sequence[CellRates]) -> str:
    """Why a weakness is not real; empty if it is. It is real if practice did less for every weak cell than for the practised cells
    together, interval apart from interval, and did not cost the practised cells more than SPILT.

    Changes are compared, not rates, because some cells are harder than others from the start.

    >>> def cell(name, gained, lost): return CellRates(
    ...     cell=name, words=name, n=60, valid_before=30, valid_after=30 + gained - lost, optimal_before=0, optimal_after=0,
    ...     gained=gained, lost=lost)
    >>> refusal([cell("3", 0, 25)], [cell("4", 2, 3)])
    ''
    >>> refusal([cell("3", 0, 25), cell("5", 1, 3)], [cell("4", 2, 3)])
    '5 changed by −3 points (−10 to +3), which does not lie below the −2 points (−9 to +6) of the practised cells'
    """
    if not weak or not mastered:
        return "no weak cell or no practised cell could be measured"
    least, practised = max(weak, key=lambda cell: change([cell]).high), change(mastered)
    if change([least]).high >= practised.low:
        return f"{least.words} changed by {change([least]).points}, which does not lie below the {practised.points} of the practised cells"
    if practised.value < -SPILT:
        return f"practice cost the practised cells too, by {practised.points}"
    return ""


def pooled(cells: Sequence[CellRates]) -> tuple[Interval, Interval]:
    """The rates before and after practice over all tasks of these cells."""
    n = sum(cell.n for cell in cells)
    return Interval.of(sum(cell.valid_before for cell in cells), n), Interval.of(sum(cell.valid_after for cell in cells), n)


def change(cells: Sequence[CellRates]) -> Interval:
    """The change of the valid rate on the same tasks with its 95 % bounds (normal approximation over pairs of answers).

    >>> cell = CellRates(
    ...     cell="3", words="3", n=100, valid_before=20, valid_after=40, optimal_before=0, optimal_after=0, gained=30, lost=10)
    >>> change([cell]).points
    '+20 points (+8 to +32)'
    """
    n, gained, lost = (sum(getattr(cell, name) for cell in cells) for name in ("n", "gained", "lost"))
    mean = (gained - lost) / n
    half = Z95 * sqrt(max(0.0, (gained + lost) / n - mean * mean) / n)
    return Interval(mean, mean - half, mean + half, n)


def spill_over(weak: Sequence[CellRates]) -> str:
    """Whether practice changed the weak cells, in a sentence."""
    if not weak:
        return ""
    found = change(weak)
    amount = f"by {found.points}"
    if found.low > 0:
        return f"Practice raised the rates of the weak cells too, {amount}."
    if found.high < 0:
        return f"Practice lowered the rates of the weak cells, {amount}."
    return f"Practice did not clearly change the weak cells, {amount}."


def _ability(verb: str, cells: Sequence[CellRates]) -> str:
    if not cells:
        return f"{verb} nothing that could be measured."
    was, now = pooled(cells)
    names = listed([cell.words for cell in cells]) if len(cells) <= 4 else f"{len(cells)} cells"
    return f"{verb} {names}: {now.in_full} valid, {was.percent} before practice."
