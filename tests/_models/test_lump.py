from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import vwkde
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides.lump import fit_lumps, have_lumps

COLUMNS, WIDTH = 8, 0.3
CENTRE = np.full(COLUMNS, 5 / np.sqrt(COLUMNS))


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def lumped(rows, share, seed):
    """Normal columns, of which a share of the rows is in one small cluster."""
    random = np.random.default_rng([seed, int(1_000 * share)])
    x = random.normal(size=(rows, COLUMNS))
    count = round(share * rows)
    x[:count] = CENTRE + WIDTH * x[:count]
    return random.permutation(x)


def log_odds(x):
    return norm.logpdf(x, CENTRE, WIDTH).sum(axis=1) - norm.logpdf(x).sum(axis=1)


def truth(share):
    """KL of normal columns with such a cluster from those without it; log(1 − s + s·g/q) is large in the cluster."""
    inside = CENTRE + WIDTH * np.random.default_rng(0).normal(size=(20_000, COLUMNS))
    return share * (np.log(share) + log_odds(inside).mean()) + (1 - share) * np.log1p(-share)


@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_know_that_a_small_cluster_may_decide(seed):
    """Twelve of 600 rows make up 0.3 nats; the interval ended below."""
    estimate = vwkde.kl_divergence(lumped(600, 0.02, seed), lumped(600, 0.0, seed))
    assert estimate.interval[0] < truth(0.02) < estimate.interval[1]
    assert estimate.value > 0.2 * truth(0.02)


@pytest.mark.parametrize("swapped", [False, True])
def test_the_guide_finds_the_cluster_in_either_sample(swapped):
    p, q = sample(lumped(800, 0.02, 0)), sample(lumped(800, 0.0, 0))
    guide = fit_lumps(q, p) if swapped else fit_lumps(p, q)
    sign = -1 if swapped else 1
    expected = np.logaddexp(np.log(0.98), np.log(0.02) + log_odds(p.points))
    in_cluster = log_odds(p.points) > 0
    assert in_cluster.sum() == 16
    assert sign * guide(p.points)[in_cluster].mean() == pytest.approx(expected[in_cluster].mean(), abs=3)
    assert np.abs(guide(q.points)).max() < 0.2


def test_a_cluster_that_both_samples_have_counts_by_its_shares():
    p, q = lumped(1_000, 0.04, 0), lumped(1_000, 0.01, 0)
    guide = fit_lumps(sample(p), sample(q))
    in_cluster = log_odds(p) > 0
    assert guide(p)[in_cluster] == pytest.approx(np.log(4), abs=0.5)


def scattered(rows, share, seed, columns=6, width=1.8):
    """Correlated normal columns, of which a share of the rows is scattered widely; and their log ratio to none."""
    random = np.random.default_rng(seed)
    covariance = 0.5 * (np.eye(columns) + 1)
    x = random.multivariate_normal(np.zeros(columns), covariance, rows)
    count = round(share * rows)
    x[:count] = width * random.normal(size=(count, columns))
    core, wide = (multivariate_normal(np.zeros(columns), each) for each in (covariance, width**2 * np.eye(columns)))
    log_ratio = np.logaddexp(np.log1p(-share), np.log(share) + wide.logpdf(x) - core.logpdf(x)) if share else None
    return x, log_ratio


@pytest.mark.parametrize("seed", [0, 1])
def test_rows_scattered_around_all_others_are_found(seed):
    """Six percent of the rows make up nearly all of the divergence; it was 0.1 of 0.38."""
    (p, log_ratio), (q, _) = scattered(800, 0.06, seed), scattered(800, 0, seed + 10)
    assert have_lumps(sample(p), sample(q))
    estimate = vwkde.kl_divergence(p, q)
    assert estimate.diagnostics["guide"] == "lump"
    assert estimate.value == pytest.approx(log_ratio.mean(), rel=0.5)
    assert estimate.interval[0] < 0.38 < estimate.interval[1]


def test_several_clusters_are_found_one_after_the_other():
    random = np.random.default_rng(0)
    p, q = random.normal(size=(1_000, COLUMNS)), random.normal(size=(1_000, COLUMNS))
    p[:20], p[20:40] = CENTRE + WIDTH * p[:20], -CENTRE + WIDTH * p[20:40]
    guide = fit_lumps(sample(p), sample(q))
    assert guide.denominator is None
    assert guide.numerator.shares[:2] == pytest.approx(0.02, abs=0.005)
    assert (guide(p)[:40] > 3).all()
    assert np.abs(guide(q)).max() < 0.2


@pytest.mark.parametrize("seed", [0, 1])
def test_clusters_on_two_sides_are_not_one_wide_component(seed):
    """Around both of them a wide component is more likely than a narrow one around either."""
    random = np.random.default_rng(seed)
    p, q = random.normal(size=(800, COLUMNS)), random.normal(size=(800, COLUMNS))
    p[:12], p[12:24] = CENTRE + 0.4 * p[:12], -CENTRE + WIDTH * p[12:24]
    guide = fit_lumps(sample(p), sample(q))
    assert len(guide.numerator.components) == 2
    assert guide.numerator.shares == pytest.approx(12 / 800, abs=0.003)
    assert guide(p)[:24].mean() > 8


def test_scattered_rows_that_both_samples_have_are_left_out():
    assert not have_lumps(*(sample(scattered(600, 0.05, seed)[0]) for seed in (0, 1)))


def test_smooth_and_equal_samples_and_pairs_are_left_out():
    random = np.random.default_rng(0)
    p, q = sample(random.normal(size=(500, 5))), sample(0.5 + 1.5 * random.normal(size=(500, 5)))
    assert not have_lumps(p, q)
    both = [sample(lumped(500, 0.03, seed)) for seed in (0, 1)]
    assert not have_lumps(*both)
    differ = both[0], sample(lumped(500, 0.0, 0))
    assert have_lumps(*differ)
    rows = np.arange(500)
    assert not have_lumps(differ[0], replace(differ[1], pairs=Pairs(2, rows, np.roll(rows, 1))))


def test_repeated_values_do_not_break_the_search():
    random = np.random.default_rng(0)
    p, q = (sample(np.round(random.normal(size=(300, 3)))) for _ in range(2))
    assert np.isfinite(fit_lumps(p, q)(p.points)).all()
