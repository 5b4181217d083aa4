"""Measured rates: how often random boards have a solution, and how often those need a WAIT."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.stratum import Stratum

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
