"""The queue in words, the same on every page."""

from __future__ import annotations

import time

from frozenlab.app.ui.sessions import duration
from frozenlab.jobs.queue.forecast import Expected
from frozenlab.jobs.queue.look import Look


def summary(found: Look) -> str:
    """``2 running, 5 queued``; empty if nothing is."""
    words = [f"{len(found.running)} running"] if found.running else []
    words += [f"{len(found.waiting)} queued"] if found.waiting else []
    return ", ".join(words) + (", the queue is paused" if found.paused else "")


def begins(expected: Expected, now: float) -> str:
    """``begins in about 3 min``."""
    if expected.begins is None:
        return "begins when those before it are done"
    return f"begins in about {duration(max(0.0, expected.begins - now))}" if expected.begins > now + 1 else "begins now"


def ends(expected: Expected, now: float) -> str:
    """``done in about 12 min, at 14:05``; empty if that is not known."""
    if expected.ends is None:
        return ""
    return f"done in about {duration(max(0.0, expected.ends - now))}, at {time.strftime('%H:%M', time.localtime(expected.ends))}"
