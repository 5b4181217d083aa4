"""How the skills of a student hang together: the influence matrix of its cells, and the effective rank of that matrix.

A cell's gradient is the policy gradient on its tasks. The inner product of two cells' gradients says, to first order, what practice in one
changes in the other. Gradients are known from few tasks only, and noise matters twice: it adds to a gradient's product with itself, so
that cosines of noisy gradients are too small and skills look separate that are one; and it adds to the square of every cosine. So each cell
has several *batches* of its own tasks, and only products of different batches count: their noise is independent and has mean zero.

Everything is computed from the inner products of all batches, ``products`` of shape (cells, batches, cells, batches). NumPy only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from math import exp, log, nan

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from frozenlab.base.numbers import ComparisonError, Interval
from frozenlab.experiments.studies.statistics import CLEAR

Floats = NDArray[np.float64]

LEAST_BATCHES = 8
"""Batches from which the test of a gradient can reach :data:`SIGNAL`."""
SIGNAL = 0.01
"""A cell's gradient is distinguishable from noise below this p value."""


@dataclass(frozen=True)
class Alignment:
    """The influence matrix of a student."""

    influence: Floats
    """(cells, cells): unbiased inner products of the cells' gradients, in the unit of the products."""
    p: Floats
    """(cells,): p value of the test that a cell's gradient is zero."""
    cosine: Floats
    """(cells, cells): cosines of the gradients without their noise; NaN for cells whose gradient is not distinguishable from noise. By
    chance an estimate may lie outside -1..1."""
    error: Floats
    """(cells, cells): standard error of each cosine, by the jackknife over batches."""
    participation: Interval
    """Participation ratio of the eigenvalues of ``cosine``: its squared trace over the sum of its squared entries."""
    entropy: Interval
    """Effective rank of Roy & Vetterli (2007): the exponential of the entropy of the normalised eigenvalues."""

    @property
    def seen(self) -> NDArray[np.bool_]:
        """(cells,): whether a cell's gradient is distinguishable from noise."""
        return self.p < SIGNAL


def alignment(products: Floats) -> Alignment:
    """The influence matrix from the inner products of all batches, (cells, batches, cells, batches).

    Raises:
        ComparisonError: there are fewer than LEAST_BATCHES batches.
    """
    cells, batches = products.shape[:2]
    if batches < LEAST_BATCHES:
        raise ComparisonError(f"{batches} batches a cell cannot tell a gradient from noise; take {LEAST_BATCHES} or more")
    p = np.array([sign_flip_test(products[cell, :, cell]) for cell in range(cells)])
    seen = np.flatnonzero(p < SIGNAL)
    cosine, error = np.full((2, cells, cells), nan)
    participation = entropy = Interval(nan, nan, nan, batches, "batch")
    if len(seen):
        kept = products[seen][:, :, seen]
        cosine[np.ix_(seen, seen)] = cosines(kept)
        error[np.ix_(seen, seen)] = _jackknife_error(np.array([cosines(part) for part in _without_one_batch(kept)]))
        participation, entropy = (_with_interval(rank, kept) for rank in (participation_ratio, entropy_rank))
    return Alignment(inner_products(products), p, cosine, error, participation, entropy)


def inner_products(products: Floats) -> Floats:
    """(cells, cells): unbiased inner products of the cells' mean gradients. A cell's product with itself leaves out those of a batch with
    itself, which contain its noise."""
    cells, batches = products.shape[:2]
    means = products.mean(axis=(1, 3))
    own = products[range(cells), :, range(cells)]
    means[range(cells), range(cells)] = (own.sum(axis=(1, 2)) - own.trace(axis1=1, axis2=2)) / (batches * (batches - 1))
    return means


def sign_flip_test(own: Floats) -> float:
    """p value of the test that a gradient is zero, from the inner products of its batches, (batches, batches).

    If it is zero, a batch's gradient is noise, and its opposite is as likely. So the mean product of different batches is compared with
    its values over all signs of the batches (Fisher's randomisation test): the level is exact, whatever the size and shape of the noise.
    """
    signs = np.array([(1, *rest) for rest in product((1, -1), repeat=len(own) - 1)])
    values = np.einsum("pi,ij,pj->p", signs, own, signs)
    return float((values >= values[0] - 1e-9 * abs(values[0]) - 1e-300).mean())


