import numpy as np
import pytest
from scipy.special import digamma

from vwkde.baselines import nearest
from vwkde.baselines.nearest import nn, nnwang
from vwkde.datasets import heteroscedastic, isotropic, mean_difference

PAIR = mean_difference(3, 1.2)
P, Q = PAIR.sample(60, 45)
NEW = np.random.default_rng(5).normal(size=(20, 3))
BOTH = pytest.mark.parametrize("estimate", [nn, nnwang])


def sorted_distances(x, sample, leave_out=None):
    return sorted(np.sqrt(((x - y) ** 2).sum()) for j, y in enumerate(sample) if j != leave_out)


def log_ratio_by_loops(x, p, q, k=None, p_out=None, q_out=None):
    """The published formulas at one point: k neighbours, or as many as one radius holds."""
    rho, nu = sorted_distances(x, p, p_out), sorted_distances(x, q, q_out)
    radius = max(rho[0], nu[0])
    l_count = k or sum(r <= radius for r in rho)
    k_count = k or sum(r <= radius for r in nu)
    distances = len(x) * np.log(nu[k_count - 1] / rho[l_count - 1])
    return distances + digamma(l_count) - digamma(k_count) + np.log(len(nu) / len(rho))


@pytest.mark.parametrize("k", [1, 4, None])
def test_the_log_ratio_is_the_published_formula(k):
    answer = nnwang(P, Q, 0) if k is None else nn(P, Q, 0, k=k)
    at_p = [log_ratio_by_loops(x, P, Q, k, p_out=i) for i, x in enumerate(P)]
    at_q = [log_ratio_by_loops(x, P, Q, k, q_out=i) for i, x in enumerate(Q)]
    new = [log_ratio_by_loops(x, P, Q, k) for x in NEW]
    np.testing.assert_allclose(answer.at_numerator, at_p, rtol=1e-10)
    np.testing.assert_allclose(answer.at_denominator, at_q, rtol=1e-10)
    np.testing.assert_allclose(answer.log_ratio(NEW), new, rtol=1e-10)
    assert answer.kl == pytest.approx(np.mean(at_p), abs=1e-12)


@BOTH
def test_many_columns_are_searched_exactly_too(estimate):
    p, q = isotropic(20).sample(50, 40)
    k = 1 if estimate is nn else None
    at_p = [log_ratio_by_loops(x, p, q, k, p_out=i) for i, x in enumerate(p)]
    np.testing.assert_allclose(estimate(p, q, 0).at_numerator, at_p, rtol=1e-10)
    np.testing.assert_allclose(estimate(p + 1e5, q + 1e5, 0).at_numerator, at_p, rtol=1e-6)


@pytest.mark.parametrize("k", [1, 3, None])
def test_an_independent_implementation_agrees(k):
    peer = pytest.importorskip("universal_divergence")
    answer = nnwang(P, Q, 0) if k is None else nn(P, Q, 0, k=k)
    assert answer.kl == pytest.approx(peer.estimate(P, Q, k=k), abs=1e-10)


@pytest.mark.parametrize("k", [2, 5])
def test_entropies_by_an_independent_implementation_agree(k):
    """They count the rows of both samples alike, and are right only for samples of one size."""
    peer = pytest.importorskip("infomeasure")
    n = len(Q)
    theirs = peer.kld(P[:n], Q, approach="kl", k=k, noise_level=0, minkowski_p=2, base="e")
    assert nn(P[:n], Q, 0, k=k).kl == pytest.approx(theirs + np.log(n / (n - 1)), abs=1e-10)


@BOTH
@pytest.mark.parametrize(("n", "m"), [(5_000, 5_000), (4_000, 2_000), (2_000, 4_000)])
def test_the_kl_of_two_gaussians(estimate, n, m):
    pair = isotropic(2)
    p, q = pair.sample(n, m, random_state=3)
    answer = estimate(p, q, 0)
    assert answer.kl == pytest.approx(pair.kl, abs=0.1)
    assert np.corrcoef(answer.at_denominator, pair.log_ratio(q))[0, 1] > 0.5
    assert answer.at_denominator.mean() == pytest.approx(-pair.kl, abs=0.15)


@BOTH
def test_the_ratio_of_equal_densities_is_one(estimate):
    p, q = mean_difference(4, 0.0).sample(3_000, 1_500)
    assert estimate(p, q, 0).kl == pytest.approx(0, abs=0.1)


def test_both_fail_in_many_columns_as_is_known():
    pair = heteroscedastic(10)
    p, q = pair.sample(500)
    assert all(estimate(p, q, 0).kl < 0.3 < pair.kl for estimate in (nn, nnwang))


@BOTH
def test_units_origin_and_seed_do_not_matter(estimate):
    answer = estimate(P, Q, 0)
    np.testing.assert_allclose(estimate(1000 * P, 1000 * Q, 1).at_denominator, answer.at_denominator, rtol=1e-9)
    np.testing.assert_allclose(estimate(P - 50, Q - 50, 2).at_denominator, answer.at_denominator, rtol=1e-9)


def test_blocks_do_not_matter(monkeypatch):
    whole = nnwang(P, Q, 0)
    monkeypatch.setattr(nearest, "_MEMORY_BUDGET", 20_000)
    blocks = nnwang(P, Q, 0)
    np.testing.assert_array_equal(blocks.at_numerator, whole.at_numerator)
    np.testing.assert_array_equal(blocks.at_denominator, whole.at_denominator)


@BOTH
def test_equal_rows_are_counted(estimate):
    """About 0 there are two more rows of p and one of q; then 1 in either sample ends the ball."""
    p, q = np.array([[0.0], [0], [0], [1]]), np.array([[0.0], [1], [-5]])
    expected = digamma(3) - digamma(2) + np.log(3 / 3)
    np.testing.assert_allclose(estimate(p, q, 0).at_numerator[:3], expected)
    assert np.isfinite(estimate(p, q, 0).at_denominator).all()
    np.testing.assert_allclose(estimate(p, q, 0).log_ratio(np.zeros((1, 1))), digamma(4) - digamma(2) + np.log(3 / 4))


@BOTH
def test_rounded_data_give_a_sensible_answer(estimate):
    pair = isotropic(2)
    p, q = (np.round(x, 1) for x in pair.sample(3_000))
    assert estimate(p, q, 0).kl == pytest.approx(pair.kl, abs=0.2)


@BOTH
def test_one_sample_in_place_of_both_is_finite(estimate):
    answer = estimate(P, P.copy(), 0)
    assert np.isfinite(answer.at_numerator).all()
    assert np.isfinite(answer.at_denominator).all()


@BOTH
def test_a_sample_of_equal_rows_is_refused(estimate):
    with pytest.raises(ValueError, match="rows of the denominator are all equal"):
        estimate(P, np.ones((5, 3)), 0)
    with pytest.raises(ValueError, match="rows of the numerator are all equal"):
        estimate(np.ones((5, 3)), Q, 0)


@pytest.mark.parametrize("k", [0, -1, 45, 1.5, "two"])
def test_numbers_of_neighbours_that_cannot_be_are_refused(k):
    with pytest.raises(ValueError, match=r"The 'k' parameter must be an integer from 1 to 44.*Got .* instead"):
        nn(P, Q, 0, k=k)


def test_the_most_neighbours_and_the_fewest_rows_work():
    assert np.isfinite(nn(P, Q, 0, k=44).kl)
    assert np.isfinite(nn(P[:2], Q[:2], 0).kl)
    assert np.isfinite(nnwang(P[:2], Q[:2], 0).kl)
