"""What the engineers ``policy`` and ``base`` share: each is the session's own model, asked in the dialect that it knows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from frozenlab.engineer.protocol import Engineer, EngineerSpec
from frozenlab.engineer.schema import Written
from frozenlab.models.settings import LanguageSettings

if TYPE_CHECKING:
    from frozenlab.base.cells import Config
    from frozenlab.models.lab.policy import LabPolicy
    from frozenlab.models.language.policy import HFPolicy

USUAL_THOUGHTS = 4096
"""Tokens, of a model that thinks."""
LAB_TEMPERATURE, LANGUAGE_TEMPERATURE = 0.5, 0.7
"""The usual temperatures of a proposal: of the lab model, and of a language model."""


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

    def in_lab_dialect(self, model: LabPolicy, config: Config | None) -> Engineer:
        from frozenlab.engineer.asking_itself import AskingItself, beliefs
        from frozenlab.engineer.voices import LabEngineer

        temperature = LAB_TEMPERATURE if self.temperature is None else self.temperature
        engineer = LabEngineer(
            lambda prompt, grammar, seed: model.complete_constrained(prompt, grammar, temperature=temperature, seed=seed), self.kind
        )
        if not self.asks_itself or config is None:
            return engineer
        return AskingItself(engineer, lambda: beliefs(model, config, self.asks_itself))

    def in_plain_language(self, model: HFPolicy, borrow: Callable[[], AbstractContextManager[HFPolicy]]) -> Engineer:
        """``borrow`` gives what answers for the time of one answer: the ``model``, or another one with its words and settings."""
        from frozenlab.engineer.voices import LanguageEngineer

        temperature = LANGUAGE_TEMPERATURE if self.temperature is None else self.temperature

        thoughts = (USUAL_THOUGHTS if model.settings.thinking else 0) if self.thoughts is None else self.thoughts

        def reply(messages: list[dict[str, str]], schema: dict[str, Any], seed: int) -> Written:
            sampling = replace(model.sampling(seed), temperature=temperature)
            with borrow() as answering:
                return Written(*answering.reply(messages, schema, limit=self.max_tokens, thoughts=thoughts, sampling=sampling))

        def fits(messages: list[dict[str, str]]) -> bool:
            return model.has_room(messages, limit=self.max_tokens, thoughts=thoughts)

        return LanguageEngineer(reply, self.kind, self.guidance, fits)
