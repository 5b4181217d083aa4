"""Claims and proposals in English: the same sentences for every engineer that does not write its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from frozenlab.engineer.schema import Claim
from frozenlab.tasks import families


def setting_words(name: str) -> str:
    """What a sentence calls a knob, or a part that a cell is mixed of.

    >>> setting_words("hole_ratio"), setting_words("maze")
    ('hole ratio', 'part of maze boards')
    """
    part = any(name in family.parts for family in families.FAMILIES)
    return f"part of {name} boards" if part else name.replace("_", " ")


def fault_label(name: str) -> str:
    """What charts call a fault.

    >>> fault_label("hole")
    'walks into a hole'
    """
    return next((family.outcomes[name].label for family in families.FAMILIES if name in family.outcomes), name.replace("_", " "))


SEEN = 0.005
"""Two settings that differ by less are written the same."""


def claim_on(
    cell: str,
    words: str,
    knob: str | None,
    before: Mapping[str, float] | None,
    after: Mapping[str, float],
    *,
    evidence: Sequence[str] = (),
    **said: Any,
) -> Claim:
    """The claim that a knob of a cell goes from its setting ``before`` (None: not known) to that ``after``, with its sentence.

    Args:
        words: what the cell is called.
        knob: None: the cell is kept as it is.
        said: further fields of the claim, as ``now`` and ``expected``.
    """
    was, is_now = (None if knob is None or settings is None else settings[knob] for settings in (before, after))
    claim = Claim(cell=cell, knob=knob, before=was, after=is_now, evidence=tuple(evidence), **said)
    return claim.model_copy(update={"text": claim_sentence(claim, words)})


def claim_sentence(claim: Claim, cell: str) -> str:
    """A claim on the ``cell``, which is given in words.

    ``Size 6: raise the hole ratio from 0.20 to 0.30, because it is 85% valid; expect 89% [F6 S6].``
    ``Size 6: raise the share from 0.20 to 0.60, because it is 10% valid (usually 80%; fault: walks into a hole); expect 45% ± 10 points.``
    """
    if claim.knob is None:
        what = "keep its ratios"
    elif claim.before is None:
        what = f"set the {setting_words(claim.knob)} to {claim.after:.2f}"
    elif claim.after is not None and abs(claim.after - claim.before) < SEEN:
        what = f"keep the {setting_words(claim.knob)} at {claim.before:.2f}"
    else:
        verb = "raise" if claim.after is not None and claim.after > claim.before else "lower"
        what = f"{verb} the {setting_words(claim.knob)} from {claim.before:.2f} to {claim.after:.2f}"
    usual = [] if claim.usual is None else [f"usually {claim.usual:.0%}"]
    cause = [] if claim.cause is None else [f"fault: {fault_label(claim.cause)}"]
    aside = f" ({'; '.join([*usual, *cause])})" if usual or cause else ""
    now = "" if claim.now is None else f", because it is {claim.now:.0%} valid{aside}"
    spread = "" if claim.spread is None else f" ± {100 * claim.spread:.0f} points"
    hope = "" if claim.expected is None else f"; expect {claim.expected:.0%}{spread}"
    cited = f" [{' '.join(claim.evidence)}]" if claim.evidence else ""
    return f"{capitalised(cell)}: {what}{now}{hope}{cited}."


def summary_sentence(claims: Sequence[Claim], preserved: Sequence[str], words: Mapping[str, str]) -> str:
    """One sentence over all cells, called by their ``words``: which come more or less often, get harder, easier or new ratios, or stay."""
    groups: dict[str, list[str]] = {"more often": [], "less often": [], "harder": [], "easier": [], "new ratios": [], "unchanged": []}
    for claim in claims:
        if claim.knob == "share":
            group = "more often" if claim.after is not None and claim.before is not None and claim.after > claim.before else "less often"
        elif claim.knob is None or claim.after is None or claim.after == claim.before:
            group = "unchanged"
        elif claim.before is None:
            group = "new ratios"
        else:
            group = "harder" if claim.after > claim.before else "easier"
        if claim.cell not in groups[group]:
            groups[group].append(claim.cell)
    moved = {cell for name, cells in groups.items() if name != "unchanged" for cell in cells}
    groups["unchanged"] = [cell for cell in groups["unchanged"] if cell not in moved]
    parts = [f"{name}: {cell_list(cells, words)}" for name, cells in groups.items() if cells]
    kept = f" Preserved on purpose: {cell_list(preserved, words)}." if preserved else ""
    return ("; ".join(parts) or "nothing is said of any size").capitalize() + "." + kept


def retitled(text: str, titles: Mapping[str, str]) -> str:
    """The text with titles in the place of names, where these are words of their own and have no title yet.

    >>> retitled("uniform instead of non-uniform", {"uniform": "equal shares, 30 % holes"})
    'equal shares, 30 % holes instead of non-uniform'
    """
    names = "|".join(map(re.escape, titles))
    return re.sub(rf"(?<![\w-])({names})(?![\w-]| \()", lambda found: titles[found[1]], text) if titles else text


def capitalised(words: str) -> str:
    """The words with a capital first letter and no other change: ``Size 6 with 3 agents``."""
    return words[:1].upper() + words[1:]


def cell_list(cells: Sequence[str], words: Mapping[str, str]) -> str:
    """The cells in words, the first word of all of them once: ``size 3, 4, 6``; ``size 3 with 2 agents, 6 with 2 agents``."""
    first, *others = (words[cell] for cell in cells)
    shared = first.split(" ")[0] + " "
    return ", ".join([first, *(other.removeprefix(shared) for other in others)])
