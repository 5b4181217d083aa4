"""What a measurement says, in words: the targets it meets, and what an engineer study could see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar

from frozenlab.base.numbers import MANY, Interval, counted, number, points
from frozenlab.experiments.headroom.report_tables import Check, ForksReport, Matrix
from frozenlab.experiments.headroom.spec import EQUAL

BEST_LESS_WORST, HEADROOM, INFORMATION, NOISE, ICC, RANK = 0.08, 0.03, 0.02, 0.025, 0.6, 2.0
"""Targets, written down before any gate ran."""
Found = TypeVar("Found", Interval, float)


def with_bounds(found: Interval) -> str:
    """``+3.1 points (95 %: +1.0 to +5.2)``"""
    bounds = f"95 %: {found.bounds}" if found.known else f"no interval: n = {found.n}"
    return f"{points(found.value, MANY)} ({bounds})"


def rank_words(rank: Interval, decimals: int = 1) -> str:
    """``2.3 (95 %: 1.9 to 2.8)``"""
    value, low, high = (number(value, decimals) for value in (rank.value, rank.low, rank.high))
    return f"{value} (95 %: {low} to {high})"


def checks_of(matrices: Sequence[Matrix], forks: ForksReport | None, baseline: str) -> tuple[Check, ...]:
    """The targets, one by one. ``baseline``: the name of the config that the best one is compared with."""
    ranks = [matrix.participation for matrix in matrices if matrix.participation is not None]
    noise = forks.noise if forks else None
    best, room, information, icc = (
        (forks.best_less_worst, forks.headroom, forks.information, forks.icc) if forks else (None, None, None, None)
    )

    def rank_found(middle: float) -> str:
        return rank_words(ranks[0]) if len(ranks) == 1 else f"{number(middle)} (median of {len(ranks)} students)"

    return (
        check("best − worst", "at least 8 points", best, with_bounds, lambda found: found.value >= BEST_LESS_WORST),
        check(f"headroom (oracle − {baseline})", "at least 3 points", room, with_bounds, lambda found: found.value >= HEADROOM),
        check(
            "value of information", "at least 2 points, interval above 0", information, with_bounds,
            lambda found: found.value >= INFORMATION and found.low > 0,
        ),
        check("noise (A/A)", "at most 2.5 points", noise, lambda found: f"{number(100 * found, 1)} points", lambda found: found <= NOISE),
        check("ICC of configs", "at least 0.60", icc, lambda found: rank_words(found, 2), lambda found: found.value >= ICC),
        check(
            "effective rank", "at least 2", median(rank.value for rank in ranks) if ranks else None, rank_found,
            lambda middle: middle >= RANK,
        ),
    )  # fmt: skip


def check(name: str, target: str, found: Found | None, words: Callable[[Found], str], good: Callable[[Found], bool]) -> Check:
    if found is None:
        return Check(name=name, target=target, found="not measured", passed="not measured")
    return Check(name=name, target=target, found=words(found), passed="pass" if good(found) else "fail")


def verdict_of(matrices: Sequence[Matrix], forks: ForksReport | None, smallest: float, baseline: str) -> str:
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
    against = "equal shares at the same ratios" if baseline == EQUAL else baseline
    if room.low > 0 and room.value >= smallest:
        return f"{first} The best config beats {against} by {with_bounds(room)}."
    return f"{first} The best config was not shown to beat {against}: {with_bounds(room)}."


def rank_sentence(matrices: Sequence[Matrix]) -> str:
    matrix, rank = next(((matrix, matrix.participation) for matrix in matrices if matrix.participation is not None), (None, None))
    if matrix is None or rank is None:
        return "No cell has a gradient that is distinguishable from noise with this many tasks."
    skills = "one skill" if rank.value < 1.25 else "little more than one skill"
    if rank.value >= 2:
        skills = f"about {number(rank.value, 0)} skills"
    return f"To {matrix.student}, {seen_words(matrix)} are {skills}: effective rank {rank_words(rank)}."


def seen_words(matrix: Matrix) -> str:
    """The cells whose gradient is distinguishable from noise: ``9 cells``, ``8 of the 9 cells``."""
    seen, cells = sum(matrix.seen), counted(len(matrix.cells), "cell")
    return cells if seen == len(matrix.cells) else f"{seen} of the {cells}"


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
