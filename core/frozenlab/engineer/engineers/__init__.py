"""The engineers, of one kind in each file. To add one, write its file, import its class here and give it a place in ENGINEERS.
Controls of studies, which replace or change an engineer, are in CONTROLS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import BeforeValidator, Field

from frozenlab.base.errors import LabError
from frozenlab.engineer.controls import DoseEngineer, OnceEngineer, PlaceboEngineer, RatiosEngineer, ScheduleEngineer
from frozenlab.engineer.engineers.api import ApiEngineer
from frozenlab.engineer.engineers.baselines import EqualEngineer, FixedEngineer, RandomEngineer, UniformEngineer
from frozenlab.engineer.engineers.curricula import BanditEngineer, LearnabilityEngineer, LowestEngineer
from frozenlab.engineer.engineers.human import HumanEngineer
from frozenlab.engineer.engineers.own_model import BaseEngineer, ModelEngineer, PolicyEngineer
from frozenlab.engineer.engineers.rules import RulesEngineer
from frozenlab.engineer.engineers.script import ScriptEngineer
from frozenlab.engineer.engineers.tutor import TutorEngineer
from frozenlab.engineer.protocol import EngineerSpec

ENGINEERS: tuple[type[EngineerSpec], ...] = (
    PolicyEngineer,
    BaseEngineer,
    ApiEngineer,
    RulesEngineer,
    BanditEngineer,
    LearnabilityEngineer,
    LowestEngineer,
    TutorEngineer,
    EqualEngineer,
    UniformEngineer,
    RandomEngineer,
    FixedEngineer,
    HumanEngineer,
)
"""Every engineer, in the order in which people are shown them."""
PLAIN: tuple[type[EngineerSpec], ...] = (*ENGINEERS, ScriptEngineer)
"""Those that a control can change: an engineer in a file of the user's own, too, which no list offers."""
CONTROLS: tuple[type[EngineerSpec], ...] = (ScheduleEngineer, DoseEngineer, PlaceboEngineer, RatiosEngineer, OnceEngineer)
"""Controls, which a study's file gives with their settings."""
BY_NAME: dict[str, type[EngineerSpec]] = {engineer.name(): engineer for engineer in (*PLAIN, *CONTROLS)}
UNATTENDED: tuple[str, ...] = tuple(engineer.name() for engineer in ENGINEERS if "person" not in engineer.needs)
"""Engineers that answer without a person, so that a study or a replay can ask them."""


class EngineerError(LabError, ValueError):
    """There is no such engineer, or it lacks settings; the message says which."""


def engineer_of(name: str, like: EngineerSpec | None = None) -> EngineerSpec:
    """The engineer of this name with its usual settings, or with those of ``like`` where both are the same or both are the session's model.

    >>> engineer_of("rules").label
    'transparent rules over the evidence'

    Raises:
        EngineerError: there is no such engineer, or it has settings without a usual value.
    """
    if name not in BY_NAME:
        raise EngineerError(f"there is no engineer {name[:60]!r}; there are {', '.join(BY_NAME)}")
    engineer = BY_NAME[name]
    if like is not None and like.kind == name:
        return like
    if isinstance(like, ModelEngineer) and issubclass(engineer, ModelEngineer):
        return engineer.model_validate(like.model_dump(exclude={"kind"}))
    if missing := engineer.required():
        raise EngineerError(f'the engineer {name} has settings of its own: write {{"kind": "{name}", ...}} with {" and ".join(missing)}')
    return engineer.model_validate({})


def who_is(name: str) -> str:
    """What to call an engineer in the middle of a sentence; one from a newer version of the lab by its name.

    >>> who_is("rules"), who_is("human")
    ('the rules engineer', 'a person')
    """
    return (BY_NAME[name].who if name in BY_NAME else "") or f"the {name} engineer"


def name_of(kind: str) -> str:
    """What lists and tables call an engineer: its title, or its name."""
    return (BY_NAME[kind].title if kind in BY_NAME else "") or kind


def titled(name: str) -> str:
    """The engineer's line in a list: ``rules · transparent rules over the evidence``."""
    return f"{name_of(name)} · {BY_NAME[name].label}"


def _by_name(given: Any) -> Any:
    return engineer_of(given) if isinstance(given, str) else given


if TYPE_CHECKING:
    AnyEngineer = EngineerSpec
else:
    # Unions of tuples of types, which | cannot write.
    PlainEngineer = Annotated[Union[PLAIN], Field(discriminator="kind"), BeforeValidator(_by_name)]  # noqa: UP007
    for control in (DoseEngineer, PlaceboEngineer, RatiosEngineer, OnceEngineer):
        control.model_rebuild(_types_namespace={"PlainEngineer": PlainEngineer})
    AnyEngineer = Annotated[Union[(*PLAIN, *CONTROLS)], Field(discriminator="kind"), BeforeValidator(_by_name)]
"""A field that holds one of PLAIN or CONTROLS with its settings; its name alone means the usual settings."""
