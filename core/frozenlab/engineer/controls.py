"""Controls of studies: engineers that replace another one, or are made of another one's answers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.engineer.hosts import Server
from frozenlab.engineer.protocol import Engineer, EngineerSpec, Models, Scripted
from frozenlab.engineer.schema import Attempt, Context, Evidence, Proposal, Written
from frozenlab.engineer.sentences import capitalised, setting_words
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.families import FAMILIES, AnyConfig, between, family_of

if TYPE_CHECKING:
    from frozenlab.engineer.protocol import EngineerSpec as PlainEngineer


class Control(EngineerSpec, ABC):
    """An engineer made of another one. ``frozenlab.engineer.engineers`` says which others there are (``PlainEngineer``)."""

    of: PlainEngineer
    """The other engineer; its name alone means its usual settings."""

    @field_validator("of")
    @classmethod
    def _answers_by_itself(cls, of: EngineerSpec) -> EngineerSpec:
        if "person" in of.needs:
            raise ValueError("a control needs an engineer that answers by itself, so it cannot be human")
        return of

    @property
    def author(self) -> EngineerSpec:
        return self.of

    @property
    def server(self) -> Server | None:
        return self.of.server

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        return self.of.ratios_of(config, language)


@dataclass(frozen=True)
class Asking:
    """An engineer that asks another one."""

    engineer: Engineer

    def seen(self, context: Context) -> Context:
        """What the other engineer reads."""
        return context

    def prompt(self, context: Context) -> str | None:
        return self.engineer.prompt(self.seen(context))

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return self.engineer.answer(self.seen(context), seed, failed)


class DoseEngineer(Control):
    """Another engineer's proposals, made larger, smaller or opposite.

    If a direction is good, more of it should help more and its opposite should harm. Dose -1 is the *anti-engineer*, dose 0 keeps the
    config.
    """

    kind: Literal["dose"] = "dose"
    dose: Annotated[float, Field(ge=-10, le=10)]
    """How many times as far from the present config as the other engineer proposes; negative: in the opposite direction."""
    label = "another engineer's proposals, made larger, smaller or opposite"
    who = "the dose control"
    help = (
        "It asks another engineer and moves the config by a multiple of what that one proposes: -1 does the opposite, 0 keeps the config."
    )

    def build(self, models: Models) -> Engineer:
        return Dosed(self.of.build(models), self.dose)

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        return config if self.of.ratios_of(config, language) == config else None


@dataclass(frozen=True)
class Dosed(Asking):
    """An engineer with a dose."""

    dose: float
    kind: str = "dose"

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """A proposal without claims, which were about another config, unless the dose is 1."""
        proposal = self.engineer.read(context, config, raw, seed)
        if self.dose == 1:
            return proposal
        moved = between(config, proposal.config, self.dose) if self.dose else config
        return Proposal(summary=f"{self.dose:g} times what {self.engineer.kind} proposes: {proposal.summary}", config=moved)


class RatiosEngineer(Control):
    """Another engineer's shares, with ratios that were chosen before: so that a study can separate what each of them wins."""

    kind: Literal["ratios"] = "ratios"
    ratios: Annotated[dict[str, Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)]
    """Ratio -> its value in every cell that has it: ``{"hole_ratio": 0.3, "wait_ratio": 0.5}``."""
    label = "another engineer's shares, with ratios that were chosen before"
    who = "the ratios control"
    help = "It asks another engineer, takes its shares, and gives every cell the ratios that were chosen before the session began."

    @field_validator("ratios")
    @classmethod
    def _known(cls, ratios: dict[str, float]) -> dict[str, float]:
        known = sorted({ratio for family in FAMILIES for ratio in family.ratios})
        if unknown := next((ratio for ratio in ratios if ratio not in known), None):
            raise ValueError(f"there is no ratio {unknown!r}; there are {', '.join(known)}")
        return ratios

    def build(self, models: Models) -> Engineer:
        return AtRatios(self.of.build(models), self.ratios)

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        return at_ratios(config, self.ratios)


