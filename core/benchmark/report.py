"""The benchmark: the results of one checkpoint on one suite, as a report that can be compared with others.

A *result* is a folder with three files. ``report.json`` (:class:`Report`) has what was measured and all figures, ``cells.csv`` its cells as
a table, ``boards.parquet`` one row per board (``frozenlab.tasks.lake.answer.COLUMNS``): every figure can be computed again from its boards.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, computed_field

from frozenlab import places
from frozenlab.errors import one_line
from frozenlab.files import write_files, write_parquet
from frozenlab.intervals import ComparisonError, mean_of_rates, wilson
from frozenlab.jobs.folders import JOB_ID
from frozenlab.loop.store import SessionStore
from frozenlab.loop.tables import checked
from frozenlab.tasks.families import AnySuite
from frozenlab.tasks.lake.family import LAKE

SHIPPED = places.ASSETS / "results"
"""Results that ship with the project."""


def _known_fault(name: str) -> str:
    """A report may come from anybody: pages look faults up by their names."""
    if name not in LAKE.faults:
        raise ValueError(f"there is no fault {name[:60]!r}")
    return name


class Tally(BaseModel):
    """Counts and rates of the answers to some boards. All rates are fractions of 1."""

    model_config = ConfigDict(frozen=True)

    agents: int
    n: int
    """Number of boards."""
    valid: int
    """Boards with a valid plan."""
    optimal: int
    """Boards with a valid plan of the optimal makespan. Boards with unknown optimum count as not optimal; no named suite has any."""
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
    tokens: float
    """Mean number of tokens of an answer."""
    faults: dict[Annotated[str, AfterValidator(_known_fault)], int]
    """First fault -> number of boards, in the order of the lake's outcomes. The counts sum to ``n - valid``."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def valid_rate(self) -> float:
        return self.valid / self.n

    @computed_field  # type: ignore[prop-decorator]
    @property
    def valid_interval(self) -> tuple[float, float]:
        """95 % (Wilson)."""
        return wilson(self.valid, self.n)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def optimal_rate(self) -> float:
        return self.optimal / self.n

    @computed_field  # type: ignore[prop-decorator]
    @property
    def optimal_interval(self) -> tuple[float, float]:
        """95 % (Wilson)."""
        return wilson(self.optimal, self.n)


class CellResult(Tally):
    """One number of agents on one map size."""

    size: int


class TeamResult(Tally):
    """One number of agents on all its map sizes. The counts and rates of :class:`Tally` are over all boards."""

    cells: int
    """Map sizes."""
    mean_valid: float
    """Mean of the cells' valid rates: the paper's "Sum". The same as ``valid_rate`` if all cells have equally many boards."""
    mean_valid_interval: tuple[float, float]
    """95 % interval by :func:`frozenlab.intervals.mean_of_rates`."""
    mean_optimal: float
    mean_optimal_interval: tuple[float, float]


class Measured(BaseModel):
    """What was measured, and how."""

    model_config = ConfigDict(frozen=True)

    title: str
    """Title for people, like "long session, after stage 2"."""
    model: str
    """The checkpoint in words, like "lab model"."""
    method: str | None = None
    """How the checkpoint was trained in its session; None for a base."""
    session: str | None = None
    stage: int | None = None
    """The stage of ``session`` (0 is the first) that left the checkpoint; None for its base."""
    suite: str
    """The name of a suite, of a file of boards, or of a part of the official dataset (``hf:benchmark_wr0.5``)."""
    temperature: float = Field(0.0, ge=0)
    seed: int = 0
    """Seed of the samples; has no effect at temperature 0."""


class Report(Measured):
    """``report.json``."""

    schema_version: Literal[1] = 1
    id: str
    """The name of its folder."""
    checkpoint_sha256: str
    """SHA-256 of the checkpoint's ``model.safetensors``."""
    boards_sha256: str
    """Hash of the boards with their names and optima, in order. Two results with the same hash are about the same boards."""
    suite_spec: AnySuite | None = None
    """None if the boards are not those of a named suite."""
    created: float
    """Unix seconds."""
    seconds: float
    """Seconds to plan all boards."""
    cells: list[CellResult]
    """Ascending by agents, then size."""
    teams: list[TeamResult]
    """Ascending by agents."""

    @property
    def n(self) -> int:
        """Number of boards."""
        return sum(team.n for team in self.teams)


