"""The boards behind a figure of the Benchmark page, and the ways to narrow them down."""

from __future__ import annotations

import pandas as pd

from frozenlab.app.benchmark.lake.lines import Metric
from frozenlab.tasks.lake.words import OUTCOMES

ALL, FAILED, GAINED, LOST = "all", "failed", "gained", "lost"
FILTERS = (ALL, "valid", "optimal", FAILED, *(name for name in OUTCOMES if name not in ("valid", "optimal")), GAINED, LOST)
"""Ways to narrow boards down: by what became of them, or by who else solves them."""
FILTER_WORDS = {name: outcome.label for name, outcome in OUTCOMES.items()} | {
    ALL: "all boards",
    "valid": "solved",
    "optimal": "solved optimally",
    FAILED: "not solved",
}


def behind(rows: pd.DataFrame, agents: int, size: int | None, outcome: str, metric: Metric, other: pd.DataFrame | None) -> pd.DataFrame:
    """The boards of a figure, small ones first.

    Args:
        rows: the judged answers of the result that the figure is about.
        size: None for all map sizes.
        outcome: one of FILTERS. ``gained`` are those that ``rows`` has right (by ``metric``) and ``other`` has not; ``lost`` the reverse.
        other: the answers of the result it is compared with.
    """
    found = rows[rows["agents"] == agents]
    if size is not None:
        found = found[found["size"] == size]
    if outcome in (GAINED, LOST):
        held = set() if other is None else set(other.loc[other[metric], "board_id"])
        there = found["board_id"].isin(held)
        found = found[found[metric] & ~there] if outcome == GAINED else found[~found[metric] & there]
    elif outcome == FAILED:
        found = found[~found["valid"]]
    elif outcome in ("valid", "optimal"):
        found = found[found[outcome]]
    elif outcome != ALL:
        found = found[found["outcome"] == outcome]
    return found.sort_values(["size", "hole_ratio"], kind="stable")
