"""NumPy's exponentials against SciPy's functions, far out too."""

import numpy as np
import pytest
from scipy.special import expit, log_expit, logsumexp

from vwkde._models.exponentials import chance_of, log_sum, loss, loss_and_wrong

MARGINS = np.concatenate([np.linspace(-40, 40, 401), [-1e9, -800.0, 800.0, 1e9, -np.inf, np.inf]])


def test_losses_and_chances():
    np.testing.assert_allclose(loss(MARGINS), -log_expit(MARGINS), rtol=1e-14)
    losses, wrong = loss_and_wrong(MARGINS)
    np.testing.assert_array_equal(losses, loss(MARGINS))
    np.testing.assert_allclose(wrong, expit(-MARGINS), rtol=1e-14)
    np.testing.assert_allclose(chance_of(MARGINS), expit(MARGINS), rtol=1e-14)


@pytest.mark.parametrize("shape", [(1, 5), (4, 1), (7, 30), (3, 2, 9)])
def test_the_log_of_a_sum(shape):
    logits = 300 * np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(log_sum(logits), logsumexp(logits, axis=0), rtol=1e-14)


def test_parts_that_are_nowhere():
    logits = np.array([[-np.inf, -np.inf, np.inf], [-np.inf, -2e5, 0.0]])
    np.testing.assert_array_equal(log_sum(logits), [-np.inf, -2e5, np.inf])
