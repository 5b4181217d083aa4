"""Where every random draw comes from: one generator for each seed, purpose and place.

    seeds.rng(spec.seed, "training/plans", step, row)      # a numpy generator
    torch.manual_seed(seeds.derive(spec.seed, "training/step", step))      # a number, for libraries that take one

Two draws share nothing unless seed, purpose and place are all the same. A purpose names one use and stands at one place in the source, so
two uses can never meet on one key (``tests/test_seeds.py`` reads the source for it). No other module of the lab makes a generator.
"""

from __future__ import annotations

import hashlib
from operator import index

import numpy as np


def rng(seed: int, purpose: str, *place: int) -> np.random.Generator:
    """The generator of one purpose at one place, such as a step and a row. Raises TypeError if seed or place are not whole numbers."""
    return np.random.default_rng(mixed(purpose, index(seed), *map(index, place)))


def derive(seed: int, purpose: str, *place: int) -> int:
    """A separate seed for one purpose at one place, in 0..2^31 - 1, the range that all libraries and APIs accept."""
    return mixed("seed", purpose, index(seed), *map(index, place)) >> 33


def mixed(*parts: int | str) -> int:
    """64 random-looking bits that depend on the parts only."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little")
