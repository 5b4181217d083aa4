"""The ``placebo``: another engineer reads evidence in which the cells have changed places.

It sees as many lines with the same figures, so a difference from the other engineer itself comes from what the evidence says about which
cell. Only the sections in EXCHANGED are changed; everything else is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.engineer.controls.control import Control
from frozenlab.engineer.protocol import Engineer, EngineerSpec, Models
from frozenlab.engineer.schema import Attempt, Context, Evidence, Proposal, Written
from frozenlab.engineer.sentences import capitalised

EXCHANGED = ("failures", "behaviour")
"""The sections in which cells change places."""


class PlaceboEngineer(Control):
    kind: Literal["placebo"] = "placebo"
    seed: int = 0
    """The seed of which cells change places. A study gives each of its sessions another one."""
    label = "another engineer that reads the evidence of the wrong cells"
    who = "the placebo control"
    help = "It asks another engineer, to whom it shows failures and behaviour with the cells in each other's places."

    def seeded(self, seed: int) -> EngineerSpec:
        return self.model_copy(update={"seed": seed})

    def build(self, models: Models) -> Engineer:
        return Misled(self.of.build(models), self.seed)


@dataclass(frozen=True)
class Misled:
    """An engineer that reads the evidence of the wrong cells."""

    engineer: Engineer
    seed: int
    kind: str = "placebo"

    def prompt(self, context: Context) -> str | None:
        return self.engineer.prompt(exchanged(context, self.seed))

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return self.engineer.answer(exchanged(context, self.seed), seed, failed)

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """The other engineer's proposal, whose summary says which evidence was shown for which cell."""
        proposal = self.engineer.read(exchanged(context, self.seed), config, raw, seed)
        places = ", ".join(f"{shown} for {true}" for true, shown in places_of(context, self.seed).items() if true != shown)
        return proposal.model_copy(update={"summary": f"(Failures and behaviour shown in wrong places: {places}.) {proposal.summary}"})


def places_of(context: Context, seed: int) -> dict[str, str]:
    """Cell -> the cell as which its evidence is shown: a random permutation, and not the identity if there are two cells or more."""
    rng = seeds.rng(seed, "engineer/placebo", -1 if context.stage is None else context.stage)
    names = list(context.names)
    shown = names
    while shown == names and len(names) > 1:
        shown = [names[place] for place in rng.permutation(len(names))]
    return dict(zip(names, shown, strict=True))


def exchanged(context: Context, seed: int) -> Context:
    """The context with the cells in each other's places in the sections EXCHANGED, the lines in the usual order."""
    places, words = places_of(context, seed), context.words

    def moved(line: Evidence) -> Evidence:
        if line.cell is None:
            return line
        shown = places[line.cell]
        begin = capitalised(words[line.cell])
        text = capitalised(words[shown]) + line.text.removeprefix(begin) if line.text.startswith(begin) else line.text
        return line.model_copy(update={"id": f"{line.id[0]}{shown}{line.id[1 + len(line.cell) :]}", "cell": shown, "text": text})

    order = [None, *context.names]
    sections = {
        name: tuple(sorted(map(moved, lines), key=lambda line: order.index(line.cell))) if name in EXCHANGED else lines
        for name, lines in context.sections.items()
    }
    return context.model_copy(update={"sections": sections})
