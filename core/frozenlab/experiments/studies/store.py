"""The folder of a study: its spec, the state of its runner, and one session per cell.

studies/<id>/
  study.json      the spec, written once
  state.json      of the runner
  registered.sha256   checksum of study.json, from before the first session
  final/<cell>/   a result folder of its last checkpoint, in a study with a final suite
  cells/<arm>-s<seed>/   a session folder; with students <arm>-student<number>-s<seed>
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import BaseModel

from frozenlab.base import places
from frozenlab.base.cells import Config
from frozenlab.base.files import Kept, read_json, regular, write_text
from frozenlab.base.numbers import counted
from frozenlab.engineer import hosts
from frozenlab.experiments.experiment import Experiment, RunSettings, Words
from frozenlab.experiments.studies.effects import units
from frozenlab.experiments.studies.grid import Cell, StudyError
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.jobs.machine import HAS_OTHERS_RUN, Needs
from frozenlab.models.folders import nowhere, policy_folder, weights_file
from frozenlab.session.footprint import shortfalls
from frozenlab.session.pace import Pace, pace_for
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import OFFERED, SessionStore

Configs = dict[tuple[str, *tuple[str | int, ...]], tuple[Config, ...]]
"""(arm, seed), or (arm, student, seed) in a study with students -> the config of each stage."""
REGISTERED = "registered.sha256"
"""The checksum of ``study.json``, written by the runner before it makes the first session."""
REPORT = "report.json"
"""In the folder of a study that comes with FrozenLab: its report, with the spec; its sessions are not there."""


class Unusable(BaseModel):
    """An arm whose engineer gave answers that could not be used; where one could not, the config was kept."""

    arm: str
    n: int
    asked: int
    """Answers that it was asked for, in all sessions so far."""
    why: str
    """Of the first of them."""

    @property
    def sentence(self) -> str:
        return f"{self.arm}: {self.n} of {counted(self.asked, 'answer')} could not be used, so the config was kept (the first: {self.why})"


class Study(Experiment[StudySpec]):
    """One study folder, opened for reading. Opening it raises StudyError if there is no readable ``study.json``."""

    kind, model, error = "study", StudySpec, StudyError
    words = Words("study", "studies", "running", "sessions")

    def __init__(self, folder: Path) -> None:
        self.recorded = (folder / REPORT).exists()
        """Whether it comes with FrozenLab, as a report without sessions."""
        if self.recorded:
            self.dir, self.id, self.spec = folder, folder.name, _recorded_spec(folder / REPORT)
        else:
            super().__init__(folder)

    @classmethod
    def shipped(cls) -> list[Self]:
        """Those that come with FrozenLab: the ladder by GRPO, which answers the lab's question, then the others by id."""
        folders = [path.parent for path in cls.place(places.ASSETS).glob(f"*/{REPORT}")]
        return [cls(folder) for folder in sorted(folders, key=lambda folder: (folder.name != "ladder-grpo", folder.name))]

    @classmethod
    def check(cls, spec: StudySpec, store: SessionStore) -> None:
        """Raises HostError if an engineer's server is not allowed on this machine, StudyError if a student has no weights here; language
        models may come from the hub."""
        hosts.check(spec.servers)
        for student in spec.students:
            if spec.session.language is None and weights_file(policy_folder(student)) is None:
                raise StudyError(f"there is no student {student!r}: {policy_folder(student)} holds no weights")
            if spec.session.language is not None and (lost := nowhere(student)):
                raise StudyError(lost)

    @classmethod
    def check_machine(cls, spec: StudySpec, run: RunSettings) -> None:
        """Raises StudyError if the language model of a cell does not fit on this machine; a cluster has others."""
        if spec.session.language is None or run.cluster:
            return
        for student in spec.students or ("",):
            for arm in spec.arms:
                if lacking := shortfalls(spec.spec_of(arm, spec.seeds[0], student), waits=True):
                    raise StudyError(f"the sessions of {arm.name} cannot run here: {'; '.join(lacking)}")

    @classmethod
    def start(cls, spec: StudySpec, store: SessionStore, experiment_id: str | None = None, run: RunSettings | None = None) -> Self:
        cls.check_machine(spec, run or RunSettings())
        return super().start(spec, store, experiment_id, run)

    def resume(self, run: RunSettings | None = None) -> None:
        self.check_machine(self.spec, run or self.run)
        super().resume(run)

    @classmethod
    def files(cls, place: Path) -> list[Path]:
        """By id, the last first: ids begin with a date."""
        return sorted(super().files(place), reverse=True)

    @property
    def total(self) -> int:
        return len(self.cells)

    @property
    def size_in_words(self) -> str:
        return self.spec.size_in_words

    @property
    def needs(self) -> Needs:
        return HAS_OTHERS_RUN

    @property
    def slow(self) -> bool:
        return self.spec.session.language is not None

    @property
    def cells(self) -> list[Cell]:
        return self.spec.cells

    @property
    def sessions(self) -> SessionStore:
        """Those of its cells."""
        return SessionStore(self.dir / "cells")

    def session(self, cell: Cell) -> Session | None:
        """The session of a cell; None before it has begun."""
        folder = self.dir / "cells" / cell.id
        return Session(folder) if (folder / "session.json").exists() else None

    @classmethod
    def pace(cls, spec: StudySpec, store: SessionStore) -> Pace | None:
        """The pace of a session of the same model and method on this machine: one of an earlier study, whose sessions ran side by side
        too, else any other."""
        return pace_for(spec.session, chain(filter(None, map(cls._first, cls.all(store))), store.sessions(OFFERED)))

    def _first(self) -> Session | None:
        """The session of the first cell; None before it has begun, and if it cannot be read."""
        with suppress(SessionError):
            return self.session(self.cells[0])
        return None

    def register(self) -> None:
        """Keep the checksum of the study's file, unless there is one or a session has begun already."""
        path = self.dir / REGISTERED
        if not path.exists() and all(self.session(cell) is None for cell in self.cells):
            write_text(path, self._checksum())

    @property
    def registered(self) -> bool:
        """Whether the study's file is, as it is now, the one that was there before the study's first session began."""
        try:
            return regular(self.dir / REGISTERED).read_text(encoding="utf-8").strip() == self._checksum()
        except (OSError, ValueError):  # there is none, or something else in its place
            return False

    def _checksum(self) -> str:
        return hashlib.sha256(regular(self.dir / "study.json").read_bytes()).hexdigest()

    def finished(self) -> Iterator[tuple[Cell, Session]]:
        for cell in self.cells:
            session = self.session(cell)
            if session is not None and session.state().status == "done":
                yield cell, session

    def unusable(self) -> tuple[Unusable, ...]:
        """The arms whose engineers gave answers that could not be used, in sessions that may run still."""
        asked, why = dict[str, int](), dict[str, list[str]]()
        for cell in self.cells:
            session = self.session(cell)
            used, of = (session and session.state().answers) or (0, 0)
            asked[cell.arm.name] = asked.get(cell.arm.name, 0) + of
            if session is not None and used < of:
                why.setdefault(cell.arm.name, []).extend(session.refusals())
        return tuple(Unusable(arm=arm, n=len(found), asked=asked[arm], why=found[0]) for arm, found in why.items() if found)

    def boards(self) -> pd.DataFrame:
        """The final results of all finished cells, one row per board: ``arm, seed, board_id, cell, config_cell,
        valid, optimal``. ``cell`` is a cell of the suite (on the lake agents and size), ``config_cell`` the one of the config that the
        board counts for. Boards with the same id are the same within a seed. A study with students has the column ``student`` too."""
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
                    of_suite = session.spec.tasks.suite_columns
                    names = table[list(of_suite)].astype(str).agg("x".join, axis=1)
                    kept = table[["board_id", "config_cell", "valid", "optimal"]]
                    tables.append(kept.assign(trained=stages, arm=cell.arm.name, student=cell.label, seed=cell.seed, cell=names))
        students = ["student"] if self.spec.students else []
        columns = ["trained", "arm", *students, "seed", "board_id", "cell", "config_cell", "valid", "optimal"]
        return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)

    def configs(self) -> Configs:
        """The configs of all finished cells with a complete record."""
        configs: Configs = {}
        for cell, _ in self.finished():
            if drawn := self.trained_on(cell):
                unit = (cell.label, cell.seed) if cell.student else (cell.seed,)
                configs[cell.arm.name, *unit] = drawn
        return configs

    def trained_on(self, cell: Cell) -> tuple[Config, ...]:
        """The config of each stage of a finished cell; empty where the record is incomplete."""
        session = self.session(cell)
        if session is None:
            return ()
        drawn = [record.config for stage in range(session.spec.stages) if (record := session.environment(stage)) is not None]
        return tuple(drawn) if len(drawn) == session.spec.stages else ()


_recorded_spec = Kept(lambda path: StudySpec.model_validate(read_json(path)["spec"]), 20)


def outcomes(boards: pd.DataFrame, measure: str = "valid") -> pd.DataFrame:
    """One row per finished cell: ``arm, seed, value``, with students also ``student``. The value is the mean over the suite's cells of the
    share of boards that are ``measure``."""
    session = ["arm", *units(boards)]
    of_cells = boards.groupby([*session, "cell"], sort=False)[measure].mean()
    return of_cells.groupby(session, sort=False).mean().rename("value").reset_index()
