"""What was found in a bundle: its jobs, and what of it is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from frozenlab.base.numbers import counted
from frozenlab.experiments.bundles.archive import shown
from frozenlab.experiments.bundles.layout import JobEntry, Need
from frozenlab.session.catalog import RECORDED


def in_words(size: int) -> str:
    """Bytes as people say them.

    >>> in_words(3_400), in_words(2_500_000)
    ('3 kB', '2.5 MB')
    """
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"


@dataclass(frozen=True)
class Refusal:
    """Something of a bundle that is not imported."""

    name: str
    """Of the entry, or kind and id of a job."""
    why: str
    """The rest of a sentence."""

    def __str__(self) -> str:
        return f"{shown(self.name)} {self.why}"


@dataclass
class JobReport:
    """A job in a bundle, and what was found about it."""

    entry: JobEntry
    folder: Path
    """Where it is unpacked while the bundle is open; nothing is there if something was refused."""
    title: str
    refused: list[Refusal] = field(default_factory=list)
    here: bool = False
    """Whether the same job is here already, byte by byte, so that there is nothing to import."""
    id: str = ""
    """Its id here: its own, or another one where that is taken."""
    wanted: list[Need] = field(default_factory=list)
    """What its task refers to."""
    needs: list[tuple[Need, str]] = field(default_factory=list)
    """The same, each with where it is, in words."""

    @property
    def name(self) -> str:
        return f"{self.entry.kind} {self.entry.id}"

    @property
    def sound(self) -> bool:
        """Whether it can be imported."""
        return not self.refused and not self.here

    @property
    def facts(self) -> str:
        """Title, size and what to know before it is imported, in one line."""
        parts = [
            f"{in_words(self.entry.size)} in {len(self.entry.files)} files",
            "with weights" if self.entry.weights else "without weights",
        ]
        if self.here:
            parts.append("is here already" + (f" as {self.id}" if self.id != self.entry.id else ""))
        elif self.refused:
            parts.append("refused")
        elif self.id != self.entry.id:
            parts.append(
                f"becomes {self.id}, because its id is {'that of a recorded session' if self.entry.id.startswith(RECORDED) else 'taken'}"
            )
        if self.entry.changed:
            n = len(self.entry.changed)
            parts.append(f"what named the machine it comes from was taken out of {counted(n, 'file')}")
        return ", ".join(parts)


@dataclass
class Bundle:
    """An open bundle."""

    file: str
    """Its name."""
    sha256: str
    size: int
    """Bytes."""
    frozenlab: str
    """The version that made it."""
    jobs: list[JobReport]
    refused: list[Refusal]
    """Entries that belong to no job."""

    @property
    def sound(self) -> list[JobReport]:
        """The jobs that can be imported."""
        return [job for job in self.jobs if job.sound]

    @property
    def refusals(self) -> list[Refusal]:
        """Everything that is refused."""
        return [*self.refused, *(refusal for job in self.jobs for refusal in job.refused)]
