"""Effects as per cent of headroom: how much of what an oracle gains over uniform an arm gains."""

from __future__ import annotations

from math import isnan

import pandas as pd

from frozenlab.base.numbers import MANY, interval, points
from frozenlab.experiments.studies.effects import contrast, units
from frozenlab.experiments.studies.statistics import ratio_of_means
from frozenlab.experiments.studies.tables import HeadroomShares, ShareOfHeadroom, none

UNIFORM, ORACLE = "uniform", "oracle"
"""The names of the arms that are the ends of the scale."""


def shares_of_headroom(outcomes: pd.DataFrame) -> HeadroomShares | None:
    """(arm - uniform) / (oracle - uniform) for every other arm, as a ratio of means over units with Fieller's interval.

    Units are seeds, or students if there are several. Only units with both ends and the arm count.

    Args:
        outcomes: as in :mod:`frozenlab.experiments.studies.effects`.

    Returns:
        None without an arm ``uniform`` or ``oracle``, or before a unit has both. If the interval of the headroom does not lie above 0, no
        share is defined, and ``why`` says so.
    """
    table = outcomes[outcomes["value"].notna()].pivot(index=units(outcomes), columns="arm", values="value")
    if not {UNIFORM, ORACLE} <= {*table.columns} or table[[UNIFORM, ORACLE]].dropna().empty:
        return None
    room = contrast(outcomes, [ORACLE], [UNIFORM])
    defined = room.low > 0
    bounds = "no interval" if isnan(room.low) else interval(room.low, room.high, MANY)
    why = f"The headroom of {points(room.mean, MANY)} ({bounds}) is not clear of zero, so no share of it is defined."
    shares = []
    for arm in table.columns.drop([UNIFORM, ORACLE]) if defined else ():
        own = table[[arm, UNIFORM, ORACLE]].dropna()
        gained, possible = own[arm] - own[UNIFORM], own[ORACLE] - own[UNIFORM]
        if "student" in outcomes and own.index.get_level_values("student").nunique() > 1:
            gained, possible = (values.groupby(level="student").mean() for values in (gained, possible))
        share, low, high = ratio_of_means(gained.tolist(), possible.tolist())
        if not isnan(share):
            shares.append(ShareOfHeadroom(arm=str(arm), share=share, low=low, high=high, n=len(gained)))
    shares.sort(key=lambda one: -one.share)
    return HeadroomShares(headroom=room.mean, low=none(room.low), high=none(room.high), shares=tuple(shares), why="" if defined else why)
