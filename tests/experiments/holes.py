"""A kind of experiment that FrozenLab does not have, made as CONTRIBUTING says: how many holes do the boards of a config have?"""

from __future__ import annotations

import json
import os
import runpy
import time
from collections.abc import Iterator
from functools import partial

import streamlit as st
from pydantic import BaseModel

from frozenlab.app import experiment
from frozenlab.base.errors import LabError
from frozenlab.base.files import write_text
from frozenlab.cli.experiment import add_experiment, run_experiment
from frozenlab.cli.main import Command
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.jobs.job import KINDS, Kind
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate


class HolesSpec(BaseModel):
    title: str = "Holes"
    session: str = "built"
    """The session whose config it is."""
    boards: int = 20
    """Boards to count on."""


class Holes(Experiment[HolesSpec]):
    kind, model, error = "holes", HolesSpec, LabError
    words = Words("count", "counts", "counting", "boards")

    @property
    def total(self) -> int:
        return self.spec.boards

    def rows(self) -> list[list[int]]:
        """Of each board the holes, and the process that counted them."""
        path = self.dir / "rows.json"
        return json.loads(path.read_text()) if path.exists() else []


def work(recorder: JobRecorder[Holes]) -> None:
    job, rows = recorder.job, recorder.job.rows()

    def count() -> Iterator[list[int]]:
        for seed in range(len(rows), job.total):
            (board,) = generate(EnvironmentConfig.uniform((4,)), 1, seed=seed)
            time.sleep(0.1)
            yield [len(board.board.holes), os.getpid()]

    recorder.keep_all(count(), rows, job.total, lambda known: write_text(job.dir / "rows.json", json.dumps(known)))
    write_text(job.dir / "report.json", json.dumps({"mean": sum(holes for holes, _ in rows) / job.total}))


def show(shown: Holes) -> None:
    st.markdown(f"Holes on {len(shown.rows())} boards")


def page() -> None:
    experiment.page(Holes, "How many holes?", "Boards are drawn.", "Count", lambda: experiment.start(Holes, HolesSpec()), show)


KIND = Kind("holes", "holes", "task.json", __name__, f"{__name__}.Holes")
COMMAND = Command("holes", "count holes", __name__)
add_holes = partial(add_experiment, kind=Holes, fields=["boards"])
run_holes = partial(run_experiment, Holes, fields=["boards"])
if __name__ == "__main__":  # the worker
    KINDS["holes"] = KIND
    runpy.run_module("frozenlab.jobs", run_name="__main__")
