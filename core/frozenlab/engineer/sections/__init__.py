"""The sections of the context, one file each. To add one, write its file, import its class here and give it a place in SECTIONS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections.behaviour import Behaviour
from frozenlab.engineer.sections.failures import Failures
from frozenlab.engineer.sections.history import History
from frozenlab.engineer.sections.preserved import Preserved
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sections.self import Self
from frozenlab.engineer.sections.statistics import Statistics

SECTIONS: tuple[Section, ...] = (Behaviour(), Failures(), Statistics(), Preserved(), History(), Self())
"""Every section, in the order of the prompt."""
BY_NAME: dict[str, Section] = {section.name: section for section in SECTIONS}
NAMES: tuple[str, ...] = tuple(BY_NAME)
USUAL: tuple[str, ...] = tuple(section.name for section in SECTIONS if section.usual)
"""The sections that an engineer sees unless a spec says otherwise."""


def _known(name: str) -> str:
    if name not in BY_NAME:
        raise ValueError(f"there is no section {name[:60]!r}; there are {', '.join(NAMES)}")
    return name


SectionName = Annotated[str, AfterValidator(_known)]
"""A field that names one of SECTIONS."""


def help_of(name: str) -> str:
    """What a section holds, and whether the lab model can read it."""
    section = BY_NAME[name]
    return section.help + ("" if section.in_lab_dialect else " (language models only: the lab model has no words for it)")


def describe(stage: StageMeasurements, sections: Sequence[str], layouts: tuple[str, ...] = ()) -> Context:
    """The context with only the sections that are switched on, and the layouts that a proposal may use."""
    return Context(
        family=stage.config.family,
        stage=stage.stage,
        cells=stage.config.described(),
        layouts=layouts,
        sections={section.name: tuple(section.lines(stage)) for section in SECTIONS if section.name in sections},
    )
