"""What differs between the specs and configs of several runs, and what they have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from frozenlab.base.numbers import share
from frozenlab.session.session import Session
from frozenlab.tasks.families import family_of
from frozenlab.tasks.labels import cell_label

LEFT_OUT = ("schema_version", "title", "initial_config")
"""Fields of a spec that say nothing about a difference: the config of each stage is compared on its own."""
NOTHING = "–"


class Row(NamedTuple):
    """A setting and its value in each run; NOTHING where a run does not have it."""

    setting: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def spec_rows(sessions: Sequence[Session]) -> list[Row]:
    """Every setting of the specs, in their order."""
    specs = [session.spec.model_dump(mode="json", exclude=set(LEFT_OUT)) for session in sessions]
    return rows([dict(_settings(spec)) for spec in specs])


def config_rows(sessions: Sequence[Session]) -> list[Row]:
    """Every setting of the configs that the stages trained on: ``stage 2, 5×5, hole ratio``."""
    return rows([dict(_trained_on(session)) for session in sessions])


def rows(settings: Sequence[Mapping[str, str]]) -> list[Row]:
    """A row for each setting that any of them has."""
    names = dict.fromkeys(name for one in settings for name in one)
    return [Row(name, tuple(one.get(name, NOTHING) for one in settings)) for name in names]


def _settings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a spec: ``training, learning rate`` and its value. Lists are one value."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _settings(part, f"{path}, {name}" if path else name)
    else:
        yield path.replace("_", " "), _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return value if isinstance(value, str) else NOTHING if value is None else json.dumps(value)


def _trained_on(session: Session) -> Iterator[tuple[str, str]]:
    for stage in range(session.spec.stages):
        drawn = session.environment(stage)
        config = drawn.config if drawn is not None else session.spec.initial_config if stage == 0 and not session.spec.ask_first else None
        if config is None:
            continue
        family = family_of(config.family)
        for cell, own in config.cells.items():
            for knob, value in own.settings().items():
                yield f"stage {stage + 1}, {cell_label(cell)}, {family.setting_label(knob)}", share(value)
