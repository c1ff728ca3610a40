import numpy as np
import pytest
from scipy.special import digamma

from vwkde.baselines import metric_learning
from vwkde.baselines.metric_learning import _balance, _fit_gaussian, _LocalMetric, nng
from vwkde.baselines.nearest import nn
from vwkde.datasets import heteroscedastic, isotropic, mean_difference

P, Q = mean_difference(3, 1.2).sample(60, 45)
NEW = np.random.default_rng(5).normal(size=(20, 3))


def metric_by_hand(x, p, q, ridge):
    """A(x) from the definition, one point at a time."""
    d = len(x)
    bias = np.zeros((d, d))
    for sample, sign in ((p, 1), (q, -1)):
        mean, precision = sample.mean(axis=0), np.linalg.inv(np.cov(sample.T))
        density = np.exp(-0.5 * (x - mean) @ precision @ (x - mean)) * np.sqrt(np.linalg.det(precision / (2 * np.pi)))
        score = -precision @ (x - mean)
        bias += sign * (len(sample) * density) ** (-2 / d) * (np.outer(score, score) - precision)
    values, vectors = np.linalg.eigh(bias)
    gamma = ridge * np.abs(values).mean()
    metric = np.zeros((d, d))
    for value, vector in zip(values, vectors.T, strict=True):
        alike = values[np.sign(values) == np.sign(value)]
        effective = np.sum(np.abs(alike) / (np.abs(alike) + gamma))
        metric += effective * (abs(value) + gamma) * np.outer(vector, vector)
    return metric, bias


def log_ratio_by_loops(x, p, q, k, ridge, p_out=None, q_out=None):
    metric, _ = metric_by_hand(x, p, q, ridge)
    rho, nu = (
        sorted(np.sqrt((x - y) @ metric @ (x - y)) for j, y in enumerate(sample) if j != out)
        for sample, out in ((p, p_out), (q, q_out))
    )
    return len(x) * np.log(nu[k - 1] / rho[k - 1]) + np.log(len(nu) / len(rho))


@pytest.mark.parametrize(("k", "ridge"), [(1, 10.0), (3, 0.001)])
def test_the_log_ratio_is_that_of_neighbours_in_the_metric_of_each_point(k, ridge):
    answer = nng(P, Q, 0, k=k, ridge=ridge)
    at_p = [log_ratio_by_loops(x, P, Q, k, ridge, p_out=i) for i, x in enumerate(P)]
    at_q = [log_ratio_by_loops(x, P, Q, k, ridge, q_out=i) for i, x in enumerate(Q)]
    np.testing.assert_allclose(answer.at_numerator, at_p, rtol=1e-8)
    np.testing.assert_allclose(answer.at_denominator, at_q, rtol=1e-8)
    np.testing.assert_allclose(answer.log_ratio(NEW), [log_ratio_by_loops(x, P, Q, k, ridge) for x in NEW], rtol=1e-8)
    assert answer.kl == pytest.approx(np.mean(at_p), abs=1e-10)


@pytest.mark.parametrize("ridge", [0.001, 1.0, 100.0])
def test_the_metric_makes_the_leading_bias_vanish(ridge):
    metric = _LocalMetric((_fit_gaussian(P), _fit_gaussian(Q)), (len(P), len(Q)), ridge)
    mixed = 0
    for x, root in zip(NEW, metric.roots(NEW), strict=True):
        learnt = root.T @ root
        expected, bias = metric_by_hand(x, P, Q, ridge)
        np.testing.assert_allclose(
            learnt / np.linalg.det(learnt) ** (1 / 3),
            expected / np.linalg.det(expected) ** (1 / 3),
            rtol=1e-7,
            atol=1e-9,
        )
        values = np.linalg.eigvalsh(bias)
        if values[0] < 0 < values[-1]:
            mixed += 1
            inverse = np.linalg.inv(learnt)
            assert abs(np.trace(inverse @ bias)) < 1e-8 * np.linalg.norm(inverse, 2) * np.abs(values).sum()
    assert mixed > 10


def test_without_a_ridge_the_eigenvalues_are_the_published_ones():
    values = np.array([[-3.0, -1.0, 0.5, 2.0, 4.0]])
    np.testing.assert_allclose(_balance(values, 1e-12), [[6, 2, 1.5, 6, 12]], rtol=1e-9)


