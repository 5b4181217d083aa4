"""Whether a rationale is one: does the evidence that a claim cites say what it says, and does the config do it?

Three things are checked of a claim, as far as it says them: that a cited line states the valid rate that it reads, that a cited line names
the fault that it blames, and that the proposed config holds the setting that it announces. A claim is faithful if all of them hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from frozenlab.engineer.schema import Claim, Context, Evidence, ProposalRecord
from frozenlab.engineer.sentences import capitalised, fault_label, setting_words

ROUNDING = 0.0126
"""Rates that differ by less are the same: the lab dialect writes them in steps of 2.5 %."""
SAME_SETTING = 0.006
"""Settings are written with two decimals."""


class Checked(NamedTuple):
    """How many claims of a proposal are faithful, of those that say something which can be checked."""

    faithful: int
    claims: int


def check(record: ProposalRecord, context: Context) -> Checked:
    """Counts the faithful claims of a proposal; none if there is no proposal."""
    found = faults_by_claim(record, context)
    return Checked(sum(not faults for faults in found), len(found))


def faults_by_claim(record: ProposalRecord, context: Context) -> list[list[str]]:
    """What is not so about each claim that can be checked, in sentences; empty where it is faithful."""
    found = [list(checks(claim, record, context)) for claim in record.claims]
    return [[wrong for wrong in of_claim if wrong] for of_claim in found if of_claim]


def checks(claim: Claim, record: ProposalRecord, context: Context) -> Iterator[str]:
    """One sentence for each thing that can be checked of a claim: what is wrong, or nothing."""
    cited = [line for line in context.lines if line.id in claim.evidence]
    name = capitalised(context.words.get(claim.cell, claim.cell))
    if claim.now is not None:
        yield misread(claim.now, [line for line in cited if line.cell == claim.cell], name)
    if claim.cause is not None:
        blamed = any(line.numbers.get(claim.cause, 0) > 0 for line in cited)
        yield "" if blamed else f'{name}: no line that it cites names the fault "{fault_label(claim.cause)}".'
    if claim.knob is not None and claim.after is not None:
        yield not_done(claim.knob, claim.after, claim.cell, record, name)


def misread(now: float, cited: Sequence[Evidence], name: str) -> str:
    stated = {line.id: line.numbers["valid"] for line in cited if "valid" in line.numbers}
    if any(abs(rate - now) < ROUNDING for rate in stated.values()):
        return ""
    if not stated:
        return f"{name}: it reads {now:.0%} valid, and cites no line that states a valid rate."
    lines = ", ".join(f"{line} says {rate:.0%}" for line, rate in stated.items())
    return f"{name}: it reads {now:.0%} valid, but {lines}."


def not_done(knob: str, after: float, cell: str, record: ProposalRecord, name: str) -> str:
    assert record.proposal is not None, "its claims are checked"
    own = record.proposal.config.cells.get(cell)
    setting = None if own is None else own.settings().get(knob)
    if setting is not None and abs(setting - after) < SAME_SETTING:
        return ""
    has = "has no such cell" if setting is None else f"has {setting:.2f}"
    return f"{name}: it announces a {setting_words(knob)} of {after:.2f}, but its config {has}."


def in_words(record: ProposalRecord, context: Context) -> str:
    """``4 of 5 claims are faithful.`` with what is wrong about the others; empty if nothing can be checked."""
    found = faults_by_claim(record, context)
    if not found:
        return ""
    faithful = sum(not faults for faults in found)
    if faithful == len(found):
        which = "The claim is" if len(found) == 1 else f"All {len(found)} claims are"
        return f"{which} faithful: the cited lines say what is said, and the config does it."
    wrong = " ".join(sentence for faults in found for sentence in faults)
    return f"{faithful} of {len(found)} claims {'is' if faithful == 1 else 'are'} faithful. {wrong}"
