"""What the engineer sees and what it gives back: context, claim, proposal, guard report.

These are the models of ``context.json`` and ``proposal.json``; they import nothing heavy, so pages read them too.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from frozenlab.base.cells import Cell, CellName, KnobChange, OfCell
from frozenlab.base.schemas import Version2
from frozenlab.tasks.families import DEFAULT, AnyConfig, family_of
from frozenlab.tasks.family import Family

Setting = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
"""The name of a knob, or of a part that a cell is mixed of, by its task family."""


class Evidence(OfCell):
    """One line of the context, citable by its id."""

    id: str
    """Section letter and cell (``F6``, ``F3@6``); a worked failure case adds a letter (``F6a``); a line on the whole stage has no cell
    (``B``)."""
    section: str
    """The name of its section."""
    cell: CellName | None  # type: ignore[assignment]
    """The cell it speaks of; None where it speaks of the whole stage."""
    text: str
    """The line as a person and a language model read it."""
    numbers: dict[str, float] = Field(default_factory=dict)
    """The figures the line states, by name; rates lie in 0..1."""
    boards: tuple[str, ...] = ()
    """Ids of the validation boards behind the line."""
    shown: Annotated[str, Field(exclude_if=lambda text: not text)] = ""
    """What a language model reads below the line: of a worked case the task itself, and what was answered."""


class Context(BaseModel):
    """The evidence of one stage as an engineer sees it: only the sections that are switched on (``context.json``)."""

    schema_version: Version2 = 2
    family: Annotated[str, Field(exclude_if=lambda name: name == DEFAULT.name)] = DEFAULT.name
    """The task family. Left out of files where it is the lake."""
    stage: int | None
    """The stage (0-based) that was validated last; None before the first."""
    cells: tuple[Cell, ...]
    """The cells of the config; always shown, whichever sections are on."""
    layouts: tuple[Setting, ...] = ()
    """Layouts that a proposal may give any cell that mixes layouts; without any, every cell keeps the layouts that it has."""
    sections: dict[str, tuple[Evidence, ...]]
    prompt: str | None = None
    """The exact text a language model was given; None for engineers that are not language models."""

    @property
    def tasks(self) -> Family:
        """The task family."""
        return family_of(self.family)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(cell.name for cell in self.cells)

    @property
    def words(self) -> dict[str, str]:
        """Name of each cell -> what it is called in a sentence."""
        return {cell.name: cell.words for cell in self.cells}

    @property
    def lines(self) -> list[Evidence]:
        """Of all sections, in their order."""
        return [line for lines in self.sections.values() for line in lines]

    def evidence(self, section: str, cell: str | None = None) -> Evidence | None:
        """The section's main line on one cell (not a worked case), or None if the section is off or silent."""
        return next((line for line in self.sections.get(section, ()) if line.id[1:] == (cell or "")), None)

    def rated(self, cell: str) -> Evidence | None:
        """The line that says the valid rate of a cell: of held-out tasks, else of sampled plans, else of what worked; None if all three
        sections are off or silent."""
        return next((line for section in ("failures", "behaviour", "preserved") if (line := self.evidence(section, cell))), None)

    def faults(self, line: Evidence | None) -> dict[str, float]:
        """The faults that a line names, and how often each came first."""
        return {name: rate for name, rate in line.numbers.items() if name in self.tasks.faults and rate > 0} if line else {}


class Claim(OfCell):
    """Why one knob of one cell is changed or kept, and what should come of it."""

    knob: Setting | None
    """None: the cell is kept as it is."""
    before: float | None
    after: float | None
    evidence: tuple[str, ...] = ()
    """Ids of the evidence lines it cites."""
    now: float | None = None
    """Valid rate (0..1) of this cell as the engineer read it."""
    usual: float | None = None
    """Valid rate (0..1) that it takes to be usual on such a cell."""
    cause: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")] | None = None
    """The fault that it blames."""
    expected: float | None = None
    """Valid rate (0..1) that it expects on this cell after the next stage."""
    spread: float | None = None
    """How far off (0..1) it takes ``expected`` to be."""
    text: str = ""
    """The claim as an English sentence."""


class Proposal(BaseModel):
    """What an engineer proposes for the next stage."""

    summary: str
    claims: tuple[Claim, ...] = ()
    preserved: tuple[CellName, ...] = ()
    """Cells whose hole and wait ratio it leaves as they are on purpose."""
    config: AnyConfig


class Written(NamedTuple):
    """What an engineer wrote; empty for engineers that are not language models."""

    text: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    cost: float | None = None


class Attempt(BaseModel):
    """One answer of an engineer, usable or not."""

    raw: str
    """The completion to the letter; empty for engineers that are not language models."""
    error: str | None = None
    """Why it could not be used; None if it could."""
    tokens: int | None = None
    prompt_tokens: int | None = None
    cost: float | None = None
    """Of this answer, where its engineer has a price."""
    seconds: float


class Repair(OfCell):
    """One value that the guard changed."""

    knob: Setting
    proposed: float
    used: float
    reason: str


class GuardReport(BaseModel):
    """What the guard checked and repaired. ``rejected`` is set where the config could not be repaired at all."""

    repairs: tuple[Repair, ...] = ()
    rejected: str | None = None


class ProposalRecord(BaseModel):
    """``proposal.json``: everything about the config that follows one stage."""

    schema_version: Version2 = 2
    stage: int | None
    """The stage (0-based) after which it was proposed; None before the first."""
    engineer: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    """Which kind of engineer was asked."""
    attempts: tuple[Attempt, ...]
    proposal: Proposal | None
    """None where no attempt was usable, or its boards could not be drawn: the previous config is kept, ``kept_because`` says why."""
    guard: GuardReport
    config_before: AnyConfig
    config_after: AnyConfig
    changes: tuple[KnobChange, ...]
    kept_because: str | None = None

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Of the proposal; none where there is none."""
        return self.proposal.claims if self.proposal else ()
