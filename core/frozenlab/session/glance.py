"""What a list says about a session, from three small files, without opening it: its spec, its last state and its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from frozenlab.base.files import read_json
from frozenlab.base.versions import not_older
from frozenlab.jobs.kept import Signature
from frozenlab.jobs.state import Count, Moment, Share, Status
from frozenlab.session.labels import LABELS_FILE, Labels, read_labels

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


class LastState(NamedTuple):
    """The part of a last state that lists show. Only :meth:`Session.state` knows whether its worker is alive."""

    status: Status
    started: Moment | None
    """Unix seconds."""
    base: Rated | None
    """Before training."""
    last: Rated | None
    """After the last stage that was measured."""
    alarms: tuple[str, ...] = ()
    """The rules that gave an alarm when the worker looked the last time."""


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
    )


def _part(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def read_last_state(path: Path) -> LastState:
    state = read_json(path)
    rates = {rate["stage"]: (rate["valid"], rate["n"]) for rate in state.get("rates", ())}
    trained = [stage for stage in rates if stage is not None]
    last = rates[max(trained)] if trained else None
    alarms = tuple(dict.fromkeys(alarm["rule"] for alarm in state.get("alarms", ())))
    return _LAST_STATE.validate_python((state["status"], state.get("started"), rates.get(None), last, alarms))


_LAST_STATE = TypeAdapter(LastState)
