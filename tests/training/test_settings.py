from __future__ import annotations

import pytest

from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.stage_settings import Schedule, share_of_rate


def shares(steps: int, stages: int = 2, schedule: Schedule = "per-stage", **settings: int) -> list[float]:
    """Of the learning rate, step by step."""
    chosen = TrainingSettings(schedule=schedule, steps=steps, **settings)
    return [share_of_rate(step, chosen, stages) for step in range(stages * steps)]


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 50])
def test_every_stage_learns_as_much_and_no_step_nothing(steps: int) -> None:
    of_all = shares(steps)
    assert of_all[:steps] == of_all[steps:]
    assert max(of_all) == 1 and min(of_all) > 0
    assert of_all[of_all.index(1) : steps] == sorted(of_all[of_all.index(1) : steps], reverse=True)
    assert steps < 8 or sum(of_all) / len(of_all) == pytest.approx(0.5, abs=0.07), "about as much as a rate that falls over the session"


def test_the_warm_up_is_of_each_stage() -> None:
    assert shares(8) == pytest.approx([1 / 3, 2 / 3, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6] * 2)
    assert shares(4, warmup_steps=0) == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4] * 2)


def test_over_a_session_it_rises_once_and_falls_or_stays_and_no_step_learns_nothing() -> None:
    assert shares(4, warmup_steps=2, schedule="linear") == pytest.approx([1 / 3, 2 / 3, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])
    assert shares(4, warmup_steps=2, schedule="constant") == pytest.approx([1 / 3, 2 / 3, 1, 1, 1, 1, 1, 1])
    assert shares(1, 1, "linear") == shares(1, 1, "constant") == [1]


def test_another_schedule_has_its_usual_warm_up_unless_one_is_named() -> None:
    assert [TrainingSettings().warmup_steps, TrainingSettings().scheduled("per-stage").warmup_steps] == [5, 2]
    assert TrainingSettings(schedule="per-stage").scheduled("linear").warmup_steps == 5
    assert TrainingSettings(warmup_steps=9, steps=7).scheduled("per-stage") == TrainingSettings(
        schedule="per-stage", warmup_steps=9, steps=7
    )
