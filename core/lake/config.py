"""The environment config: what an engineer writes and what boards are drawn from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.config import JsonDict

from frozenlab.docstrings import describe_fields
from frozenlab.errors import LabError, one_line
from frozenlab.lake.board import MAX_SIDE
from frozenlab.lake.layouts import LAYOUTS as RECIPES

MIN_SIZE = 3
PAPER_SIZES = tuple(range(3, 11))
MAX_AGENTS = 5

Knob = Literal["share", "hole_ratio", "wait_ratio"]
KNOBS: tuple[Knob, ...] = get_args(Knob)
"""The three numbers of a size that an engineer may turn."""

LAYOUTS: tuple[str, ...] = tuple(recipe.name for recipe in RECIPES)
"""The names of the layouts, which say where the holes of a board go: anywhere (``scatter``, the paper's), or in a structure. How many
there are, the hole ratio says."""
if TYPE_CHECKING:
    Layout = str
    Setting = str
else:
    Layout = Literal[LAYOUTS]
    Setting = Literal[Knob, Layout]
"""The name of a layout. A setting is what can differ between two configs of a size: a knob, or the part of the boards in a layout."""
SCATTER: dict[Layout, float] = {"scatter": 1.0}

WaitDefinition = Literal["makespan", "sum_of_costs"]

Placement = Literal["uniform", "connected"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)

Ratio = Annotated[float, Field(ge=0, le=1)]


MOST_CHARACTERS = 100_000
"""Of a config's file: all map sizes with all layouts take a tenth of it."""


class ConfigError(LabError, ValueError):
    """An environment config is not valid; the message names the size and the key."""


class SizeConfig(BaseModel):
    """What is drawn for one map size."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=describe_fields)

    share: Ratio
    """Part of all boards that have this size; over all sizes the shares sum to 1."""
    hole_ratio: Ratio = 0.2
    """Part of the cells that are holes."""
    wait_ratio: Ratio = 0.2
    """Part of the boards that cannot be solved optimally without some agent waiting (the conflict density)."""
    layouts: Annotated[dict[Layout, Ratio], Field(min_length=1, exclude_if=lambda layouts: layouts == SCATTER)] = SCATTER
    """Layout -> part of the boards whose holes lie like that; the parts sum to 1. Left out of files where all boards are scatter."""

    @field_validator("layouts")
    @classmethod
    def _check_layouts(cls, layouts: dict[Layout, float]) -> dict[Layout, float]:
        total = sum(layouts.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the parts of the layouts sum to {total:.4g}; they must sum to 1")
        return {layout: layouts[layout] for layout in LAYOUTS if layouts.get(layout)}

    def settings(self) -> dict[str, float]:
        """Setting -> value: the knobs, and the parts of the layouts that it has."""
        knobs = {"share": self.share, "hole_ratio": self.hole_ratio, "wait_ratio": self.wait_ratio}
        return knobs | {str(layout): part for layout, part in self.layouts.items()}


EXAMPLE: JsonDict = {
    "agents": 2,
    "sizes": {
        "4": {"share": 0.5, "hole_ratio": 0.2, "wait_ratio": 0.3},
        "8": {"share": 0.5, "hole_ratio": 0.35, "wait_ratio": 0.5, "layouts": {"scatter": 0.5, "maze": 0.5}},
    },
}


def describe_config(schema: JsonDict, model: type) -> None:
    """Complete the JSON schema of a config: what each key means, and an example."""
    describe_fields(schema, model)
    schema["examples"] = [EXAMPLE]


class EnvironmentConfig(BaseModel):
    """Team size and, per map size, a share, a hole ratio, a wait ratio and layouts. Immutable; the sizes are in ascending order."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=describe_config)

    agents: Annotated[int, Field(ge=1, le=MAX_AGENTS)] = 2
    """How many agents every board has."""
    wait_definition: Annotated[WaitDefinition, Field(exclude_if=lambda definition: definition == "makespan")] = "makespan"
    """A board needs a WAIT if it is in every plan of the fewest steps (makespan, the paper's), or in every plan of the least sum of
    costs, before the agent that waits has arrived (sum_of_costs). Left out of files where it is makespan."""
    placement: Annotated[Placement, Field(exclude_if=lambda placement: placement == "uniform")] = "uniform"
    """How starts and goals are placed. uniform: anywhere on the frozen cells, and boards without a solution are drawn anew, holes and
    all, so every solvable board is equally likely. connected: agent after agent within connected frozen cells, as POGEMA does, which
    favours boards with isolated pockets where holes are many. Left out of files where it is uniform."""
    sizes: Annotated[
        dict[int, SizeConfig],
        Field(json_schema_extra={"minProperties": 1, "propertyNames": {"enum": [str(size) for size in range(MIN_SIZE, MAX_SIDE + 1)]}}),
    ]
    """Map size -> what is drawn of it. The shares sum to 1."""

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
        cls,
        sizes: tuple[int, ...] = PAPER_SIZES,
        agents: int = 2,
        hole_ratio: float = 0.2,
        wait_ratio: float = 0.2,
        layouts: dict[Layout, float] = SCATTER,
    ) -> EnvironmentConfig:
        """Every size equally often, with the same ratios and layouts.

        Example:
            >>> config = EnvironmentConfig.uniform((4, 6), agents=3, layouts={"maze": 1.0})
            >>> {size: cell.share for size, cell in config.sizes.items()}
            {4: 0.5, 6: 0.5}
        """
        cell = SizeConfig(share=1 / max(len(sizes), 1), hole_ratio=hole_ratio, wait_ratio=wait_ratio, layouts=layouts)
        return cls(agents=agents, sizes={size: cell for size in sizes})

    @classmethod
    def from_json(cls, text: str) -> EnvironmentConfig:
        """Reads a config from JSON.

        Raises:
            ConfigError: in one line, where the text is no JSON, or which key has which wrong value.

        Example:
            >>> config = EnvironmentConfig.from_json('{"agents": 3, "sizes": {"5": {"share": 1, "wait_ratio": 0.5}}}')
            >>> config.agents, config.sizes[5].hole_ratio, config.sizes[5].wait_ratio
            (3, 0.2, 0.5)
        """
        return cls._parsed(text, "JSON", json.loads)

    @classmethod
    def from_toml(cls, text: str) -> EnvironmentConfig:
        """Reads a config from TOML. Raises ConfigError, as :meth:`from_json` does.

        Example:
            >>> EnvironmentConfig.from_toml("[sizes.4]\\nshare = 1.0").sizes[4].share
            1.0
        """
        return cls._parsed(text, "TOML", tomllib.loads)

    @classmethod
    def _parsed(cls, text: str, language: str, parse: Callable[[str], object]) -> EnvironmentConfig:
        refuse_long(text)
        try:
            data = parse(text)
        except json.JSONDecodeError as error:
            raise ConfigError(f"not {language}: {error.msg} at line {error.lineno}, column {error.colno}") from None
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"not {language}: {error}") from None
        except (ValueError, RecursionError):
            raise ConfigError(f"not {language}: a number too long, or too deeply nested") from None
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigError(one_line(error)) from None

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> EnvironmentConfig:
        """The config in a file called ``name``: TOML if it ends in ``.toml``, else JSON. Raises ConfigError."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise ConfigError("not a text file in UTF-8") from None
        return cls.from_toml(text) if name.lower().endswith(".toml") else cls.from_json(text)

    @classmethod
    def read(cls, path: Path) -> EnvironmentConfig:
        """Reads a config file, TOML or JSON by its name. Raises ConfigError, and OSError if it can't be read."""
        return cls.from_bytes(path.read_bytes(), path.name)

    def to_json(self) -> str:
        return json.dumps(self.model_dump(mode="json"), indent=2)

    def to_toml(self) -> str:
        import tomli_w

        return tomli_w.dumps(self.model_dump(mode="json"))

    def with_layouts_of(self, other: EnvironmentConfig) -> EnvironmentConfig:
        """The same shares and ratios with the layouts, the placement and the wait definition of ``other``.

        A size that ``other`` lacks keeps its layouts.
        """
        sizes = {
            size: cell.model_copy(update={"layouts": other.sizes[size].layouts}) if size in other.sizes else cell
            for size, cell in self.sizes.items()
        }
        return self.model_copy(update={"sizes": sizes, "placement": other.placement, "wait_definition": other.wait_definition})


