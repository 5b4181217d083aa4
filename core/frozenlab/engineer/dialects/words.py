"""Words of the lab dialect that the prompt's sections and the proposal share. The lab model knows boards and Countdown."""

from __future__ import annotations

from frozenlab.base.cells import Cell
from frozenlab.tasks import vocabulary as v

RATIO_WORDS: dict[str, str] = {"hole_ratio": "hole", "wait_ratio": "wait", "times_ratio": "times"}
"""Ratio -> what the word for its value begins with; the cell follows (``hole#2``)."""
BOARD_RATIOS, COUNTDOWN_RATIOS = ("hole_ratio", "wait_ratio"), ("times_ratio",)
NAMES_OF_PARTS = {"agents": "k", "size": "size", "layout": "", "numbers": "numbers"}
"""Part of what makes up a cell -> what its word begins with."""


def change_words(change: float) -> list[str]:
    """``+0.05`` -> ``["+", "5%"]``."""
    size = v.percent_word(abs(change))
    return ["-" if change < 0 and size != v.PERCENTS[0] else "+", size]


def kind_words(cell: Cell) -> list[str]:
    """What makes up a cell.

    >>> kind_words(Cell(name="3@doors6", words="", place={"agents": 3, "size": 6, "layout": "doors"}))
    ['k3', 'size6', 'doors']
    """
    return [f"{NAMES_OF_PARTS[part]}{value}" for part, value in cell.place.items()]


def ratios_of(cell: Cell) -> tuple[str, ...]:
    """The ratios of a cell, by its family."""
    return COUNTDOWN_RATIOS if "numbers" in cell.place else BOARD_RATIOS
