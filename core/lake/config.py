"""The environment config: what an engineer writes and what boards are drawn from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails

from frozenlab.cells import Cell
from frozenlab.docstrings import describe_fields
from frozenlab.errors import LabError, one_line
from frozenlab.lake.board import MAX_SIDE
from frozenlab.lake.layouts import LAYOUTS as RECIPES

MIN_SIZE = 3
PAPER_SIZES = tuple(range(3, 11))
MAX_AGENTS = 5

Knob = Literal["share", "hole_ratio", "wait_ratio"]
KNOBS: tuple[Knob, ...] = get_args(Knob)
"""The three numbers of a cell that an engineer may turn."""

LAYOUTS: tuple[str, ...] = tuple(recipe.name for recipe in RECIPES)
"""The names of the layouts, which say where the holes of a board go: anywhere (``scatter``, the paper's), or in a structure. How many
there are, the hole ratio says."""
if TYPE_CHECKING:
    Layout = str
    Setting = str
else:
    Layout = Literal[LAYOUTS]
    Setting = Literal[Knob, Layout]
"""The name of a layout. A setting is what can differ between two configs of a cell: a knob, or the part of the boards in a layout."""
SCATTER: dict[Layout, float] = {"scatter": 1.0}

WaitDefinition = Literal["makespan", "sum_of_costs"]

Placement = Literal["uniform", "connected"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)

Ratio = Annotated[float, Field(ge=0, le=1)]


MOST_CHARACTERS = 100_000
"""Of a config's file: all map sizes with all layouts take a tenth of it."""


class ConfigError(LabError, ValueError):
    """An environment config is not valid; the message names the size and the key."""


class BoardKind(NamedTuple):
    """The boards of one cell of a config."""

    agents: int
    size: int
    layout: Layout | None = None
    """The layout of them all; None: the cell mixes layouts."""


class CellSettings(BaseModel):
    """How many boards of a cell are drawn, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=describe_fields)

    share: Ratio
    """Part of all boards that are of this cell; over all cells the shares sum to 1."""
    hole_ratio: Ratio = 0.2
    """Part of a board that is holes."""
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


class CellConfig(CellSettings):
    """What is drawn of one cell."""

    agents: Annotated[int, Field(ge=1, le=MAX_AGENTS)] = 2
    """How many agents each of its boards has."""
    size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIDE)]
    """Rows and columns of its boards."""
    layout: Annotated[Layout | None, Field(exclude_if=lambda layout: layout is None)] = None
    """The layout of all its boards, in a config that has cells of their own for layouts. Left out: the cell mixes ``layouts``."""

    @model_validator(mode="after")
    def _check_layout(self) -> Self:
        if self.layout is not None and self.layouts != SCATTER:
            raise ValueError('give "layout", the layout of all boards of the cell, or "layouts", how it mixes them, not both')
        return self

    @property
    def kind(self) -> BoardKind:
        return BoardKind(self.agents, self.size, self.layout)

    @property
    def drawn_layouts(self) -> dict[Layout, float]:
        """Layout -> part of the boards, whichever way the cell says it."""
        return self.layouts if self.layout is None else {self.layout: 1.0}

    def settings(self) -> dict[str, float]:
        """Setting -> value: the knobs, and the parts of the layouts if the cell mixes layouts."""
        knobs = {"share": self.share, "hole_ratio": self.hole_ratio, "wait_ratio": self.wait_ratio}
        return knobs | ({str(layout): part for layout, part in self.layouts.items()} if self.layout is None else {})


EXAMPLE: JsonDict = {
    "agents": 2,
    "sizes": {
        "4": {"share": 0.5, "hole_ratio": 0.2, "wait_ratio": 0.3},
        "8": {"share": 0.5, "hole_ratio": 0.35, "wait_ratio": 0.5, "layouts": {"scatter": 0.5, "maze": 0.5}},
    },
}
MIXED_EXAMPLE: JsonDict = {
    "cells": [
        {"agents": 2, "size": 6, "share": 0.7, "hole_ratio": 0.2, "wait_ratio": 0.3},
        {"agents": 4, "size": 6, "share": 0.3, "hole_ratio": 0.2, "wait_ratio": 0.5},
    ],
}


class EnvironmentConfig(BaseModel):
    """The cells that boards are drawn from, each with a share, a hole ratio, a wait ratio and layouts. Immutable.

    In a file a config of one team names its map sizes: ``{"agents": 2, "sizes": {"4": {...}, "6": {...}}}``. One that mixes teams, or keeps
    layouts apart, lists its cells: ``{"cells": [{"agents": 2, "size": 4, ...}, {"agents": 3, "size": 4, ...}]}``. Both are read, and the
    first is written where it is enough.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=describe_fields)

    wait_definition: Annotated[WaitDefinition, Field(exclude_if=lambda definition: definition == "makespan")] = "makespan"
    """A board needs a WAIT if it is in every plan of the fewest steps (makespan, the paper's), or in every plan of the least sum of
    costs, before the agent that waits has arrived (sum_of_costs). Left out of files where it is makespan."""
    placement: Annotated[Placement, Field(exclude_if=lambda placement: placement == "uniform")] = "uniform"
    """How starts and goals are placed. uniform: anywhere on the frozen cells, and boards without a solution are drawn anew, holes and
    all, so every solvable board is equally likely. connected: agent after agent within connected frozen cells, as POGEMA does, which
    favours boards with isolated pockets where holes are many. Left out of files where it is uniform."""
    cells: dict[str, CellConfig]
    """Name -> cell, in the order of team, map size and layout. A cell is named by its size (``6``), after its team if the config mixes
    teams (``3@6``) and after its layout if it has one of its own (``maze6``). The shares sum to 1."""

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, given: Any, check: ModelWrapValidatorHandler[Self]) -> Self:
        """Reads both forms of a file. What is wrong with a size is said of ``sizes.4``, as the file has it."""
        if not isinstance(given, dict):
            return check(given)
        if "sizes" not in given:
            if "cells" not in given:
                raise ValueError('it names no map sizes; {"agents": 2, "sizes": {"4": {"share": 1.0}}} is a config')
            cells = given["cells"]
            return check(given | {"cells": {str(place): cell for place, cell in enumerate(cells)} if isinstance(cells, list) else cells})
        if "cells" in given:
            raise ValueError('give "agents" and "sizes", or "cells" with agents and a size each, not both')
        try:
            return check({name: value for name, value in given.items() if name not in ("agents", "sizes")} | {"cells": _of_one_team(given)})
        except ValidationError as error:
            raise ValidationError.from_exception_data(error.title, [_as_in_file(detail) for detail in error.errors()]) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.cells:
            raise ValueError("sizes is empty; name at least one map size")
        total = sum(cell.share for cell in self.cells.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares sum to {total:.4g}; they must sum to 1")
        cells = sorted(self.cells.values(), key=lambda cell: (cell.agents, cell.size, LAYOUTS.index(cell.layout) if cell.layout else -1))
        named = {self.name_of(cell.kind): cell for cell in cells}
        if len(named) < len(cells):
            raise ValueError("two cells have the same agents, size and layout")
        object.__setattr__(self, "cells", named)
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = write(self)
        cells = list(data.pop("cells").values())
        if len(self.teams) > 1 or self.keeps_layouts_apart:
            return data | {"cells": cells}
        sizes = {str(cell.pop("size")): {name: value for name, value in cell.items() if name != "agents"} for cell in cells}
        return {"agents": self.teams[0]} | data | {"sizes": sizes}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of both forms of a file."""
        schema = handler.resolve_ref_schema(handler(core))
        keys = schema["properties"]
        cells = keys["cells"] | {"type": "array", "items": keys["cells"]["additionalProperties"], "minItems": 1}
        keys["cells"] = {name: value for name, value in cells.items() if name != "additionalProperties"}
        team = CellConfig.model_json_schema()["properties"]["agents"] | {"description": "The team of all boards, where sizes are given."}
        sizes = {
            "type": "object",
            "description": "Map size -> what is drawn of it: a config of one team.",
            "additionalProperties": CellSettings.model_json_schema(),
            "minProperties": 1,
            "propertyNames": {"enum": [str(size) for size in range(MIN_SIZE, MAX_SIDE + 1)]},
        }
        schema["properties"] = {"agents": team, "sizes": sizes} | keys
        del schema["required"]
        return schema | {"oneOf": [{"required": ["sizes"]}, {"required": ["cells"]}], "examples": [EXAMPLE, MIXED_EXAMPLE]}

    @property
    def family(self) -> str:
        return "lake"

    @property
    def teams(self) -> tuple[int, ...]:
        """The different numbers of agents, ascending."""
        return tuple(sorted({cell.agents for cell in self.cells.values()}))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The different map sizes, ascending."""
        return tuple(sorted({cell.size for cell in self.cells.values()}))

    @property
    def keeps_layouts_apart(self) -> bool:
        """Whether any layout has cells of its own."""
        return any(cell.layout for cell in self.cells.values())

    @property
    def kept_layouts(self) -> tuple[Layout, ...]:
        """The layouts that have cells of their own; scatter alone if none has."""
        kept = {cell.layout or "scatter" for cell in self.cells.values()}
        return tuple(layout for layout in LAYOUTS if layout in kept)

    def name_of(self, kind: BoardKind) -> str:
        """The name that a cell of these boards has in this config, whether or not it has such a cell."""
        team = f"{kind.agents}@" if len(self.teams) > 1 else ""
        return f"{team}{kind.layout or ''}{kind.size}"

    def cell_of(self, kind: BoardKind) -> str:
        """The name of the cell that boards of a kind count for.

        It is the cell of their size, of their layout if the config keeps layouts apart, and of the team nearest to theirs (the smaller of
        two), so that boards for 3 agents tell about a config for 2. Boards of another size have a name that no cell has.
        """
        of_size = [cell.kind for cell in self.cells.values() if cell.size == kind.size]
        near = ([own for own in of_size if own.layout == layout] for layout in (kind.layout, kind.layout or "scatter", None))
        of_layout = next((cells for cells in near if cells), [])
        return self.name_of(min(of_layout, key=lambda own: (abs(own.agents - kind.agents), own.agents), default=kind))

    def described(self) -> tuple[Cell, ...]:
        """How to speak of each cell."""
        return tuple(self.describe(cell.kind) for cell in self.cells.values())

    def describe(self, kind: BoardKind) -> Cell:
        """How to speak of a cell of these boards, beside the cells that this config has."""
        team = len(self.teams) > 1
        words = f"size {kind.size}" + (f" with {kind.agents} agent{'s' if kind.agents > 1 else ''}" if team else "")
        place: dict[str, int | str] = {"agents": kind.agents, "size": kind.size} | ({"layout": kind.layout} if kind.layout else {})
        return Cell(name=self.name_of(kind), words=words + (f" in {kind.layout} boards" if kind.layout else ""), place=place)

    def with_cells(self, cells: Mapping[str, CellConfig]) -> EnvironmentConfig:
        """The same config with other cells; nothing is checked, so that a part of a config can be looked at."""
        return self.model_copy(update={"cells": dict(cells)})

    @classmethod
    def of(cls, cells: Iterable[CellConfig], **settings: Any) -> EnvironmentConfig:
        """The config of these cells, with the ``placement`` and ``wait_definition`` of ``settings``. Raises pydantic's ValidationError."""
        return cls.model_validate({"cells": {str(place): cell for place, cell in enumerate(cells)}} | settings)

    @classmethod
    def uniform(
        cls,
        sizes: Sequence[int] = PAPER_SIZES,
        agents: int | Sequence[int] = 2,
        hole_ratio: float = 0.2,
        wait_ratio: float = 0.2,
        layouts: dict[Layout, float] = SCATTER,
    ) -> EnvironmentConfig:
        """Every size equally often, for a team or for each of several teams, with the same ratios and layouts.

        Example:
            >>> config = EnvironmentConfig.uniform((4, 6), agents=3, layouts={"maze": 1.0})
            >>> {name: cell.share for name, cell in config.cells.items()}
            {'4': 0.5, '6': 0.5}
            >>> list(EnvironmentConfig.uniform((4, 6), agents=(2, 3)).cells)
            ['2@4', '2@6', '3@4', '3@6']
        """
        teams = (agents,) if isinstance(agents, int) else tuple(agents)
        share = 1 / max(len(sizes) * len(teams), 1)
        return cls.of(
            CellConfig(agents=team, size=size, share=share, hole_ratio=hole_ratio, wait_ratio=wait_ratio, layouts=layouts)
            for team in teams
            for size in sizes
        )

    @classmethod
    def from_json(cls, text: str) -> EnvironmentConfig:
        """Reads a config from JSON.

        Raises:
            ConfigError: in one line, where the text is no JSON, or which key has which wrong value.

        Example:
            >>> config = EnvironmentConfig.from_json('{"agents": 3, "sizes": {"5": {"share": 1, "wait_ratio": 0.5}}}')
            >>> config.teams, config.cells["5"].hole_ratio, config.cells["5"].wait_ratio
            ((3,), 0.2, 0.5)
        """
        return cls._parsed(text, "JSON", json.loads)

    @classmethod
    def from_toml(cls, text: str) -> EnvironmentConfig:
        """Reads a config from TOML. Raises ConfigError, as :meth:`from_json` does.

        Example:
            >>> EnvironmentConfig.from_toml("[sizes.4]\\nshare = 1.0").cells["4"].share
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

        A cell that ``other`` lacks keeps its layouts.
        """
        cells = {
            name: cell.model_copy(update={"layouts": other.cells[name].layouts}) if name in other.cells else cell
            for name, cell in self.cells.items()
        }
        return self.model_copy(update={"cells": cells, "placement": other.placement, "wait_definition": other.wait_definition})


def _of_one_team(given: dict[str, Any]) -> Any:
    """The cells that a file with ``sizes`` names, unchecked."""
    sizes, team = given["sizes"], {"agents": given["agents"]} if "agents" in given else {}
    if not isinstance(sizes, dict):
        return sizes
    cells = {}
    for size, settings in sizes.items():
        cells[str(size)] = settings
        if isinstance(settings, dict):
            if foreign := settings.keys() & {"agents", "size", "layout"}:
                raise ValueError(
                    f'sizes.{size}: {min(foreign)!r} has no place here; a config that mixes teams or layouts lists its "cells"'
                )
            cells[str(size)] = {"size": size, **team, **settings}
    return cells


def _as_in_file(detail: ErrorDetails) -> InitErrorDetails:
    """What is wrong with a cell, said of the key of a file with ``sizes``."""
    place = detail["loc"]
    if place[:1] == ("cells",):
        place = ("agents",) if place[-1] == "agents" else ("sizes", *(place[1:2] if place[-1] == "size" else place[1:]))
    return InitErrorDetails(type=detail["type"], loc=place, input=detail["input"], ctx=detail.get("ctx", {}))


def refuse_long(text: str) -> None:
    """Raises ConfigError for a text that is far too long for a config: reading it would take seconds."""
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"{len(text):,} characters; an environment config has at most {MOST_CHARACTERS:,}")
