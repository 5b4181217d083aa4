"""Environment configs in files, JSON or TOML: one form names the map sizes of one team, the other lists cells."""

from __future__ import annotations

import json
import tomllib
from typing import Any, Literal

from pydantic import ValidationError
from pydantic.config import JsonDict
from pydantic_core import ErrorDetails, InitErrorDetails

from frozenlab.base.errors import LabError
from frozenlab.lake.config_cell import MAX_SIZE, MIN_SIZE, CellConfig, CellSettings

MOST_CHARACTERS = 100_000
"""Of a config's file: all map sizes with all layouts take a tenth of it."""
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


class ConfigError(LabError, ValueError):
    """An environment config is not valid; the message names the size and the key."""


# --- text ------------------------------------------------------------------------------------------------------------


def data_in(text: str, language: Literal["JSON", "TOML"]) -> Any:
    """What a config's text says, not yet checked. Raises ConfigError with the place if it is not in this language."""
    if len(text) > MOST_CHARACTERS:  # reading it would take seconds
        raise ConfigError(f"{len(text):,} characters; an environment config has at most {MOST_CHARACTERS:,}")
    try:
        return json.loads(text) if language == "JSON" else tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"not {language}: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not {language}: {error}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"not {language}: a number too long, or too deeply nested") from None


# --- the two forms ---------------------------------------------------------------------------------------------------


def as_cells(given: dict[str, Any]) -> dict[str, Any]:
    """Either form of a file as the fields of an EnvironmentConfig, unchecked. Raises ValueError for a file of neither form."""
    if "sizes" not in given:
        if "cells" not in given:
            raise ValueError('it names no map sizes; {"agents": 2, "sizes": {"4": {"share": 1.0}}} is a config')
        cells = given["cells"]
        return given | {"cells": {str(place): cell for place, cell in enumerate(cells)} if isinstance(cells, list) else cells}
    if "cells" in given:
        raise ValueError('give "agents" and "sizes", or "cells" with agents and a size each, not both')
    return {name: value for name, value in given.items() if name not in ("agents", "sizes")} | {"cells": _of_one_team(given)}


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


def said_of_sizes(error: ValidationError) -> ValidationError:
    """The same error for a file with ``sizes``: what is wrong with a cell is said of ``sizes.4``, as the file has it."""
    return ValidationError.from_exception_data(error.title, [_as_in_file(detail) for detail in error.errors()])


def _as_in_file(detail: ErrorDetails) -> InitErrorDetails:
    """What is wrong with a cell, said of the key of a file with ``sizes``."""
    place = detail["loc"]
    if place[:1] == ("cells",):
        place = ("agents",) if place[-1] == "agents" else ("sizes", *(place[1:2] if place[-1] == "size" else place[1:]))
    return InitErrorDetails(type=detail["type"], loc=place, input=detail["input"], ctx=detail.get("ctx", {}))


def as_sizes(fields: dict[str, Any], agents: int) -> dict[str, Any]:
    """The fields of a config of one team in the form with ``agents`` and ``sizes``."""
    rest = {name: value for name, value in fields.items() if name != "cells"}
    sizes = {
        str(cell["size"]): {name: value for name, value in cell.items() if name not in ("agents", "size")}
        for cell in fields["cells"].values()
    }
    return {"agents": agents} | rest | {"sizes": sizes}


def as_list(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of any config in the form with a list of ``cells``."""
    return fields | {"cells": list(fields["cells"].values())}


def schema_of_both_forms(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a file, from that of the fields of an EnvironmentConfig."""
    keys = schema["properties"]
    cells = keys["cells"] | {"type": "array", "items": keys["cells"]["additionalProperties"], "minItems": 1}
    team = CellConfig.model_json_schema()["properties"]["agents"] | {"description": "The team of all boards, where sizes are given."}
    sizes = {
        "type": "object",
        "description": "Map size -> what is drawn of it: a config of one team.",
        "additionalProperties": CellSettings.model_json_schema(),
        "minProperties": 1,
        "propertyNames": {"enum": [str(size) for size in range(MIN_SIZE, MAX_SIZE + 1)]},
    }
    listed = {name: value for name, value in cells.items() if name != "additionalProperties"}
    return {name: value for name, value in schema.items() if name != "required"} | {
        "properties": {"agents": team, "sizes": sizes} | keys | {"cells": listed},
        "oneOf": [{"required": ["sizes"]}, {"required": ["cells"]}],
        "examples": [EXAMPLE, MIXED_EXAMPLE],
    }
