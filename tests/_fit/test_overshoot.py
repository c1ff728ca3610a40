import numpy as np
import pytest

import vwkde
from vwkde._data.sample import make_unordered_sample
from vwkde._fit.overshoot import Reduced, without_overshoot
from vwkde._models.guides.cross_fit import cross_fit


def shifted(columns, rows, seed, move=0.3):
    random = np.random.default_rng(seed)
    p, q = random.normal(move, size=(rows, columns)), random.normal(size=(rows, columns))
    return make_unordered_sample(p), make_unordered_sample(q)


class Twice:
    """What counts every difference twice."""

    def __init__(self, model):
        self.model = model

    def __call__(self, x):
        return 2 * self.model(x)

    def noise(self, x):
        return 4 * self.model.noise(x)


def doubled(guide):
    from dataclasses import replace

    p, q = (2 * values for values in guide.at_samples)
    return replace(guide, models=tuple(map(Twice, guide.models)), at_samples=(p, q))


def test_a_guide_that_counts_twice_is_reduced_to_what_it_should_be():
    samples = shifted(4, 1_500, seed=0)
    guide = cross_fit("line", samples, 0)
    reduced = without_overshoot(doubled(guide), samples)
    for values, expected in zip(reduced.at_samples, guide.at_samples, strict=True):
        slope = values @ expected / (expected @ expected)
        assert slope == pytest.approx(1, abs=0.12)
    new = np.random.default_rng(1).normal(size=(5, 4))
    factor = reduced.models[0].factor
    assert isinstance(reduced.models[0], Reduced)
    np.testing.assert_allclose(reduced.models[0](new), 2 * factor * guide.models[0](new))
    np.testing.assert_allclose(reduced.models[0].noise(new), (2 * factor) ** 2 * guide.models[0].noise(new))


@pytest.mark.parametrize("seed", range(10))
def test_a_guide_that_is_right_stays(seed):
    samples = shifted((2, 5, 10)[seed % 3], (300, 1_000)[seed % 2], seed=[2, seed])
    guide = cross_fit("shared-gaussian", samples, 0)
    assert without_overshoot(guide, samples) is guide


def test_a_guide_with_much_noise_or_a_bias_stays():
    few = shifted(20, 60, seed=3)
    noisy = doubled(cross_fit("gaussian", few, 0))
    assert without_overshoot(noisy, few) is noisy
    biased = cross_fit("logistic", few, 0)
    assert without_overshoot(biased, few) is biased


def test_steps_of_a_chain_of_states_are_not_counted_twice():
    """Products of codes depend on each other: their sum was a quarter too large, and no interval had the truth."""
    random = np.random.default_rng(8)

    def moves(a):
        return np.array([[0.4, a, 0.6 - a], [0.6 - a, 0.4, a], [a, 0.6 - a, 0.4]])

    def chains(a, rows, steps=10):
        x = np.empty((rows, steps), int)
        x[:, 0] = random.integers(0, 3, rows)
        for at in range(1, steps):
            x[:, at] = (random.random((rows, 1)) > moves(a)[x[:, at - 1]].cumsum(axis=1)).sum(axis=1)
        return x

    truth = 9 * np.sum(moves(0.36) / 3 * np.log(moves(0.36) / moves(0.24)))
    estimate = vwkde.kl_divergence(chains(0.36, 1_500).astype(float), chains(0.24, 1_500).astype(float))
    assert estimate.interval[0] < truth < estimate.interval[1]
    assert estimate.value < 1.2 * truth
