"""The queue of a machine: a small SQLite file in the sessions folder.

It keeps the order, who made room for whom, and how often workers died. The folder of a job says that it is queued, so a file that is lost
or damaged, or has an older layout, is replaced by a new one, which the dispatcher fills from the folders. Every machine has its own file.
"""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from frozenlab.base import look_only
from frozenlab.base.errors import LabError
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.state import Alarm, AnyState, stored_state

VERSION = 3
WAIT = 30.0
"""Seconds to wait for another process that writes into the file."""
KEPT = 2000
"""Ended jobs that are remembered."""
BEGUN = 0.05
"""Progress from which a running job's own pace says when it will end."""
PAUSED = "paused"
"""The fact that the whole queue is paused."""
FILLED = "filled"
"""The fact that this file was filled from the folders of jobs."""

Revision = tuple[int, bytes] | None
"""The inode of a queue's file, and the number of its changes."""
Wish = Literal["", "stop", "aside", "again"]
"""What a running job was asked for: to stop for good, to make room and come back, or, while its worker was ending, to run again."""
Standing = Literal["starts", "runs", "stops", "makes room", "waits", "paused"]


class QueueError(LabError, RuntimeError):
    """The queue cannot be read or written; the message says why."""


@dataclass(frozen=True)
class QueuedJob:
    """A job that waits for its turn or runs: a row of the queue, and the state in its folder when it was first asked for."""

    folder: str
    kind: str
    title: str
    urgent: bool = False
    queued: float = 0.0
    """Unix seconds when it entered the queue. Jobs of the same priority begin in this order."""
    cores: int = 0
    gpus: int = 0
    memory: int = 0
    """GiB."""
    parent: str = ""
    """The folder of the study or contest that runs it; empty if a person does."""
    in_terminal: bool = False
    """Whether a process in a terminal runs it: it takes its part of the machine, and is never started or moved."""
    running: bool = False
    paused: bool = False
    wish: Wish = ""
    moved_by: str = ""
    """The title of the job for which it last made room."""
    tries: int = 0
    """Workers that died on it without getting further than earlier ones."""
    furthest: float = 0.0
    """Progress at the last of those deaths, 0..1."""
    not_before: float = 0.0
    """Unix seconds before which it is not tried again."""
    pid: int = 0
    create_time: float = 0.0
    began: float = 0.0
    """Unix seconds when its worker began."""
    spent: float = 0.0
    """Seconds that earlier workers ran."""
    cards: str = ""
    """The numbers of its GPUs, as ``0,1``."""

    @classmethod
    def of(cls, job: Job, urgent: bool = False) -> QueuedJob:
        """The row of a job that waits."""
        return cls(str(job.dir), job.kind, job.title, urgent, **job.needs._asdict())

    @property
    def path(self) -> Path:
        return Path(self.folder)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def name(self) -> str:
        """``STUDY/CELL`` for a part of a study, else the id."""
        return f"{Path(self.parent).name}/{self.id}" if self.parent else self.id

    @property
    def priority(self) -> Literal["urgent", "normal"]:
        return "urgent" if self.urgent else "normal"

    @cached_property
    def state(self) -> AnyState | None:
        return stored_state(self.path)

    @property
    def standing(self) -> Standing:
        if not self.running:
            return "paused" if self.paused else "waits"
        if self.wish == "aside":
            return "makes room"
        if self.wish == "stop" or (self.path / STOP_FILE).exists():
            return "stops"
        begun = self.in_terminal if self.state is None else self.state.status == "running" and self.state.pid == self.pid
        return "runs" if begun else "starts"

    @property
    def progress(self) -> float:
        """0..1."""
        return min(1.0, max(0.0, self.state.progress)) if self.state else 0.0

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """What its worker found wrong in its last check."""
        return tuple(self.state.alarms) if self.running and self.state else ()

    def ends(self, now: float) -> float | None:
        """Unix seconds when a running job will end, by its worker's estimate or its own pace; None if that is not known yet."""
        if self.running and self.state is not None and self.state.seconds_left is not None:
            return now + max(0.0, self.state.seconds_left)
        worked = self.spent + now - self.began
        return now + worked * (1 - self.progress) / self.progress if self.running and self.progress > BEGUN and worked > 0 else None

    def as_ended(self, status: str, ended: float, seconds: float) -> EndedJob:
        return EndedJob(self.folder, self.kind, self.title, status, ended, seconds, self.parent)


