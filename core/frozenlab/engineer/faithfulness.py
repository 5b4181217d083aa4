"""Whether a rationale is one: does the evidence that a claim cites say what it says, and does the config do it?

Three things are checked of a claim, as far as it says them: that a cited line states the valid rate that it reads, that the fault that it
blames is the commonest one of a cited line, and that the proposed config holds the setting that it announces. A claim is faithful if all of
them hold. What the guard made of the setting afterwards is not the engineer's fault; it is said beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from frozenlab.base.numbers import counted, percent
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
        yield misblamed(claim.cause, [context.faults(line) for line in cited], name)
    if claim.knob is not None and claim.after is not None:
        yield not_done(claim.knob, claim.after, claim.cell, record, name)


def misread(now: float, cited: Sequence[Evidence], name: str) -> str:
    stated = {line.id: line.numbers["valid"] for line in cited if "valid" in line.numbers}
    if any(abs(rate - now) < ROUNDING for rate in stated.values()):
        return ""
    if not stated:
        return f"{name}: it reads {percent(now)} valid, and cites no line that states a valid rate."
    lines = ", ".join(f"{line} says {percent(rate)}" for line, rate in stated.items())
    return f"{name}: it reads {percent(now)} valid, but {lines}."


def misblamed(cause: str, cited: Sequence[dict[str, float]], name: str) -> str:
    if any(cause in faults and faults[cause] > max(faults.values()) - ROUNDING for faults in cited):
        return ""
    label = fault_label(cause)
    if (faults := next((faults for faults in cited if cause in faults), None)) is None:
        return f'{name}: no line that it cites names the fault "{label}".'
    most = max(faults, key=faults.__getitem__)
    return f'{name}: it blames "{label}" ({percent(faults[cause])}), but "{fault_label(most)}" is commoner ({percent(faults[most])}).'


def not_done(knob: str, after: float, cell: str, record: ProposalRecord, name: str) -> str:
    assert record.proposal is not None, "its claims are checked"
    own = record.proposal.config.cells.get(cell)
    setting = None if own is None else own.settings().get(knob)
    if setting is not None and abs(setting - after) < SAME_SETTING:
        return ""
    has = "has no such cell" if setting is None else f"has {setting:.2f}"
    return f"{name}: it announces a {setting_words(knob)} of {after:.2f}, but its config {has}."


def used_instead(claim: Claim, record: ProposalRecord) -> float | None:
    """The setting that is used in place of the one that was proposed where the claim speaks of; None if that is used."""
    configs = (record.proposal.config if record.proposal else record.config_after, record.config_after)
    proposed, used = (
        None if claim.knob is None or (own := config.cells.get(claim.cell)) is None else own.settings().get(claim.knob)
        for config in configs
    )
    return None if proposed is None or used is None or abs(used - proposed) < SAME_SETTING else used


def in_words(record: ProposalRecord, context: Context) -> str:
    """``4 of 5 claims are faithful.`` with what is wrong about the others, and what the guard changed; empty if nothing can be checked."""
    found = faults_by_claim(record, context)
    if not found:
        return ""
    faithful, n = sum(not faults for faults in found), len(found)
    others = len(record.claims) - n
    what = f"{counted(n, 'claim')}{' that can be checked' if others else ''}"
    if faithful < n:
        said = (
            f"{faithful} of {what} {'is' if faithful == 1 else 'are'} faithful. {' '.join(wrong for faults in found for wrong in faults)}"
        )
    else:
        which = f"{'The' if n == 1 else 'All'} {what.removeprefix('1 ')} {'is' if n == 1 else 'are'}"
        said = f"{which} faithful: the cited lines say what is said, and the proposed config does it."
    if others:
        said += f" {counted(others, 'other')} {'says' if others == 1 else 'say'} nothing that can be checked."
    return " ".join([said, *changed_since(record, context)])


def changed_since(record: ProposalRecord, context: Context) -> Iterator[str]:
    """What the guard, or whatever kept the previous config, made of the settings that claims are about."""
    changed = {
        f"{context.words.get(claim.cell, claim.cell)} got a {setting_words(claim.knob)} of {used:.2f}": claim
        for claim in record.claims
        if claim.knob is not None and (used := used_instead(claim, record)) is not None
    }
    if changed:
        why = "The guard changed" if record.kept_because is None else "The previous config was kept, which changed"
        yield f"{why} {counted(len(changed), 'setting')} of these: {'; '.join(changed)}."
