"""What the answers of a replay say: the table of proposals, how the arms compare, and the sentences that tell it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from frozenlab import seeds
from frozenlab.engineer.schema import SECTIONS, Section
from frozenlab.engineer.sentences import listed
from frozenlab.intervals import ComparisonError, wilson
from frozenlab.lake.config import KNOBS
from frozenlab.replays.task import Answer, ReplayTask
from frozenlab.studies.effects import CLEAR, holm

FLIPS = 4999
"""Random exchanges of the sign test: the smallest p value that it can tell is one in FLIPS + 1."""
SAME = 0.05
"""Spreads and distances below so many points are told as none."""


def proposals(answers: Sequence[Answer]) -> pd.DataFrame:
    """One row an answer and map size.

    Returns:
        ``arm, sample, size``, the KNOBS as the next stage would have had them, ``usable`` (whether an answer could be read at all; else
        the config is kept), ``attempts``, ``tokens``, ``cost`` (NaN where it has no price), ``changes`` and ``repairs`` of the guard.
    """
    rows = []
    for arm, sample, record in answers:
        costs = [attempt.cost for attempt in record.attempts if attempt.cost is not None]
        told = {
            "arm": arm,
            "sample": sample,
            "usable": record.proposal is not None,
            "attempts": len(record.attempts),
            "tokens": sum(attempt.tokens or 0 for attempt in record.attempts),
            "cost": sum(costs) if costs else float("nan"),
            "changes": len(record.changes),
            "repairs": len(record.guard.repairs),
        }
        for size, cell in record.config_after.sizes.items():
            rows.append(told | {"size": size} | {knob: getattr(cell, knob) for knob in KNOBS})
    return pd.DataFrame(rows)


def compared(table: pd.DataFrame, reference: str) -> pd.DataFrame:
    """One row an arm of :func:`proposals`: how its answers differ among themselves and from those of the arm ``reference``.

    Returns:
        Index ``arm``; ``n`` answers, ``unusable`` of them, ``changes`` and ``repairs`` a proposal (mean), ``tokens`` (mean), ``spread``
        (the mean distance of an answer from the arm's mean config), ``distance`` (of the arm's mean config from the reference's) and ``p``
        of that distance, after Holm's correction; NaN for the reference. A distance of two configs is the mean over map sizes and knobs of
        the absolute difference, in points (per cent).

    Raises:
        ComparisonError: the reference has no answer.
    """
    if reference not in set(table["arm"]):
        raise ComparisonError(f"the reference arm {reference} has no answer")
    knobs = list(KNOBS)
    means = table.groupby(["arm", "size"], sort=False)[knobs].mean()
    own = table.set_index(["arm", "size"])[knobs]
    of_reference = means.loc[reference].reindex(means.index, level="size")
    spread, distance = (
        (ours - theirs.to_numpy()).abs().mean(axis=1).groupby("arm", sort=False).mean()
        for ours, theirs in ((own, means.loc[own.index]), (means, of_reference))
    )
    each = table.drop_duplicates(["arm", "sample"]).groupby("arm", sort=False)
    counted = each.agg(n=("usable", "size"), unusable=("usable", lambda usable: int((~usable).sum())))
    told = counted.join(each[["changes", "repairs", "tokens"]].mean()).assign(spread=100 * spread, distance=100 * distance, p=np.nan)
    others = [arm for arm in told.index if arm != reference]
    told.loc[others, "p"] = holm([sign_flips(table, arm, reference) for arm in others])
    return told


def sign_flips(table: pd.DataFrame, arm: str, reference: str) -> float:
    """p value of the distance of two arms' mean configs: answers of the same number had the same draws, so if it did not matter which arm
    gave which, the two could be exchanged in each pair (a paired randomisation test, Fisher 1935). 1 where no pair is there."""
    wide = table.pivot(index="sample", columns=["arm", "size"], values=list(KNOBS))
    ours, theirs = (wide.xs(name, axis=1, level="arm").sort_index(axis=1) for name in (arm, reference))
    differences = (ours - theirs).dropna().to_numpy()
    if not len(differences):
        return 1.0
    signs = seeds.rng(0, "replay/sign-flips").choice((-1.0, 1.0), size=(FLIPS, len(differences)))
    distance = np.abs(differences.mean(axis=0)).mean()
    flipped = np.abs(signs @ differences / len(differences)).mean(axis=1)
    return float((1 + (flipped >= distance - 1e-12).sum()) / (1 + FLIPS))


# --- in words --------------------------------------------------------------------------------------------------------


def sentences(table: pd.DataFrame, task: ReplayTask) -> list[str]:
    """What came out, in three sentences or four: who differs from the reference, by how much, who spreads, and what could not be used."""
    told = compared(table, task.reference)
    others = told.drop(task.reference)
    found = []
    if not others.empty:
        found += [_by_section(task, told) or _furthest(others, task.reference), _clear(others, task.reference)]
    if told["n"].min() > 1:
        found.append(_spread(told))
    return [*found, _unusable(told)]


def _by_section(task: ReplayTask, told: pd.DataFrame) -> str | None:
    """Which section's absence moves the proposal most, where arms differ in their sections."""
    shown = {arm.name: arm.sections for arm in task.arms if arm.name in told.index and arm.sections is not None}
    if len(shown) < len(told) or set(shown[task.reference]) != set(SECTIONS):
        return None
    distances: dict[Section, tuple[pd.Series, pd.Series]] = {}
    for section in SECTIONS:
        without = [arm for arm, sections in shown.items() if section not in sections]
        with_it = [arm for arm, sections in shown.items() if section in sections and arm != task.reference]
        if without and with_it:
            distances[section] = (told.loc[without, "distance"], told.loc[with_it, "distance"])
    if not distances:
        return None
    section, (without_it, others) = max(distances.items(), key=lambda item: item[1][0].mean() - item[1][1].mean())
    hidden, shown_it = f"the {_arms(len(without_it))} without {section} lie", f"the {_arms(len(others))} with it"
    if len(without_it) == 1:
        hidden = f"the arm without {section} lies"
    far, near = without_it.mean(), others.mean()
    built_in = " They tell the present config: without it an engineer can only write a new one." if section == "statistics" else ""
    told = f"Hiding {section} moves the proposal most: {hidden} {far:.1f} points per knob from the full context, {shown_it} {near:.1f}."
    return told + built_in


def _furthest(others: pd.DataFrame, reference: str) -> str:
    far, near = others["distance"].idxmax(), others["distance"].idxmin()
    told = f"Furthest from {reference} is {far}, {others.loc[far, 'distance']:.1f} points per knob away"
    if far == near:
        return f"{told}."
    least = others.loc[near, "distance"]
    if least < SAME:
        return f"{told}; {near} proposes {'almost the same' if least > 1e-9 else 'the same'}."
    return f"{told}; {near} is nearest with {least:.1f}."


def _clear(others: pd.DataFrame, reference: str) -> str:
    clear = others.index[others["p"] < CLEAR]
    if len(clear) == len(others):
        who = "All other arms differ" if len(others) > 1 else f"{others.index[0]} differs"
        return f"{who} from {reference} by more than chance explains (every p < {CLEAR} after Holm's correction)."
    if not len(clear):
        return f"Chance could explain how far the other arms are from {reference} (no p < {CLEAR} after Holm's correction)."
    unclear = listed([arm for arm in others.index if arm not in clear])
    known = f"{len(clear)} of {_arms(len(others))} differ from {reference} by more than chance explains"
    return f"{known} (p < {CLEAR} after Holm's correction); not {unclear}."


def _spread(told: pd.DataFrame) -> str:
    steady = [arm for arm in told.index if told.loc[arm, "spread"] < SAME]
    if len(steady) == len(told):
        return "Asked again, every arm answers the same."
    most, least = told["spread"].idxmax(), told["spread"].idxmin()
    said = f"Asked again, the answers of {most} vary most: {told.loc[most, 'spread']:.1f} points per knob around their mean"
    if steady:
        return f"{said}; always the same: {listed(steady)}."
    return f"{said}." if most == least else f"{said}, those of {least} least ({told.loc[least, 'spread']:.1f})."


def _unusable(told: pd.DataFrame) -> str:
    failed, n = int(told["unusable"].sum()), int(told["n"].sum())
    low, high = wilson(failed, n)
    rate = f"{failed} of {n} answers could not be used ({100 * failed / n:.0f} %, 95 % interval {100 * low:.0f} to {100 * high:.0f} %)"
    if not failed:
        return f"{rate}."
    worst = (told["unusable"] / told["n"]).idxmax()
    return f"{rate}, most of them from {worst}: {told.loc[worst, 'unusable']} of {told.loc[worst, 'n']}."


def _arms(n: int) -> str:
    return f"{n} arm{'s' if n != 1 else ''}"
