"""The lake's task in plain language, for a language model as engineer."""

from __future__ import annotations

from collections.abc import Sequence

from frozenlab.base.cells import Cell
from frozenlab.lake.layouts import LAYOUTS as RECIPES

NAMES_OF_PLACES = {"size": "map size", "agents": "number of agents", "layout": "layout"}

TASK = """\
You design the environment in which a policy (a language model) learns multi-agent path finding by reinforcement learning. On a frozen lake
map, {teams} move at once, one cell or WAIT in each time step; they must not enter holes, share a cell or swap cells, and all have
to reach their goals in as few time steps as possible. Training goes in stages. After each stage you read what happened and write the
environment config of the next one. The aim is the highest share of valid and optimal plans on held-out boards of all sizes in the end."""

KNOBS = """\
The config has a cell for each {what}: {cells}. For each cell you set, in whole per cent:
- share_percent: the part of the training boards that are of this cell. The shares are scaled to sum to 100.
- hole_percent: the part of a board that is holes. More holes, fewer ways and longer detours.
- wait_percent: the part of the cell's boards that cannot be solved optimally unless some agent waits: how often agents are in each other's
  way."""

LAYOUTS = """
- layouts: how the holes lie, as parts of the boards of a cell without a layout of its own, scaled to sum to 100. You may use {layouts}."""


def brief(cells: Sequence[Cell], parts: Sequence[str] = ()) -> str:
    """The task, the cells and the knobs; the layouts (``parts``) too if the engineer may change them, and what there is besides holes."""
    text = f"{TASK.format(teams=teams_in_words(cells))}\n\n{KNOBS.format(what=what_cells_are(cells), cells=cells_in_words(cells))}"
    text += "\n" + LAYOUTS.format(layouts=", ".join(parts)) if parts else ""
    offered = {str(cell.place.get("layout")) for cell in cells} | set(parts)
    return text + "".join(
        f"\nLayout {recipe.name}: holes {recipe.words}." for recipe in RECIPES if recipe.furnish and recipe.name in offered
    )


def teams_in_words(cells: Sequence[Cell]) -> str:
    """``2 agents``; ``2, 3 or 4 agents``."""
    *fewer, most = sorted({int(cell.place["agents"]) for cell in cells})
    return f"{', '.join(map(str, fewer))} or {most} agents" if fewer else f"{most} agents"


def what_cells_are(cells: Sequence[Cell]) -> str:
    """``map size``; ``map size and number of agents``."""
    differing = [name for name in NAMES_OF_PLACES if len({cell.place.get(name) for cell in cells}) > 1]
    return " and ".join(NAMES_OF_PLACES[name] for name in differing or ["size"])


def cells_in_words(cells: Sequence[Cell]) -> str:
    """``4, 6``; ``3@4 (size 4 with 3 agents), ...``."""
    return ", ".join(cell.name if cell.name.isdigit() else f"{cell.name} ({cell.words})" for cell in cells)
