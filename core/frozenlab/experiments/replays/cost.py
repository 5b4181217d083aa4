"""The cost of a replay that asks an API, before anything is sent: tokens, and money if the prices are known."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from statistics import mean

from frozenlab.engineer.dialects.plain import answer_schema, render_request
from frozenlab.engineer.sections import describe
from frozenlab.experiments.replays.task import ReplayTask, spec_of
from frozenlab.session.session import Session

CHARACTERS_A_TOKEN = 4
"""Characters per token of English and JSON, roughly, in most tokenizers."""


@dataclass(frozen=True)
class Estimate:
    """The cost of all requests together. Every figure except their number is an estimate."""

    requests: int
    prompt_tokens: int
    answer_tokens: int
    judged: bool
    """Whether the length of an answer is estimated from earlier ones in the session. If not, ``answer_tokens`` is the upper bound."""
    cost: float | None
    """None if a price is not known."""

    @property
    def sentence(self) -> str:
        """``64 requests, about 150,000 tokens read and at most 256,000 written, which cost at most 1.23 (4 characters a token). ...``"""
        at_most = "about" if self.judged else "at most"
        read, written = (f"{int(float(f'{tokens:.3g}')):,}" for tokens in (self.prompt_tokens, self.answer_tokens))
        tokens = f"about {read} tokens read and {at_most} {written} written"
        paid = f", which cost {at_most} {self.cost:,.2f}" if self.cost is not None else ", at prices that are not known"
        how = f"{CHARACTERS_A_TOKEN} characters a token" + (", answers as long as earlier ones" if self.judged else "")
        return f"{self.requests} requests, {tokens}{paid} ({how}). An answer that cannot be used is asked for once more."


def estimate(task: ReplayTask, session: Session, known: Collection[tuple[str, int]] = ()) -> Estimate | None:
    """Estimate the missing answers that come from an API; None if there are none.

    Args:
        known: (arm, sample) of answers that exist already.

    Raises:
        SessionError: the stage has not been validated.
    """
    measured = session.measurements(task.stage)
    requests = prompt_tokens = answer_tokens = 0
    cost: float | None = 0.0
    length = earlier_length(session)
    for arm in task.arms:
        spec = spec_of(arm, session)
        asked = sum((arm.name, sample) not in known for sample in range(task.samples))
        server, guidance = spec.engineer.server, getattr(spec.engineer, "guidance", False)
        if server is None or not asked:
            continue
        context = describe(measured, spec.sections, spec.layouts)
        request = render_request(context, guidance=guidance) + json.dumps(answer_schema(context))
        read = len(request) // CHARACTERS_A_TOKEN
        written = server.max_tokens if length is None else min(server.max_tokens, round(length))
        requests, prompt_tokens, answer_tokens = requests + asked, prompt_tokens + asked * read, answer_tokens + asked * written
        paid = server.cost(asked * read, asked * written)
        cost = None if cost is None or paid is None else cost + paid
    return Estimate(requests, prompt_tokens, answer_tokens, length is not None, cost) if requests else None


def earlier_length(session: Session) -> float | None:
    """The mean number of tokens of the answers that came from an API in this session; None if there are none."""
    records = (session.proposal(stage) for stage in range(session.spec.stages))
    asked = [record for record in records if record is not None and record.engineer == "api"]
    tokens = [attempt.tokens for record in asked for attempt in record.attempts if attempt.tokens]
    return mean(tokens) if tokens else None
