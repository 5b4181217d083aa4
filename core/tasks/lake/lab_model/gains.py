"""The statistics of measured gains: how much of them is chance, and which engineer gains more."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from frozenlab.studies.effects import contrast
from frozenlab.studies.statistics import CLEAR
from frozenlab.tasks.lake.lab_model.teaching import centred

ENGINEERS = ("taught", "policy", "rules", "kept")
"""The engineers to compare: the taught model, the session's own checkpoint, the rules, and none."""
KEY = ["evidence", "author", "number", "replicate"]
"""The columns that identify a row of a table of outcomes."""


def reliability(table: pd.DataFrame) -> dict[str, Any]:
    """How much of the differences between proposals of one evidence comes from the proposals, and how much from chance.

    Returns:
        ``spread``: the standard deviation of gains within evidences (of one measurement); ``board_noise``: the part of it that other
        held-out boards would change; and, for the evidences measured twice (``twice``): ``noise``, the standard deviation between two
        measurements of one proposal, and ``reliability``, the share of the variance that is not noise (the intraclass correlation, with its
        95 % interval by the F distribution). Standard deviations are rates; unknown values are None.
    """
    gains = centred(table)
    groups = table.groupby(["evidence", "replicate"])
    spread = float(np.sqrt((gains**2).sum() / (len(table) - groups.ngroups)))
    board_noise = float(np.sqrt(np.mean([board_variance(rows) for _, rows in groups])))
    result: dict[str, Any] = {"n": len(table), "evidences": int(table["evidence"].nunique()), "spread": spread, "board_noise": board_noise}
    pairs = table.pivot(index=KEY[:-1], columns="replicate", values="gain").dropna()
    pairs -= pairs.groupby("evidence").transform("mean")
    twice = pairs.index.get_level_values("evidence").nunique() if pairs.shape[1] > 1 else 0
    freedom = len(pairs) - twice
    if not twice or not pairs.to_numpy().any():
        return result | {"twice": twice, "noise": None, "reliability": None, "low": None, "high": None}
    between = float(((pairs[0] + pairs[1]) ** 2).sum() / 2 / freedom)
    within = float(((pairs[0] - pairs[1]) ** 2).sum() / 2 / freedom)
    critical = float(stats.f.isf(CLEAR / 2, freedom, freedom))
    alike, low, high = ((between - within * by) / (between + within * by) for by in (1, critical, 1 / critical))
    return result | {"twice": twice, "noise": float(np.sqrt(within)), "reliability": alike, "low": low, "high": high}


def board_variance(rows: pd.DataFrame) -> float:
    """The variance of a proposal's gain, relative to the others of its evidence, over other held-out boards of the same sizes."""
    answers = np.array([[answer == "1" for answer in row] for row in rows["answers"]], dtype=float)
    apart = pd.DataFrame(answers - answers.mean(axis=0)).T.groupby(json.loads(rows["sizes"].iloc[0]))
    cells = apart.var() / apart.count()
    return float((cells.sum() / len(cells) ** 2).sum() / (len(rows) - 1))


def compared(table: pd.DataFrame) -> dict[str, Any]:
    """Gains by engineer over the sessions that have all of them, and the differences of each two, paired by session: means with 95 % t
    intervals, as rates."""
    outcomes = table.rename(columns={"evidence": "seed", "author": "arm", "gain": "value"})[["seed", "arm", "value"]]
    arms = [arm for arm in ENGINEERS if arm in set(outcomes["arm"])]
    gains = outcomes.pivot(index="seed", columns="arm", values="value")[arms].dropna()
    return {
        "sessions": len(gains),
        "gains": {arm: {"mean": float(gains[arm].mean()), "sd": float(gains[arm].std())} for arm in arms},
        "differences": {f"{plus} - {minus}": asdict(contrast(outcomes, [plus], [minus])) for plus, minus in combinations(arms, 2)},
    }
