"""The `tutor`, the teacher of the lab model's engineer: it knows how well the lab model usually does, and gives boards to what has fallen.

The gate (``docs/instrument.md``) says that what a student has lost comes back by boards of that cell and by hardly any others. So a board
helps the cell that it is drawn for, and the best shares follow from two numbers a cell: the valid rate that the evidence shows, and the
rate that is *usual* there, which ``recipes.lab_model.usual_rates`` measures.

1. **Read** the valid rate: from `failures` (held-out tasks), else `behaviour` (sampled answers), else `preserved`.
2. **Room**: how far it lies below the usual rate, if by more than MARGIN. What was never learnt, the rest up to 100 %, counts a tenth.
3. **Share**: a share s is expected to win room * (1 - exp(-s / REACH)); the shares that win the most together are those of water-filling.
4. **Expect** the valid rate, plus what the share wins of the fall, plus a part of what was never learnt (GAINS), give or take SPREAD.

Ratios and layouts stay. A cell of which nothing is known gets the room of one that has not fallen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Literal

from frozenlab.base.cells import Cell, Config, with_shares
from frozenlab.engineer.engineers.curricula import rated
from frozenlab.engineer.protocol import Scripted
from frozenlab.engineer.schema import Context, Proposal
from frozenlab.engineer.sentences import claim_on, summary_sentence
from frozenlab.tasks.vocabulary import kind_words

TABLE = Path(__file__).parent / "data" / "usual_rates.json"
MARGIN = 0.15
"""A rate that lies below the usual one by less may be chance: two standard errors of a rate of 40 boards."""
REACH = 0.5
UNLEARNT = 0.1
SPREAD = 0.1
GAINS = (0.3, 0.12, 0.05)
"""Part of what was never learnt that the next stage is expected to win, whatever its shares: before any training, before any proposal, and
later. Chosen on sessions with four stages of GRPO (``docs/instrument.md``), of which the first won most, and on quick ones."""


class TutorEngineer(Scripted):
    kind: Literal["tutor"] = "tutor"
    label = "the rule that the lab model's engineer was taught by"
    who = "the tutor"
    help = (
        "It knows how often the lab model usually solves each of 253 kinds of cells, and gives the boards to cells that have fallen below "
        "that. The ratios stay. A model that imitates it perfectly does as well as it does."
    )
    expects = (
        "The tutor expects the rate that it reads, plus what the boards should win back of a fall below the usual rate, plus a part of "
        "what was never learnt: 30 % before any training, 12 % before any proposal, 5 % later."
    )

    def propose(self, context: Context, config: Config, seed: int) -> Proposal:
        """Deterministic. Without a section that says valid rates every cell counts the same."""
        return propose(context, config)


@cache
def table() -> dict[str, float]:
    """Words of a kind (``k2 size6 doors``) -> valid rate."""
    rates: dict[str, float] = json.loads(TABLE.read_text(encoding="utf-8"))
    return rates


def usual_rate(cell: Cell) -> float | None:
    """None: it was not measured. Boards that mix layouts are taken as scatter boards."""
    return table().get(" ".join(word for word in kind_words(cell) if word != "scatter"))


def propose(context: Context, config: Config, usually: Callable[[Cell], float | None] = usual_rate) -> Proposal:
    """The whole proposal, by what a model solves ``usually``; deterministic."""
    lines = rated(context)
    now = {name: line.numbers["valid"] if line else None for name, line in lines.items()}
    usual = {cell.name: usually(cell) for cell in context.cells}
    fallen = {name: fall(now[name], usual[name]) for name in now}
    new = {name: unlearnt(now[name], fallen[name]) for name in now}
    shares, gain = filled([fallen[name] + UNLEARNT * new[name] for name in now]), GAINS[how_far(context)]
    proposed = with_shares(config, dict(zip(now, shares, strict=True)))
    claims = [
        claim_on(
            cell.name,
            cell.words,
            "share",
            config.cells[cell.name].settings(),
            proposed.cells[cell.name].settings(),
            evidence=[line.id for section in context.sections if (line := context.evidence(section, cell.name))],
            now=now[cell.name],
            usual=usual[cell.name],
            cause=commonest_fault(context, cell.name),
            **expectation(now[cell.name], fallen[cell.name], proposed.cells[cell.name].share, gain * new[cell.name]),
        )
        for cell in context.cells
    ]
    return Proposal(summary=summary_sentence(claims, (), context.words), claims=tuple(claims), config=proposed)


def commonest_fault(context: Context, cell: str) -> str | None:
    """The fault of most held-out tasks; None if `failures` is off, or nothing failed."""
    faults = context.faults(context.evidence("failures", cell))
    return max(faults, key=faults.__getitem__, default=None)


def how_far(context: Context) -> int:
    """0 before any training, where the training log is shown and empty; 1 before any proposal, where the history is; else 2."""
    for place, section in enumerate(("behaviour", "history")):
        if section in context.sections and not any(line.cell for line in context.sections[section]):
            return place
    return 2


def fall(now: float | None, usual: float | None) -> float:
    """How far a rate lies below the usual one; 0 if by no more than MARGIN, or one of them is not known."""
    return 0.0 if now is None or usual is None or usual - now <= MARGIN else usual - now


def unlearnt(now: float | None, fallen: float) -> float:
    """What was never learnt: the part of a cell's tasks that would fail without any fall."""
    return 0.5 if now is None else 1 - now - fallen


def filled(rooms: Sequence[float]) -> list[float]:
    """The shares that win the most of these rooms, which sum to 1.

    A share s of a cell wins room * (1 - exp(-s / REACH)). At the best shares the next board wins the same wherever it goes, so
    s = REACH * log(room / level), or 0 where the room lies below the level.

    >>> [round(share, 2) for share in filled([0.5, 0.05, 0.05])], filled([0.0, 0.0])
    ([1.0, 0.0, 0.0], [0.5, 0.5])
    """
    order = sorted((room for room in rooms if room > 0), reverse=True)
    if not order:
        return [1 / len(rooms)] * len(rooms)
    for count in range(len(order), 0, -1):
        level = exp((sum(map(log, order[:count])) - 1 / REACH) / count)
        if order[count - 1] >= level:
            break
    return [REACH * log(room / level) if room > level else 0.0 for room in rooms]


def expectation(now: float | None, fallen: float, share: float, anyway: float) -> Mapping[str, float | None]:
    """What a claim expects; ``anyway`` is won by any share."""
    if now is None:
        return {"expected": None, "spread": None}
    return {"expected": round(now + fallen * (1 - exp(-share / REACH)) + anyway, 3), "spread": SPREAD}
