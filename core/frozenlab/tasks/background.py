"""What task families prepare in the background when a server starts: a family that has to compile something has a line in ``start``.

This module imports little, because ``frozenlab app`` and the server import it before they show anything.
"""

from __future__ import annotations

from frozenlab.lake.kernels import cache as kernel_cache


def start() -> None:
    """Start all of it in other processes, and return at once."""
    kernel_cache.start()
