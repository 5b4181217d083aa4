"""A line about each session for the table of runs, and how the lines are filtered.

A line is read from the JSON of three small files, without opening the session, and kept until one of them changes: the table of thousands
of sessions costs a look at each file's date.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.jobs.kept import Kept
from frozenlab.jobs.state import read_state
from frozenlab.loop.labels import LABELS_FILE, Labels, read_labels
from frozenlab.loop.listing import MANY, Listed
from frozenlab.loop.older import upgraded_spec


class Rated(NamedTuple):
    """The valid rate of a run's results, as its last state says."""

    valid: float
    n: int


class Run(NamedTuple):
    """A session as a line of the table."""

    id: str
    folder: Path
    title: str
    status: str
    """That of its state; ``recorded`` for a session that ships."""
    family: str
    engineer: str
    method: str
    stages: int
    seed: int
    began: float
    """Unix seconds."""
    base: Rated | None
    """Before training."""
    last: Rated | None
    """After the last stage that was measured."""
    parent: str | None
    labels: Labels

    @property
    def words(self) -> str:
        """Everything that a search looks at, in small letters."""
        return "\n".join([self.title, self.id, *self.labels.tags, self.labels.notes]).lower()


class Wanted(NamedTuple):
    """A filter. Whatever is empty lets all runs through."""

    text: str = ""
    """Each of its words has to be in the title, id, tags or notes."""
    statuses: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    engineers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """A run has to have all of them."""
    archived: bool = False
    """Whether archived runs are shown too."""

    def keeps(self, run: Run) -> bool:
        return (
            (self.archived or not run.labels.archived)
            and (not self.statuses or run.status in self.statuses)
            and (not self.families or run.family in self.families)
            and (not self.engineers or run.engineer in self.engineers)
            and set(self.tags) <= set(run.labels.tags)
            and all(word in run.words for word in self.text.lower().split())
        )


def runs(known: Iterable[Listed]) -> list[Run]:
    """The lines of these sessions, in their order. A session whose spec cannot be read has none."""
    return [run for session in known if (run := run_of(session)) is not None]


def run_of(session: Listed) -> Run | None:
    folder = session.folder
    try:
        about = _spec(folder / "session.json")
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):
        return None
    status, base, last = _quietly(_state, folder / "state.json", ("failed", None, None))
    if session.recorded:
        status = "recorded"
    elif session.at_work:
        status = read_state(folder).status  # whether its worker lives
    labels = _quietly(_labels, folder / LABELS_FILE, Labels())
    return Run(
        id=folder.name,
        folder=folder,
        title=labels.title or about["title"] or folder.name,
        status=status,
        family=about["family"],
        engineer=about["engineer"],
        method=about["method"],
        stages=about["stages"],
        seed=about["seed"],
        began=session.began,
        base=base,
        last=last,
        parent=about["parent"],
        labels=labels,
    )


def _quietly(read: Kept[Any], path: Path, otherwise: Any) -> Any:
    try:
        return read(path)
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):
        return otherwise


def _read_spec(path: Path) -> dict[str, Any]:
    """The fields of a spec that the table shows. Only the session itself is read with all checks, when it is opened."""
    spec = upgraded_spec(json.loads(path.read_bytes()))
    engineer, training, parent = (_part(spec.get(name)) for name in ("engineer", "training", "parent"))
    return {
        "title": str(spec.get("title") or ""),
        "family": str(_part(spec.get("initial_config")).get("family", "lake")),
        "engineer": str(engineer.get("kind", "policy")),
        "method": str(training.get("method", "grpo")),
        "stages": int(spec.get("stages", 3)),
        "seed": int(spec.get("seed", 0)),
        "parent": str(parent["session"]) if "session" in parent else None,
    }


def _part(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _read_state(path: Path) -> tuple[str, Rated | None, Rated | None]:
    state = json.loads(path.read_bytes())
    rates = {rate["stage"]: Rated(float(rate["valid"]), int(rate["n"])) for rate in state.get("rates", ())}
    trained = [stage for stage in rates if stage is not None]
    return str(state["status"]), rates.get(None), rates[max(trained)] if trained else None


_spec = Kept(_read_spec, MANY)
_state = Kept(_read_state, MANY)
_labels = Kept(read_labels, MANY)