def test_eigenvalues_of_one_sign_and_none_at_all():
    one_sign = _balance(np.array([[1.0, 2.0, 4.0]]), 1e-12)
    np.testing.assert_allclose(one_sign / one_sign[:, :1], [[1, 2, 4]])
    np.testing.assert_allclose(_balance(np.zeros((1, 3)), 10.0), 1)
    nearly = _balance(np.array([[-1e-17, 2.0, 4.0]]), 10.0)
    assert nearly.max() / nearly.min() < 1000


@pytest.mark.parametrize(("n", "m"), [(5_000, 5_000), (4_000, 2_000)])
def test_the_kl_of_two_gaussians(n, m):
    pair = isotropic(2)
    p, q = pair.sample(n, m, random_state=3)
    answer = nng(p, q, 0)
    assert answer.kl == pytest.approx(pair.kl, abs=0.1)
    assert answer.at_denominator.mean() == pytest.approx(-pair.kl, abs=0.15)
    assert np.corrcoef(answer.at_denominator, pair.log_ratio(q))[0, 1] > 0.6


@pytest.mark.parametrize(("pair", "gain"), [(isotropic(10), 0.5), (heteroscedastic(10), 0.5)])
def test_the_metric_removes_much_of_the_bias_in_many_columns(pair, gain):
    samples = [pair.sample(500, random_state=i) for i in range(5)]
    plain, learnt = (abs(np.mean([estimate(p, q, 0).kl for p, q in samples]) - pair.kl) for estimate in (nn, nng))
    assert learnt < gain * plain


def test_in_one_column_all_metrics_are_alike():
    np.testing.assert_allclose(nng(P[:, :1], Q[:, :1], 0).at_numerator, nn(P[:, :1], Q[:, :1], 0).at_numerator)


def test_units_origin_rotation_and_seed_do_not_matter():
    answer = nng(P, Q, 0)
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    for p, q in ((1000 * P, 1000 * Q), (P - 50, Q - 50), (P @ turn, Q @ turn)):
        np.testing.assert_allclose(nng(p, q, 1).at_denominator, answer.at_denominator, rtol=1e-7)


def test_blocks_and_memory_layout_do_not_matter(monkeypatch):
    whole = nng(P, Q, 0)
    monkeypatch.setattr(metric_learning, "_MEMORY_BUDGET", 5_000)
    blocks = nng(np.asfortranarray(P), np.asfortranarray(Q), 0)
    np.testing.assert_allclose(blocks.at_numerator, whole.at_numerator, rtol=1e-9)
    np.testing.assert_allclose(blocks.at_denominator, whole.at_denominator, rtol=1e-9)


def test_equal_rows_are_counted():
    p, q = np.array([[0.0], [0], [0], [1]]), np.array([[0.0], [1], [-5]])
    np.testing.assert_allclose(nng(p, q, 0).at_numerator[:3], digamma(3) - digamma(2) + np.log(3 / 3))
    np.testing.assert_allclose(nng(p, q, 0, k=2).log_ratio(np.zeros((1, 1))), digamma(4) - digamma(2) + np.log(3 / 4))


def test_rounded_data_give_a_sensible_answer():
    pair = isotropic(2)
    p, q = (np.round(x, 1) for x in pair.sample(2_000))
    assert nng(p, q, 0).kl == pytest.approx(pair.kl, abs=0.2)


@pytest.mark.parametrize(
    ("p", "q"), [(P, P.copy()), (P[:3], Q[:2]), (np.pad(P, ((0, 0), (0, 1))), np.pad(Q, ((0, 0), (0, 1))))]
)
def test_degenerate_samples_give_finite_answers(p, q):
    answer = nng(p, q, 0)
    assert np.isfinite(answer.at_numerator).all()
    assert np.isfinite(answer.at_denominator).all()


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="The 'k' parameter must be an integer from 1 to 44"):
        nng(P, Q, 0, k=45)
    for ridge in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="The 'ridge' parameter must be a positive number"):
            nng(P, Q, 0, ridge=ridge)
    with pytest.raises(ValueError, match="all equal"):
        nng(P, np.ones((5, 3)), 0)
