"""A cache of what was read from files, valid until a file changes: many viewers of a session read it once."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock, RLock
from typing import Generic, TypeVar

Result = TypeVar("Result")
Signature = tuple[int, int, int] | None
"""Time of the last change (nanoseconds), size and inode of a file; None where there is no file."""


def signature(path: str | Path) -> Signature:
    """The signature of a file, by which a change is noticed."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class Kept(Generic[Result]):
    """``read`` with a cache for the whole process: an unchanged file is not opened again.

    All callers share a result and must not change it. Errors are raised, not cached.

    Args:
        most: number of results to keep; the least recently used go first.
    """

    def __init__(self, read: Callable[[Path], Result], most: int) -> None:
        self._read, self._most = read, most
        self._known: OrderedDict[str, tuple[Signature, Result]] = OrderedDict()
        self._guard, self._reading = Lock(), RLock()

    def __call__(self, path: Path) -> Result:
        name = str(path)
        found = self._find(name)
        if found is None:
            with self._reading:  # a second caller finds the result of the first
                found = self._find(name) or self._take(path, name)
        return found[0]

    def _find(self, name: str) -> tuple[Result] | None:
        with self._guard:
            known = self._known.get(name)
            if known is None or known[0] != signature(name):
                return None
            self._known.move_to_end(name)
            return (known[1],)

    def _take(self, path: Path, name: str) -> tuple[Result]:
        before = signature(name)  # after a change during reading, the next caller reads again
        result = self._read(path)
        with self._guard:
            self._known[name] = before, result
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return (result,)
