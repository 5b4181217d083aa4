"""The ready-made students of a config: for each axis one misled about it and one that never practised it, and apprentices of a corner."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

from frozenlab.base.cells import Config, evenly, with_shares
from frozenlab.base.files import read_text
from frozenlab.base.places import ASSETS
from frozenlab.experiments.students.recipe import UNTRAINED, Recipe, StudentError
from frozenlab.tasks.families import family_named_in

CONFIG = ASSETS / "students" / "config.json"
"""The config of the usual students."""
LADDER = ASSETS / "students" / "ladder.json"
"""The config of the ladder of engineers: six cells that its students lose, and two decoys, which are hard by nature."""
DECOYS = ("4@oneway9", "numbers4")
LADDER_SEEDS = {3: 16, 8: 19, 13: 18}
"""Number of a student of the ladder -> its seed, where the certificate refused the weakness that its number as seed made."""
MISLED: Mapping[str, Any] = {"presentations": 3000}
"""What differs in the recipe of a student that was misled: with more practice its weakness is too deep for a session to mend, with less it
spills over."""
MISLED_SHARE = 0.1
"""How much of that practice is of each cell with wrong answers."""
APPRENTICES = 3
APPRENTICE: Mapping[str, Any] = {"base": UNTRAINED, "boards": 20_000, "presentations": 40_000}
"""What differs in the recipe of an apprentice, who has to learn everything."""
ORDINALS = ("first", "second", "third", "fourth", "fifth")
"""Of seeds, which count from 0."""
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
    found = [misled(config, axis, seed, **fields) for axis in axes(config)]
    for axis, weak in axes(config):
        found.append(Recipe(title=titled(f"Never practised {axis}", seed), config=practised(config, weak), weak=weak, seed=seed, **fields))
    return found + [apprentice(config, axis, seed, **fields) for axis in corners(config)]


def titled(title: str, seed: int) -> str:
    """Students of another seed have other names.

    >>> titled("Misled about agents 4", 0), titled("Misled about agents 4", 2)
    ('Misled about agents 4', 'Misled about agents 4, seed 2')
    """
    return f"{title}, seed {seed}" if seed else title


def practised(config: Config, weak: Sequence[str], share: float = 0.0) -> Config:
    """The config with the weak cells at ``share`` each, and every other cell as often as the next."""
    other = (1 - share * len(weak)) / (len(config.cells) - len(weak))
    return with_shares(config, {name: share if name in weak else other for name in config.cells})


def misled(config: Config, axis: Axis, seed: int, **fields: Any) -> Recipe:
    """One that learnt wrong answers to the tasks of an axis, beside right ones to all others."""
    name, weak = axis
    share = min(MISLED_SHARE, 0.5 / len(weak))
    title = titled(f"Misled about {name}", seed)
    return Recipe(title=title, config=practised(config, weak, share), weak=weak, misled=weak, seed=seed, **{**MISLED, **fields})


def student_words(label: str) -> str:
    """A student as people read it, by its id: of one that was misled, what it learnt wrong and which of its kind it is.

    >>> student_words("misled-about-size-9"), student_words("misled-about-layout-doors-seed-1"), student_words("lab-model")
    ('taught wrong: 9×9', 'taught wrong: doors, second seed', 'lab-model')
    """
    known = re.fullmatch(r"misled-about-([a-z]+)-(\w+)(?:-seed-(\d+))?", label)
    if known is None:
        return label
    part, value, seed = known[1], known[2], int(known[3] or 0)
    words = {"size": f"{value}×{value}", "layout": value, "numbers": f"Countdown, {value} numbers"}.get(part, f"{value} {part}")
    which = f", {ORDINALS[seed]} seed" if 0 < seed < len(ORDINALS) else f", seed {seed}" if seed else ""
    return f"taught wrong: {words}{which}"


def ladder() -> dict[str, Recipe]:
    """The students of the ladder of engineers by id: one for each pair of cells that can be lost, misled about both.

    >>> [recipe.weak for recipe in ladder().values()][:2], len(ladder())
    ([('2@doors6', '2@9'), ('2@doors6', '3@corridor6')], 15)
    """
    config = evenly(read_config(LADDER))
    pairs = combinations([name for name in config.cells if name not in DECOYS], 2)
    return {
        f"ladder-{n}": misled(config, (f"{' and '.join(pair)}, ladder", pair), LADDER_SEEDS.get(n, n)) for n, pair in enumerate(pairs, 1)
    }


def corners(config: Config) -> list[Axis]:
    """The corners that apprentices practise: the first axis of each part, then the last of the first part."""
    found = list(axes(config))
    by_part = [list(group) for _, group in groupby(found, key=lambda axis: axis[0].partition(" ")[0])]
    return [*(group[0] for group in by_part[: APPRENTICES - 1]), by_part[0][-1]]


def apprentice(config: Config, corner: Axis, seed: int, **fields: Any) -> Recipe:
    """One that knows nothing but a corner."""
    axis, known = corner
    weak, title = tuple(name for name in config.cells if name not in known), titled(f"Apprentice of {axis}", seed)
    return Recipe(title=title, config=practised(config, weak), weak=weak, seed=seed, **{**APPRENTICE, **fields})


def read_config(path: Path) -> Config:
    """A config from a file, of any family. Raises StudentError or another LabError if it is none, OSError if it cannot be read."""
    text = read_text(path)
    try:
        named = json.loads(text) if path.suffix == ".json" else {}
    except ValueError:
        raise StudentError(f"{path} is not JSON") from None
    config: Config = family_named_in(named).config_of(text.encode(), path.name)
    return config
