"""The results of a replay: the table of proposals, the comparison of the arms, and the sentences about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import pandas as pd

from frozenlab.base import seeds
from frozenlab.base.numbers import ComparisonError, Interval, counted, listed, percent
from frozenlab.engineer.engineers import name_of
from frozenlab.engineer.faithfulness import Checked
from frozenlab.engineer.sections import NAMES, USUAL
from frozenlab.engineer.sentences import retitled
from frozenlab.experiments.replays.store import Answer
from frozenlab.experiments.replays.task import ReplayTask
from frozenlab.experiments.studies.arms import still_shown
from frozenlab.experiments.studies.statistics import CLEAR, holm
from frozenlab.tasks.families import family_of

FLIPS = 4999
"""Random sign flips of the randomisation test. Its smallest p value is 1 in FLIPS + 1."""
SAME = 0.05
"""Spreads and distances below this many points are reported as none."""

COLUMNS = ("arm", "sample", "cell", "usable", "attempts", "tokens", "cost", "changes", "repairs", *Checked._fields)
"""Of the table of proposals, besides the knobs."""


def proposals(answers: Sequence[Answer]) -> pd.DataFrame:
    """The table of proposals, one row per answer and cell.

    Returns:
        ``arm, sample, cell``, the knobs of the next stage's config (NaN where the cell has no such knob), ``usable`` (whether an answer
        could be read; if not, the config is kept), ``attempts``, ``tokens``, ``cost`` (NaN if it has no price), ``changes`` and ``repairs``
        of the guard, and how many ``claims`` could be checked and are ``faithful`` (NaN where that was not counted).
    """
    rows = []
    for arm, sample, record, checked in answers:
        costs = [attempt.cost for attempt in record.attempts if attempt.cost is not None]
        answer = {
            "arm": arm,
            "sample": sample,
            "usable": record.proposal is not None,
            "attempts": len(record.attempts),
            "tokens": sum(attempt.tokens or 0 for attempt in record.attempts),
            "cost": sum(costs) if costs else float("nan"),
            "changes": len(record.changes),
            "repairs": len(record.guard.repairs),
            "faithful": np.nan if checked is None else checked.faithful,
            "claims": np.nan if checked is None else checked.claims,
        }
        knobs = family_of(record.config_after.family).knobs
        for name, own in record.config_after.cells.items():
            settings = own.settings()
            rows.append(answer | {"cell": name} | {knob: settings.get(knob, np.nan) for knob in knobs})
    return pd.DataFrame(rows)


def knobs_of(table: pd.DataFrame) -> list[str]:
    """The columns of :func:`proposals` that are knobs."""
    return [name for name in table if name not in COLUMNS]


def compared(table: pd.DataFrame, reference: str) -> pd.DataFrame:
    """One row per arm of :func:`proposals`: the spread of its answers, and their distance from those of the arm ``reference``.

    Returns:
        Index ``arm``; ``n`` answers, ``unusable`` of them, ``changes`` and ``repairs`` per proposal (mean), ``tokens`` (mean), ``faithful``
        and ``claims`` of all answers, ``spread`` (the mean distance of an answer from the arm's mean config), ``distance`` (of the arm's
        mean config from the reference's) and ``p`` of that distance, after Holm's correction; NaN for the reference. A distance of two
        configs is the mean over cells and knobs of the absolute difference, in points (per cent).

    Raises:
        ComparisonError: the reference has no answer.
    """
    if reference not in set(table["arm"]):
        raise ComparisonError(f"the reference arm {reference} has no answer")
    knobs = knobs_of(table)
    means = table.groupby(["arm", "cell"], sort=False)[knobs].mean()
    own = table.set_index(["arm", "cell"])[knobs]
    of_reference = means.loc[reference].reindex(means.index, level="cell")
    spread, distance = (
        (ours - theirs.to_numpy()).abs().mean(axis=1).groupby("arm", sort=False).mean()
        for ours, theirs in ((own, means.loc[own.index]), (means, of_reference))
    )
    each = table.drop_duplicates(["arm", "sample"]).groupby("arm", sort=False)
    answers = each.agg(n=("usable", "size"), unusable=("usable", lambda usable: int((~usable).sum())))
    claims = each[list(Checked._fields)].sum(min_count=1)
    table_of_arms = answers.join([each[["changes", "repairs", "tokens"]].mean(), claims])
    table_of_arms = table_of_arms.assign(spread=100 * spread, distance=100 * distance, p=np.nan)
    others = [arm for arm in table_of_arms.index if arm != reference]
    table_of_arms.loc[others, "p"] = holm([sign_flips(table, arm, reference) for arm in others])
    return table_of_arms


def sign_flips(table: pd.DataFrame, arm: str, reference: str) -> float:
    """p value of the distance of two arms' mean configs, by a paired randomisation test (Fisher 1935). Answers of the same number had the
    same draws, so under the null hypothesis the two answers of a pair can be exchanged. 1 if there is no pair."""
    wide = table.pivot(index="sample", columns=["arm", "cell"], values=knobs_of(table))
    ours, theirs = (wide.xs(name, axis=1, level="arm").sort_index(axis=1) for name in (arm, reference))
    differences = (ours - theirs).dropna(axis=1, how="all").dropna().to_numpy()
    if not len(differences):
        return 1.0
    signs = seeds.rng(0, "replay/sign-flips").choice((-1.0, 1.0), size=(FLIPS, len(differences)))
    distance = np.abs(differences.mean(axis=0)).mean()
    flipped = np.abs(signs @ differences / len(differences)).mean(axis=1)
    return float((1 + (flipped >= distance - 1e-12).sum()) / (1 + FLIPS))


# --- in words --------------------------------------------------------------------------------------------------------


def sentences(arms: pd.DataFrame, task: ReplayTask) -> list[str]:
    """The results in three or four sentences: which arms differ from the reference and by how much, their spread, and unusable answers.

    Args:
        arms: of :func:`compared`, with the task's reference.
    """
    others = arms.drop(task.reference)
    results = []
    if not others.empty:
        results += [_by_section(task, arms) or _furthest(others, task.reference), _clear(others, task.reference)]
    if arms["n"].min() > 1:
        results.append(_spread(arms))
    results += [*filter(None, [still_shown(task.arms)]), *faithful_claims(arms), _unusable(arms)]
    titles = {name: name_of(name) for name in arms.index}
    return [retitled(sentence, titles) for sentence in results]


def _by_section(task: ReplayTask, table: pd.DataFrame) -> str | None:
    """The section whose absence moves the proposal most, if the arms differ in their sections."""
    shown = {arm.name: arm.sections for arm in task.arms if arm.name in table.index and arm.sections is not None}
    if len(shown) < len(table) or not set(USUAL) <= set(shown[task.reference]):
        return None
    distances: dict[str, tuple[pd.Series, pd.Series]] = {}
    for section in NAMES:
        without = [arm for arm, sections in shown.items() if section not in sections]
        with_it = [arm for arm, sections in shown.items() if section in sections and arm != task.reference]
        if without and with_it:
            distances[section] = (table.loc[without, "distance"], table.loc[with_it, "distance"])
    if not distances:
        return None
    section, (without_it, others) = max(distances.items(), key=lambda item: item[1][0].mean() - item[1][1].mean())
    hidden, shown_it = f"the {counted(len(without_it), 'arm')} without {section} lie", f"the {counted(len(others), 'arm')} with it"
    if len(without_it) == 1:
        hidden = f"the arm without {section} lies"
    far, near = without_it.mean(), others.mean()
    sure = (table.loc[without_it.index, "p"] < CLEAR).any()
    most = f"Hiding {section} moves the proposal most" if sure else f"Chance could explain it, but hiding {section} moved the proposal most"
    built_in = " They state the current config: without it an engineer can only write a new one." if section == "statistics" else ""
    sentence = f"{most}: {hidden} {far:.1f} points per setting from the full context, {shown_it} {near:.1f}."
    return sentence + built_in


def _furthest(others: pd.DataFrame, reference: str) -> str:
    far, near = others["distance"].idxmax(), others["distance"].idxmin()
    sure = "" if others.loc[far, "p"] < CLEAR else ", which chance could explain"
    furthest = f"Furthest from {reference} is {far}, {others.loc[far, 'distance']:.1f} points per setting away{sure}"
    if far == near:
        return f"{furthest}."
    least = others.loc[near, "distance"]
    if least < SAME:
        return f"{furthest}; {near} proposes {'almost the same' if least > 1e-9 else 'the same'}."
    return f"{furthest}; {near} is nearest with {least:.1f}."


def _clear(others: pd.DataFrame, reference: str) -> str:
    clear = others.index[others["p"] < CLEAR]
    if len(clear) == len(others):
        who = "All other arms differ" if len(others) > 1 else f"{others.index[0]} differs"
        return f"{who} from {reference} by more than chance explains (every p < {CLEAR} after Holm's correction)."
    n, needed = int(others["n"].min()), answers_needed(len(others))
    if not len(clear) and n < needed:
        return (
            f"{counted(n, 'answer')} of each arm cannot decide whether chance explains that: with {counted(len(others), 'comparison')} "
            f"it takes {needed} or more."
        )
    if not len(clear):
        return f"Chance could explain how far the other arms are from {reference} (no p < {CLEAR} after Holm's correction)."
    unclear = listed([arm for arm in others.index if arm not in clear])
    differ = f"{len(clear)} of {counted(len(others), 'arm')} differ from {reference} by more than chance explains"
    return f"{differ} (p < {CLEAR} after Holm's correction); not {unclear}."


def answers_needed(comparisons: int) -> int:
    """The answers per arm from which the randomisation test can call a distance clear, after Holm's correction: of n answers two of the
    2ⁿ patterns of signs, that of the answers and its opposite, are as far as the farthest."""
    return next(n for n in count(1) if comparisons * 2 / 2**n < CLEAR)


def _spread(arms: pd.DataFrame) -> str:
    steady = [arm for arm in arms.index if arms.loc[arm, "spread"] < SAME]
    if len(steady) == len(arms):
        return "Asked again, every arm answers the same."
    most, least = arms["spread"].idxmax(), arms["spread"].idxmin()
    said = f"Asked again, the answers of {most} vary most: {arms.loc[most, 'spread']:.1f} points per setting around their mean"
    if steady:
        return f"{said}; always the same: {listed(steady)}."
    return f"{said}." if most == least else f"{said}, those of {least} least ({arms.loc[least, 'spread']:.1f})."


def faithful_claims(arms: pd.DataFrame) -> Iterator[str]:
    """How many claims are faithful, unless they were not counted or nothing was claimed."""
    k, n = arms["faithful"].sum(), arms["claims"].sum()
    if not n:
        return
    found = Interval.of(int(k), int(n))
    said = f"{int(k)} of {int(n)} claims are faithful to the evidence and the config ({found.percent}, {found.percents})"
    rates = (arms["faithful"] / arms["claims"]).dropna()
    yield f"{said}." if rates.max() - rates.min() < SAME else f"{said}, fewest from {rates.idxmin()}: {percent(rates.min())}."


def _unusable(arms: pd.DataFrame) -> str:
    failed, n = int(arms["unusable"].sum()), int(arms["n"].sum())
    found = Interval.of(failed, n)
    rate = f"{failed} of {n} answers could not be used ({found.percent}, 95 % interval {found.percents})"
    if not failed:
        return f"{rate}."
    worst = (arms["unusable"] / arms["n"]).idxmax()
    return f"{rate}, most of them from {worst}: {arms.loc[worst, 'unusable']} of {arms.loc[worst, 'n']}."
