"""What people call the cells of a config, from their names alone: for figures and tables, whichever task they are about."""

from __future__ import annotations

from collections.abc import Iterable

from frozenlab.tasks.lake.words import cell_label as cell_label


def cells_noun(names: Iterable[str]) -> str:
    """What cells with these names are: map sizes, unless they tell more apart.

    >>> cells_noun(["4", "6"]), cells_noun(["2@4", "3@4"]), cells_noun(["easy", "hard"])
    ('map size', 'team and map size', 'cell')
    """
    known = list(names)
    if all(name.isdigit() for name in known):
        return "map size"
    return "team and map size" if all("@" in name for name in known) else "cell"
