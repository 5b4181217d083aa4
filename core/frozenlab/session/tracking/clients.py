"""Trackio, MLflow and Weights & Biases, each by its own client. None is installed with FrozenLab, and each is imported when it is used.

Nothing leaves the machine unless the person's own environment says so: W&B is offline unless ``WANDB_MODE`` is set, MLflow writes into a
file unless ``MLFLOW_TRACKING_URI`` is, Trackio into its own folder on this machine unless ``TRACKIO_SPACE_ID`` is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from frozenlab.jobs.environment import SPACE

PROJECT = "frozenlab"


class Tracker(Protocol):
    """What a session tells a tracker. All of it may raise anything."""

    def begin(self, session_id: str, config: Mapping[str, Any], place: Path) -> None:
        """Begin the run of a session, or go on with it after a resume. What the tracker keeps in files goes to the folder ``place``."""

    def metrics(self, figures: Mapping[str, float], step: int) -> None: ...

    def table(self, name: str, rows: pd.DataFrame, step: int) -> None: ...

    def end(self, status: str) -> None:
        """Write everything that is still to be written."""


class Trackio:
    def begin(self, session_id: str, config: Mapping[str, Any], place: Path) -> None:
        import trackio

        self.client = trackio
        self.run = trackio.init(
            project=PROJECT, name=session_id, config=dict(config), resume="allow", embed=False, space_id=os.environ.get(SPACE)
        )

    def metrics(self, figures: Mapping[str, float], step: int) -> None:
        self.run.log(dict(figures), step=step)

    def table(self, name: str, rows: pd.DataFrame, step: int) -> None:
        self.run.log({name: self.client.Table(dataframe=rows)}, step=step)

    def end(self, status: str) -> None:
        self.run.finish()


class MLflow:
    def begin(self, session_id: str, config: Mapping[str, Any], place: Path) -> None:
        import mlflow

        self.client = mlflow
        artifacts = None
        if "MLFLOW_TRACKING_URI" not in os.environ:
            place.mkdir(parents=True, exist_ok=True)
            artifacts = (place / "artifacts").as_uri()
            mlflow.set_tracking_uri(f"sqlite:///{place / 'mlflow.db'}")
        if mlflow.get_experiment_by_name(PROJECT) is None:
            mlflow.create_experiment(PROJECT, artifact_location=artifacts)
        mlflow.set_experiment(PROJECT)
        known = mlflow.search_runs(filter_string=f"tags.session = '{session_id}'", output_format="list")
        if known:
            self.run = mlflow.start_run(run_id=known[0].info.run_id)
        else:
            self.run = mlflow.start_run(run_name=session_id, tags={"session": session_id})
            mlflow.log_dict(dict(config), "session.json")
            mlflow.log_params({name: value for name, value in flat(config).items() if len(str(value)) <= 500})

    def metrics(self, figures: Mapping[str, float], step: int) -> None:
        self.client.log_metrics(dict(figures), step=step)

    def table(self, name: str, rows: pd.DataFrame, step: int) -> None:
        self.client.log_table(rows.assign(step=step), artifact_file=f"{name}.json")

    def end(self, status: str) -> None:
        self.client.end_run(status={"done": "FINISHED", "failed": "FAILED"}.get(status, "KILLED"))


class WeightsAndBiases:
    def begin(self, session_id: str, config: Mapping[str, Any], place: Path) -> None:
        import wandb

        self.client = wandb
        place.mkdir(parents=True, exist_ok=True)
        self.run = wandb.init(
            project=PROJECT,
            id=session_id,
            name=session_id,
            config=dict(config),
            resume="allow",
            dir=str(place),
            mode=os.environ.get("WANDB_MODE", "offline"),
        )

    def metrics(self, figures: Mapping[str, float], step: int) -> None:
        self.run.log(dict(figures), step=step)

    def table(self, name: str, rows: pd.DataFrame, step: int) -> None:
        self.run.log({name: self.client.Table(dataframe=rows)}, step=step)

    def end(self, status: str) -> None:
        self.run.finish(exit_code=1 if status == "failed" else 0)


def flat(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """``{"training": {"steps": 3}}`` as ``{"training.steps": 3}``."""
    found: dict[str, Any] = {}
    for name, value in config.items():
        found |= flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return found
