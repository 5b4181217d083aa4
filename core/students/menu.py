"""The ready-made students of a config: for each axis one that practised everything else, and apprentices of a corner."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from frozenlab.cells import Config
from frozenlab.files import read_text
from frozenlab.places import ASSETS
from frozenlab.students.recipe import UNTRAINED, Recipe, StudentError
from frozenlab.tasks.families import family_named_in

CONFIG = ASSETS / "students" / "config.json"
"""The config of the usual students."""
STRENGTHS = {"Never practised": 0.0, "Hardly practised": 0.1}
"""Title of a student -> how often it practises each cell of its axis, compared with any other cell."""
APPRENTICES = 3
APPRENTICE: Mapping[str, Any] = {"base": UNTRAINED, "boards": 20_000, "presentations": 40_000}
"""What differs in the recipe of an apprentice, who has to learn everything."""
Axis = tuple[str, tuple[str, ...]]
"""Its name, such as ``agents 5``, and its cells."""


def usual_config() -> Config:
    """The config of the usual students."""
    return read_config(CONFIG)


def axes(config: Config) -> Iterator[Axis]:
    """The axes of a config: what its cells are made of, each value of each part that differs between cells.

    >>> from frozenlab.lake.config import EnvironmentConfig
    >>> dict(axes(EnvironmentConfig.uniform((5, 6), agents=(2, 3))))
    {'agents 2': ('2@5', '2@6'), 'agents 3': ('3@5', '3@6'), 'size 5': ('2@5', '3@5'), 'size 6': ('2@6', '3@6')}
    """
    cells, known = config.described(), set()
    for part in dict.fromkeys(part for cell in cells for part in cell.place):
        for value in dict.fromkeys(cell.place[part] for cell in cells if part in cell.place):
            names = tuple(cell.name for cell in cells if cell.place.get(part) == value)
            if len(names) < len(cells) and names not in known:
                known.add(names)
                yield f"{part} {value}", names


def recipes(config: Config, seed: int = 0, **fields: Any) -> list[Recipe]:
    """The recipes of all ready-made students of a config.

    Args:
        fields: other fields of every :class:`Recipe`, such as ``boards_per_cell``.

    Raises:
        StudentError: the config has fewer than two cells.
    """
    if len(config.cells) < 2:
        raise StudentError("a student needs a config with at least two cells: one to practise, one to be weak at")
    found = [
        Recipe(title=f"{title} {axis}", config=practised(config, weak, factor), weak=weak, seed=seed, **fields)
        for title, factor in STRENGTHS.items()
        for axis, weak in axes(config)
    ]
    return found + [apprentice(config, axis, seed, **fields) for axis in corners(config)]


def practised(config: Config, weak: Sequence[str], factor: float = 0.0) -> Config:
    """The config with every cell as often, but the weak ones ``factor`` times as often."""
    weights = {name: factor if name in weak else 1.0 for name in config.cells}
    total = sum(weights.values())
    return config.with_cells({name: own.model_copy(update={"share": weights[name] / total}) for name, own in config.cells.items()})


def corners(config: Config) -> list[Axis]:
    """The corners that apprentices practise: the first axis of each part, then the last of the first part."""
    found = list(axes(config))
    by_part = [list(group) for _, group in groupby(found, key=lambda axis: axis[0].partition(" ")[0])]
    return [*(group[0] for group in by_part[: APPRENTICES - 1]), by_part[0][-1]]


def apprentice(config: Config, corner: Axis, seed: int, **fields: Any) -> Recipe:
    """One that knows nothing but a corner."""
    axis, known = corner
    weak = tuple(name for name in config.cells if name not in known)
    return Recipe(title=f"Apprentice of {axis}", config=practised(config, weak), weak=weak, seed=seed, **{**APPRENTICE, **fields})


def read_config(path: Path) -> Config:
    """A config from a file, of any family. Raises StudentError or another LabError if it is none, OSError if it cannot be read."""
    text = read_text(path)
    try:
        named = json.loads(text) if path.suffix == ".json" else {}
    except ValueError:
        raise StudentError(f"{path} is not JSON") from None
    config: Config = family_named_in(named).config_of(text.encode(), path.name)
    return config
