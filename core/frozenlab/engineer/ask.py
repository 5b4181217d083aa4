"""How an engineer is asked: every one takes the same context and gives back the same proposal."""

from __future__ import annotations

import time

from frozenlab.base import seeds
from frozenlab.base.cells import Config, diff
from frozenlab.engineer.guard import GuardSettings, guard
from frozenlab.engineer.protocol import Engineer
from frozenlab.engineer.schema import Attempt, Context, GuardReport, Proposal, ProposalRecord, Written

ATTEMPTS = 2
"""An answer that cannot be used is asked for once more."""


def ask(engineer: Engineer, context: Context, config: Config, limits: GuardSettings, *, seed: int) -> ProposalRecord:
    """Asks for the next config; an unusable answer is asked for once more, then ``config`` is kept and the record says why."""
    attempts: list[Attempt] = []
    proposal: Proposal | None = None
    while proposal is None and len(attempts) < ATTEMPTS:
        draw = seeds.derive(seed, "proposal/attempt", len(attempts))
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
        engineer=engineer.kind,
        attempts=tuple(attempts),
        proposal=proposal,
        guard=report,
        config_before=config,
        config_after=after,
        changes=tuple(diff(config, after)),
        kept_because=None if proposal else f"no answer could be used after {len(attempts)} attempts: {attempts[-1].error}",
    )
