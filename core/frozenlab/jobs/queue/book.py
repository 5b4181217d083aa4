"""The book of a machine's queue: a small SQLite file in the sessions folder.

It keeps the order, the levels, the tries, who made room for whom, and how long jobs took. That a job is queued stands in the job's own
folder, so a book that is lost or damaged is begun anew, and filled from the folders by the dispatcher. Every machine that sees a sessions
folder has a book of its own in it.
"""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from frozenlab.base.errors import LabError
from frozenlab.jobs.needs import Level, Needs
from frozenlab.jobs.queue.schedule import Turn

VERSION = 1
WAIT = 30.0
"""Seconds to wait for another process that writes into the book."""
KEPT = 2000
"""Ended jobs that the book remembers."""


FILLED = "filled"
"""The fact that the book was filled from the folders of jobs since it was begun."""


class BookError(LabError, RuntimeError):
    """The book cannot be read or written; the message says why."""


Revision = tuple[int, bytes] | None
"""The inode of a book, and the number of its changes."""
Wish = Literal["", "stop", "aside", "again"]
"""What was asked of a running job: to stop for good, to make room and come back, or, while its worker was ending, to run again."""


@dataclass(frozen=True)
class Entry:
    """A job that waits for its turn or runs."""

    folder: str
    kind: str
    title: str
    level: int = Level.NORMAL
    place: float = 0.0
    queued: float = 0.0
    """Unix seconds since when it is in the queue."""
    cores: int = 0
    gpus: int = 0
    memory: int = 0
    like: str = ""
    amount: float = 1.0
    parent: str = ""
    """The folder of the job that has this one run; empty if a person does."""
    in_terminal: bool = False
    """Whether a process of its own runs it, in a terminal: it takes its part of the machine, and is never started or moved."""
    running: bool = False
    paused: bool = False
    wish: Wish = ""
    moved_by: str = ""
    """The title of the job that it made room for the last time."""
    tries: int = 0
    """Workers that died on it without getting further than one before."""
    furthest: float = 0.0
    """Progress at the last of those deaths, 0..1."""
    not_before: float = 0.0
    """Unix seconds before which it is not tried again."""
    pid: int = 0
    create_time: float = 0.0
    began: float = 0.0
    """Unix seconds since when its worker runs."""
    spent: float = 0.0
    """Seconds that earlier workers were at it."""
    cards: str = ""
    """The numbers of its GPUs, as ``0,1``."""

    @property
    def path(self) -> Path:
        return Path(self.folder)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def needs(self) -> Needs:
        return Needs(self.cores, self.gpus, self.memory)

    def turn(self, now: float) -> Turn:
        """It as the scheduler sees it."""
        return Turn(
            self.folder,
            self.needs,
            Level(self.level),
            self.place,
            self.queued,
            self.began if self.running else None,
            ready=not self.paused and self.not_before <= now,
            stopping=bool(self.wish),
            movable=not self.in_terminal,
        )


@dataclass(frozen=True)
class Ended:
    """A job that left the queue."""

    folder: str
    kind: str
    title: str
    status: str
    ended: float
    """Unix seconds."""
    seconds: float
    """That its workers were at it."""
    like: str = ""
    amount: float = 1.0
    parent: str = ""


COLUMNS = {"str": "TEXT", "Wish": "TEXT", "float": "REAL", "int": "INTEGER", "bool": "INTEGER"}


def table(name: str, row: type[Entry | Ended], key: str = "") -> str:
    columns = ", ".join(f'"{field.name}" {COLUMNS[str(field.type)]} NOT NULL' for field in fields(row))
    return f"CREATE TABLE IF NOT EXISTS {name} ({columns}{key})"