@dataclass(frozen=True)
class EndedJob:
    """A job that left the queue."""

    folder: str
    kind: str
    title: str
    status: str
    ended: float
    """Unix seconds."""
    seconds: float
    """How long its workers ran."""
    parent: str = ""

    @property
    def path(self) -> Path:
        return Path(self.folder)


Row = TypeVar("Row", QueuedJob, EndedJob)
COLUMNS = {"str": "TEXT", "Wish": "TEXT", "float": "REAL", "int": "INTEGER", "bool": "INTEGER"}


def table(name: str, row: type[QueuedJob | EndedJob], key: str = "") -> str:
    columns = ", ".join(f'"{field.name}" {COLUMNS[str(field.type)]} NOT NULL' for field in fields(row))
    return f"CREATE TABLE {name} ({columns}{key})"


def insert(name: str, row: QueuedJob | EndedJob, otherwise: str = "ABORT") -> tuple[str, tuple[Any, ...]]:
    return f"INSERT OR {otherwise} INTO {name} VALUES ({', '.join('?' * len(fields(row)))})", astuple(row)


def from_row(row: type[Row], values: tuple[Any, ...]) -> Row:
    typed: list[Any] = [bool(value) if field.type == "bool" else value for field, value in zip(fields(row), values, strict=True)]
    return row(*typed)


TABLES = (
    table("jobs", QueuedJob, ', PRIMARY KEY ("folder")'),
    table("ended", EndedJob),
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    f"PRAGMA user_version = {VERSION}",
)


def machine_name() -> str:
    """This machine in the names of its files in a sessions folder."""
    return re.sub(r"[^\w-]", "_", socket.gethostname())[:60] or "machine"


