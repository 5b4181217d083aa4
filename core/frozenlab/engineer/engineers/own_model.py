"""The engineers ``policy`` and ``base``: the session's own model, asked in the dialect that it knows.

The ``policy`` is the checkpoint that is being trained, which proposes its own next environment (Chen et al. 2026); the ``base`` is the
model before any training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from frozenlab.base import seeds
from frozenlab.base.cells import Config, evenly
from frozenlab.base.numbers import listed
from frozenlab.engineer.controls import Asking
from frozenlab.engineer.dialects.lab import LabEngineer
from frozenlab.engineer.dialects.plain import UNTIL_VERSION_2, Bounds, LanguageEngineer
from frozenlab.engineer.protocol import Engineer, EngineerSpec, Models
from frozenlab.engineer.schema import Context, Proposal, Written
from frozenlab.engineer.sections import NAMES, behaviour
from frozenlab.engineer.sentences import claim_sentence
from frozenlab.models.folders import policy_folder
from frozenlab.models.settings import LanguageSettings
from frozenlab.tasks.families import family_of

if TYPE_CHECKING:
    from frozenlab.models.lab.policy import LabPolicy
    from frozenlab.models.language.policy import HFPolicy

USUAL_THOUGHTS = 4096
"""Tokens, of a model that thinks."""
LAB_TEMPERATURE, LANGUAGE_TEMPERATURE = 0.5, 0.7
"""The usual temperatures of a proposal: of the lab model, and of a language model."""
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
    """A lab model that asks itself, before it writes, which tasks it would solve: knowledge about itself that no context holds.

    Its answers to ``<self> board -> p`` are learned in training (``models.lab.self_assessment``). The lab dialect has no section for them,
    so it reads them as a line of ``behaviour`` for each cell that the context has no such line for.
    """

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
    lines = []
    for cell in context.cells:
        chance = believed[cell.name]  # it is not asked about optimal plans: this is the most that there can be
        lines.append(context.evidence(SECTION, cell.name) or behaviour.cell_line(cell, chance, 0.0, chance))
    whole = [line for line in shown if line.cell is None]
    sections = {**context.sections, SECTION: (*whole, *lines)}
    return context.model_copy(update={"sections": {name: sections[name] for name in NAMES if name in sections}})


class ModelEngineer(EngineerSpec):
    """The session's own model as engineer."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature of a proposal; None: 0.5 for a lab model, 0.7 for a language model."""
    max_tokens: Annotated[int, Field(ge=64, le=65_536)] = 4096
    """The longest answer of a language model. The lab model's answer ends with the grammar."""
    thoughts: Annotated[int, Field(ge=0, le=65_536)] | None = None
    """Tokens that a language model may think aloud before it answers; None: 4,096 where it thinks about boards too, else none."""
    guidance: bool = False
    """Whether a language model is given the paper's two lessons. The lab dialect has no words for them."""
    asks_itself: Annotated[int, Field(ge=0, le=400, exclude_if=lambda tasks: tasks == 0)] = 0
    """Tasks of each cell that a lab model is asked about before it writes: would it solve them?"""

    def takes_guidance(self, language: LanguageSettings | None) -> bool:
        return language is not None

    def expectations(self, language: LanguageSettings | None) -> str:
        if language is not None:
            return "The language model names each number itself."
        return "The lab model writes its own: the rate that it reads, plus what the boards should win back of a fall below the usual rate."

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        return None if language else config

    def in_lab_dialect(self, model: LabPolicy, config: Config | None) -> Engineer:
        temperature = LAB_TEMPERATURE if self.temperature is None else self.temperature
        engineer = LabEngineer(
            lambda prompt, grammar, seed: model.complete_constrained(prompt, grammar, temperature=temperature, seed=seed), self.kind
        )
        if not self.asks_itself or config is None:
            return engineer
        return AskingItself(engineer, lambda: beliefs(model, config, self.asks_itself))

    def in_plain_language(self, model: HFPolicy, borrow: Callable[[], AbstractContextManager[HFPolicy]], version: int) -> Engineer:
        """``borrow`` gives what answers for the time of one answer: the ``model``, or another one with its words and settings. ``version``
        is that of the session's spec."""
        temperature = LANGUAGE_TEMPERATURE if self.temperature is None else self.temperature
        thoughts = (USUAL_THOUGHTS if model.settings.thinking else 0) if self.thoughts is None else self.thoughts

        def reply(messages: list[dict[str, str]], schema: dict[str, Any], seed: int) -> Written:
            sampling = replace(model.sampling(seed), temperature=temperature)
            with borrow() as answering:
                return Written(*answering.reply(messages, schema, limit=self.max_tokens, thoughts=thoughts, sampling=sampling))

        def fits(messages: list[dict[str, str]]) -> bool:
            return model.has_room(messages, limit=self.max_tokens, thoughts=thoughts)

        bounds = Bounds.within(self.max_tokens) if version > 2 else UNTIL_VERSION_2
        return LanguageEngineer(reply, self.kind, self.guidance, fits, bounds)


class PolicyEngineer(ModelEngineer):
    kind: Literal["policy"] = "policy"
    title = who = "the model itself"
    label = "the model that is being trained"
    help = "The current checkpoint reads the evidence about itself and writes the next config: the paper's method."
    needs = frozenset({"model", "weights"})

    def build(self, models: Models) -> Engineer:
        model: Any = models.current
        if models.language is None:
            return self.in_lab_dialect(model, models.config)
        return self.in_plain_language(model, lambda: nullcontext(model), models.version)


class BaseEngineer(ModelEngineer):
    kind: Literal["base"] = "base"
    title = who = "the model before training"
    label = "a copy of the model that no training touches"
    help = "A second copy of the model, which no training touches, reads the evidence and writes the next config."
    needs = frozenset({"model"})

    @classmethod
    def needs_weights(cls, language: LanguageSettings | None) -> bool:
        """A language model with LoRA holds its base: without the adapters, or with those that it started from."""
        return language is not None

    def build(self, models: Models) -> Engineer:
        if models.language is None:
            from frozenlab.models.lab.policy import LabPolicy  # imports torch

            family = {} if models.config is None else {"family": family_of(models.config.family)}
            return self.in_lab_dialect(LabPolicy.load(policy_folder(models.name), **family), models.config)
        from frozenlab.models.language.policy import HFPolicy, adapters_in  # imports torch and PEFT

        if models.language.lora:
            current: Any = models.current
            start = adapters_in(models.name)
            return self.in_plain_language(current, lambda: current.before_training(start), models.version)
        base = HFPolicy.load(models.name, models.language)
        return self.in_plain_language(base, lambda: nullcontext(base), models.version)
