"""The prediction ledger: the changes that engineers predicted for their proposals, and the changes that were measured.

A proposal states the valid rate that it expects on a cell after the next stage. Rates hardly move in a stage, so predicting the
current rate is nearly right. Therefore the *change* is scored: predicted (the stated rate minus the rate on the validation boards that the
engineer saw) against measured (on the boards of the session's results, the same ones before and after), and compared with the naive
prediction that nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pydantic import BaseModel

from frozenlab.base import seeds
from frozenlab.base.cells import OfCell
from frozenlab.base.numbers import MANY, number, paired_change, signed
from frozenlab.engineer.measurements import of_cell
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec

COLUMNS = ["session", "cluster", "engineer", "stage", "cell", "expected", "predicted", "measured", "low", "high", "n"]
FEWEST = 3
"""Smallest number of clusters for an interval."""
DRAWS = 2000


def predictions(session: Session) -> pd.DataFrame:
    """The table of predictions that a later stage has tested, one row each, with the COLUMNS.

    ``stage`` (0-based; -1: before the first) is the stage after which it was made, ``expected`` the valid rate that it states,
    ``predicted`` and ``measured`` are changes of the valid rate (fractions of 1), ``low`` and ``high`` the 95 % interval of the measured
    one over ``n`` pairs of boards. Rows of one ``cluster``, a session with its forks, share boards and stages.
    """
    rows = []
    moments = [None, *range(session.spec.stages)]
    for stage, following in pairwise(moments):
        record, read = session.proposal(stage), session.validation(stage)
        now, after = session.results(stage), session.results(following)
        if record is None or record.proposal is None or read is None or now is None or after is None:
            continue
        expected = {claim.cell: claim.expected for claim in record.proposal.claims if claim.expected is not None}
        for cell, rate in expected.items():
            seen, before, then = (of_cell(table, cell) for table in (read, now, after))
            if seen.empty or not before["board_id"].isin(then["board_id"]).any():
                continue
            measured = paired_change(before, then)
            parent = session.spec.parent
            row: dict[str, Any] = {"session": session.id, "cluster": parent.session if parent else session.id, "engineer": record.engineer}
            row |= {"stage": -1 if stage is None else stage, "cell": cell, "expected": rate}
            figures = {"measured": measured.value, "low": measured.low, "high": measured.high, "n": measured.n}
            rows.append(row | {"predicted": rate - seen["valid"].mean()} | figures)
    return pd.DataFrame(rows, columns=COLUMNS)


class Accuracy(BaseModel):
    """The score of predicted changes. Changes and errors are fractions of 1."""

    predicted: float
    """Mean predicted change."""
    measured: float
    """Mean measured change."""
    error: float
    """Root mean squared difference of the two."""
    naive_error: float
    """The same for predicting that nothing changes."""
    skill: float | None
    """1 - (error / naive error)^2: 1 for a perfect prediction, 0 for one as good as "nothing changes", below 0 for a worse one. None if
    nothing changed."""

    @classmethod
    def of(cls, predicted: ArrayLike, measured: ArrayLike) -> Accuracy:
        """Score at least one prediction against the measured changes, in the same order."""
        said, came = np.asarray(predicted, float), np.asarray(measured, float)
        error, naive = float(np.mean((said - came) ** 2)), float(np.mean(came**2))
        return cls(
            predicted=float(said.mean()),
            measured=float(came.mean()),
            error=error**0.5,
            naive_error=naive**0.5,
            skill=1 - error / naive if naive else None,
        )


class Score(Accuracy):
    """The score of one engineer's predictions."""

    engineer: str
    n: int
    """Number of predictions."""
    clusters: int
    """Number of sessions (in a study: seeds) that they come from."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the skill over clusters; None with fewer than FEWEST."""

    @property
    def skill_words(self) -> str:
        """``0.25 (−0.10 to 0.40)``; empty where nothing changed."""
        if self.skill is None:
            return ""
        return number(self.skill) + ("" if self.low is None or self.high is None else f" ({number(self.low)} to {number(self.high)})")


def scores(ledger: pd.DataFrame, by: str = "engineer") -> list[Score]:
    """One score per engineer (or other column ``by``), in the order of the ledger."""
    return [score(str(name), own) for name, own in ledger.groupby(by, sort=False)]


def score(name: str, ledger: pd.DataFrame) -> Score:
    """Score a ledger with at least one row. The interval resamples whole clusters (percentile bootstrap)."""
    error, naive = (ledger["predicted"] - ledger["measured"]) ** 2, ledger["measured"] ** 2
    squares = pd.DataFrame({"cluster": ledger["cluster"], "error": error, "naive": naive})
    sums = squares.groupby("cluster")[["error", "naive"]].sum().to_numpy()
    low, high = skill_interval(sums)
    accuracy = Accuracy.of(ledger["predicted"], ledger["measured"])
    return Score(**dict(accuracy), engineer=name, n=len(ledger), clusters=len(sums), low=low, high=high)


def scores_table(scores: Sequence[Score], who: str, clusters: str) -> pd.DataFrame:
    """A row for each engineer or arm, with changes and errors in points. ``who`` names the first column, ``clusters`` the one with the
    number of sessions or seeds."""
    return pd.DataFrame(
        [
            {
                who: one.engineer,
                "predictions": one.n,
                clusters: one.clusters,
                "predicted": signed(one.predicted, MANY),
                "measured": signed(one.measured, MANY),
                "error": round(100 * one.error, 1),
                "of no change": round(100 * one.naive_error, 1),
                "skill (95 %)": one.skill_words,
            }
            for one in scores
        ]
    )


def skill_interval(sums: np.ndarray) -> tuple[float | None, float | None]:
    """Skill from sums of squared errors, one row per cluster: of its predictions, and of predicting no change."""
    if len(sums) < FEWEST:
        return None, None
    drawn = sums[seeds.rng(0, "ledger/bootstrap").integers(len(sums), size=(DRAWS, len(sums)))].sum(axis=1)
    drawn = drawn[drawn[:, 1] > 0]
    if not len(drawn):
        return None, None
    low, high = np.quantile(1 - drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return float(low), float(high)


class Changed(OfCell):
    """One prediction of an arm, or engineer: the predicted change of the valid rate and the measured one with its 95 % interval."""

    arm: str
    predicted: float
    measured: float
    low: float
    high: float
    n: int
    """Number of boards."""


def changes(ledger: pd.DataFrame, by: str = "engineer") -> tuple[Changed, ...]:
    """Every prediction of each engineer (or other column ``by``)."""
    columns = ["cell", "predicted", "measured", "low", "high", "n"]
    return tuple(Changed(arm=str(row[by]), **{name: row[name] for name in columns}) for _, row in ledger.iterrows())


def ledger_of(sessions: Iterable[Session]) -> pd.DataFrame:
    tables = [table for session in sessions if not (table := predictions(session)).empty]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)


def source(spec: SessionSpec) -> str:
    """A sentence on the source of a session's predictions."""
    return spec.engineer.expectations(spec.language)
