"""What one stage measured, as evidence and the boards behind it are drawn from it.

The tables are the session folder's own: one row a held-out board (validation), one row a sampled plan (completions), one row a training
step (metrics).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from frozenlab.base.cells import Config
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.tasks.families import family_of
from frozenlab.tasks.family import Family

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StageMeasurements:
    """Everything one stage left behind."""

    stage: int | None
    """0-based; None: the time before the first."""
    config: Config
    realised: Mapping[str, Any]
    """What was drawn from the config, by cell."""
    metrics: pd.DataFrame
    """One row a training step; per cell the columns ``valid_<cell>`` and ``optimal_<cell>``, empty where a step had no such board."""
    validation: pd.DataFrame
    """Held-out boards after the stage, one row each."""
    validation_before: pd.DataFrame | None
    """The same boards before it; None before the first stage."""
    last_proposal: ProposalRecord | None
    """The proposal that led to this stage; None if no engineer was asked before it."""
    method: str = "grpo"
    """How the stage was trained."""
    sampled: pd.DataFrame | None = None
    """Recorded plans of the stage's training, one row each; None if there are none."""

    @property
    def family(self) -> Family:
        return family_of(self.config.family)


@dataclass(frozen=True)
class StageTables:
    """Those of the same tables that a session still keeps."""

    metrics: pd.DataFrame
    validation: pd.DataFrame | None
    validation_before: pd.DataFrame | None
    sampled: pd.DataFrame | None


@dataclass(frozen=True)
class Behind:
    """The boards behind one line of evidence."""

    what: str
    """Which they are."""
    rows: pd.DataFrame
    """Rows of a validation, or of the plans sampled in training."""
    label: str
    """What to call the plans of these rows."""
    before: pd.DataFrame | None = None
    """A validation that holds the same boards with earlier plans."""


def of_cell(table: pd.DataFrame | None, cell: str | None) -> pd.DataFrame:
    """The rows that count for one cell (None: for any); no row if there is no table."""
    import pandas as pd

    rows = pd.DataFrame(columns=["config_cell", "board_id", "valid"]) if table is None else table
    return rows if cell is None else rows[rows["config_cell"] == cell]


def won_or_lost(kept: StageTables, cell: str | None) -> Behind:
    """The held-out boards of a cell, those that changed sides in the stage first."""
    rows, before = of_cell(kept.validation, cell), kept.validation_before
    if before is not None:
        held = rows["board_id"].isin(before.loc[before["valid"], "board_id"])
        rows = rows.assign(turned=held == rows["valid"]).sort_values("turned", kind="stable")
    return Behind("Validation boards, those that the stage won or lost first", rows, "after the stage", before)


def last_samples(kept: StageTables, cell: str | None) -> Behind:
    """The recorded plans of the last third of training, those that failed first."""
    rows = of_cell(kept.sampled, cell)
    if len(rows):
        last = thirds(kept.metrics)[1]["step"].min()
        rows = rows[rows["training_step"] >= last].sort_values("valid", kind="stable")
    return Behind("Plans of the last third of training, those that failed first", rows, "sampled in training")


def thirds(metrics: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The first and the last third of a stage's steps (at least one step each)."""
    n = max(1, len(metrics) // 3)
    return metrics.head(n), metrics.tail(n)


def sampled_valid(metrics: pd.DataFrame, cell: str) -> tuple[float, float] | None:
    """Valid rate of the cell's samples in the last third of the stage and its change since the first; None if nothing was sampled."""
    if f"valid_{cell}" not in metrics:
        return None
    first, last = (float(part[f"valid_{cell}"].mean()) for part in thirds(metrics))
    return None if isnan(last) else (last, 0.0 if isnan(first) else last - first)
