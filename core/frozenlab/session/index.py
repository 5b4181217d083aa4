"""An index of a sessions folder: thousands of sessions are listed without opening a file of each.

The folders are the truth. Each listing compares the time, size and inode of every session's small files with those in the index, and reads
what differs. So the index may be old, damaged, missing, or written by two processes at once: it only saves reading. Where it cannot
be written, as in a read-only folder, each process reads the folders once.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from frozenlab.base.files import read_text, replacing
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.kept import Signature, signature
from frozenlab.session.glance import FILES, Glance, glance

INDEX = ".index.json"
FEWEST = 200
"""Sessions of the smallest folder that has an index in a file. Fewer are read as fast."""
SPARED = 50
"""Sessions that may have changed before the file is written again, besides one in twenty: a new process reads as many again."""
SETTLED = 2.0
"""Seconds after which a second change to a file certainly gives it another time."""


class Entry(NamedTuple):
    """A session, and its files as they were when it was read."""

    seen: tuple[Signature, Signature, Signature]
    """Those of FILES."""
    glance: Glance


class _Stored(NamedTuple):
    """The file."""

    version: Literal[1]
    entries: dict[str, Entry]


_STORED = TypeAdapter(_Stored)


class Index:
    """The sessions of the folder ``root``, for all threads of this process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._entries: dict[str, Entry] | None = None
        self._unsaved: set[str] = set()
        self._looked = -1.0
        self._guard = Lock()

    def entries(self) -> dict[str, Entry]:
        """The sessions as they are now, by id. Callers share the result and must not change it."""
        asked = time.monotonic()
        with self._guard:
            if self._entries is None or self._looked < asked:  # else another thread has looked while this one waited
                self._looked = time.monotonic()
                self._entries = self._look(self._load() if self._entries is None else self._entries)
            return self._entries

    def _look(self, known: dict[str, Entry]) -> dict[str, Entry]:
        found = {}
        for name in _names(self.root):
            folder = f"{self.root}/{name}"
            spec = signature(f"{folder}/{FILES[0]}")
            if spec is None:
                continue
            seen = spec, signature(f"{folder}/{FILES[1]}"), signature(f"{folder}/{FILES[2]}")
            entry = known.get(name)
            if entry is None:
                entry = Entry(seen, glance(Path(folder), seen))
                self._unsaved.add(name)
            elif entry.seen != seen:
                entry = Entry(seen, glance(Path(folder), seen, entry.glance, entry.seen))
                self._unsaved.add(name)
            found[name] = entry
        self._unsaved |= known.keys() - found.keys()
        if len(found) >= FEWEST and len(self._unsaved) > SPARED + len(found) // 20:
            self._save(found)
        return found

    def _load(self) -> dict[str, Entry]:
        try:
            return _STORED.validate_json(read_text(self.root / INDEX)).entries
        except (OSError, ValueError):
            return {}

    def _save(self, entries: dict[str, Entry]) -> None:
        self._unsaved.clear()
        latest = 1e9 * (time.time() - SETTLED)
        settled = {name: entry for name, entry in entries.items() if all(seen is None or seen[0] < latest for seen in entry.seen)}
        try:
            with replacing(self.root / INDEX) as file:
                file.write_bytes(_STORED.dump_json(_Stored(1, settled)))
        except OSError:  # read-only, or full, or this process only looks
            pass


@lru_cache(8)
def index_of(root: Path) -> Index:
    return Index(root)


def _names(root: Path) -> list[str]:
    try:
        with os.scandir(root) as entries:
            return [entry.name for entry in entries if JOB_ID.fullmatch(entry.name)]
    except OSError:
        return []
