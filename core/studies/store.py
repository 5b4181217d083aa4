"""The folder of a study: its spec, the state of its runner, and one session per cell.

studies/<id>/
  study.json      the spec, written once
  state.json      of the runner
  cells/<arm>-s<seed>/   a session folder
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, Field

from frozenlab import places
from frozenlab.engineer import hosts
from frozenlab.errors import one_line
from frozenlab.files import write_text
from frozenlab.jobs.folders import find_folder, make_folder, readable
from frozenlab.jobs.job import Job
from frozenlab.jobs.launcher import check_folder, launching, spawn
from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, WorkerState, read_state
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.loop.session import Session
from frozenlab.loop.store import SessionStore
from frozenlab.studies.spec import Arm, StudyError, StudySpec

Configs = dict[tuple[str, int], tuple[EnvironmentConfig, ...]]
"""(arm, seed) -> the config of each stage."""


@dataclass(frozen=True)
class Cell:
    """One arm with one seed."""

    arm: Arm
    seed: int

    @property
    def id(self) -> str:
        """The id of its session within the study."""
        return f"{self.arm.name}-s{self.seed}"


class RunSettings(BaseModel):
    """``run.json``: how a study's worker runs its cells; written whenever one is started."""

    schema_version: Literal[1] = 1
    jobs: Annotated[int, Field(ge=1)] | None = None
    """Sessions that run at a time; None: as many as there is room for."""
    cluster: str | None = None
    """The address of a Ray cluster that they run on; None: they run here."""


class Study(Job):
    """One study folder, opened for reading."""

    kind = "study"

    def __init__(self, folder: Path) -> None:
        """Raises StudyError if there is no readable ``study.json``."""
        self.dir, self.id = folder, folder.name
        try:
            self.spec = StudySpec.model_validate_json((folder / "study.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = one_line(error)
            raise StudyError(f"study {self.id!r}: study.json cannot be read: {reason}") from None

    @property
    def title(self) -> str:
        return self.spec.title

    @property
    def patience(self) -> float:
        return SLOW_STALLED_AFTER if self.spec.session.language else STALLED_AFTER

    @property
    def run(self) -> RunSettings:
        """Those it was last started with. Raises StudyError if they cannot be read."""
        path = self.dir / "run.json"
        try:
            return RunSettings.model_validate_json(path.read_bytes()) if path.exists() else RunSettings()
        except (OSError, ValueError) as error:
            raise StudyError(f"study {self.id!r}: run.json cannot be read: {one_line(error)}") from None

    @property
    def cells(self) -> list[Cell]:
        """All cells, seed by seed, so that an unfinished study is a study of fewer seeds. The other arms of a seed fork from its first
        arm."""
        return [Cell(arm, seed) for seed in self.spec.seeds for arm in self.spec.arms]

    @property
    def store(self) -> SessionStore:
        return SessionStore(self.dir / "cells")

    def session(self, cell: Cell) -> Session | None:
        """The session of a cell; None before it has begun."""
        folder = self.dir / "cells" / cell.id
        return Session(folder) if (folder / "session.json").exists() else None

    def state(self) -> WorkerState:
        return read_state(self.dir)

    def finished(self) -> Iterator[tuple[Cell, Session]]:
        for cell in self.cells:
            session = self.session(cell)
            if session is not None and session.state().status == "done":
                yield cell, session

    def boards(self) -> pd.DataFrame:
        """The final results of all finished cells, one row per board: ``arm, seed, board_id, cell, size, agents, valid, optimal``. ``cell``
        is a cell of the suite (agents and size). Boards with the same id are the same within a seed."""
        return self._validated(lambda session: [session.spec.stages]).drop(columns="trained")

    def learning(self) -> pd.DataFrame:
        """The results after every stage of all finished cells, with the columns of :meth:`boards` and the number of stages ``trained``;
        0 is the base."""
        return self._validated(lambda session: range(session.spec.stages + 1))

    def _validated(self, trained: Callable[[Session], Iterable[int]]) -> pd.DataFrame:
        """The results after the numbers of stages that ``trained`` gives for a session."""
        tables = []
        for cell, session in self.finished():
            for stages in trained(session):
                table = session.results(stages - 1 if stages else None)
                if table is not None:
                    names = table["agents"].astype(str) + "x" + table["size"].astype(str)
                    kept = table[["board_id", "size", "agents", "valid", "optimal"]]
                    tables.append(kept.assign(trained=stages, arm=cell.arm.name, seed=cell.seed, cell=names))
        columns = ["trained", "arm", "seed", "board_id", "cell", "size", "agents", "valid", "optimal"]
        return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)

    def configs(self) -> Configs:
        """The configs of all finished cells with a complete record."""
        configs = {}
        for cell, session in self.finished():
            drawn = [record.config for stage in range(session.spec.stages) if (record := session.environment(stage)) is not None]
            if len(drawn) == session.spec.stages:
                configs[cell.arm.name, cell.seed] = tuple(drawn)
        return configs


def outcomes(boards: pd.DataFrame, measure: str = "valid") -> pd.DataFrame:
    """One row per finished cell: ``arm, seed, value``. The value is the mean over the suite's cells of the share of boards that are
    ``measure``."""
    of_cells = boards.groupby(["arm", "seed", "cell"], sort=False)[measure].mean()
    return of_cells.groupby(["arm", "seed"], sort=False).mean().rename("value").reset_index()


def studies_folder(store: SessionStore) -> Path:
    return store.root / "studies"


def create(spec: StudySpec, store: SessionStore, study_id: str | None = None) -> Study:
    """Create the folder of a study. Raises StudyError if the id is invalid or taken."""
    root = studies_folder(store)
    return Study(make_folder(root, study_id, "study.json", spec, title=spec.title, kind="study", error=StudyError))


def start(spec: StudySpec, store: SessionStore, run: RunSettings, study_id: str | None = None) -> Study:
    """Creates a study and starts its worker. Raises LaunchError while another job runs, HostError if an engineer's server is not allowed
    on this machine, StudyError if the id is not valid or taken."""
    hosts.check(spec.servers)
    with launching(store.root):
        study = create(spec, store, study_id)
        spawn_with(run, study)
    return study


def resume(study: Study, store: SessionStore, run: RunSettings) -> None:
    """Starts a study's worker again, which goes on where the study stands. Raises what :func:`start` raises."""
    hosts.check(study.spec.servers)
    with launching(store.root):
        spawn_with(run, study)


def spawn_with(run: RunSettings, study: Study) -> Popen[bytes]:
    check_folder(study)
    write_text(study.dir / "run.json", run.model_dump_json(indent=1))
    return spawn(study)


def studies(store: SessionStore) -> list[Study]:
    """Every readable study, newest first."""
    return readable(sorted(studies_folder(store).glob("*/study.json"), reverse=True), Study, StudyError)


def shipped() -> list[Path]:
    """The folders of the studies that ship with the project: reports without sessions."""
    return sorted(path.parent for path in (places.ASSETS / "studies").glob("*/report.json"))


def open_study(study_id: str, store: SessionStore) -> Study:
    """Open a study by its id. Raises StudyError if there is none."""
    return Study(find_folder(studies_folder(store), study_id, kind="study", error=StudyError))
