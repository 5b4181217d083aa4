from __future__ import annotations

import pandas as pd
import pytest

from frozenlab.models.training.stage_run import step_figures


def test_step_figures_tell_sizes_apart() -> None:
    judged = pd.DataFrame(
        {
            "cell": ["3", "3", "6", "6"],
            "reward": [1.0, 1.0, 0.0, 1.0],
            "valid": [True, True, False, True],
            "optimal": [True, False, False, True],
            "tokens": [5, 7, 9, 11],
        }
    )
    figures = step_figures(judged)
    assert (figures["valid"], figures["reward"], figures["length"]) == (0.75, 0.75, 8.0)
    assert (figures["valid_3"], figures["valid_6"], figures["optimal_3"]) == (1.0, 0.5, 0.5)
    assert figures["optimal"] == pytest.approx(0.5)
