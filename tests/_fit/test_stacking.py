import numpy as np
import pytest

import vwkde
from vwkde._data.sample import make_unordered_sample
from vwkde._fit.sharing import FoldShares
from vwkde._fit.stacking import fit_stack
from vwkde.datasets import mean_difference

PAIR = mean_difference(3, 1.0)


def drawn(rows=4_000):
    p, q = PAIR.sample(rows)
    return tuple(map(make_unordered_sample, (p, q))), (PAIR.log_ratio(p), PAIR.log_ratio(q))


def test_a_log_ratio_that_is_too_flat_is_made_steeper():
    samples, (at_p, at_q) = drawn()
    stack = fit_stack([(0.5 * at_p + 0.2, 0.5 * at_q + 0.2)], np.array([1.0]), samples)
    assert stack.coefficients == pytest.approx([2.0], rel=0.1)
    assert stack.level == pytest.approx(-0.4, abs=0.1)


def test_noise_gets_no_coefficient_and_none_is_negative():
    samples, right = drawn()
    random = np.random.default_rng(0)
    noise = tuple(random.normal(size=len(u)) for u in right)
    stack = fit_stack([right, noise, (-right[0], -right[1])], np.array([0.4, 0.6, 0.0]), samples)
    assert stack.coefficients[0] == pytest.approx(1, abs=0.15)
    assert stack.coefficients[1] < 0.1
    assert stack.coefficients[2] == 0


def test_few_rows_stay_close_to_the_start():
    samples, right = drawn(rows=6)
    flat = tuple(0.5 * u for u in right)
    assert fit_stack([flat], np.array([1.0]), samples).coefficients == pytest.approx([1.0], abs=0.2)


def test_a_mixture_of_two_combinations_is_linear():
    folds = np.array([0, 1]), np.array([1, 0])
    one = FoldShares(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 4.0]), folds)
    other = FoldShares(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([2.0, 0.0]), folds)
    mixed = one.mixed(other, 0.25)
    values = np.array([[1.0, 2.0], [10.0, 20.0]])
    np.testing.assert_allclose(mixed.mean(lambda k: values[k], 0), [0.25 * 1 + 0.75 * 10, 0.75 * 2 + 0.25 * 20])
    np.testing.assert_allclose(mixed.level_at(1), [1.0, 1.5])


def test_the_default_is_a_mixture_of_a_mean_and_a_stack_and_named_guides_are_not():
    p, q = PAIR.sample(200)
    default = vwkde.DensityRatio().fit(p, q)._fitted.average
    assert len(default.alternatives) == 2
    assert not vwkde.DensityRatio(guide="gaussian").fit(p, q)._fitted.average.alternatives