def report_of(
    rows: pd.DataFrame,
    measured: Measured,
    *,
    id: str,
    checkpoint_sha256: str,
    suite_spec: AnySuite | None = None,
    created: float,
    seconds: float,
) -> Report:
    """Compute the report from the rows of ``boards.parquet``. Raises ComparisonError if there are none."""
    if rows.empty:
        raise ComparisonError("there is no board to report on")
    cells = [CellResult(size=key[1], **_tally(part)) for key, part in rows.groupby(["agents", "size"])]
    teams = []
    for agents, part in rows.groupby("agents"):
        of_team = [cell for cell in cells if cell.agents == agents]
        valid, *valid_interval = mean_of_rates([(cell.valid, cell.n) for cell in of_team])
        optimal, *optimal_interval = mean_of_rates([(cell.optimal, cell.n) for cell in of_team])
        means: dict[str, Any] = {
            "mean_valid": valid,
            "mean_valid_interval": valid_interval,
            "mean_optimal": optimal,
            "mean_optimal_interval": optimal_interval,
        }
        teams.append(TeamResult(cells=len(of_team), **_tally(part), **means))
    return Report(
        **{name: getattr(measured, name) for name in Measured.model_fields},
        id=id,
        checkpoint_sha256=checkpoint_sha256,
        boards_sha256=_boards_sha256(rows),
        suite_spec=suite_spec,
        created=created,
        seconds=seconds,
        cells=cells,
        teams=teams,
    )


def _tally(rows: pd.DataFrame) -> dict[str, Any]:
    """The fields of :class:`Tally`. All rows have the same number of agents."""
    counts, valid = rows["fault"].value_counts(), rows[rows["valid"]]
    return {
        "agents": int(rows["agents"].iloc[0]),
        "n": len(rows),
        "valid": len(valid),
        "optimal": int(rows["optimal"].sum()),
        "csr": float((rows["on_goal"] == 1).mean()),
        "isr": float(rows["on_goal"].mean()),
        "soc_gap": _gap(valid["sum_of_costs"], valid["optimal_sum_of_costs"]),
        "makespan_gap": _gap(valid["makespan"], valid["optimal_makespan"]),
        "tokens": float(rows["tokens"].mean()),
        "faults": {fault: int(counts[fault]) for fault in LAKE.faults if fault in counts},
    }


def _gap(had: pd.Series, optimum: pd.Series) -> float | None:
    """Mean relative excess over a known optimum."""
    excess = ((had - optimum) / optimum).dropna()
    return float(excess.mean()) if len(excess) else None


def _boards_sha256(rows: pd.DataFrame) -> str:
    text = rows[["board_id", "board", "optimal_makespan", "optimal_sum_of_costs"]].to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(text.encode()).hexdigest()


def cells_table(report: Report) -> pd.DataFrame:
    """The table of ``cells.csv``: one row per cell, one column per bound and per fault."""
    rows = []
    for cell in report.cells:
        row: dict[str, Any] = {"agents": cell.agents, "size": cell.size, "n": cell.n}
        for name in ("valid", "optimal"):
            low, high = getattr(cell, f"{name}_interval")
            row |= {name: getattr(cell, name), f"{name}_rate": getattr(cell, f"{name}_rate"), f"{name}_low": low, f"{name}_high": high}
        row |= {name: getattr(cell, name) for name in ("csr", "isr", "soc_gap", "makespan_gap", "tokens")}
        rows.append(row | {fault: cell.faults.get(fault, 0) for fault in LAKE.faults})
    return pd.DataFrame(rows)


def save_result(folder: Path, report: Report, rows: pd.DataFrame) -> None:
    """Write the three files. The report gets its name last, so a visible result is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "boards.parquet", rows)
    write_files(folder, {"cells.csv": cells_table(report).to_csv(index=False), "report.json": report.model_dump_json(indent=1)})


class Result:
    """One result folder, opened for reading. ``problems`` names what cannot be read."""

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self.id = folder.name
        self.problems: list[str] = []

    @property
    def shipped(self) -> bool:
        """Whether it ships with the project."""
        return self.dir.parent == SHIPPED

    @cached_property
    def report(self) -> Report | None:
        """The report; None, and a line in ``problems``, if it is damaged."""
        try:
            return Report.model_validate_json((self.dir / "report.json").read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            reason = one_line(error)
            self.problems.append(f"{self.id}: report.json cannot be read: {reason}")
            return None

    @cached_property
    def rows(self) -> pd.DataFrame | None:
        """The judged answers, one row per board; None, and a line in ``problems``, if they are damaged or missing."""
        try:
            return checked(pd.read_parquet(self.dir / "boards.parquet"), LAKE)
        except Exception as error:  # a damaged table can make its reader raise anything
            self.problems.append(f"{self.id}: boards.parquet cannot be read: {one_line(error)}")
            return None


def results_folder(store: SessionStore) -> Path:
    """The folder of the user's results and running evaluations."""
    return store.root / "results"


def results(store: SessionStore) -> list[Result]:
    """All finished results: those that ship with the project by name, then the user's, newest first."""
    shipped = [Result(path.parent) for path in sorted(SHIPPED.glob("*/report.json"))]
    own = [Result(path.parent) for path in results_folder(store).glob("*/report.json") if JOB_ID.fullmatch(path.parent.name)]
    return shipped + sorted(own, key=lambda result: result.report.created if result.report else 0.0, reverse=True)
