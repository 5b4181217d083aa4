"""The list of sessions in a folder, newest first. Files that have not changed since the last listing are not opened again."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from frozenlab.session.glance import Glance
from frozenlab.session.index import Entry, index_of

RECORDED = "example-"
"""Prefix of sessions that ship with the project. They open read-only."""


class Listed(NamedTuple):
    """A session in the list."""

    folder: Path
    began: float
    """Unix seconds."""
    glance: Glance

    @property
    def recorded(self) -> bool:
        return self.folder.name.startswith(RECORDED)

    @property
    def at_work(self) -> bool:
        """Whether its last state says that a worker holds it. Only :meth:`Session.state` knows whether that worker is alive."""
        return self.glance.state is not None and self.glance.state.status in ("queued", "running")

    @property
    def archived(self) -> bool:
        """Whether lists leave it out."""
        return self.glance.labels is not None and self.glance.labels.archived

    @property
    def parent(self) -> str | None:
        """The id of the session that it was forked from."""
        return self.glance.about.parent if self.glance.about is not None else None


def listed(root: Path, recorded: Path) -> list[Listed]:
    """The sessions of ``root`` and the recorded ones of the folder ``recorded``, newest first. Folders without a spec are skipped."""
    shipped = {name: _listed(recorded, name, entry) for name, entry in index_of(recorded).entries().items() if name.startswith(RECORDED)}
    own = {name: _listed(root, name, entry) for name, entry in index_of(root).entries().items()}
    return sorted((shipped | own).values(), key=lambda session: session.began, reverse=True)


def _listed(root: Path, name: str, entry: Entry) -> Listed:
    state, spec = entry.glance.state, entry.seen[0]
    written = spec[0] / 1e9 if spec is not None else 0.0
    return Listed(root / name, state.started or written if state is not None else written, entry.glance)
