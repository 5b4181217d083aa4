"""Plans in JSON, in whatever form a language model gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenlab.tasks.lake.dialects.written_moves import Tracks, agent_number, joined, read_track


def tracks_of_json(value: Any, team: int) -> Tracks | None:
    """An object with a key an agent, a list with an entry an agent, a list of time steps, or any of them within an object."""
    if isinstance(value, Mapping):
        numbers = [agent_number(str(key)) for key in value]
        if value and None not in numbers and not any(isinstance(entry, Mapping) for entry in value.values()):
            return tracks_of_entries(dict(zip(numbers, value.values(), strict=True)))
        within = [tracks for entry in value.values() if isinstance(entry, (Mapping, list)) and (tracks := tracks_of_json(entry, team))]
        if len(within) > 1 and all(isinstance(entry, Mapping) for entry in value.values()):
            return joined(within)
        return within[-1] if within else None
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(entry, Mapping) for entry in value):
        named = [named_entry(entry) for entry in value]
        if all(entry is not None for entry in named):
            return tracks_of_entries(dict(entry for entry in named if entry is not None))
        steps = [tracks_of_json(entry, team) for entry in value]
        return joined([step for step in steps if step]) if all(steps) else None
    if len(value) == team and all(isinstance(entry, (str, list)) for entry in value):
        return tracks_of_entries(dict(enumerate(value)))
    return None


def named_entry(entry: Mapping[str, Any]) -> tuple[int, Any] | None:
    """``{"agent": 0, "moves": [...]}``: the number and its plan."""
    numbers = [agent_number(str(part)) for key, part in entry.items() if key.lower() in ("agent", "agent_id", "id", "name")]
    plans = [part for key, part in entry.items() if isinstance(part, list) or key.lower() in ("moves", "actions", "plan", "path")]
    return (numbers[0], plans[-1]) if numbers and numbers[0] is not None and plans else None


def tracks_of_entries(entries: Mapping[int | None, Any]) -> Tracks | None:
    tracks: Tracks = {}
    for number, entry in entries.items():
        if isinstance(entry, list):
            if entry and all(isinstance(cell, list) and len(cell) == 2 and all(type(part) is int for part in cell) for cell in entry):
                entry = " ".join(f"({r}, {c})" for r, c in entry)
            elif all(isinstance(part, str) for part in entry):
                entry = ", ".join(entry)
        track = read_track(entry) if isinstance(entry, str) and entry else "" if entry in ([], "") else None
        if track is None or number is None:
            return None
        tracks[number] = track
    return tracks
