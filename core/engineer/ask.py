"""The engineers, and how one is asked: all take the same context and give back the same proposal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from frozenlab import seeds
from frozenlab.engineer.dialects.lab import ProposalGrammar, parse_proposal, render_context
from frozenlab.engineer.dialects.plain import answer_schema, conversation, parse_answer, render_request
from frozenlab.engineer.engineers import bandit, baselines, rules
from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.schema import Attempt, Context, EngineerName, GuardReport, Proposal, ProposalRecord, Written
from frozenlab.lake.config import EnvironmentConfig, diff

ATTEMPTS = 2
"""An answer that cannot be used is asked for once more."""


class Engineer(Protocol):
    """Whoever proposes the next config."""

    @property
    def name(self) -> EngineerName: ...

    def prompt(self, context: Context) -> str | None:
        """The exact text that a language model is given."""

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        """The raw completion; ``failed`` is the answer before this one, if that could not be used. Raises ProposalError if none comes."""

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        """The proposal in ``raw``. Raises ProposalError if there is none."""


@dataclass(frozen=True)
class ScriptedEngineer:
    """An engineer that is a function: the rules, or one of the paper's fixed-environment baselines."""

    name: EngineerName
    propose: Callable[[Context, EnvironmentConfig, int], Proposal]

    def prompt(self, context: Context) -> str | None:
        return None

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return Written("")

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        return self.propose(context, config, seed)


def by_rules(context: Context, config: EnvironmentConfig, seed: int) -> Proposal:
    """The rules turn knobs only: the layouts stay."""
    proposal = rules.propose(context)
    return proposal.model_copy(update={"config": proposal.config.with_layouts_of(config)})


SCRIPTED: dict[EngineerName, ScriptedEngineer] = {
    "rules": ScriptedEngineer("rules", by_rules),
    "bandit": ScriptedEngineer("bandit", bandit.propose),
    "uniform": ScriptedEngineer("uniform", baselines.uniform),
    "random": ScriptedEngineer("random", baselines.random),
    "fixed": ScriptedEngineer("fixed", baselines.fixed),
}

Writer = Callable[[str, ProposalGrammar, int], str]
"""(prompt, grammar, seed) -> completion: a language model that writes under the grammar."""


@dataclass(frozen=True)
class ModelEngineer:
    """A language model in the lab dialect: the current checkpoint (``policy``), or the model before any training (``base``)."""

    write: Writer
    name: EngineerName = "policy"

    def prompt(self, context: Context) -> str | None:
        return render_context(context)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        text = self.write(render_context(context), ProposalGrammar(context), seed)
        return Written(text, tokens=len(text.split()))

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        return parse_proposal(context, config, raw)


Replier = Callable[[list[dict[str, str]], dict[str, Any], int], Written]
"""(conversation, JSON schema, seed) -> answer: a language model that writes under the schema."""


@dataclass(frozen=True)
class LanguageEngineer:
    """A Hugging Face language model, asked in plain language: the current checkpoint (``policy``), or the model before any training
    (``base``)."""

    reply: Replier
    name: EngineerName = "policy"
    guidance: bool = True
    """Whether it is told the paper's two lessons."""

    def prompt(self, context: Context) -> str | None:
        return render_request(context, guidance=self.guidance)

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        return self.reply(conversation(render_request(context, guidance=self.guidance), failed), answer_schema(context), seed)

    def read(self, context: Context, config: EnvironmentConfig, raw: str, seed: int) -> Proposal:
        return parse_answer(context, config, raw)


def attempt_seed(seed: int, attempt: int) -> int:
    """The seed of one attempt (0, 1, ...) at a proposal."""
    return seeds.derive(seed, "proposal/attempt", attempt)


def ask(engineer: Engineer, context: Context, config: EnvironmentConfig, limits: GuardSettings, *, seed: int) -> ProposalRecord:
    """Asks for the next config; an unusable answer is asked for once more, then ``config`` is kept and the record says why."""
    attempts: list[Attempt] = []
    proposal: Proposal | None = None
    while proposal is None and len(attempts) < ATTEMPTS:
        draw = attempt_seed(seed, len(attempts))
        began = time.perf_counter()
        written, error = Written(""), None
        try:
            written = engineer.answer(context, draw, attempts[-1] if attempts else None)
            proposal = engineer.read(context, config, written.text, draw)
        except ValueError as reason:  # a ProposalError, or a text that did not end
            error = str(reason)
        seconds = time.perf_counter() - began
        _, tokens, prompt_tokens, cost = written
        attempts.append(Attempt(raw=written.text, error=error, tokens=tokens, prompt_tokens=prompt_tokens, cost=cost, seconds=seconds))
    if proposal is None:
        after, report = config, GuardReport(rejected=attempts[-1].error)
    else:
        after, report = guard(proposal.config, config, limits, context.layouts)
    return ProposalRecord(
        stage=context.stage,
        engineer=engineer.name,
        attempts=tuple(attempts),
        proposal=proposal,
        guard=report,
        config_before=config,
        config_after=after,
        changes=tuple(diff(config, after)),
        kept_because=None if proposal else f"no answer could be used after {len(attempts)} attempts: {attempts[-1].error}",
    )
