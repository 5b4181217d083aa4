"""What one viewer may have the server compute: allowances that are spent and refill. Operators have no limits."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from frozenlab.base import roles
from frozenlab.base.errors import LabError
from frozenlab.base.roles import Person


class Allowance(NamedTuple):
    """So much of something at once, and so much more with each minute."""

    what: str
    """As a message names it: ``plans``."""
    most: float
    a_minute: float


OF_ADDRESS = 40
"""Viewers who all get what one viewer gets, although they come from one address, as a class does: more of them share it. So nobody gets
any amount by coming in again and again."""


class LimitError(LabError):
    """A viewer has used up an allowance for now; the message says how long to wait."""


class Purse:
    """What is left of allowances, for each of the last ``remembered`` people who spent."""

    def __init__(self, remembered: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._remembered, self._clock, self._lock = remembered, clock, threading.Lock()

    def spend_as(self, who: Person, allowance: Allowance, amount: float = 1.0) -> float:
        """Take ``amount`` from the allowance of a viewer, and from that of everybody at their address; returns as :meth:`spend` does."""
        amount = min(amount, allowance.most)
        wait = self.spend(allowance, who.id, amount)
        if wait or not who.address:
            return wait
        of_all = allowance._replace(most=OF_ADDRESS * allowance.most, a_minute=OF_ADDRESS * allowance.a_minute)
        return self.spend(of_all, f"all at {who.address}", amount)

    def spend(self, allowance: Allowance, who: str, amount: float = 1.0) -> float:
        """Take ``amount`` from the allowance of ``who``, or the whole allowance if it is less.

        Returns 0, or, if not so much is left, the seconds until it is; then nothing is taken.
        """
        amount, key = min(amount, allowance.most), (allowance.what, who)
        with self._lock:
            now = self._clock()
            left, since = self._left.pop(key, (allowance.most, now))
            left = min(allowance.most, left + (now - since) * allowance.a_minute / 60)
            self._left[key] = (left - amount if left >= amount else left, now)
            while len(self._left) > self._remembered:
                self._left.popitem(last=False)
        return 0.0 if left >= amount else (amount - left) * 60 / allowance.a_minute


_purse = Purse()


def spend(allowance: Allowance, amount: float = 1.0) -> None:
    """Let whoever asks spend ``amount``. Raises LimitError if a viewer has no more left."""
    who = roles.person()
    if who.role is roles.Role.VIEWER and (wait := _purse.spend_as(who, allowance, amount)):
        raise LimitError(f"you have asked for as many {allowance.what} as one viewer gets for now; try again in {wait + 1:.0f} s")
