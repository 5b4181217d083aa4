"""What a section of the context is: its lines, its words for the lab model, and the boards behind each line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from frozenlab.base.cells import Cell
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables
from frozenlab.engineer.schema import Evidence
from frozenlab.tasks import vocabulary as v


class Section(ABC):
    """One section of the context. A line's id is the section's letter and a cell (``F6``)."""

    name: ClassVar[str]
    heading: ClassVar[str]
    """Its title in the prompt of a language model."""
    help: ClassVar[str]
    """What it holds, in a few words."""
    usual: ClassVar[bool] = True
    """Whether an engineer sees it unless the spec says otherwise, as in the shipped examples and studies."""

    @property
    def letter(self) -> str:
        """What the ids of its lines begin with."""
        return self.name[0].upper()

    @property
    def tag(self) -> str:
        """The word that opens it in the lab dialect."""
        return f"<{self.name}>"

    @property
    def in_lab_dialect(self) -> bool:
        """Whether the lab model can read it: its vocabulary is that of the shipped checkpoint, which no new word can join."""
        return self.tag in v.SECTION_TAGS and self.letter in v.EVIDENCE_LETTERS

    def lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        """Its lines about a stage, of the whole stage first, then by cell."""
        yield from self.stage_lines(stage)
        for cell in stage.config.described():
            yield from self.cell_lines(stage, cell)

    def stage_lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        """Its lines about the whole stage."""
        yield from ()

    @abstractmethod
    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        """Its lines about one cell. A cell that the suite has no boards for has no held-out line."""

    def words(self, line: Evidence, place: str) -> list[str]:
        """A line in the lab dialect; only for sections in that dialect. ``place`` is the word for its cell, empty if it speaks of none."""
        raise NotImplementedError(f"the lab dialect has no words for the section {self.name}")

    @abstractmethod
    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        """The boards that a line was measured on, the telling ones first; without rows if they are not kept."""