def at_ratios(config: Config, values: Mapping[str, float]) -> Config:
    """The config with these values of ratios in every cell that has them."""
    family = family_of(config.family)
    cells = {}
    for name, cell in config.cells.items():
        has = family.ratios_of(cell)
        cells[name] = cell.model_copy(update={ratio: value for ratio, value in values.items() if ratio in has})
    return config.with_cells(cells)


@dataclass(frozen=True)
class AtRatios(Asking):
    """An engineer whose ratios are chosen before."""

    values: Mapping[str, float]
    kind: str = "ratios"

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """The other engineer's proposal at these ratios, without its claims on ratios."""
        proposal = self.engineer.read(context, config, raw, seed)
        claims = tuple(claim for claim in proposal.claims if claim.knob not in self.values)
        said = ", ".join(f"{setting_words(ratio)} {value:.2f}" for ratio, value in self.values.items())
        summary = f"(Every cell at {said}.) {proposal.summary}"
        return proposal.model_copy(update={"summary": summary, "claims": claims, "config": at_ratios(proposal.config, self.values)})


class OnceEngineer(Control):
    """Another engineer that is asked once, and its config stays: beside that engineer it tells what asking again is worth."""

    kind: Literal["once"] = "once"
    after: Annotated[int, Field(ge=0)] | None = None
    """The stage (0-based) after which it is asked; None: before the first."""
    label = "another engineer that is asked once"
    who = "the once control"
    help = "It asks another engineer once; the config that this one proposes then stays for all later stages."

    def build(self, models: Models) -> Engineer:
        return Once(self.of.build(models), self.after)


@dataclass(frozen=True)
class Once(Asking):
    """An engineer that is asked once."""

    after: int | None
    kind: str = "once"

    def prompt(self, context: Context) -> str | None:
        return super().prompt(context) if context.stage == self.after else None

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return super().answer(context, seed, failed) if context.stage == self.after else Written("")

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        if context.stage == self.after:
            return self.engineer.read(context, config, raw, seed)
        return Proposal(summary="The config stays: this engineer is asked once.", config=config)


EXCHANGED = ("failures", "behaviour")
"""The sections in which cells change places."""


class PlaceboEngineer(Control):
    """Another engineer that reads evidence in which the cells have changed places.

    It sees as many lines with the same figures, so a difference from the other engineer itself comes from what the evidence says about
    which cell. Only the sections in EXCHANGED are changed; everything else is true.
    """

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
class Misled(Asking):
    """An engineer that reads the evidence of the wrong cells."""

    seed: int
    kind: str = "placebo"

    def seen(self, context: Context) -> Context:
        return exchanged(context, self.seed)

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """The other engineer's proposal, whose summary says which evidence was shown for which cell."""
        proposal = self.engineer.read(self.seen(context), config, raw, seed)
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


class ScheduleEngineer(Scripted):
    """Configs that were chosen before the session began.

    With one config it is a constant config, such as the best one over all students; with the best config of one student it is an oracle;
    with the configs of another session it is a yoked control: the same changes, but not in answer to this session's evidence.
    """

    kind: Literal["schedule"] = "schedule"
    configs: Annotated[tuple[AnyConfig, ...], Field(min_length=1)]
    """The config of each stage; the last one repeats. If the engineer is first asked after stage 1, the first is never used."""
    label = "configs that were chosen before"
    who = "the schedule"
    help = "It proposes configs that were chosen before the session began, whatever the evidence says."

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        return self.configs[0] if len(self.configs) == 1 else None

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        number = 0 if context.stage is None else context.stage + 1
        place = min(number, len(self.configs) - 1)
        summary = f"Config {place + 1} of {len(self.configs)} that were chosen before."
        return Proposal(summary=summary, config=self.configs[place])
