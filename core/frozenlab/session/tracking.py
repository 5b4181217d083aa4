"""A session that is followed in a tracker, if the person who runs it asks for that.

A variable of the environment (TRACK) names the tracker: Trackio or Weights & Biases, whose clients are alike. Neither comes with FrozenLab.
A thread of its own calls the client, so that a slow tracker delays nothing, and its first failure ends the tracking, not the session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from queue import Queue
from threading import Thread
from typing import Any

import pandas as pd

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.numbers import wilson
from frozenlab.base.places import TRACKING, sessions_folder
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.jobs.environment import SPACE, TRACK, TRACKERS
from frozenlab.session.session import Session

PROJECT = "frozenlab"
PATIENCE = 60.0
"""Seconds that a session waits at its end for a tracker to have written everything."""


class Tracking:
    """What a session sends to the tracker that this person's environment names; nothing where it names none.

    Args:
        failed: called once, with a sentence, if the tracker fails.
    """

    def __init__(self, session: Session, failed: Callable[[str], None]) -> None:
        self._session, self._failed = session, failed
        self._steps = session.spec.training.steps
        self._name = os.environ.get(TRACK, "")
        self._waiting: Queue[tuple[int, Mapping[str, Any]] | None] = Queue()
        self._exit_code = 0
        self._thread = Thread(target=self._send, daemon=True)

    def begin(self) -> None:
        """Begin a run with the session's spec as its config, or go on with it after a resume."""
        if self._name:
            self._thread.start()

    def _send(self) -> None:
        try:
            if self._name not in TRACKERS:
                raise LabError(f"{TRACK} names none of {', '.join(TRACKERS)}")
            client = import_module(self._name)
            config = self._session.spec.model_dump(mode="json")
            run = client.init(project=PROJECT, name=self._session.id, config=config, resume="allow", **self._own_options())
            while (sent := self._waiting.get()) is not None:
                step, data = sent
                tables = {name: client.Table(dataframe=one) for name, one in data.items() if isinstance(one, pd.DataFrame)}
                run.log({**data, **tables}, step=step)
            run.finish(**({"exit_code": self._exit_code} if self._name == "wandb" else {}))
        except ImportError as error:
            self._failed(f"{self._name} is not installed here: {one_line(error)}")
        except SystemExit:
            self._failed(f"{self._name} gave up; the session continues without it")
        except Exception as error:  # a tracker can raise anything
            self._failed(f"{self._name} failed; the session continues without it: {one_line(error)}")

    def _own_options(self) -> dict[str, Any]:
        """What only one of the clients takes. Nothing leaves the machine unless the person's own environment asks for it."""
        if self._name == "trackio":
            return {"embed": False, "space_id": os.environ.get(SPACE)}
        place = sessions_folder() / TRACKING
        place.mkdir(parents=True, exist_ok=True)
        return {"id": self._session.id, "dir": str(place), "mode": os.environ.get("WANDB_MODE", "offline")}

    def _log(self, step: int, data: Mapping[str, Any]) -> None:
        if self._thread.is_alive():
            self._waiting.put((step, data))

    def step(self, stage: int, figures: Mapping[str, float]) -> None:
        """A training step and its figures."""
        sent = {f"train/{name}": value for name, value in figures.items() if name != "step"} | {"stage": stage + 1}
        self._log(self._step(stage, int(figures["step"])), sent)

    def measured(self, suite: str, stage: int | None, rows: pd.DataFrame) -> None:
        """The evidence of a stage on the ``suite`` (validation, test): rates as metrics, and cell by cell as a table."""
        rates = {f"{suite}/{name}": float(rows[name].mean()) for name in ("valid", "optimal")}
        self._log(self._step(stage, self._steps), rates | {f"{suite}_by_cell": rates_table(stage, rows)})

    def proposed(self, record: ProposalRecord) -> None:
        """What the engineer changed, a row each, and why."""
        self._log(self._step(record.stage, self._steps), {"proposals": proposal_table(record)})

    def end(self, status: str) -> None:
        """Wait until everything is written, PATIENCE at most."""
        self._exit_code = int(status == "failed")
        self._waiting.put(None)
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def _step(self, stage: int | None, step: int) -> int:
        """Of the whole session; what comes before training is step 0."""
        return 0 if stage is None else stage * self._steps + step


def rates_table(stage: int | None, rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: its rates with 95 % intervals."""
    found = []
    for cell, part in rows.groupby("config_cell", sort=False):
        valid, optimal, n = float(part["valid"].mean()), float(part["optimal"].mean()), len(part)
        low, high = wilson(float(part["valid"].sum()), n)
        about = {"stage": stage_number(stage), "cell": str(cell), "n": n}
        found.append(about | {"valid": valid, "low": low, "high": high, "optimal": optimal})
    return pd.DataFrame(found)


def proposal_table(record: ProposalRecord) -> pd.DataFrame:
    """A row for each value that changed; one without a value if the config was kept."""
    said = {"stage": stage_number(record.stage), "engineer": record.engineer, "kept_because": record.kept_because or ""}
    changed = [{"cell": str(one.cell), "knob": one.knob, "before": one.before, "after": one.after} for one in record.changes]
    return pd.DataFrame([said | one for one in changed or [{"cell": "", "knob": "", "before": None, "after": None}]])


def stage_number(stage: int | None) -> int:
    """As people count them; 0 is the time before training."""
    return 0 if stage is None else stage + 1
