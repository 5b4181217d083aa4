"""Wrong passwords are slowed down: each address waits longer after each, and all addresses together get only so many."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from frozenlab.app.ui.door.addresses import network

FREE = 3
"""Wrong tries of an address before it has to wait."""
LONGEST_WAIT = 300.0
"""Seconds; the wait doubles from one second up to it, and is forgotten after as long again."""
TOGETHER, REFILL = 60, 0.1
"""Wrong tries of all addresses together at once, and those that come back each second: 8,640 a day."""


class Tries:
    """The wrong tries of the last ``remembered`` addresses."""

    def __init__(self, remembered: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._left, self._since = float(TOGETHER), clock()
        self._remembered, self._clock = remembered, clock

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0: now."""
        now = self._clock()
        wrong, last = self._wrong.get(network(address), (0, now))
        own = last + delay(wrong) - now
        self._left, self._since = min(TOGETHER, self._left + (now - self._since) * REFILL), now
        return max(0.0, own, 0.0 if self._left >= 1 else (1 - self._left) / REFILL)

    def wrong(self, address: str) -> None:
        """Note a wrong try."""
        now, name = self._clock(), network(address)
        before, last = self._wrong.pop(name, (0, now))
        self._wrong[name] = ((1 if now - last > delay(before) + LONGEST_WAIT else before + 1), now)
        self._left -= 1
        while len(self._wrong) > self._remembered:
            self._wrong.popitem(last=False)

    def right(self, address: str) -> None:
        """Forget the wrong tries of an address."""
        self._wrong.pop(network(address), None)


def delay(wrong: int) -> float:
    """Seconds to wait after so many wrong tries."""
    return 0.0 if wrong < FREE else min(LONGEST_WAIT, 2.0 ** min(wrong - FREE, 30))
