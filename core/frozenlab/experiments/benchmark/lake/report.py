"""The figures of a result on boards: by team and map size, with the gaps to the optimum and the agents that arrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator

from frozenlab.base.numbers import UNKNOWN, Interval, mean_of_rates, number, percent
from frozenlab.experiments.benchmark.report import Report, Tally, bounds_of, known_fault, tally
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE

HEAD = "agents  size     n    valid    95 % interval  optimal    95 % interval      CSR      ISR  cost gap  step gap  tokens"


class BoardTally(Tally):
    """Counts and rates of the plans for some boards. All rates are fractions of 1."""

    agents: int
    csr: float
    """Share of the boards on which *all* agents end on their goals. It looks at the last cell of each path as written, whatever rule is
    broken on the way, so it is never below the valid rate; ``csr`` minus the valid rate is the share of plans that arrive but break a rule.
    (A success in the sense of MAPF, all there and no conflict, is a valid plan.) An answer that cannot be read counts 0."""
    isr: float
    """Mean share of a board's agents that end on their goals; as ``csr`` otherwise, and never below it."""
    soc_gap: float | None
    """Mean of (sum of costs - optimum) / optimum over the valid plans; None if there is none."""
    makespan_gap: float | None
    """The same for the makespan: 0 if all valid plans are optimal."""
    faults: dict[Annotated[str, AfterValidator(lambda name: known_fault(name, LAKE))], int]


class CellResult(BoardTally):
    """One number of agents on one map size."""

    size: int


class TeamResult(BoardTally):
    """One number of agents on all its map sizes. The counts and rates of :class:`BoardTally` are over all boards."""

    cells: int
    """Map sizes."""
    mean_valid: float
    """Mean of the cells' valid rates: the paper's "Sum". The same as ``valid_rate`` if all cells have equally many boards."""
    mean_valid_interval: tuple[float, float]
    """95 % interval by :func:`frozenlab.base.numbers.mean_of_rates`."""
    mean_optimal: float
    mean_optimal_interval: tuple[float, float]

    def mean(self, name: str) -> Interval:
        """The mean of the cells' rates ``valid`` or ``optimal``; its n counts boards."""
        if name == "valid":
            return Interval(self.mean_valid, *self.mean_valid_interval, self.n)
        return Interval(self.mean_optimal, *self.mean_optimal_interval, self.n)


class LakeReport(Report):
    """``report.json`` of a result on boards."""

    cells: list[CellResult]
    """Ascending by agents, then size."""
    teams: list[TeamResult]
    """Ascending by agents."""

    @property
    def family(self) -> Family:
        return LAKE

    @classmethod
    def tasks_in(cls, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[["board_id", "board", "optimal_makespan", "optimal_sum_of_costs"]]

    @classmethod
    def figures(cls, rows: pd.DataFrame, suite_spec: Any, samples: int) -> dict[str, Any]:
        cells = [CellResult(size=key[1], **board_tally(part, samples)) for key, part in rows.groupby(["agents", "size"])]
        teams = [team_result(part, [cell for cell in cells if cell.agents == agents], samples) for agents, part in rows.groupby("agents")]
        return {"cells": cells, "teams": teams}

    def cells_table(self) -> pd.DataFrame:
        rows = []
        for cell in self.cells:
            row: dict[str, Any] = {"agents": cell.agents, "size": cell.size, "n": cell.n, **bounds_of(cell)}
            row |= {name: getattr(cell, name) for name in ("csr", "isr", "soc_gap", "makespan_gap", "tokens")}
            rows.append(row | {fault: cell.faults.get(fault, 0) for fault in LAKE.faults})
        return pd.DataFrame(rows)

    def lines(self) -> list[str]:
        found = []
        for team in self.teams:
            found += ["", HEAD]
            found += [tally_line(cell, f"{cell.size}", cell.rate) for cell in self.cells if cell.agents == team.agents]
            found.append(tally_line(team, "mean", team.mean))
            found.append(f"        faults: {team.fault_counts}")
        return found


def board_tally(rows: pd.DataFrame, samples: int) -> dict[str, Any]:
    """The fields of :class:`BoardTally`, from ``samples`` rows of each board. All rows have the same number of agents."""
    valid = rows[rows["valid"]]
    return {
        **tally(rows, LAKE, samples),
        "agents": int(rows["agents"].iloc[0]),
        "csr": float((rows["on_goal"] == 1).mean()),
        "isr": float(rows["on_goal"].mean()),
        "soc_gap": gap(valid["sum_of_costs"], valid["optimal_sum_of_costs"]),
        "makespan_gap": gap(valid["makespan"], valid["optimal_makespan"]),
    }


def team_result(rows: pd.DataFrame, cells: Sequence[CellResult], samples: int) -> TeamResult:
    """The counts of all boards of a team, and the means over its cells."""
    means: dict[str, Any] = {}
    for name in ("valid", "optimal"):
        mean, *interval = mean_of_rates([(getattr(cell, name) / samples, cell.n) for cell in cells])
        means |= {f"mean_{name}": mean, f"mean_{name}_interval": interval}
    return TeamResult(cells=len(cells), **board_tally(rows, samples), **means)


def gap(had: pd.Series, optimum: pd.Series) -> float | None:
    """Mean relative excess over a known optimum."""
    excess = ((had - optimum) / optimum).dropna()
    return float(excess.mean()) if len(excess) else None


def tally_line(boards: BoardTally, size: str, rate_of: Callable[[str], Interval]) -> str:
    """One line of the table: the rates ``valid`` and ``optimal`` with their bounds, and a dash for the gap if no plan is valid."""
    n = boards.n
    rates = "  ".join(f"{rate.percent:>7}  {rate.percents:>15}" for rate in map(rate_of, ("valid", "optimal")))
    cost, step = (UNKNOWN if gap is None else f"{number(100 * gap, 1, sign=True)} %" for gap in (boards.soc_gap, boards.makespan_gap))
    arrived = f"{percent(boards.csr, n):>7}  {percent(boards.isr, n):>7}"
    return f"{boards.agents:>6}  {size:>4}  {boards.n:>4}  {rates}  {arrived}  {cost:>8}  {step:>8}  {number(boards.tokens, 1):>6}"
