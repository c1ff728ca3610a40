import numpy as np
import pytest

from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import drawn_to, make_mixture
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.log_loss import log_loss


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def clusters(shares, rows, columns, seed):
    """Three clusters of different widths with these shares, which differ in two of the columns."""
    random = np.random.default_rng(seed)
    part = random.choice(3, rows, p=shares)
    centre = np.zeros((3, columns))
    centre[:, :2] = [[0, 2], [2, -1], [-2, -1]]
    return (centre[part] + np.array([0.5, 0.7, 1.0])[part, None] * random.normal(size=(rows, columns))), part


def truth(x, p, q, columns):
    """Return the log ratio of two mixtures that differ in the shares of the clusters."""
    centre = np.zeros((3, columns))
    centre[:, :2] = [[0, 2], [2, -1], [-2, -1]]
    precisions = np.array([np.eye(columns) / width**2 for width in (0.5, 0.7, 1.0)])
    one, other = (make_mixture(np.array(shares), centre, precisions) for shares in (p, q))
    return one.log_density(x) - other.log_density(x)


def test_what_both_samples_have_in_common_cancels():
    columns, p_shares, q_shares = 5, (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)
    p, q = (sample(clusters(shares, 1_000, columns, seed)[0]) for seed, shares in ((0, p_shares), (1, q_shares)))
    paired, apart = (cross_fit(name, (p, q), 0) for name in ("paired-mixture", "mixture"))
    x = clusters((0.3, 0.3, 0.4), 500, columns, 2)[0]
    right = truth(x, p_shares, q_shares, columns)
    errors = [np.mean((guide(x) - right) ** 2) for guide in (paired, apart)]
    assert errors[0] < 0.5 * np.mean(right**2)
    assert errors[0] < errors[1]
    assert log_loss(paired.at_samples, (p, q)) < log_loss(apart.at_samples, (p, q))


def test_a_component_without_rows_stays_where_it_was():
    start = make_mixture(np.array([0.5, 0.5]), np.array([[0.0, 0.0], [3.0, 3.0]]), np.stack([np.eye(2)] * 2))
    moved = make_mixture(
        np.array([1.0 - 1e-9, 1e-9]), np.array([[0.2, 0.0], [9.0, 9.0]]), np.stack([2 * np.eye(2), 1e6 * np.eye(2)])
    )
    found = drawn_to(moved, start, 10_000)
    np.testing.assert_allclose(found.means, [[0.2, 0.0], [3.0, 3.0]], atol=1e-3)
    np.testing.assert_allclose(found.precisions[0], 2 * np.eye(2), atol=0.01)
    np.testing.assert_allclose(found.precisions[1], np.eye(2), atol=0.01)
    assert found.weights.sum() == pytest.approx(1)


def test_mixtures_of_one_component_are_gaussians_which_do_not_grow():
    random = np.random.default_rng(0)
    p, q = (sample(random.normal(mean, 1, (300, 3))) for mean in (0, 0.1))
    paired, gaussian = (cross_fit(name, (p, q), 0) for name in ("paired-mixture", "gaussian"))
    np.testing.assert_array_equal(paired.at_samples[0], gaussian.at_samples[0])
    assert not paired.grows
    clustered = [sample(clusters((0.5, 0.3, 0.2), 300, 2, seed)[0]) for seed in (0, 1)]
    assert cross_fit("paired-mixture", (clustered[0], clustered[1]), 0).grows


def test_a_common_mixture_of_all_rows_does_not_tell_equal_samples_apart():
    x = clusters((0.4, 0.3, 0.3), 12_000, 3, 7)[0]
    paired = cross_fit("paired-mixture", (sample(x[:6_000]), sample(x[6_000:])), 0)
    assert paired.grows  # several components
    assert log_loss(paired.at_samples, (sample(x[:6_000]), sample(x[6_000:]))) > np.log(2)
    assert abs(np.mean(paired.at_samples[0])) < 0.01