TABLES = (
    table("entries", Entry, ', PRIMARY KEY ("folder")'),
    table("ended", Ended),
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


def machine_name() -> str:
    """This machine, as the names of its files in a sessions folder have it."""
    return re.sub(r"[^\w-]", "_", socket.gethostname())[:60] or "machine"


class Book:
    """Reads and writes the book of this machine in the sessions folder ``root``. Every call is a transaction of its own."""

    def __init__(self, root: Path) -> None:
        """A Book is for one thread."""
        self.root = root
        self.held: sqlite3.Connection | None = None
        self.path = root / f".queue-{machine_name()}.sqlite"

    def revision(self) -> Revision:
        """A value that changes with every change of the book; None if there is none. SQLite counts them at the beginning of its file."""
        try:
            with self.path.open("rb") as file:
                return os.fstat(file.fileno()).st_ino, file.read(28)[24:]
        except OSError:
            return None

    # --- looking -----------------------------------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """All that waits or runs."""
        if not self.path.exists():
            return []
        with self.open() as book:
            return [as_entry(row) for row in book.execute("SELECT * FROM entries")]

    def entry(self, folder: Path) -> Entry | None:
        if not self.path.exists():
            return None
        with self.open() as book:
            row = book.execute("SELECT * FROM entries WHERE folder = ?", (str(folder),)).fetchone()
            return row and as_entry(row)

    def ended(self, most: int = KEPT) -> list[Ended]:
        """Jobs that left the queue, the last first."""
        if not self.path.exists():
            return []
        with self.open() as book:
            return [Ended(*row) for row in book.execute("SELECT * FROM ended ORDER BY ended DESC LIMIT ?", (most,))]

    def fact(self, name: str) -> str:
        """A fact about the whole queue; empty if nobody noted it."""
        if not self.path.exists():
            return ""
        with self.open() as book:
            row = book.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            return row[0] if row else ""

    # --- writing -----------------------------------------------------------------------------------------------------

    def note(self, name: str, value: str) -> None:
        """Keep a fact about the whole queue."""
        with self.open(to_write=True) as book:
            book.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def add(self, entry: Entry) -> None:
        """Enter a job, at the end of the queue. One whose worker is about to end will run again."""
        with self.open(to_write=True) as book:
            found = book.execute("UPDATE entries SET wish = 'again' WHERE folder = ? AND running", (entry.folder,))
            if not found.rowcount:
                self.write(book, "REPLACE", entry)

    def add_missing(self, entry: Entry) -> None:
        """Enter a job that stands in its folder only; one that was entered meanwhile stays as it is."""
        with self.open(to_write=True) as book:
            self.write(book, "IGNORE", entry)

    @staticmethod
    def write(book: sqlite3.Connection, otherwise: str, entry: Entry) -> None:
        last = book.execute("SELECT max(place) FROM entries").fetchone()[0] or 0.0
        placed = replace(entry, place=max(time.time(), last + 1e-3))
        book.execute(f"INSERT OR {otherwise} INTO entries VALUES ({places(Entry)})", astuple(placed))

    def change(self, folder: str, where: Mapping[str, Any] | None = None, **values: Any) -> bool:
        """Change fields of an entry if it is there, and if its fields have the values of ``where``. Returns whether it did."""
        words = ", ".join(f'"{name}" = ?' for name in values)
        only = "".join(f' AND "{name}" = ?' for name in where or {})
        with self.open(to_write=True) as book:
            found = (*values.values(), folder, *(where or {}).values())
            return book.execute(f"UPDATE entries SET {words} WHERE folder = ?{only}", found).rowcount > 0

    def remove(self, folder: str, ended: Ended | None = None, *, waiting: bool = False) -> bool:
        """Take a job out, and remember how it ended. Returns whether it was there.

        Args:
            waiting: only if it waits.
        """
        with self.open(to_write=True) as book:
            only = " AND NOT running" if waiting else ""
            was_there = book.execute(f"DELETE FROM entries WHERE folder = ?{only}", (folder,)).rowcount > 0
            if was_there and ended is not None:
                book.execute(f"INSERT INTO ended VALUES ({places(Ended)})", astuple(ended))
                book.execute("DELETE FROM ended WHERE rowid <= (SELECT max(rowid) FROM ended) - ?", (KEPT,))
            return was_there

    # --- the file ----------------------------------------------------------------------------------------------------

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Make all calls within the block one transaction, during which no other process writes into the book. What stands in the folders
        of jobs is changed within such blocks too, so that both agree. Raises BookError."""
        with self.open(to_write=True) as self.held:
            try:
                yield
            finally:
                self.held = None

    @contextmanager
    def open(self, to_write: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction. A file that is no book, or one of another version, is put aside, and a new one begun. Raises BookError."""
        if self.held is not None:
            yield self.held
            return
        try:
            connection = self.connect(to_write)
        except sqlite3.OperationalError as error:
            raise BookError(f"the queue cannot be read or written in {self.root}: {error}") from None
        except sqlite3.DatabaseError:
            self.put_aside()
            connection = self.connect(to_write)
        with closing(connection):
            try:
                with connection:
                    yield connection
            except sqlite3.OperationalError as error:
                raise BookError(f"the queue cannot be read or written in {self.root}: {error}") from None
            except sqlite3.DatabaseError as error:
                self.put_aside()
                raise BookError(f"the book of the queue was damaged ({error}) and is begun anew: try again") from None

    def connect(self, to_write: bool) -> sqlite3.Connection:
        if self.path.is_symlink():  # nothing is written outside of the sessions folder
            self.path.unlink()
        connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError(f"version {version}")
            if version == 0:
                connection.execute("BEGIN IMMEDIATE")
                for each in TABLES:
                    connection.execute(each)
                connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
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


def places(row: type[Entry | Ended]) -> str:
    return ", ".join("?" * len(fields(row)))


def as_entry(row: Sequence[Any]) -> Entry:
    values = dict(zip((field.name for field in fields(Entry)), row, strict=True))
    return Entry(**values | {name: bool(values[name]) for name in ("in_terminal", "running", "paused")})


_held: dict[Path, tuple[Revision, frozenset[str]]] = {}


def in_queue(root: Path) -> frozenset[str]:
    """The folders of all jobs in the queue of this machine. An unchanged book is not opened again."""
    book = Book(root)
    revision = book.revision()
    known = _held.get(root)
    if known is None or known[0] != revision:
        known = _held[root] = revision, frozenset(entry.folder for entry in book.entries())
    return known[1]
