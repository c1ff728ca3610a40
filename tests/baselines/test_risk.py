import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from vwkde.baselines import nearest
from vwkde.baselines.risk import _line_up, _shuffle_ties, nngarcia
from vwkde.datasets import isotropic, mean_difference, one_dimensional

P, Q = mean_difference(3, 1.2).sample(40, 30)


def square(p, q):
    return p * q / (p + q)


@pytest.mark.parametrize("risk", [square, np.minimum])
def test_the_integral_of_risks_is_the_kl_divergence(risk):
    """The representation itself, with densities that are known; one weight serves the square and the zero–one loss."""
    pair = one_dimensional()
    x = np.linspace(-8, 9, 4_001)
    p, q = norm(0, 1.1).pdf(x), norm(1, 0.9).pdf(x)
    log_odds = np.linspace(-9, 14, 2_001)
    told = [risk(prior, 1 - prior) - np.trapezoid(risk(prior * p, (1 - prior) * q), x) for prior in expit(log_odds)]
    assert np.trapezoid(told / expit(log_odds), log_odds) == pytest.approx(pair.kl, abs=2e-3)


def error_by_draws(p, q, prior, draws, random):
    """The leave-one-out error of a nearest neighbour when one class is thinned to the prior, over random draws."""
    wrong = {0: [], 1: []}
    x, is_q = np.concatenate([p, q]), np.repeat([0, 1], [len(p), len(q)])
    for i in range(len(x)):
        others = np.delete(np.arange(len(x)), i)
        order = others[np.argsort(((x[others] - x[i]) ** 2).sum(axis=1))]
        rows = np.bincount(is_q[others])
        keep = np.array([prior / rows[0], (1 - prior) / rows[1]])
        stays = random.random((draws, len(order))) < (keep / keep.max())[is_q[order]]
        first = is_q[order][stays.argmax(axis=1)][stays.any(axis=1)]
        wrong[is_q[i]].append((first != is_q[i]).mean())
    return prior * np.mean(wrong[0]) + (1 - prior) * np.mean(wrong[1])


@pytest.mark.parametrize("prior", [0.1, 0.4, 0.55, 0.6, 0.9])
def test_the_error_is_the_expectation_over_random_thinnings(prior):
    random = np.random.default_rng(0)
    queues = _line_up(P, P, Q, "numerator", random), _line_up(Q, P, Q, "denominator", random)
    log_odds = np.array([np.log(prior / (1 - prior))])
    at_p, at_q = (queue.chance_of_denominator(log_odds)[0] for queue in queues)
    error = prior * at_p + (1 - prior) * (1 - at_q)
    assert error == pytest.approx(error_by_draws(P, Q, prior, 2_000, random), abs=0.004)


@pytest.mark.parametrize(("n", "m"), [(40, 30), (12, 30), (40, 6)])
@pytest.mark.parametrize("least", [0.02, 0.3, 0.9])
def test_the_quadrature_is_exact(n, m, least):
    p, q = P[:n], Q[:m]
    random = np.random.default_rng(0)
    queues = _line_up(p, p, q, "numerator", random), _line_up(q, p, q, "denominator", random)

    def integrand(prior):
        log_odds = np.array([np.log(prior / (1 - prior))])
        at_p, at_q = (queue.chance_of_denominator(log_odds)[0] for queue in queues)
        error = prior * at_p + (1 - prior) * (1 - at_q)
        return (prior * (1 - prior) - error / 2) / (prior**2 * (1 - prior))

    bends = [b for b in ((n - 1) / (n - 1 + m), n / (n + m - 1)) if b > least]
    expected = quad(integrand, least, 1 - 1e-9, points=bends or None, limit=500)[0] + least * integrand(least)
    assert nngarcia(p, q, 0, least_prior=least).kl == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "m"), [(5_000, 5_000), (4_000, 2_000), (2_000, 4_000)])
def test_the_kl_of_two_gaussians(n, m):
    pair = isotropic(2)
    p, q = pair.sample(n, m, random_state=3)
    assert nngarcia(p, q, 0).kl == pytest.approx(pair.kl, abs=0.1)


def test_the_kl_of_equal_densities_is_zero():
    found = [nngarcia(*mean_difference(2, 0.0).sample(400, 300, random_state=i), 0).kl for i in range(10)]
    assert np.mean(found) == pytest.approx(0, abs=0.08)


def test_the_direction_matters():
    pair = one_dimensional()
    samples = [pair.sample(1_500, random_state=i) for i in range(6)]
    other_way = np.log(1.1 / 0.9) + (0.9**2 + 1) / (2 * 1.1**2) - 0.5
    assert np.mean([nngarcia(p, q, 0).kl for p, q in samples]) == pytest.approx(pair.kl, abs=0.07)
    assert np.mean([nngarcia(q, p, 0).kl for p, q in samples]) == pytest.approx(other_way, abs=0.07)


def test_samples_that_do_not_overlap_have_the_most_that_can_be_told():
    answer = nngarcia(P, Q + 100, 0, least_prior=0.2)
    assert 1 - np.log(0.2) - 0.02 < answer.kl < 1 - np.log(0.2)
    assert answer.chosen == {"least_prior": 0.2}


def test_units_and_origin_do_not_matter_and_the_seed_only_with_ties():
    kl = nngarcia(P, Q, 0).kl
    assert nngarcia(1000 * P - 70, 1000 * Q - 70, 1).kl == pytest.approx(kl, abs=1e-12)
    rounded = np.round(P), np.round(Q)
    assert nngarcia(*rounded, 3).kl == nngarcia(*rounded, 3).kl
    assert nngarcia(*rounded, 3).kl != nngarcia(*rounded, 4).kl


def test_blocks_do_not_matter(monkeypatch):
    whole = nngarcia(np.round(P), np.round(Q), 0).kl
    monkeypatch.setattr(nearest, "_MEMORY_BUDGET", 10_000)
    assert nngarcia(np.round(P), np.round(Q), 0).kl == whole


def test_rows_at_one_distance_come_in_random_order():
    """Of a rows of one class and b of the other, a/(b + 1) of the one come first on average."""
    n = 100_000
    counts = np.stack([np.full(n, 2), np.full(n, 6), np.full(n, 3)])
    drawn = _shuffle_ties(counts, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(2 + 6 / 4, abs=0.03)
    assert (drawn == 2).mean() == pytest.approx(3 / 9, abs=0.01)
    assert drawn.max() == 8


def test_rounded_data_give_a_sensible_answer():
    pair = isotropic(2)
    p, q = (np.round(x, 1) for x in pair.sample(2_000))
    assert nngarcia(p, q, 0).kl == pytest.approx(pair.kl, abs=0.2)


@pytest.mark.parametrize(("p", "q"), [(P, P.copy()), (P[:2], Q[:2]), (np.ones((5, 3)), np.ones((4, 3)))])
def test_degenerate_samples_give_finite_answers(p, q):
    assert np.isfinite(nngarcia(p, q, 0).kl)


@pytest.mark.parametrize("least", [0, 1, -0.1, 2, np.nan])
def test_priors_that_cannot_be_are_refused(least):
    with pytest.raises(ValueError, match=r"The 'least_prior' parameter must be between 0 and 1.*Got .* instead"):
        nngarcia(P, Q, 0, least_prior=least)
