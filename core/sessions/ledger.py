"""The prediction ledger: what engineers said would come of their proposals, and what came.

A proposal says for a map size which part of the plans will be valid after the next stage. That is scored when the stage has been validated,
beside the naive prediction that nothing will change.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from pydantic import BaseModel

from core.sessions.statistics import wilson
from core.sessions.store import Session

MEANT = 0.01
"""A prediction that lies closer than this to the present rate predicts no change."""
COLUMNS = ["session", "engineer", "stage", "size", "before", "expected", "measured", "low", "high", "n", "verdict"]


def predictions(session: Session) -> pd.DataFrame:
    """One row a prediction that a later stage has tested, with the COLUMNS: ``stage`` (0-based) is the one after which it was made,
    ``before`` the held-out valid rate of the size then, ``measured`` the one after the next stage with its 95 % interval over ``n`` boards.

    ``verdict`` is ``hit`` where the expected rate lies in the interval, ``no effect`` where it does not, though a change was expected and
    the rate before does, else ``miss``.
    """
    rows = []
    for stage in range(session.spec.stages - 1):
        record, now, after = session.proposal(stage), session.validation(stage), session.validation(stage + 1)
        if record is None or record.proposal is None or now is None or after is None:
            continue
        expected = {claim.size: claim.expected for claim in record.proposal.claims if claim.expected is not None}
        for size, rate in expected.items():
            before, valid = (table.loc[table["size"] == size, "valid"] for table in (now, after))
            if valid.empty:
                continue
            low, high = wilson(float(valid.sum()), len(valid))
            told = {"session": session.id, "engineer": record.engineer, "stage": stage, "size": size, "before": before.mean()}
            told |= {"expected": rate, "measured": valid.mean(), "low": low, "high": high, "n": len(valid)}
            rows.append(told | {"verdict": verdict(rate, before.mean(), low, high)})
    return pd.DataFrame(rows, columns=COLUMNS)


def verdict(expected: float, before: float, low: float, high: float) -> str:
    if low <= expected <= high:
        return "hit"
    return "no effect" if abs(expected - before) >= MEANT and low <= before <= high else "miss"


class Score(BaseModel):
    """How one engineer's predictions fared. Rates and errors lie in 0..1."""

    engineer: str
    n: int
    hits: int
    hit_low: float
    hit_high: float
    """95 % interval of the hit rate (Wilson)."""
    no_effect: int
    error: float
    """Mean absolute difference between expected and measured rate."""
    naive_error: float
    """The same for predicting that nothing changes."""
    naive_hits: int


def scores(ledger: pd.DataFrame, by: str = "engineer") -> list[Score]:
    """One for each engineer (or other column ``by``), in the order of the ledger."""
    return [score(str(name), own) for name, own in ledger.groupby(by, sort=False)]


def score(name: str, ledger: pd.DataFrame) -> Score:
    hits = int((ledger["verdict"] == "hit").sum())
    low, high = wilson(hits, len(ledger))
    return Score(
        engineer=name,
        n=len(ledger),
        hits=hits,
        hit_low=low,
        hit_high=high,
        no_effect=int((ledger["verdict"] == "no effect").sum()),
        error=float((ledger["expected"] - ledger["measured"]).abs().mean()),
        naive_error=float((ledger["before"] - ledger["measured"]).abs().mean()),
        naive_hits=int(ledger["before"].between(ledger["low"], ledger["high"]).sum()),
    )


class Calibrated(BaseModel):
    """Predictions of one arm, or engineer, with expected rates of like size, and what came of them (means)."""

    arm: str
    expected: float
    measured: float
    n: int


def calibration(ledger: pd.DataFrame, by: str = "engineer", bins: int = 5) -> tuple[Calibrated, ...]:
    """Predictions of like size beside what came of them: one for each engineer (or other column ``by``) and filled bin of the expected
    rate."""
    rows = []
    for name, own in ledger.groupby(by, sort=False):
        for _, alike in own.groupby((own["expected"] * bins).clip(upper=bins - 1e-9).astype(int)):
            rows.append(Calibrated(arm=str(name), expected=alike["expected"].mean(), measured=alike["measured"].mean(), n=len(alike)))
    return tuple(rows)


def ledger_of(sessions: Iterable[Session]) -> pd.DataFrame:
    tables = [table for session in sessions if not (table := predictions(session)).empty]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
