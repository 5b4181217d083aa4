"""The influence matrix and its rank against known answers: gradients that are made up, with noise as in the lab."""

from __future__ import annotations

import numpy as np
import pytest

from frozenlab.base.numbers import ComparisonError
from frozenlab.experiments.headroom.alignment import alignment, cosines, entropy_rank, participation_ratio, sign_flip_test, value_of_mixture

DIMENSIONS = 400


def products_of(skills: np.ndarray, noise: float, rng: np.random.Generator, batches: int = 8) -> np.ndarray:
    """Inner products of noisy gradients.

    Args:
        skills: (cells, dimensions) true gradients.
        noise: squared length of a batch's noise over that of a gradient of length 1.
    """
    shape = (len(skills), batches, DIMENSIONS)
    gradients = skills[:, None] + rng.normal(0, np.sqrt(noise / DIMENSIONS), shape)
    return np.einsum("cbd,xyd->cbxy", gradients, gradients)


def orthogonal_skills(*block_sizes: int) -> np.ndarray:
    """Unit gradients: cells of a block share a direction, and blocks are orthogonal."""
    return np.repeat(np.eye(len(block_sizes), DIMENSIONS), block_sizes, axis=0)


@pytest.mark.parametrize(
    ("blocks", "participation", "entropy"),
    [
        ((6,), 1.0, 1.0),
        ((1,) * 6, 6.0, 6.0),
        ((3, 3), 2.0, 2.0),
        ((4, 2), 36 / 20, np.exp(-(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)))),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_ranks_of_known_matrices(blocks: tuple[int, ...], participation: float, entropy: float, noise: float) -> None:
    rng = np.random.default_rng(1)
    found = [products_of(orthogonal_skills(*blocks), noise, rng) for _ in range(10)]
    assert np.mean([participation_ratio(products) for products in found]) == pytest.approx(participation, rel=0.05)
    assert np.mean([entropy_rank(products) for products in found]) == pytest.approx(entropy, rel=0.1)


def test_cosines_of_noisy_gradients_look_orthogonal_and_the_corrected_ones_do_not() -> None:
    """One skill in six cells, with as much noise as the shipped lab model shows: the cosines of mean gradients say three skills or more."""
    products = products_of(orthogonal_skills(6), noise=20.0, rng=np.random.default_rng(2))
    means = products.mean(axis=(1, 3))
    naive = means / np.sqrt(np.outer(means.diagonal(), means.diagonal()))
    spectrum = np.linalg.eigvalsh(naive) / 6
    assert 1 / (spectrum**2).sum() > 3 and np.exp(-(spectrum * np.log(spectrum)).sum()) > 4
    assert np.median(cosines(products)[~np.eye(6, dtype=bool)]) == pytest.approx(1, abs=0.25)
    assert participation_ratio(products) < 1.4


def test_a_saturated_cell_has_no_alignment() -> None:
    """No gradient at all, and a gradient that is nothing but noise: neither has cosines, and the ranks leave both out."""
    skills = orthogonal_skills(2, 1, 1, 1)
    skills[3:] = 0
    products = products_of(skills, noise=3.0, rng=np.random.default_rng(3))
    products[4], products[:, :, 4] = 0, 0
    found = alignment(products)
    assert found.seen.tolist() == [True, True, True, False, False]
    assert np.isnan(found.cosine[3:]).all() and np.isnan(found.cosine[:, 3:]).all() and np.isfinite(found.cosine[:3, :3]).all()
    assert found.participation.low <= 9 / 5 <= found.participation.high
    nothing = alignment(np.zeros((2, 8, 2, 8)))
    assert not nothing.seen.any() and np.isnan(nothing.participation.value)


def test_noise_is_seldom_taken_for_a_gradient() -> None:
    rng = np.random.default_rng(4)
    ps = np.array([sign_flip_test(noise @ noise.T) for noise in rng.normal(size=(1500, 8, 50))])
    assert (ps < 0.01).mean() == pytest.approx(1 / 128, abs=0.006)
    assert (ps < 0.1).mean() == pytest.approx(0.1, abs=0.025)


@pytest.mark.parametrize("cosine", [0.0, 0.5, 0.9])
def test_intervals_hold_the_true_rank_about_as_often_as_they_say(cosine: float) -> None:
    """Four cells with the same cosine between any two; noise twice as long as the gradients."""
    rng = np.random.default_rng(5)
    skills = np.sqrt(1 - cosine) * np.eye(4, DIMENSIONS)
    skills[:, 10] = np.sqrt(cosine)
    true = 16 / (4 + 12 * cosine**2)
    found = [alignment(products_of(skills, 4.0, rng)) for _ in range(60)]
    held = [each.participation.low - 1e-9 <= true <= each.participation.high + 1e-9 for each in found]
    assert np.mean(held) >= 0.88
    off = ~np.eye(4, dtype=bool)
    within = [(np.abs(each.cosine[off] - cosine) < 2.36 * each.error[off]).mean() for each in found]
    assert np.mean(within) >= 0.88


def test_value_of_a_mixture() -> None:
    influence = np.array([[2.0, 1.0], [1.0, 0.0]])
    assert value_of_mixture(influence, np.array([1.0, 0.0]), np.array([0.5, 0.5])) == 1.5
    assert value_of_mixture(influence, np.array([0.0, 1.0]), np.array([0.5, 0.5])) == 0.5


def test_too_few_batches_are_refused() -> None:
    with pytest.raises(ComparisonError, match="7 batches a cell cannot tell a gradient from noise"):
        alignment(np.zeros((2, 7, 2, 7)))
