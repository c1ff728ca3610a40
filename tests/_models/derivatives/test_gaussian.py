import numpy as np
import pytest
from scipy.stats import multivariate_normal

from vwkde._models.gaussian import fit_gaussian
from vwkde.exceptions import DegenerateDataWarning


@pytest.fixture
def fitted():
    random = np.random.default_rng(0)
    x = random.normal(size=(500, 3)) @ random.normal(size=(3, 3)) + 1
    return x, fit_gaussian(x, np.ones(500))


def test_agrees_with_finite_differences_of_the_density(fitted):
    x, model = fitted
    density = multivariate_normal(x.mean(axis=0), np.cov(x.T))
    step, points = 1e-3, x[:5]
    forward = [density.pdf(points + step * axis) for axis in np.eye(3)]
    backward = [density.pdf(points - step * axis) for axis in np.eye(3)]
    here = density.pdf(points)
    score = np.stack([(f - b) / (2 * step * here) for f, b in zip(forward, backward, strict=True)], axis=1)
    laplacian = sum((f - 2 * here + b) / step**2 for f, b in zip(forward, backward, strict=True)) / here
    np.testing.assert_allclose(model.score(points), score, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.laplacian_over_density(points), laplacian, rtol=1e-3, atol=1e-4)


def test_log_density_is_right_up_to_a_constant(fitted):
    x, model = fitted
    exact = multivariate_normal(x.mean(axis=0), np.cov(x.T)).logpdf(x)
    assert np.ptp(model.log_density(x) - exact) < 1e-9


def test_weights_count_like_copies():
    x = np.random.default_rng(0).normal(size=(400, 2))
    weight = np.where(x[:, 0] > 0, 2.0, 1.0)
    copies = np.concatenate([x, x[x[:, 0] > 0]])
    found, expected = fit_gaussian(x, weight / weight.mean()), fit_gaussian(copies, np.ones(len(copies)))
    np.testing.assert_allclose(found.mean, expected.mean)
    np.testing.assert_allclose(found.precision, expected.precision, rtol=5e-3, atol=1e-3)


def test_few_rows_and_flat_samples_still_have_a_precision():
    random = np.random.default_rng(0)
    few = fit_gaussian(random.normal(size=(5, 20)), np.ones(5))
    assert 0.1 < np.linalg.eigvalsh(few.precision).min() < np.linalg.eigvalsh(few.precision).max() < 1e3
    thin = random.normal(size=(50, 2)) * [1, 0]
    with pytest.warns(DegenerateDataWarning, match="The numerator does not vary in 1 of 2 directions"):
        flat = fit_gaussian(thin, np.ones(50), "numerator")
    assert fit_gaussian(thin, np.ones(50)).degenerate  # without a name, without a warning
    assert np.isfinite(flat.precision).all()
