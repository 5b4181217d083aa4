"""The task families. To add one, write its folder here and give it a place in FAMILIES."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, SerializeAsAny, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from frozenlab.base.cells import Config
from frozenlab.base.errors import LabError, one_line
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.mixed.family import MIXED


class UnknownFamilyError(LabError, ValueError):
    """No task family has this name; the message lists those that there are."""


FAMILIES: tuple[Family, ...] = (LAKE, COUNTDOWN, MIXED)
"""Every family. One that mixes others comes after them."""
DEFAULT: Family = LAKE
"""The family of whatever names none."""


def family_of(name: str) -> Family:
    """The family of this name. Raises UnknownFamilyError if there is none."""
    for family in FAMILIES:
        if family.name == name:
            return family
    raise UnknownFamilyError(f"there is no task family {str(name)[:60]!r}; there is {', '.join(family.name for family in FAMILIES)}")


def family_with_suite(name: str) -> Family:
    """The family of a named suite. Any other name is the lake's, which also measures on boards of files and of the official dataset."""
    return next((family for family in FAMILIES if name in family.named_suites()), DEFAULT)


def family_named_in(given: Any) -> Family:
    """A config or suite names its family; in files, only that of the lake does not."""
    return family_of(given.get("family", DEFAULT.name) if isinstance(given, dict) else getattr(given, "family", DEFAULT.name))


def _reader(model_of: Callable[[Family], type[BaseModel]]) -> WrapValidator:
    """Reads what the named family has for a model; the lake's is the field's own."""

    def read(given: Any, of_lake: ValidatorFunctionWrapHandler) -> Any:
        family = family_named_in(given)
        if family is LAKE:
            return of_lake(given)
        try:
            return model_of(family).model_validate(given)
        except ValidationError as error:
            raise ValueError(one_line(error)) from None

    return WrapValidator(read)


if TYPE_CHECKING:
    AnyConfig = Config
    AnySuite = Any
else:
    AnyConfig = Annotated[SerializeAsAny[EnvironmentConfig], _reader(lambda family: family.config_type)]
    AnySuite = Annotated[SerializeAsAny[SuiteSpec], _reader(lambda family: family.suite_type)]
"""The config and the suite of any family, as fields of models that are read from files."""
