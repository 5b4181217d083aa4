"""A language model's training that goes wrong is told, and one that does not is left in peace."""

from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.loop.signs import STEPS, signs

WELL = {"clipped": 0.1, "sampling_ratio": 1.01, "mixed": 0.6}


def log(steps: int = STEPS, **figures: float) -> pd.DataFrame:
    return pd.DataFrame([WELL | figures] * steps)


@pytest.mark.parametrize(
    ("figure", "value", "words"),
    [
        ("clipped", 0.95, "95% of the answers are cut off"),
        ("sampling_ratio", 0.85, "their mean ratio is 0.85"),
        ("sampling_ratio", 1.2, "their mean ratio is 1.20"),
        ("mixed", 0.05, "In only 5% of the groups"),
    ],
)
def test_a_figure_out_of_bounds_is_told_with_what_helps(figure: str, value: float, words: str) -> None:
    [told] = signs(log(**{figure: value}))
    assert words in told
    assert signs(log(STEPS - 1, **{figure: value})) == [], "too early to tell"


def test_nothing_is_told_where_all_is_well_or_nothing_was_measured() -> None:
    assert signs(log()) == signs(pd.DataFrame()) == signs(log().drop(columns=list(WELL))) == []
    assert signs(log(clipped=float("nan"))) == []
