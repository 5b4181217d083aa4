"""What every engineer is: the settings that a session's spec holds (:class:`EngineerSpec`), and what the loop asks (:class:`Engineer`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from frozenlab.base.cells import Config
from frozenlab.base.schemas import Strict
from frozenlab.engineer.hosts import Server
from frozenlab.engineer.schema import Attempt, Context, Proposal, Written
from frozenlab.models.policy import Policy
from frozenlab.models.settings import LanguageSettings

Need = Literal["model", "weights", "network", "person"]
"""What an engineer needs: the session's model, its checkpoint of the stage, a server elsewhere, a person."""


class Engineer(Protocol):
    """Proposes the next config."""

    @property
    def kind(self) -> str: ...

    def prompt(self, context: Context) -> str | None:
        """The exact text that a language model is given."""

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        """The raw completion; ``failed`` is the previous answer if that could not be used. Raises ProposalError if none comes."""

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        """The proposal in ``raw``. Raises ProposalError if there is none."""


@dataclass(frozen=True)
class Models:
    """The models that a session has for its engineer."""

    name: str
    """The model before any training, as the spec names it."""
    language: LanguageSettings | None = None
    """How it is loaded and asked if it is a Hugging Face language model; None: it is a lab model."""
    current: Policy | None = None
    """The model that is being trained; None where no engineer needs it."""
    config: Config | None = None
    """The session's first config, whose cells it keeps; None where no engineer needs it."""
    version: int = 3
    """That of the session's spec."""


class EngineerSpec(Strict, ABC):
    """One kind of engineer with its settings, as ``session.json`` holds it.

    A subclass has ``kind: Literal["its-name"] = "its-name"``, its settings as further fields, and the class variables below.
    """

    kind: str
    title: ClassVar[str] = ""
    """What lists and tables call it, if that is not its ``kind``."""
    label: ClassVar[str]
    """What it is in a few words, behind its name in a list: ``rules · transparent rules over the evidence``."""
    who: ClassVar[str] = ""
    """What the Story calls it in the middle of a sentence, if it is not "the NAME engineer"."""
    help: ClassVar[str]
    """What it does, in a sentence or two."""
    needs: ClassVar[frozenset[Need]] = frozenset()
    chooses_ratios: ClassVar[bool] = False
    """Whether it chooses ratios and layouts anew by what it reads; else they stay."""
    expects: ClassVar[str] = ""
    """Where the valid rates that its claims expect come from, in a sentence; empty if it expects none."""

    @classmethod
    def name(cls) -> str:
        """The ``kind`` of this class."""
        return str(cls.model_fields["kind"].default)

    @classmethod
    def required(cls) -> list[str]:
        """Names of the settings that have no usual value."""
        return [name for name, field in cls.model_fields.items() if field.is_required()]

    @property
    def server(self) -> Server | None:
        """The server that it asks; None: it asks none."""
        return None

    @property
    def author(self) -> EngineerSpec:
        """The engineer that writes the proposals: itself, or the one that a control changes."""
        return self

    def seeded(self, seed: int) -> EngineerSpec:
        """The same engineer with draws of this seed where its settings hold a seed; only that of a control does."""
        return self

    @classmethod
    def needs_weights(cls, language: LanguageSettings | None) -> bool:
        """Whether it can be asked about a stage only if the stage's checkpoint is there."""
        return "weights" in cls.needs

    @classmethod
    def slow(cls, language: LanguageSettings | None) -> bool:
        """Whether minutes without an answer mean nothing: language models take their time, here or on a server."""
        return "network" in cls.needs or ("model" in cls.needs and language is not None)

    def takes_guidance(self, language: LanguageSettings | None) -> bool:
        """Whether it reads plain language, so that its setting ``guidance`` puts the paper's two lessons into its prompt."""
        return False

    def expectations(self, language: LanguageSettings | None) -> str:
        """The sentence ``expects`` for a session with these settings of its model."""
        return self.expects

    def ratios_of(self, config: Config, language: LanguageSettings | None = None) -> Config | None:
        """A config with the ratios and layouts that it writes whatever it reads, of a session with this config; None: it chooses them."""
        return None if self.chooses_ratios else config

    @abstractmethod
    def build(self, models: Models) -> Engineer:
        """The engineer that these settings describe. May import torch. Raises PolicyError if a model cannot be loaded."""


class Scripted(EngineerSpec):
    """An engineer that is a function of the context: no model writes anything."""

    @abstractmethod
    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """The proposal for the stage after ``config``; every draw comes from ``seed``."""

    def build(self, models: Models) -> Engineer:
        return self

    def prompt(self, context: Context) -> str | None:
        return None

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return Written("")

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        return self.propose(context, config, seed)