def refuse_long(text: str) -> None:
    """Raises ConfigError for a text that is far too long for a config: reading it would take seconds."""
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"{len(text):,} characters; an environment config has at most {MOST_CHARACTERS:,}")


class KnobChange(BaseModel):
    """One setting of one size before and after. ``before`` or ``after`` of a knob is None where the size is new or gone."""

    size: int
    knob: Setting
    before: float | None
    after: float | None


def diff(before: EnvironmentConfig, after: EnvironmentConfig, tolerance: float = 1e-9) -> list[KnobChange]:
    """The knobs and parts of layouts that differ by more than ``tolerance``, ordered by size and then as in KNOBS and LAYOUTS.

    A size that is missing counts as scattered, so a scattered size that comes or goes tells its three knobs only.

    Example:
        >>> before, after = EnvironmentConfig.uniform((5,)), EnvironmentConfig.uniform((5,), wait_ratio=0.4)
        >>> [(change.size, change.knob, change.before, change.after) for change in diff(before, after)]
        [(5, 'wait_ratio', 0.2, 0.4)]
    """
    missing = {"scatter": 1.0}
    changes = []
    for size in sorted({*before.sizes, *after.sizes}):
        old, new = (config.sizes[size].settings() if size in config.sizes else missing for config in (before, after))
        for setting in (*KNOBS, *LAYOUTS):
            nothing = None if setting in KNOBS else 0.0
            was, now = old.get(setting, nothing), new.get(setting, nothing)
            if was is None or now is None or abs(was - now) > tolerance:
                changes.append(KnobChange(size=size, knob=setting, before=was, after=now))
    return changes
