"""What the Design page works on: a config while it is being turned, ready-made ones, and the shelf of saved ones."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from frozenlab.base.files import write_text
from frozenlab.lake.config import EnvironmentConfig, Placement, WaitDefinition
from frozenlab.lake.config_cell import KNOBS, BoardKind, CellConfig, Layout
from frozenlab.lake.config_file import MOST_CHARACTERS, ConfigError
from frozenlab.lake.presets import PRESETS, preset
from frozenlab.session.presets import preset_spec
from frozenlab.session.store import SessionStore

Cells = dict[BoardKind, dict[str, float]]
"""Cell -> setting (a knob, or a layout that it has) -> value in 0..1. Unlike a config it may be out of balance: the shares need not
sum to 1."""

CONFIG_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
SHELF = ".configs"
"""Folder of saved configs inside the sessions folder; no session id begins with a dot."""


def cells_of(config: EnvironmentConfig) -> Cells:
    return {cell.kind: cell.settings() for cell in config.cells.values()}


def config_of(cells: Cells, wait_definition: WaitDefinition = "makespan", placement: Placement = "uniform") -> EnvironmentConfig:
    """The config as it stands. Raises pydantic's ValidationError (a ValueError) if the shares do not sum to 1."""
    drawn = []
    for kind, settings in cells.items():
        values = kind._asdict() | {knob: settings[knob] for knob in KNOBS}
        drawn.append(CellConfig.model_validate(values if kind.layout else values | {"layouts": layouts_of(settings)}))
    return EnvironmentConfig.of(drawn, wait_definition=wait_definition, placement=placement)


def layouts_of(settings: dict[str, float]) -> dict[str, float]:
    """The parts of the layouts among the settings of a cell."""
    return {setting: value for setting, value in settings.items() if setting not in KNOBS}


def mixed(exact: dict[str, float], chosen: Sequence[Layout]) -> dict[str, float]:
    """The parts of the layouts that are chosen: the exact ones they were set to, until others are chosen; then equal parts."""
    return exact if set(chosen) == set(exact) else {layout: 1 / len(chosen) for layout in chosen}


def normalised(cells: Cells) -> Cells:
    """The same cells with shares in the same proportion that sum to 1; equal shares where all are 0."""
    total = sum(knobs["share"] for knobs in cells.values())
    return {kind: knobs | {"share": knobs["share"] / total if total else 1 / len(cells)} for kind, knobs in cells.items()}


def turned(exact: float, percent: int) -> float:
    """The value of a slider in whole percent: the exact value it was set to, until it is moved."""
    return exact if round(100 * exact) == percent else percent / 100


QUICK = "quick session"
OFFERED: dict[str, str] = {QUICK: "Where the quick session begins"} | {name: words for name, (_, words) in PRESETS.items()}
"""Ready-made configs: name -> what it is, in one line."""


def offered(name: str, teams: Sequence[int]) -> EnvironmentConfig:
    """A ready-made config for some teams; that of the quick session has its own team."""
    if name != QUICK:
        return preset(name, teams or (2,))
    config = preset_spec("quick").initial_config
    assert isinstance(config, EnvironmentConfig)
    return config


def shelf(store: SessionStore) -> dict[str, Path]:
    """The saved configs by name."""
    return {path.stem: path for path in sorted((store.root / SHELF).glob("*.json")) if CONFIG_NAME.fullmatch(path.stem)}


def named(words: str) -> str:
    """The name on the shelf that is made of a person's words.

    >>> named("Audit mixed, 2")
    'audit-mixed-2'

    Raises ConfigError where nothing is left of them.
    """
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:63].strip("-")
    if not name:
        raise ConfigError("write a name for it first, with letters a to z or digits")
    return name


def encode(config: EnvironmentConfig) -> str:
    """A config as a short string for an address: its JSON, packed."""
    packed = zlib.compress(json.dumps(config.model_dump(mode="json"), separators=(",", ":")).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode(code: str) -> EnvironmentConfig:
    """The config of a code. Raises ConfigError if it is none (codes come from addresses, which people can write by hand)."""
    try:
        data = zlib.decompressobj().decompress(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)), MOST_CHARACTERS)
    except (ValueError, zlib.error):
        raise ConfigError("it is cut off or changed") from None
    return EnvironmentConfig.from_bytes(data, "address")


def rename(store: SessionStore, name: str, words: str) -> str:
    """Gives a saved config the name that is made of ``words``, and returns that. Raises ConfigError if it is none or taken."""
    if (new := named(words)) != name:
        if new in shelf(store):
            raise ConfigError(f"there is a config {new} already")
        try:
            shelf(store)[name].rename(store.root / SHELF / f"{new}.json")
        except (KeyError, OSError):
            raise ConfigError(f"{name} is not on the shelf any more") from None
    return new


def save(store: SessionStore, name: str, config: EnvironmentConfig) -> Path:
    """Puts ``config`` on the shelf, over an older one of that name. Raises ConfigError if the name is none."""
    if not CONFIG_NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name: lower-case letters, digits and hyphens, at most 63")
    path = store.root / SHELF / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, config.to_json() + "\n")
    return path