def cosines(products: Floats) -> Floats:
    """(cells, cells): cosines corrected for attenuation by noise, with ones on the diagonal."""
    inner = inner_products(products)
    lengths = np.sqrt(np.clip(inner.diagonal(), 1e-300, None))
    corrected = inner / np.outer(lengths, lengths)
    np.fill_diagonal(corrected, 1.0)
    return corrected


def participation_ratio(products: Floats) -> float:
    """Squared sum over sum of squares of the eigenvalues of the matrix of cosines, which is 1 for one skill and k for k separate ones.

    The sum of squares is that of the entries. The square of a noisy entry is too large by the noise's variance, so each square is estimated
    by products of pairs of batches that have none in common.
    """
    cells, batches = products.shape[:2]
    inner = inner_products(products).diagonal()
    squares = (
        products.sum(axis=(1, 3)) ** 2
        - (products.sum(axis=3) ** 2).sum(axis=1)
        - (products.sum(axis=1) ** 2).sum(axis=2)
        + (products**2).sum(axis=(1, 3))
    ) / (batches * (batches - 1)) ** 2
    squares = squares / np.clip(np.outer(inner, inner), 1e-300, None)
    np.fill_diagonal(squares, 1.0)
    total = float(squares.sum())
    return float(np.clip(cells**2 / total, 1, cells)) if total > 0 else float(cells)


def entropy_rank(products: Floats) -> float:
    """Exponential of the entropy of the eigenvalues of the matrix of cosines (Roy & Vetterli 2007).

    Noise spreads eigenvalues. So the directions come from one half of the batches and their weights from the other, for all halves.
    """
    cells, batches = products.shape[:2]
    lengths = np.sqrt(np.clip(inner_products(products).diagonal(), 1e-300, None))
    weights = np.zeros(cells)
    for half in combinations(range(batches), batches // 2):
        other = [batch for batch in range(batches) if batch not in half]
        one, two = (_of_batches(products, part) / np.outer(lengths, lengths) for part in (list(half), other))
        for first, second in ((one, two), (two, one)):
            directions = np.linalg.eigh(first)[1]
            weights += np.einsum("ck,cd,dk->k", directions, second, directions)
    shares = np.clip(weights, 0, None) / np.clip(weights, 0, None).sum()
    shares = shares[shares > 0]
    return exp(-float((shares * np.log(shares)).sum()))


def _of_batches(products: Floats, batches: list[int]) -> Floats:
    """Inner products from some batches; the diagonal stays that of unit vectors once it is divided by the lengths of all batches."""
    inner = inner_products(products[:, batches][:, :, :, batches])
    np.fill_diagonal(inner, inner_products(products).diagonal())
    return inner


def _without_one_batch(products: Floats) -> list[Floats]:
    return [np.delete(np.delete(products, batch, axis=1), batch, axis=3) for batch in range(products.shape[1])]


def _jackknife_error(values: Floats) -> Floats:
    """The standard error of a statistic from its values without each batch (Efron & Stein 1981), along the first axis."""
    n = len(values)
    return np.asarray(np.sqrt((n - 1) / n * ((values - values.mean(axis=0)) ** 2).sum(axis=0)))


def _with_interval(rank: Callable[[Floats], float], products: Floats) -> Interval:
    """The rank with a t interval by the jackknife over batches, on the scale of its logarithm, within 1..cells."""
    cells, batches = products.shape[:2]
    value = rank(products)
    error = float(_jackknife_error(np.log([rank(part) for part in _without_one_batch(products)])))
    half = float(stats.t.isf(CLEAR / 2, batches - 1)) * error
    low, high = (float(np.clip(exp(log(value) + side), 1, cells)) for side in (-half, half))
    return Interval(value, low, high, batches, "batch")


def value_of_mixture(influence: Floats, shares: Floats, target: Floats) -> float:
    """What a small step on a mixture of the cells changes in a target mixture, to first order: q' I t."""
    return float(shares @ influence @ target)
