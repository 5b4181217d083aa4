"""When jobs begin and end, from what jobs like them took."""

from __future__ import annotations

import pytest

from frozenlab.jobs.needs import Level, Needs
from frozenlab.jobs.queue.book import Ended, Entry
from frozenlab.jobs.queue.forecast import Expected, Pace, forecast

MACHINE = Needs(cores=2, memory=100)


def entry(name: str, place: float = 0.0, **values) -> Entry:
    return Entry(name, "session", name, place=place, cores=1, memory=1, **values)


def test_the_pace_is_the_median_of_the_last_jobs_of_a_sort_by_their_amount() -> None:
    ended = [Ended("x", "session", "x", "done", 0.0, seconds, "lab/grpo", 10.0) for seconds in (100.0, 300.0, 200.0)]
    ended += [Ended("x", "session", "x", "stopped", 0.0, 1.0, "lab/grpo", 10.0)]
    pace = Pace(ended)
    assert pace.seconds("session", "lab/grpo", 20.0) == pytest.approx(400.0)
    assert pace.seconds("session", "other/grpo", 20.0) is None


def test_jobs_begin_as_others_end_in_their_order() -> None:
    entries = [
        entry("a", running=True, began=50.0),
        entry("b", running=True, began=50.0),
        entry("c", 1.0),
        entry("d", 2.0),
        entry("e", 3.0),
    ]
    found = forecast(entries, {"a": 10.0, "b": 30.0, "c": 40.0, "d": 5.0, "e": 5.0}, MACHINE, now=100.0)
    assert found["a"] == Expected(50.0, 110.0)
    assert found["c"] == Expected(110.0, 150.0)
    assert found["d"] == Expected(130.0, 135.0)
    assert found["e"] == Expected(135.0, 140.0)


def test_what_is_not_known_is_not_guessed() -> None:
    entries = [entry("a", running=True, began=50.0), entry("b", running=True, began=50.0), entry("c", 1.0), entry("p", paused=True)]
    found = forecast(entries, {"a": None, "b": None, "c": 40.0}, MACHINE, now=100.0)
    assert found["a"] == Expected(50.0, None)
    assert found["c"] == found["p"] == Expected(None, None)
    urgent = entry("u", level=Level.URGENT)
    assert forecast([*entries, urgent], {"u": 1.0}, MACHINE, 100.0, paused=True)["u"] == Expected(100.0, 101.0)
