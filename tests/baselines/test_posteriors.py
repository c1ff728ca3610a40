from functools import partial

import numpy as np
import pytest
from scipy.special import expit

from vwkde.baselines.posteriors import network_posterior, svm_posterior
from vwkde.datasets import isotropic, three_modes

METHODS = pytest.mark.parametrize("method", [svm_posterior, network_posterior])
QUICK = pytest.mark.parametrize(
    "method", [svm_posterior, partial(network_posterior, steps=100)], ids=["svm_posterior", "network_posterior"]
)
P, Q = isotropic(2).sample(80, 60)


@pytest.fixture(autouse=True)
def needs_torch(request):
    if "network_posterior" in request.node.name:
        pytest.importorskip("torch")


def error(method, pair, n, m):
    """The root mean square difference from the posterior at equal priors, at rows of both classes."""
    x = np.concatenate(pair.sample(1_000, random_state=99))
    found = method(*pair.sample(n, m), 0)(x)
    assert found.shape == (2_000,)
    assert ((found >= 0) & (found <= 1)).all()
    return np.sqrt(np.mean((found - expit(pair.log_ratio(x))) ** 2))


@METHODS
@pytest.mark.parametrize(("n", "m"), [(500, 500), (1_000, 200)])
def test_is_near_the_posterior_at_equal_priors(method, n, m):
    """The sizes' own posterior differs by 0.25 where they do; a constant of one half is off by 0.3."""
    assert error(method, isotropic(2), n, m) < 0.13


@METHODS
def test_sees_several_modes(method):
    assert error(method, three_modes(), 500, 500) < 0.15


@METHODS
def test_sees_twenty_columns(method):
    assert error(method, isotropic(20), 600, 600) < 0.15


@QUICK
def test_the_seed_decides(method):
    x = np.concatenate([P, Q])
    first, again, other = (method(P, Q, seed)(x) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@QUICK
def test_scale_does_not_matter(method):
    np.testing.assert_allclose(method(1000 * P, 1000 * Q, 0)(1000 * Q), method(P, Q, 0)(Q), atol=1e-3)


@QUICK
def test_few_equal_and_constant_rows_are_taken(method):
    for p, q in ((P[:2], Q[:2]), (np.round(P), np.round(Q)), (np.repeat(P[:2], 10, axis=0) * [1, 0], Q * [1, 0])):
        posterior = method(p, q, 0)(p)
        assert ((posterior >= 0) & (posterior <= 1)).all()


def test_wrong_steps_are_refused():
    with pytest.raises(ValueError, match="The 'steps' parameter must be an integer of at least 1"):
        network_posterior(P, Q, 0, steps=0)
