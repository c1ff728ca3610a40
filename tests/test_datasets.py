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
        (datasets.bananas(), 0.64),
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


def test_three_modes_have_the_same_divergence_among_noise():
    pair, noisy = datasets.three_modes(), datasets.three_modes(20)
    p, _ = pair.sample(100_000)
    log_ratio = pair.log_ratio(p)
    assert log_ratio.mean() == pytest.approx(pair.kl, abs=4 * log_ratio.std() / np.sqrt(len(p)))
    assert noisy.kl == pytest.approx(pair.kl, rel=1e-12)
    assert 0.9 < pair.kl < 1.1
    p, q = noisy.sample(300, 200)
    assert (p.shape, q.shape) == ((300, 20), (200, 20))
    np.testing.assert_allclose(noisy.log_ratio(p), pair.log_ratio(p[:, :2]), rtol=1e-9)


def test_one_gaussian_per_sample_hardly_tells_three_modes_apart():
    p, q = datasets.three_modes().sample(100_000)
    np.testing.assert_allclose(p.mean(axis=0), q.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(np.cov(p.T), np.cov(q.T), atol=0.05)


def test_a_mixture_of_one_is_a_gaussian():
    gaussian = datasets.heteroscedastic(10).denominator
    pair = datasets.one_dimensional()
    mixtures = [
        datasets.GaussianMixtureDensity(np.ones(1), each.mean[None], each.covariance[None])
        for each in (pair.numerator, pair.denominator)
    ]
    assert datasets.MixturePair(*mixtures, informative=1).kl == pytest.approx(pair.kl, rel=1e-9)
    mixture = datasets.GaussianMixtureDensity(np.ones(1), gaussian.mean[None], gaussian.covariance[None])
    x = mixture.sample(50_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(x.T), gaussian.covariance, atol=0.02)
    np.testing.assert_allclose(mixture.log_density(x[:100]), gaussian.log_density(x[:100]), rtol=1e-9)


def test_three_modes_need_two_dimensions():
    with pytest.raises(ValueError, match=r"at least 2\. Got 1"):
        datasets.three_modes(1)


def test_a_banana_knows_its_derivatives():
    banana, step = datasets.Banana(0.6), 1e-3
    x = banana.sample(20, np.random.default_rng(0))
    density = lambda y: np.exp(banana.log_density(y))  # noqa: E731
    forward, backward = (np.stack([density(x + sign * step * axis) for axis in np.eye(2)], axis=1) for sign in (1, -1))
    here = density(x)[:, None]
    np.testing.assert_allclose(banana.score(x), (forward - backward) / (2 * step * here), rtol=1e-4, atol=1e-4)
    laplacian = (forward - 2 * here + backward).sum(axis=1) / (step**2 * here[:, 0])
    np.testing.assert_allclose(banana.derivatives.laplacian_over_density(x), laplacian, rtol=1e-3, atol=1e-3)
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 300), np.linspace(-6, 25, 600)), axis=-1).reshape(-1, 2)
    assert density(grid).mean() * 12 * 31 == pytest.approx(1, rel=0.02)
