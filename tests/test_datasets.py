import numpy as np
import pytest

from vwkde import datasets


@pytest.mark.parametrize(
    ("pair", "kl"),
    [
        (datasets.one_dimensional(), 0.664),
        (datasets.isotropic(20), 1.0),
        (datasets.heteroscedastic(10), 1.054),
        (datasets.heteroscedastic(20), 0.496),
        (datasets.mean_difference(3, 2.0), 2.0),
    ],
)
def test_divergences_are_those_of_the_paper(pair, kl):
    assert pair.kl == pytest.approx(kl, abs=1e-3)
    p, _ = pair.sample(200_000)
    assert pair.log_ratio(p).mean() == pytest.approx(kl, rel=0.03)


def test_samples_have_the_right_moments():
    pair = datasets.heteroscedastic(10)
    _, q = pair.sample(10, 100_000)
    np.testing.assert_allclose(np.cov(q.T), pair.denominator.covariance, atol=0.01)


def test_other_dimensions_are_refused():
    with pytest.raises(ValueError, match="10 and 20"):
        datasets.heteroscedastic(5)
