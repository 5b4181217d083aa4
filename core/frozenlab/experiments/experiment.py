"""What all experiments are: a folder with a spec, worked on by a job of its own, which can be stopped, killed and resumed.

A kind of experiment is a subclass, a line in :data:`frozenlab.jobs.job.KINDS`, and a module with ``work(recorder)``::

    class Replay(Experiment[ReplayTask]):
        kind, model, error = "replay", ReplayTask, ReplayError

    replay = Replay.start(task, store)    # queued
    Replay.open(replay.id, store).resume()
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, Field

from frozenlab.base import places
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import regular, write_text
from frozenlab.jobs.folders import find_folder, fresh_name, make_folder, read_task, readable
from frozenlab.jobs.job import Job, kind_of
from frozenlab.jobs.launcher import check_folder, launching, submit
from frozenlab.session.store import SessionStore

Spec = TypeVar("Spec", bound=BaseModel)
Result = TypeVar("Result")
RUN = "run.json"


class RunSettings(BaseModel):
    """``run.json``: how the worker runs what the experiment is made of."""

    schema_version: Literal[1] = 1
    jobs: Annotated[int, Field(ge=1)] | None = None
    """Parts, such as sessions, that run at a time (default: as many as there is room for)."""
    cluster: str | None = None
    """The Ray cluster that they run on: ``auto``, ``HOST:PORT``, ``ray://HOST:PORT`` or ``local`` (default: they run here)."""


class Words(NamedTuple):
    """What people call the experiments of a kind, and the parts of their work."""

    one: str
    many: str
    doing: str = "working"
    units: str = "%"
    kept: str = "It can be resumed later."
    """What happens to one when it is stopped."""
    resume: str = "Resume"


class Experiment(Job, Generic[Spec]):
    """One folder of an experiment, opened for reading. Opening it raises ``error`` if its spec cannot be read."""

    model: ClassVar[type[BaseModel]]
    """What its spec is."""
    error: ClassVar[type[LabError]]
    """Raised where one cannot be made, found or read."""
    words: ClassVar[Words]

    def __init__(self, folder: Path) -> None:
        self.dir, self.id = folder, folder.name
        self.spec: Spec = read_task(folder / kind_of(self).task, self.model, kind=self.kind, error=self.error)  # type: ignore[assignment]

    @property
    def title(self) -> str:
        return str(getattr(self.spec, "title", self.id))

    @property
    def total(self) -> int:
        """The parts of its work, which ``words.units`` names: per cent, unless its spec has a ``total``."""
        return int(getattr(self.spec, "total", 100))

    @property
    def size_in_words(self) -> str:
        """How large it is, for lists: ``3 students``; empty if that says nothing."""
        return ""

    @property
    def slow(self) -> bool:
        return False

    @property
    def store(self) -> SessionStore:
        """The sessions next to which it lies."""
        return SessionStore(self.root)

    def read(self, name: str, reader: Callable[[Path], Result]) -> Result | None:
        """What a file of the folder holds; None if it is not there. Raises ``error`` if it cannot be read."""
        path = self.dir / name
        if not path.exists():
            return None
        try:
            return reader(regular(path))
        except Exception as damage:  # a damaged file can make its reader raise anything
            raise self.error(f"{self.kind} {self.id!r}: {name} cannot be read: {one_line(damage)}") from None

    # --- finding ----------------------------------------------------------------------------------------------------

    @classmethod
    def place(cls, root: Path) -> Path:
        """The folder of all of its kind, in a sessions folder or among the assets."""
        return root / kind_of(cls).place

    @classmethod
    def open(cls, experiment_id: str, store: SessionStore) -> Self:
        """The one with this id. Raises ``error`` if there is none."""
        return cls(find_folder(cls.place(store.root), experiment_id, kind=cls.kind, error=cls.error))

    @classmethod
    def all(cls, store: SessionStore) -> list[Self]:
        """Every readable one of the user, in the order of :meth:`files`."""
        return readable(cls.files(cls.place(store.root)), cls, cls.error)

    @classmethod
    def files(cls, place: Path) -> list[Path]:
        """The specs of all in a folder, in the order in which they are listed: newest first."""
        return sorted(place.glob(f"*/{kind_of(cls).task}"), key=lambda file: file.stat().st_mtime, reverse=True)

    @classmethod
    def shipped(cls) -> list[Self]:
        """Those that come with FrozenLab, by id."""
        return readable(sorted(cls.place(places.ASSETS).glob(f"*/{kind_of(cls).task}")), cls, cls.error)

    # --- running ----------------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, spec: Spec, store: SessionStore, experiment_id: str | None = None) -> Self:
        """A new folder with the spec and a queued state. Raises ``error`` if the id is invalid or taken."""
        place, file, title = cls.place(store.root), kind_of(cls).task, getattr(spec, "title", cls.kind)
        experiment_id = experiment_id or fresh_name(place, title, otherwise=cls.kind)
        return cls(make_folder(place, experiment_id, file, spec, kind=cls.kind, error=cls.error))

    @classmethod
    def check(cls, spec: Spec, store: SessionStore) -> None:
        """Raises a LabError if a spec cannot be worked on here."""

    @classmethod
    def start(cls, spec: Spec, store: SessionStore, experiment_id: str | None = None, run: RunSettings | None = None) -> Self:
        """Create one and queue it. Raises what :meth:`check` and :meth:`create` raise, and LaunchError if the disk is full."""
        cls.check(spec, store)
        with launching(store.root):
            experiment = cls.create(spec, store, experiment_id)
            experiment.submit(run)
        return experiment

    def resume(self, run: RunSettings | None = None) -> None:
        """Queue it again: a worker then does what is missing. Raises what :meth:`start` raises."""
        self.check(self.spec, self.store)
        with launching(self.store.root):
            self.submit(run)

    def submit(self, run: RunSettings | None = None) -> None:
        """Enter it in the queue. Raises LaunchError if it waits or runs already, or must not be written in."""
        if run is not None:
            check_folder(self)
            self.keep_run(run)
        submit(self)

    def keep_run(self, run: RunSettings) -> None:
        write_text(self.dir / RUN, run.model_dump_json(indent=1))

    @property
    def run(self) -> RunSettings:
        """The settings of its last start. Raises ``error`` if they cannot be read."""
        path = self.dir / RUN
        return read_task(path, RunSettings, kind=self.kind, error=self.error) if path.exists() else RunSettings()
