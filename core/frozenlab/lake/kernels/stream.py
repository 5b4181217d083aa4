"""A counter-based random stream: SplitMix64 (Steele, Lea and Flood 2014).

Plain Python, so that recipes of layouts can be read without numba; compiled.py lets kernels call it. The beginning of a stream is computed
from its purpose, so any draw can be made alone, in any order, on any machine.
"""

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(x):
    """The finaliser of SplitMix64: a bijection of 64 bits that looks random."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def below(state, n):
    """(next state, a whole number in 0..n-1); biased by less than n / 2**32. ``state`` is uint64."""
    state += GOLDEN
    return state, np.int64(((mix(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
