"""From what a stage measured to the context that an engineer sees."""

from __future__ import annotations

from collections.abc import Sequence

from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections import SECTIONS


def describe(stage: StageMeasurements, sections: Sequence[str], layouts: tuple[str, ...] = ()) -> Context:
    """The context with only the sections that are switched on, and the layouts that a proposal may use."""
    return Context(
        family=stage.config.family,
        stage=stage.stage,
        cells=stage.config.described(),
        layouts=layouts,
        sections={section.name: tuple(section.lines(stage)) for section in SECTIONS if section.name in sections},
    )
