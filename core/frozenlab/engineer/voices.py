"""The two languages in which a model is asked for a proposal: the lab dialect, and plain language with JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frozenlab.base.cells import Config
from frozenlab.engineer.dialects.lab import ProposalGrammar, parse_proposal, render_context
from frozenlab.engineer.dialects.plain import answer_schema, conversation, fitting_request, parse_answer
from frozenlab.engineer.schema import Attempt, Context, Proposal, Written

ConstrainedFn = Callable[[str, ProposalGrammar, int], str]
"""(prompt, grammar, seed) -> completion: a model that writes under the grammar."""
ChatFn = Callable[[list[dict[str, str]], dict[str, Any], int], Written]
"""(conversation, JSON schema, seed) -> answer: a model that writes under the schema."""
FitsFn = Callable[[list[dict[str, str]]], bool]
"""Whether a conversation leaves the model room for an answer."""


@dataclass(frozen=True)
class LabEngineer:
    """A model that reads and writes the lab dialect."""

    write: ConstrainedFn
    kind: str = "policy"

    def prompt(self, context: Context) -> str:
        return render_context(context)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        text = self.write(render_context(context), ProposalGrammar(context), seed)
        return Written(text, tokens=len(text.split()))

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        return parse_proposal(context, config, raw)


@dataclass(frozen=True)
class LanguageEngineer:
    """A language model that reads plain language and writes JSON."""

    reply: ChatFn
    kind: str = "policy"
    guidance: bool = False
    """Whether the paper's two lessons are part of the prompt."""
    fits: FitsFn = lambda messages: True
    """A model whose context is known is shown as many worked cases as fit into it."""

    def prompt(self, context: Context) -> str:
        return fitting_request(context, lambda request: self.fits(conversation(request, None)), guidance=self.guidance)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        """The model's answer; after one that could not be used, the model is shown that answer and its error, if there is room for them."""
        request = self.prompt(context)
        corrected = conversation(request, failed)
        return self.reply(corrected if self.fits(corrected) else conversation(request, None), answer_schema(context), seed)

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        return parse_answer(context, config, raw)
