"""What visitors may have a server compute that only looks: allowances that are spent and refill. Other servers have no limits."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit import config

from frozenlab.base import look_only
from frozenlab.base.errors import LabError


class Allowance(NamedTuple):
    """So much of something at once, and so much more with each minute, for one visitor."""

    what: str
    """As a message names it: ``plans``."""
    most: float
    a_minute: float


PLANS = Allowance("plans", 120, 60)
"""Answers of models."""
DRAWN = Allowance("drawn boards", 1200, 480)
"""Boards drawn from a config; a sample of Design has 48 at first."""
ONE_BY_ONE = 12
"""Boards of a sample that one board drawn at random counts as: it has to be exactly as asked for."""
SOLVED = Allowance("solutions of large boards", 6, 3)
BROUGHT = Allowance("boards of your own", 30, 20)
"""Texts and files that are read."""
HANDED_IN = Allowance("answers handed in", 60, 60)
ENTERED = Allowance("contest entries", 5, 0.5)
MESSAGES = Allowance("messages", 60, 600)
FILES, OF_ADDRESS = Allowance("megabytes of uploads", 8, 4), Allowance("megabytes of uploads of an address", 64, 32)
"""An address may be that of a whole class."""
TOGETHER = 40
"""Visitors whose allowances all visitors have together, so that coming in again and again gains nothing in the end."""


class LimitError(LabError):
    """A visitor has used up an allowance for now; the message says how long to wait."""


class Purse:
    """What is left of allowances, for all visitors together and for each of the last ``remembered`` who spent."""

    def __init__(self, remembered: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._together: dict[str, tuple[float, float]] = {}
        self._remembered, self._clock, self._lock = remembered, clock, threading.Lock()

    def spend(self, allowance: Allowance, visitor: str, amount: float = 1.0) -> float:
        """Take ``amount`` from the allowance of a visitor, or the whole allowance if it is less, and from that of all.

        Returns 0, or, if not so much is left, the seconds until it is; then nothing is taken.
        """
        what, most, a_minute = allowance
        amount, key = min(amount, most), (what, visitor)
        with self._lock:
            now = self._clock()
            own, since = self._left.pop(key, (most, now))
            all_of, all_since = self._together.get(what, (TOGETHER * most, now))
            own = min(most, own + (now - since) * a_minute / 60)
            all_of = min(TOGETHER * most, all_of + (now - all_since) * TOGETHER * a_minute / 60)
            wait = max((amount - own) * 60 / a_minute, (amount - all_of) * 60 / (TOGETHER * a_minute), 0.0)
            taken = 0.0 if wait else amount
            self._left[key], self._together[what] = (own - taken, now), (all_of - taken, now)
            while len(self._left) > self._remembered:
                self._left.popitem(last=False)
        return wait


PURSE = Purse()


def spend(allowance: Allowance, amount: float = 1.0) -> None:
    """Let the visitor whose page runs spend ``amount``. Raises LimitError if not so much is left."""
    if look_only.on() and (wait := PURSE.spend(allowance, visitor(), amount)):
        raise LimitError(f"you have asked for as many {allowance.what} as one visitor gets for now; try again in {wait + 1:.0f} s")


def visitor() -> str:
    """The visitor whose page runs, by the cookie that the door has given; empty for the person at this machine."""
    return st.context.cookies.get(cookie_name(), "").partition(".")[0]


def cookie_name() -> str:
    """Browsers send a cookie to every server of a machine, so its name says which server it is for."""
    return f"frozenlab-{config.get_option('server.port')}"
