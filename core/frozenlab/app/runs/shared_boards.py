"""The boards that several runs were measured on, and how each pair of runs differs on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import pandas as pd

from frozenlab.app.session.board_by_board import BoardByBoard, board_by_board
from frozenlab.session.session import Session


@dataclass(frozen=True)
class Measured:
    """The results of a run's last measured stage."""

    session: Session
    name: str
    """As the page calls the run; no other has the same."""
    stage: int | None
    """0-based; None: only the base was measured."""
    table: pd.DataFrame

    @property
    def after(self) -> str:
        return "before training" if self.stage is None else f"after stage {self.stage + 1}"


def measured(session: Session, name: str) -> Measured | None:
    """The run's last results; None before the first."""
    for stage in (*reversed(range(session.spec.stages)), None):
        table = session.results(stage)
        if table is not None:
            return Measured(session, name, stage, table)
    return None


def shared(runs: Sequence[Measured]) -> list[pd.DataFrame]:
    """The rows of the boards that all runs were measured on, in the same order; empty tables where there is none.

    Suites name boards by their place, so the same id may be another board: the board itself has to be the same too.
    """
    family = runs[0].session.spec.tasks
    if any(run.session.spec.tasks is not family for run in runs):
        return [run.table.iloc[:0] for run in runs]
    same = ["board_id", *family.task_columns]
    common = reduce(lambda left, right: left.merge(right, on=same), [run.table[same].drop_duplicates() for run in runs])
    # each board once, as a damaged table may not have it
    return [common[["board_id"]].drop_duplicates().merge(run.table.drop_duplicates("board_id"), on="board_id") for run in runs]


@dataclass(frozen=True)
class Pair:
    """Two runs on the boards that both were measured on."""

    first: Measured
    second: Measured
    result: BoardByBoard
    """``gained`` are boards that only the second solves, ``lost`` those that only the first does."""


def pairs(runs: Sequence[Measured]) -> list[Pair]:
    """Each two of the runs, in their order."""
    found = []
    for place, first in enumerate(runs):
        for second in runs[place + 1 :]:
            before, after = shared([first, second])
            found.append(Pair(first, second, board_by_board(before, after)))
    return found


def disagreed(tables: Sequence[pd.DataFrame]) -> pd.Series:
    """Whether some runs solve a board and others do not, for each row of the shared tables."""
    solved = pd.concat([table["valid"].reset_index(drop=True) for table in tables], axis=1).sum(axis=1)
    return (solved > 0) & (solved < len(tables))
