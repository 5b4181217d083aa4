"""A lab model that asks itself, before it writes, which tasks it would solve: knowledge about itself that no context holds.

Its answers to ``<self> board -> p`` are learned in training (``training.self_assessment``). The lab dialect has no section for them, so it
reads them as a line of ``behaviour`` for each cell that the context has no such line for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from frozenlab.base import seeds
from frozenlab.base.cells import Cell, Config, evenly
from frozenlab.base.numbers import listed
from frozenlab.engineer.controls import Asking
from frozenlab.engineer.schema import Context, Evidence, Proposal
from frozenlab.engineer.sections import NAMES, behaviour
from frozenlab.engineer.sentences import claim_sentence
from frozenlab.tasks.families import family_of

if TYPE_CHECKING:
    from frozenlab.models.lab.policy import LabPolicy

ASKED = 40
"""The usual number of tasks of each cell."""
SECTION = behaviour.Behaviour.name
Believed = Mapping[str, float]
"""Cell -> the part of its tasks that a model says it would solve."""


def beliefs(model: LabPolicy, config: Config, tasks: int) -> Believed:
    """What a model says of so many tasks of each cell, which are the same for the same config. Raises PolicyError for a model that does not
    know the question, GenerationError if a cell's tasks cannot be drawn."""
    from frozenlab.models.lab.self_assessment import assess  # imports torch

    drawn = family_of(config.family).draw(evenly(config), tasks * len(config.cells), seeds.derive(0, "engineer/asks-itself"))
    chances = assess(model, drawn)
    return {cell: float(chances[[task.cell == cell for task in drawn]].mean()) for cell in config.cells}


@dataclass(frozen=True)
class AskingItself(Asking):
    """An engineer in the lab dialect that reads its own beliefs."""

    believes: Callable[[], Believed]
    """Asked anew each time, as the model is trained on between two proposals."""

    @property
    def kind(self) -> str:
        return self.engineer.kind

    def seen(self, context: Context) -> Context:
        return with_beliefs(context, self.believes())

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """The proposal; its summary says what it read of itself, as no line of the context does."""
        believed = self.believes()
        proposal = self.engineer.read(with_beliefs(context, believed), config, raw, seed)
        known = {line.id for line in context.lines}
        claims = []
        for claim in proposal.claims:
            own = claim.model_copy(update={"evidence": tuple(cited for cited in claim.evidence if cited in known)})
            claims.append(own.model_copy(update={"text": claim_sentence(own, context.words[own.cell])}))
        said = listed([f"{believed[cell.name]:.0%} of {cell.words}" for cell in context.cells])
        summary = f"(It says of itself that it would solve {said}.) {proposal.summary}"
        return proposal.model_copy(update={"summary": summary, "claims": tuple(claims)})


def with_beliefs(context: Context, believed: Believed) -> Context:
    """The context with a line of ``behaviour`` for each cell that has none."""
    shown = context.sections.get(SECTION, ())
    lines = [context.evidence(SECTION, cell.name) or belief_line(cell, believed[cell.name]) for cell in context.cells]
    whole = [line for line in shown if line.cell is None]
    sections = {**context.sections, SECTION: (*whole, *lines)}
    return context.model_copy(update={"sections": {name: sections[name] for name in NAMES if name in sections}})


def belief_line(cell: Cell, chance: float) -> Evidence:
    """It is not asked about optimal plans; the figure is the most that there can be."""
    return behaviour.cell_line(cell, chance, 0.0, chance)
