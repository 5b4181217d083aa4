"""The environment config: what an engineer writes and what boards are drawn from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from frozenlab.base.cells import Cell, check_sum
from frozenlab.base.docstrings import describe_fields
from frozenlab.base.errors import one_line
from frozenlab.base.files import TextError, text_of
from frozenlab.lake.config_cell import LAYOUTS, SCATTER, BoardKind, CellConfig, Layout
from frozenlab.lake.config_file import ConfigError, as_cells, as_list, as_sizes, data_in, said_of_sizes, schema_of_both_forms

PAPER_SIZES = tuple(range(3, 11))

WaitDefinition = Literal["makespan", "sum_of_costs"]

Placement = Literal["uniform", "connected"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


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
        """Reads both forms of a file."""
        if not isinstance(given, dict):
            return check(given)
        try:
            return check(as_cells(given))
        except ValidationError as error:
            raise (said_of_sizes(error) if "sizes" in given else error) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.cells:
            raise ValueError("sizes is empty; name at least one map size")
        check_sum((cell.share for cell in self.cells.values()), "the shares")
        cells = sorted(self.cells.values(), key=lambda cell: (cell.agents, cell.size, LAYOUTS.index(cell.layout) if cell.layout else -1))
        named = {self.name_of(cell.kind): cell for cell in cells}
        if len(named) < len(cells):
            raise ValueError("two cells have the same agents, size and layout")
        object.__setattr__(self, "cells", named)
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = write(self)
        return as_list(fields) if len(self.teams) > 1 or self.keeps_layouts_apart else as_sizes(fields, agents=self.teams[0])

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return schema_of_both_forms(handler.resolve_ref_schema(handler(core)))

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
        return cls._checked(data_in(text, "JSON"))

    @classmethod
    def from_toml(cls, text: str) -> EnvironmentConfig:
        """Reads a config from TOML. Raises ConfigError, as :meth:`from_json` does.

        Example:
            >>> EnvironmentConfig.from_toml("[sizes.4]\\nshare = 1.0").cells["4"].share
            1.0
        """
        return cls._checked(data_in(text, "TOML"))

    @classmethod
    def _checked(cls, data: Any) -> EnvironmentConfig:
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigError(one_line(error)) from None

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> EnvironmentConfig:
        """The config in a file called ``name``: TOML if it ends in ``.toml``, else JSON. Raises ConfigError."""
        try:
            text = text_of(data, name)
        except TextError as error:
            raise ConfigError(str(error)) from None
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
