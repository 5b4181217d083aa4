"""The environment config: what an engineer writes and what boards are drawn from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.lake.board import MAX_SIDE

MIN_SIZE = 3
PAPER_SIZES = tuple(range(3, 11))
MAX_TEAM = 5
KNOBS = ("share", "hole_ratio", "wait_ratio")
"""The three settings of a size that an engineer may turn."""

Ratio = Annotated[float, Field(ge=0, le=1)]


class ConfigError(ValueError):
    """An environment config is not valid; the message names the size and the key."""


class SizeConfig(BaseModel):
    """What is drawn for one map size."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Ratio
    """Part of all boards that have this size; over all sizes the shares sum to 1."""
    hole_ratio: Ratio = 0.2
    """Part of the cells that are holes."""
    wait_ratio: Ratio = 0.2
    """Part of the boards that cannot be solved optimally without some agent waiting (the conflict density)."""


class EnvironmentConfig(BaseModel):
    """Team size and, per map size, a share, a hole ratio and a wait ratio. Immutable; ``sizes`` is ordered by size.

    Raises:
        ConfigError: from :meth:`read` and :meth:`from_json`, with a one-line reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    agents: Annotated[int, Field(ge=1, le=MAX_TEAM)] = 2
    sizes: dict[int, SizeConfig]

    @model_validator(mode="after")
    def _check(self) -> EnvironmentConfig:
        if not self.sizes:
            raise ValueError("sizes is empty; name at least one map size")
        for size in self.sizes:
            if not MIN_SIZE <= size <= MAX_SIDE:
                raise ValueError(f"size {size} is outside {MIN_SIZE}..{MAX_SIDE}")
        total = sum(cell.share for cell in self.sizes.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares sum to {total:.4g}; they must sum to 1")
        object.__setattr__(self, "sizes", dict(sorted(self.sizes.items())))
        return self

    @classmethod
    def uniform(
        cls, sizes: tuple[int, ...] = PAPER_SIZES, agents: int = 2, hole_ratio: float = 0.2, wait_ratio: float = 0.2
    ) -> EnvironmentConfig:
        """Every size equally often, with the same ratios."""
        cell = SizeConfig(share=1 / max(len(sizes), 1), hole_ratio=hole_ratio, wait_ratio=wait_ratio)
        return cls(agents=agents, sizes={size: cell for size in sizes})

    @classmethod
    def from_json(cls, text: str) -> EnvironmentConfig:
        try:
            return cls.model_validate(json.loads(text))
        except json.JSONDecodeError as error:
            raise ConfigError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
        except ValidationError as error:
            raise ConfigError(first_error(error)) from None
        except (ValueError, RecursionError):
            raise ConfigError("not JSON: a number too long, or too deeply nested") from None

    @classmethod
    def read(cls, path: Path) -> EnvironmentConfig:
        """Reads a config file. Raises ConfigError, and OSError if it can't be read."""
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise ConfigError(f"{path.name} is not a text file in UTF-8") from None

    def to_json(self) -> str:
        return json.dumps(self.model_dump(mode="json"), indent=2)


def first_error(error: ValidationError) -> str:
    """The first problem of a pydantic error as one line: where, what, and what was given."""
    first: Any = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    given = repr(first["input"])
    return f"{where}: {message} (given: {given if len(given) <= 60 else given[:57] + '...'})" if where else message


class KnobChange(BaseModel):
    """One knob of one size before and after. ``before`` or ``after`` is None where the size is new or gone."""

    size: int
    knob: str
    before: float | None
    after: float | None


def diff(before: EnvironmentConfig, after: EnvironmentConfig, tolerance: float = 1e-9) -> list[KnobChange]:
    """The knobs that differ by more than ``tolerance``, ordered by size and then as in KNOBS."""
    changes = []
    for size in sorted({*before.sizes, *after.sizes}):
        for knob in KNOBS:
            old = getattr(before.sizes[size], knob) if size in before.sizes else None
            new = getattr(after.sizes[size], knob) if size in after.sizes else None
            if old is None or new is None or abs(old - new) > tolerance:
                changes.append(KnobChange(size=size, knob=knob, before=old, after=new))
    return changes
