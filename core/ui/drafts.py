"""What the Design page works on: a config while it is being turned, ready-made ones, and the shelf of saved ones."""

from __future__ import annotations

import re
from pathlib import Path

from core.lake.config import KNOBS, PAPER_SIZES, ConfigError, EnvironmentConfig, SizeConfig
from core.sessions.files import write_text
from core.sessions.presets import quick_spec
from core.sessions.store import SessionStore

Cells = dict[int, dict[str, float]]
"""Map size -> knob -> value in 0..1. Unlike a config it may be out of balance: the shares need not sum to 1."""

CONFIG_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
SHELF = ".configs"
"""Folder of saved configs inside the sessions folder; no session id begins with a dot."""


def cells_of(config: EnvironmentConfig) -> Cells:
    return {size: {knob: getattr(cell, knob) for knob in KNOBS} for size, cell in config.sizes.items()}


def config_of(agents: int, cells: Cells) -> EnvironmentConfig:
    """The config as it stands. Raises pydantic's ValidationError (a ValueError) if the shares do not sum to 1."""
    return EnvironmentConfig(agents=agents, sizes={size: SizeConfig(**knobs) for size, knobs in cells.items()})


def normalised(cells: Cells) -> Cells:
    """The same cells with shares in the same proportion that sum to 1; equal shares where all are 0."""
    total = sum(knobs["share"] for knobs in cells.values())
    return {size: knobs | {"share": knobs["share"] / total if total else 1 / len(cells)} for size, knobs in cells.items()}


def turned(exact: float, percent: int) -> float:
    """The value of a slider in whole percent: the exact value it was set to, until it is moved."""
    return exact if round(100 * exact) == percent else percent / 100


def _shaped(weights: dict[int, float], hole_ratio: float, wait_ratio: float, agents: int = 2) -> EnvironmentConfig:
    cells = {size: {"share": weight, "hole_ratio": hole_ratio, "wait_ratio": wait_ratio} for size, weight in weights.items()}
    return config_of(agents, normalised(cells))


PRESETS: dict[str, tuple[EnvironmentConfig, str]] = {
    "Quick session": (quick_spec().initial_config, "Where the quick session begins"),
    "Even": (EnvironmentConfig.uniform(), "Every size from 3 to 10 equally often"),
    "Small first": (_shaped({size: 2.0 ** (3 - size) for size in range(3, 8)}, 0.15, 0.1), "Each size half as often as the one before"),
    "Thin ice": (_shaped(dict.fromkeys(PAPER_SIZES[1:], 1.0), 0.4, 0.2), "Many holes: long ways round"),
    "Traffic": (_shaped(dict.fromkeys(range(4, 9), 1.0), 0.25, 0.7, agents=3), "Three agents that mostly have to wait for each other"),
}
"""Name -> config and what it is, in one line."""


def shelf(store: SessionStore) -> dict[str, Path]:
    """The saved configs by name."""
    return {path.stem: path for path in sorted((store.root / SHELF).glob("*.json")) if CONFIG_NAME.fullmatch(path.stem)}


def save(store: SessionStore, name: str, config: EnvironmentConfig) -> Path:
    """Puts ``config`` on the shelf, over an older one of that name. Raises ConfigError if the name is none."""
    if not CONFIG_NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name: lower-case letters, digits and hyphens, at most 63")
    path = store.root / SHELF / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, config.to_json() + "\n")
    return path


def read_upload(data: bytes) -> EnvironmentConfig:
    """A config file that somebody uploads. Raises ConfigError with a one-line reason."""
    try:
        return EnvironmentConfig.from_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigError("not a text file") from None
