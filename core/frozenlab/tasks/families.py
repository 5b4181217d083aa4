"""The task families. To add one, write its folder here and give it a place in FAMILIES."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def cell_label(name: str) -> str:
    """A cell of a config in charts and tables, as the first family says it that knows cells of such a name.

    >>> cell_label("3@6"), cell_label("easy")
    ('3 on 6×6', 'easy')
    """
    labels = (family.cell_label(name) for family in FAMILIES)
    return next((label for label in labels if label is not None), name)


def cells_noun(names: Iterable[str]) -> str:
    """What cells with these names are, in a word.

    >>> cells_noun(["4", "6"]), cells_noun(["easy", "hard"])
    ('map size', 'cell')
    """
    known = list(names)
    nouns = (family.cells_noun(known) for family in FAMILIES)
    return next((noun for noun in nouns if noun is not None), "cell")


def between(kept: Config, best: Config, dose: float) -> Config:
    """The config ``dose`` times as far from ``kept`` as ``best`` is, in the same direction: 0 is ``kept``, 1 is ``best``, -1 is as far in
    the opposite direction.

    Ratios stay within their bounds, and shares are scaled to sum to 1. Parts that a cell is mixed of stay those of ``kept``, and so does a
    cell that ``best`` lacks.
    """
    family = family_of(kept.family)
    aims = {name: best.cells.get(name, own) for name, own in kept.cells.items()}
    shares = {name: max(0.0, own.share + dose * (aims[name].share - own.share)) for name, own in kept.cells.items()}
    cells = {}
    for name, own in kept.cells.items():
        changes = {"share": shares[name] / sum(shares.values())}
        for knob in (family.knobs[ratio] for ratio in family.ratios_of(own)):
            was, aim = own.settings()[knob.name], aims[name].settings()[knob.name]
            changes[knob.name] = min(max(was + dose * (aim - was), knob.low), knob.high)
        cells[name] = own.model_copy(update=changes)
    return kept.with_cells(cells)
