"""What a measurement says, in words: the targets it meets, and what an engineer study could see."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal

from frozenlab.base.numbers import MANY, Interval, counted, number, points
from frozenlab.experiments.headroom.report_tables import Check, ForksReport, Matrix

BEST_LESS_WORST, HEADROOM, INFORMATION, NOISE, ICC, RANK = 0.08, 0.03, 0.02, 0.025, 0.6, 2.0
"""Targets, written down before any gate ran."""


def with_bounds(found: Interval) -> str:
    """``+3.1 points (95 %: +1.0 to +5.2)``"""
    bounds = f"95 %: {found.bounds}" if found.known else f"no interval: n = {found.n}"
    return f"{points(found.value, MANY)} ({bounds})"


def rank_words(rank: Interval, decimals: int = 1) -> str:
    """``2.3 (95 %: 1.9 to 2.8)``"""
    value, low, high = (number(value, decimals) for value in (rank.value, rank.low, rank.high))
    return f"{value} (95 %: {low} to {high})"


def checks_of(matrices: Sequence[Matrix], forks: ForksReport | None) -> tuple[Check, ...]:
    """The targets, one by one."""
    ranks = [matrix.participation for matrix in matrices if matrix.participation is not None]
    checks = [
        check("best - worst", "at least 8 points", forks.best_less_worst if forks else None, BEST_LESS_WORST),
        check("headroom (oracle - uniform)", "at least 3 points", forks.headroom if forks else None, HEADROOM),
        check("value of information", "at least 2 points, interval above 0", forks.information if forks else None, INFORMATION, clear=True),
    ]
    if forks is None:
        checks += [missing("noise (A/A)", "at most 2.5 points"), missing("ICC of configs", "at least 0.60")]
    else:
        noise = f"{number(100 * forks.noise, 1)} points"
        checks.append(Check(name="noise (A/A)", target="at most 2.5 points", found=noise, passed=passed(forks.noise <= NOISE)))
        alike = forks.icc
        if alike is None:
            checks.append(missing("ICC of configs", "at least 0.60"))
        else:
            checks.append(
                Check(name="ICC of configs", target="at least 0.60", found=rank_words(alike, 2), passed=passed(alike.value >= ICC))
            )
    if ranks:
        middle = median(rank.value for rank in ranks)
        text = rank_words(ranks[0]) if len(ranks) == 1 else f"{number(middle)} (median of {len(ranks)} students)"
        checks.append(Check(name="effective rank", target="at least 2", found=text, passed=passed(middle >= RANK)))
    else:
        checks.append(missing("effective rank", "at least 2"))
    return tuple(checks)


def check(name: str, target: str, found: Interval | None, least: float, clear: bool = False) -> Check:
    if found is None:
        return missing(name, target)
    good = found.value >= least and (not clear or found.low > 0)
    return Check(name=name, target=target, found=with_bounds(found), passed=passed(good))


def missing(name: str, target: str) -> Check:
    return Check(name=name, target=target, found="not measured", passed="not measured")


def passed(good: bool) -> Literal["pass", "fail"]:
    return "pass" if good else "fail"


def verdict_of(matrices: Sequence[Matrix], forks: ForksReport | None, smallest: float) -> str:
    """One or two sentences: what an engineer could win here."""
    if forks is None:
        return rank_sentence(matrices)
    room, information = forks.headroom, forks.information
    if information is None:
        first = "With one student the best config is always the same, so nothing that an engineer reads can matter."
    elif information.low > 0 and information.value >= smallest:
        first = f"Reading a student can matter here: knowing it is worth {with_bounds(information)} over the best constant config."
    else:
        first = (
            f"No value of information was found: {with_bounds(information)} over the best constant config. What an engineer reads "
            "can hardly matter here."
        )
    if room.low > 0 and room.value >= smallest:
        return f"{first} The best config beats uniform by {with_bounds(room)}."
    return f"{first} The best config was not shown to beat uniform: {with_bounds(room)}."


def rank_sentence(matrices: Sequence[Matrix]) -> str:
    known = [matrix for matrix in matrices if matrix.participation is not None]
    if not known:
        return "No cell has a gradient that is distinguishable from noise with this many tasks."
    matrix = known[0]
    rank = matrix.participation
    assert rank is not None
    cells = sum(matrix.seen)
    skills = (
        "one skill" if rank.value < 1.25 else "little more than one skill" if rank.value < 2 else f"about {number(rank.value, 0)} skills"
    )
    return f"To {matrix.student}, {cells} cells are {skills}: effective rank {rank_words(rank)}."


def sentences_of(matrices: Sequence[Matrix], forks: ForksReport | None) -> tuple[str, ...]:
    """Further findings, most important first."""
    said = [rank_sentence(matrices)] if matrices and forks is not None else []
    for matrix in matrices:
        dim = [cell for cell, seen in zip(matrix.cells, matrix.seen, strict=True) if not seen]
        if dim and any(matrix.seen):
            said.append(
                f"No gradient of {matrix.student} is distinguishable from noise on {', '.join(dim)}: what its answers earn there hardly "
                "differs, or differs by chance."
            )
        if matrix.naive is not None and matrix.participation is not None:
            said.append(
                f"Without the correction for noise the rank of {matrix.student} would seem to be {number(matrix.naive, 1)} instead of "
                f"{number(matrix.participation.value, 1)}."
            )
    if forks is not None:
        said.append(
            f"Two measurements of one config differ by {number(100 * forks.noise * 2**0.5, 1)} points (standard deviation; of one, "
            f"{number(100 * forks.noise, 1)}); true gains of configs have a standard deviation of {number(100 * forks.config_sd, 1)}."
        )
        if forks.noise_sampled is not None and forks.headroom_sampled is not None:
            said.append(
                f"By sampled answers the noise is {number(100 * forks.noise_sampled, 1)} and the headroom "
                f"{with_bounds(forks.headroom_sampled)}."
            )
        said.append(f"A third of the headroom takes {pairs_words(forks.pairs_for_headroom)} to see with 80 % power.")
        if forks.information is not None:
            said.append(f"A third of the value of information takes {pairs_words(forks.pairs_for_information)}.")
        known = [value for value in forks.predicted if value is not None]
        if known:
            said.append(
                f"Values by the influence matrix rank configs as their gains do with a correlation of {number(sum(known) / len(known))} "
                f"(mean over {counted(len(known), 'student')})."
            )
    return tuple(said)


def pairs_words(pairs: int | None) -> str:
    return "more pairs of forks than anybody runs" if pairs is None else f"{pairs} pairs of forks"
