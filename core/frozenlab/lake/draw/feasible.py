"""What a config can and cannot ask for, by measured rates: how often random boards have a solution, and how often those need a WAIT."""

from __future__ import annotations

import csv
import math
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import Layout
from frozenlab.lake.draw.stream import DRAWS_PER_BOARD, GenerationError, Stratum, Stream

RATES = Path(__file__).parents[1] / "data" / "natural_rates.csv"
"""Per size, agents, hole count, layout and placement: draws, those with a solution, and those of them that need a WAIT by makespan.
Measured by recipes/natural_rates.py."""


def natural_wait_rate(config: EnvironmentConfig, name: str) -> float | None:
    """Share of a cell's random solvable boards that need a WAIT, whatever wait ratio its config asks for.

    Measured and interpolated over the hole count, mixed as the layouts are; None where it was not measured.
    """
    cell = config.cells[name]
    if cell.agents == 1:
        return 0.0
    if config.wait_definition != "makespan":
        return None
    rates = [(part, measured_rates(Stratum.of(config, name, layout))) for layout, part in cell.drawn_layouts.items()]
    return None if any(rate is None for _, rate in rates) else sum(part * rate[1] for part, rate in rates if rate)


def measured_rates(stratum: Stratum) -> tuple[float, float] | None:
    """(share of draws with a solution, share of those that need a WAIT by makespan), interpolated over the hole count.

    None where they were not measured.
    """
    measured = _measured().get((stratum.size, stratum.agents, stratum.layout, stratum.placement))
    if measured is None or not measured[0][0] <= stratum.holes <= measured[-1][0]:
        return None
    counts, usable, waits = zip(*measured, strict=True)
    return float(np.interp(stratum.holes, counts, usable)), float(np.interp(stratum.holes, counts, waits))


@cache
def _measured() -> dict[tuple[int, int, str, str], list[tuple[int, float, float]]]:
    """(size, agents, layout, placement) -> ascending (holes, share of draws with a solution, share of those that need a WAIT)."""
    table: dict[tuple[int, int, str, str], list[tuple[int, float, float]]] = {}
    with RATES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            draws, usable, waiting = int(row["draws"]), int(row["usable"]), int(row["waiting"])
            found = (int(row["holes"]), usable / draws if draws else 0.0, waiting / usable if usable else 0.0)
            table.setdefault((int(row["size"]), int(row["agents"]), row["layout"], row["placement"]), []).append(found)
    return {cell: sorted(rows) for cell, rows in table.items()}


TRIAL = 8
"""Boards of a kind that are drawn to see whether there are any."""


def infeasible(config: EnvironmentConfig, name: str, layout: Layout = "scatter", *, natural: bool = False) -> str | None:
    """Why the boards of one cell of a config in a layout cannot be drawn, as far as counting cells and measured rates tell.

    Args:
        natural: leave out the wait ratio of the config: any mix of boards with and without a necessary WAIT will do.

    Returns:
        one line with the reachable range; None if nothing speaks against it
    """
    cell, stratum = config.cells[name], Stratum.of(config, name, layout)
    where, agents = config.describe(cell.kind).words, cell.agents
    cells, wait_ratio = cell.size * cell.size, None if natural else cell.wait_ratio
    if cells < 2 * agents:
        return f"{where}: {cells} cells have no room for {agents} agents, who need {2 * agents}"
    if cells - stratum.holes < 2 * agents:
        most = math.floor((cells - 2 * agents + 0.499) / cells * 100) / 100
        return (
            f"{where}: hole ratio {cell.hole_ratio:.2f} leaves {cells - stratum.holes} free cells, {agents} agents need {2 * agents} "
            f"(reachable: 0.00 to {most:.2f})"
        )
    if agents == 1 and wait_ratio:
        return f"{where}: wait ratio {wait_ratio:.2f} cannot be reached: one agent alone never needs to WAIT (reachable: 0.00)"
    rates = measured_rates(stratum) if config.wait_definition == "makespan" else None
    if rates is None:
        return None
    usable, waiting = rates
    if usable * DRAWS_PER_BOARD < 1:
        return f"{where}: at hole ratio {cell.hole_ratio:.2f} hardly any random board with {agents} agents can be solved"
    if wait_ratio is not None:
        asked = f"{where}: wait ratio {wait_ratio:.2f} cannot be reached with {agents} agents at hole ratio {cell.hole_ratio:.2f}"
        if wait_ratio > 0 and usable * waiting * DRAWS_PER_BOARD < 1:
            return f"{asked}: no board there needs a WAIT (reachable: 0.00)"
        if wait_ratio < 1 and usable * (1 - waiting) * DRAWS_PER_BOARD < 1:
            return f"{asked}: every board there needs a WAIT (reachable: 1.00)"
    return None


def undrawable(config: EnvironmentConfig, name: str) -> str | None:
    """Why one cell of a config cannot be drawn in one of its layouts; None if it can.

    Where no rates were measured (layouts without measurements, connected placement in a layout, waits by the sum of costs, teams and
    sizes beyond the paper's), a few boards are drawn to see.

    Example:
        >>> undrawable(EnvironmentConfig.uniform((3,), agents=1, wait_ratio=0.5), "3")
        'size 3: wait ratio 0.50 cannot be reached: one agent alone never needs to WAIT (reachable: 0.00)'
    """
    cell = config.cells[name]
    for layout in cell.drawn_layouts:
        if reason := infeasible(config, name, layout):
            return reason
        stratum = Stratum.of(config, name, layout)
        measured = config.wait_definition == "makespan" and measured_rates(stratum) is not None
        wanted = (TRIAL * (cell.wait_ratio < 1), TRIAL * (cell.wait_ratio > 0))
        if not measured and (reason := trial(stratum, wanted)):
            where = config.describe(cell.kind).words
            return f"{where}: with hole ratio {cell.hole_ratio:.2f} and wait ratio {cell.wait_ratio:.2f} {reason}"
    return None


@lru_cache(maxsize=4096)
def trial(stratum: Stratum, wanted: tuple[int, int]) -> str | None:
    """Why so many boards without and with a necessary WAIT cannot be drawn; None: they were."""
    stream = Stream(stratum, stratum.key("trial", 0))
    try:
        stream.take(wanted)
    except GenerationError:
        return f"{stream.next:,} random {stratum} gave {stream.found} to use, too few to draw from"
    return None
