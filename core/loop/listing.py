"""The list of sessions in a folder, newest first. Files that have not changed since the last listing are not opened again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.kept import Kept, signature
from frozenlab.loop.labels import LABELS_FILE, read_labels

RECORDED = "example-"
"""Prefix of sessions that ship with the project. They open read-only."""

MANY = 100_000
"""Most session files to cache."""


class Listed(NamedTuple):
    """A session in the list."""

    folder: Path
    began: float
    """Unix seconds."""
    at_work: bool
    """Whether its last state says that a worker holds it. Only :meth:`Session.state` knows whether that worker is alive."""
    archived: bool = False
    """Whether lists leave it out."""

    @property
    def recorded(self) -> bool:
        return self.folder.name.startswith(RECORDED)


def listed(root: Path, recorded: Path) -> list[Listed]:
    """The sessions of ``root`` and the recorded ones of the folder ``recorded``, newest first. Folders without a spec are skipped."""
    folders = {name: folder for name, folder in _folders(recorded) if name.startswith(RECORDED)} | dict(_folders(root))
    return sorted(filter(None, map(_glance, folders.values())), key=lambda session: session.began, reverse=True)


def parent_of(folder: Path) -> str | None:
    """The id of the session that this one was forked from."""
    try:
        return _parent(folder / "session.json")
    except (OSError, ValueError, RecursionError):
        return None


def _folders(root: Path) -> Iterator[tuple[str, Path]]:
    try:
        with os.scandir(root) as entries:
            yield from ((entry.name, root / entry.name) for entry in entries if JOB_ID.fullmatch(entry.name))
    except OSError:
        return


def _glance(folder: Path) -> Listed | None:
    spec = signature(f"{folder}/session.json")
    if spec is None:
        return None
    try:
        began, at_work = _state(folder / "state.json")
    except (OSError, ValueError, RecursionError):
        began, at_work = None, False
    return Listed(folder, spec[0] / 1e9 if began is None else began, at_work, _is_archived(folder))


def _is_archived(folder: Path) -> bool:
    try:
        return _labels(folder / LABELS_FILE).archived
    except (OSError, ValueError):
        return False


def _read_state(path: Path) -> tuple[float | None, bool]:
    state = _object(path)
    began = state.get("started")
    sound = isinstance(began, int | float) and not isinstance(began, bool) and 0 < began < 2**40
    return began if sound else None, state.get("status") in ("queued", "running")


def _read_parent(path: Path) -> str | None:
    parent = _object(path).get("parent")
    name = parent.get("session") if isinstance(parent, dict) else None
    return name if isinstance(name, str) else None


def _object(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_bytes())
    return found if isinstance(found, dict) else {}


_state = Kept(_read_state, MANY)
_parent = Kept(_read_parent, MANY)
_labels = Kept(read_labels, MANY)
