"""The sessions of a folder, listed without opening them: what a list says about each, from three small files and an index of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import md5
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, TypeAdapter

from frozenlab.base.files import Signature, read_json, read_text, regular, replacing, signature
from frozenlab.base.schemas import Strict, not_older
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.state import Count, Moment, Share, Status

LABELS_FILE = "labels.json"
MOST_TAGS = 20


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _distinct(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Each tag once, in alphabetical order, without empty ones."""
    return tuple(sorted({tag for tag in tags if tag}))


Tag = Annotated[str, AfterValidator(_one_line), Field(max_length=40)]


class Labels(Strict):
    """``labels.json``. A session without the file has the default of each field."""

    schema_version: Literal[1] = 1
    title: Annotated[str, AfterValidator(_one_line), Field(max_length=120)] = ""
    """The name that pages show. Empty: that of the spec."""
    tags: Annotated[tuple[Tag, ...], AfterValidator(_distinct), Field(max_length=MOST_TAGS)] = ()
    """Words to find it by."""
    notes: Annotated[str, Field(max_length=4000)] = ""
    """What you want to remember about it."""
    archived: bool = False
    """Whether lists leave the session out. It still opens by its id."""
    pinned: bool = False
    """Whether the table of runs shows it first, and comparisons begin with it: a baseline."""


def read_labels(path: Path) -> Labels:
    """The labels in a file; the defaults if there is none. Raises OSError, and ValueError if it holds something else."""
    try:
        return Labels.model_validate_json(regular(path).read_bytes())
    except FileNotFoundError:
        return Labels()


FILES = ("session.json", "state.json", LABELS_FILE)
"""The files that a glance looks at, in the order of its parts. A folder without the first is no session."""


class Rated(NamedTuple):
    """The valid rate of a session's results."""

    valid: Share
    n: Count


class About(NamedTuple):
    """The part of a spec that lists show. Only the session itself is read with all checks, when it is opened."""

    title: str
    family: str
    engineer: str
    method: str
    stages: int
    seed: int
    parent: str | None
    """The id of the session that it was forked from."""
    tested: bool
    """Whether it has test boards."""
    alike: str
    """The same in sessions that differ in nothing but title and seed."""


class LastState(NamedTuple):
    """The part of a last state that lists show. Only :meth:`Session.state` knows whether its worker is alive."""

    status: Status
    started: Moment | None
    """Unix seconds."""
    base: Rated | None
    """Before training."""
    last: Rated | None
    """After the last stage that was measured."""
    curve: tuple[Share, ...] = ()
    """The valid rates in the order in which they were measured."""
    alarms: tuple[str, ...] = ()
    """The rules that gave an alarm when the worker looked the last time."""
    answers: tuple[Count, Count] | None = None
    """How many of its engineer's answers could be used, and how many it was asked for."""


class Glance(NamedTuple):
    """A session as lists show it; None for what is missing or damaged."""

    about: About | None
    state: LastState | None
    labels: Labels | None


def glance(folder: Path, seen: Sequence[Signature], before: Glance | None = None, seen_before: Sequence[Signature] = ()) -> Glance:
    """A session as its FILES, whose signatures were ``seen``, describe it. Files that are as ``before`` are not opened."""
    readers: tuple[Callable[[Path], Any], ...] = (read_about, read_last_state, read_labels)
    parts: list[Any] = []
    for number, (name, read) in enumerate(zip(FILES, readers, strict=True)):
        if before is not None and seen[number] == seen_before[number]:
            parts.append(before[number])
        else:
            parts.append(None if seen[number] is None else _quietly(read, folder / name))
    return Glance(*parts)


def _quietly(read: Callable[[Path], Any], path: Path) -> Any:
    try:
        return read(path)
    except (OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):  # whatever has this name
        return None


def read_about(path: Path) -> About:
    spec = read_json(path)
    not_older(spec.get("schema_version"))
    engineer, training, parent = (_part(spec.get(name)) for name in ("engineer", "training", "parent"))
    return About(
        title=str(spec.get("title") or ""),
        family=str(_part(spec.get("initial_config")).get("family", "lake")),
        engineer=str(engineer.get("kind", "policy")),
        method=str(training.get("method", "grpo")),
        stages=int(spec.get("stages", 3)),
        seed=int(spec.get("seed", 0)),
        parent=str(parent["session"]) if "session" in parent else None,
        tested=spec.get("test") is not None,
        alike=alike(spec),
    )


def alike(spec: Mapping[str, Any]) -> str:
    """A digest of what is written in a spec, as :meth:`SessionSpec.but` has it without title and seed."""
    rest = {name: value for name, value in spec.items() if name not in ("schema_version", "title", "seed")}
    return md5(json.dumps(rest, sort_keys=True).encode(), usedforsecurity=False).hexdigest()


def _part(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def read_last_state(path: Path) -> LastState:
    state = read_json(path)
    rates = {rate["stage"]: (rate["valid"], rate["n"]) for rate in state.get("rates", ())}
    trained = [stage for stage in rates if stage is not None]
    last = rates[max(trained)] if trained else None
    curve = [valid for valid, _ in rates.values()]
    alarms = tuple(dict.fromkeys(alarm["rule"] for alarm in state.get("alarms", ())))
    return _LAST_STATE.validate_python((state["status"], state.get("started"), rates.get(None), last, curve, alarms, state.get("answers")))


_LAST_STATE = TypeAdapter(LastState)


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

    version: Literal[4]
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
                file.write_bytes(_STORED.dump_json(_Stored(4, settled)))
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