class QueueDB:
    """The queue of this machine in the sessions folder ``root``, for one thread. Every call is a transaction and may raise QueueError."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.held: sqlite3.Connection | None = None
        self.path = root / f".queue-{machine_name()}.sqlite"

    def revision(self) -> Revision:
        """A value that changes with every change of the file; None if there is none. SQLite counts them at the beginning of its file."""
        try:
            with self.path.open("rb") as file:
                return os.fstat(file.fileno()).st_ino, file.read(28)[24:]
        except OSError:
            return None

    # --- reading -----------------------------------------------------------------------------------------------------

    def jobs(self) -> list[QueuedJob]:
        """All jobs that wait or run."""
        return [from_row(QueuedJob, row) for row in self.rows("SELECT * FROM jobs")]

    def job(self, folder: Path) -> QueuedJob | None:
        return next((from_row(QueuedJob, row) for row in self.rows("SELECT * FROM jobs WHERE folder = ?", str(folder))), None)

    def ended(self, most: int = KEPT) -> list[EndedJob]:
        """Jobs that left the queue, the last first."""
        return [from_row(EndedJob, row) for row in self.rows("SELECT * FROM ended ORDER BY ended DESC LIMIT ?", most)]

    def fact(self, name: str) -> bool:
        """Whether a fact about the whole queue holds."""
        return bool(self.rows("SELECT value FROM facts WHERE name = ? AND value != ''", name))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        if not self.path.exists():
            return []
        with self.open() as db:
            return db.execute(query, values).fetchall()

    # --- writing -----------------------------------------------------------------------------------------------------

    def set_fact(self, name: str, holds: bool) -> None:
        with self.open(to_write=True) as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, "yes" if holds else ""))

    def add(self, job: QueuedJob) -> None:
        """Enter a job at the end of the queue. One whose worker is about to end will run again."""
        with self.open(to_write=True) as db:
            if not db.execute("UPDATE jobs SET wish = 'again' WHERE folder = ? AND running", (job.folder,)).rowcount:
                last = db.execute("SELECT max(queued) FROM jobs").fetchone()[0] or 0.0
                db.execute(*insert("jobs", replace(job, queued=max(time.time(), last + 1e-3)), "REPLACE"))

    def add_missing(self, job: QueuedJob) -> None:
        """Enter a job that was found in its folder, unless it has been entered meanwhile."""
        with self.open(to_write=True) as db:
            db.execute(*insert("jobs", job, "IGNORE"))

    def change(self, folder: str, **values: Any) -> bool:
        """Change fields of a job. Returns whether it is in the queue."""
        names = ", ".join(f'"{name}" = ?' for name in values)
        with self.open(to_write=True) as db:
            return db.execute(f"UPDATE jobs SET {names} WHERE folder = ?", (*values.values(), folder)).rowcount > 0

    def remove(self, folder: str, ended: EndedJob | None = None) -> bool:
        """Take a job out, and remember how it ended. Returns whether it was in the queue."""
        with self.open(to_write=True) as db:
            was_there = db.execute("DELETE FROM jobs WHERE folder = ?", (folder,)).rowcount > 0
            if was_there and ended is not None:
                db.execute(*insert("ended", ended))
                db.execute("DELETE FROM ended WHERE rowid <= (SELECT max(rowid) FROM ended) - ?", (KEPT,))
            return was_there

    # --- the file ----------------------------------------------------------------------------------------------------

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Make all calls within the block one transaction, during which no other process writes. The states in the folders of jobs are
        changed within such blocks too, so that both agree."""
        with self.open(to_write=True) as connection:
            outer, self.held = self.held, connection
            try:
                yield
            finally:
                self.held = outer

    @contextmanager
    def open(self, to_write: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction. A file that is damaged or has another layout is put aside, and a new one begun."""
        if self.held is not None:
            yield self.held
            return
        try:
            connection = self.connect(to_write)
        except sqlite3.OperationalError as error:
            raise QueueError(f"the queue cannot be read or written in {self.root}: {error}") from None
        except sqlite3.DatabaseError:
            self.put_aside()
            connection = self.connect(to_write)
        with closing(connection):
            try:
                with connection:
                    yield connection
            except sqlite3.OperationalError as error:
                raise QueueError(f"the queue cannot be read or written in {self.root}: {error}") from None
            except sqlite3.DatabaseError as error:
                self.put_aside()
                raise QueueError(f"the file of the queue was damaged ({error}) and is rebuilt: try again") from None

    def connect(self, to_write: bool) -> sqlite3.Connection:
        if to_write:
            look_only.refuse()
        if self.path.is_symlink():  # nothing is written outside of the sessions folder
            self.path.unlink()
        connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute("PRAGMA user_version").fetchone()[0] == 0:  # no other process has just made them
                    for statement in TABLES:
                        connection.execute(statement)
                connection.execute("COMMIT")
            elif version != VERSION:
                raise sqlite3.DatabaseError(f"version {version}")
            connection.execute("BEGIN IMMEDIATE" if to_write else "BEGIN")
        except BaseException:
            connection.close()
            raise
        return connection

    def put_aside(self) -> None:
        with suppress(FileNotFoundError):
            os.replace(self.path, self.path.with_suffix(".damaged"))
        with suppress(FileNotFoundError):
            os.unlink(f"{self.path}-journal")


_folders: dict[Path, tuple[Revision, frozenset[str]]] = {}


def in_queue(root: Path) -> frozenset[str]:
    """The folders of all jobs in the queue of this machine. An unchanged file is not opened again."""
    db = QueueDB(root)
    revision = db.revision()
    known = _folders.get(root)
    if known is None or known[0] != revision:
        known = _folders[root] = revision, frozenset(job.folder for job in db.jobs())
    return known[1]
