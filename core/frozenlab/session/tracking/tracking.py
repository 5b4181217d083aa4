"""A session that is followed in a tracker, if the person who runs it asks for that.

A variable of the environment (TRACK) names the tracker. A thread of its own tells the tracker, so that
one that is slow or away holds nothing up, and the first thing that fails ends the tracking, not the session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from queue import Queue
from threading import Thread
from typing import Any

import pandas as pd

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.intervals import wilson
from frozenlab.base.places import sessions_folder
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.jobs.environment import TRACK
from frozenlab.session.session import Session
from frozenlab.session.tracking.clients import MLflow, Tracker, Trackio, WeightsAndBiases

PATIENCE = 60.0
"""Seconds that a session waits at its end for a tracker to have written everything."""
TRACKERS: dict[str, Callable[[], Tracker]] = {"trackio": Trackio, "mlflow": MLflow, "wandb": WeightsAndBiases}


class Tracking:
    """What a session tells the tracker that this person's environment names, as it goes; nothing where it names none.

    Args:
        failed: called once, with a sentence, if the tracker fails.
    """

    def __init__(self, session: Session, failed: Callable[[str], None]) -> None:
        self._session, self._failed = session, failed
        self._steps = session.spec.training.steps
        self._name = os.environ.get(TRACK, "")
        self._told: Queue[Callable[[Tracker], object] | None] = Queue()
        self._thread = Thread(target=self._tell, daemon=True)

    def begin(self) -> None:
        """Begin a run with the session's spec as its config, or go on with it after a resume."""
        if self._name:
            self._thread.start()
        config, place = self._session.spec.model_dump(mode="json"), sessions_folder() / "tracking"
        self._put(lambda tracker: tracker.begin(self._session.id, config, place))

    def _put(self, tell: Callable[[Tracker], object] | None) -> None:
        if self._thread.is_alive():
            self._told.put(tell)

    def _tell(self) -> None:
        try:
            if self._name not in TRACKERS:
                raise LabError(f"{TRACK} names none of {', '.join(TRACKERS)}")
            tracker = TRACKERS[self._name]()
            while (tell := self._told.get()) is not None:
                tell(tracker)
        except ImportError as error:
            self._failed(f"{self._name} is not installed here: {one_line(error)}")
        except SystemExit:
            self._failed(f"{self._name} gave up, and the session goes on without it")
        except Exception as error:  # a tracker can raise anything
            self._failed(f"{self._name} failed, and the session goes on without it: {one_line(error)}")

    def step(self, stage: int, figures: Mapping[str, float]) -> None:
        """A training step and its figures."""
        step = self._step(stage, int(figures["step"]))
        told = {f"train/{name}": value for name, value in figures.items() if name != "step"} | {"stage": stage + 1}
        self._put(lambda tracker: tracker.metrics(told, step))

    def measured(self, suite: str, stage: int | None, rows: pd.DataFrame) -> None:
        """The evidence of a stage on the ``suite`` (validation, test): rates as metrics, and cell by cell as a table."""
        step, table = self._step(stage, self._steps), rates_table(stage, rows)
        rates = {f"{suite}/{name}": float(rows[name].mean()) for name in ("valid", "optimal")}
        self._put(lambda tracker: tracker.metrics(rates, step))
        self._put(lambda tracker: tracker.table(f"{suite}_by_cell", table, step))

    def proposed(self, record: ProposalRecord) -> None:
        """What the engineer changed, a row each, and why."""
        step, table = self._step(record.stage, self._steps), proposal_table(record)
        self._put(lambda tracker: tracker.table("proposals", table, step))

    def end(self, status: str) -> None:
        """Wait until everything is told, PATIENCE at most."""
        self._put(lambda tracker: tracker.end(status))
        self._put(None)
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def _step(self, stage: int | None, step: int) -> int:
        """Of the whole session; what comes before training is step 0."""
        return 0 if stage is None else stage * self._steps + step


def rates_table(stage: int | None, rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: its rates with 95 % intervals."""
    found: list[dict[str, Any]] = []
    for cell, part in rows.groupby("config_cell", sort=False):
        low, high = wilson(float(part["valid"].sum()), len(part))
        found.append(
            {
                "stage": stage_number(stage), "cell": str(cell), "n": len(part), "valid": float(part["valid"].mean()),
                "low": low, "high": high, "optimal": float(part["optimal"].mean()),
            }
        )  # fmt: skip
    return pd.DataFrame(found)


def proposal_table(record: ProposalRecord) -> pd.DataFrame:
    """A row for each value that changed; one without a value if the config was kept."""
    said = {"stage": stage_number(record.stage), "engineer": record.engineer, "kept_because": record.kept_because or ""}
    changed = [{"cell": str(one.cell), "knob": one.knob, "before": one.before, "after": one.after} for one in record.changes]
    return pd.DataFrame([said | one for one in changed or [{"cell": "", "knob": "", "before": None, "after": None}]])


def stage_number(stage: int | None) -> int:
    """As people count them; 0 is the time before training."""
    return 0 if stage is None else stage + 1
