"""What people call the cells of a config, from their names alone: for figures and tables, whichever task they are about."""

from __future__ import annotations

from collections.abc import Iterable

from frozenlab.tasks import families


def cell_label(name: str) -> str:
    """A cell of a config in charts and tables, as the first family says it that knows cells of such a name.

    >>> cell_label("3@6"), cell_label("easy")
    ('3 on 6×6', 'easy')
    """
    labels = (family.cell_label(name) for family in families.FAMILIES)
    return next((label for label in labels if label is not None), name)


def cells_noun(names: Iterable[str]) -> str:
    """What cells with these names are, in a word.

    >>> cells_noun(["4", "6"]), cells_noun(["easy", "hard"])
    ('map size', 'cell')
    """
    known = list(names)
    nouns = (family.cells_noun(known) for family in families.FAMILIES)
    return next((noun for noun in nouns if noun is not None), "cell")
