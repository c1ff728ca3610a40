from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.shared_mixture import fit_shared_mixture, have_clusters
from vwkde._models.log_loss import log_loss

COLUMNS = 12
CENTRES = 1.2 * np.random.default_rng(0).normal(size=(5, COLUMNS))
SHARES = np.array([[0.1, 0.3, 0.1, 0.4, 0.1], [0.3, 0.1, 0.4, 0.1, 0.1]])


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def clustered(side, rows, seed):
    """Rows of five clusters in twelve columns."""
    random = np.random.default_rng([seed, side])
    return CENTRES[random.choice(5, rows, p=SHARES[side])] + 0.9 * random.normal(size=(rows, COLUMNS))


def log_ratio(x):
    squares = ((x[:, None] - CENTRES) ** 2).sum(axis=2) / 0.9**2
    return logsumexp(-squares / 2, axis=1, b=SHARES[0]) - logsumexp(-squares / 2, axis=1, b=SHARES[1])


def test_clusters_in_other_proportions_are_found_among_many_columns():
    samples = sample(clustered(0, 400, 0)), sample(clustered(1, 400, 0))
    least = log_loss((log_ratio(samples[0].points), log_ratio(samples[1].points)), samples)
    loss = {name: log_loss(cross_fit(name, samples, 0).at_samples, samples) for name in ("gaussian", "shared-mixture")}
    assert loss["shared-mixture"] < least + 0.015
    assert loss["gaussian"] > least + 0.03


def test_a_cluster_that_one_sample_lacks_has_a_large_but_finite_ratio():
    random = np.random.default_rng(0)
    p = np.concatenate([random.normal(size=(150, 3)), random.normal(8, 1, size=(50, 3))])
    guide = fit_shared_mixture(4, sample(p), sample(random.normal(size=(200, 3))))
    assert 3 < guide(np.full((1, 3), 8.0))[0] < 12


def test_columns_of_few_values_have_a_density():
    random = np.random.default_rng(0)
    p, q = (sample(random.integers(0, 2, size=(200, 4)).astype(float)) for _ in range(2))
    assert np.abs(fit_shared_mixture(8, p, q)(p.points)).max() < 3


def test_normal_rows_have_no_clusters_and_pairs_are_left_out():
    random = np.random.default_rng(0)
    turn = random.normal(size=(6, 6))
    p, q = (sample(random.normal(size=(500, 6)) @ turn) for _ in range(2))
    assert not have_clusters(p, q)
    p, q = (sample(clustered(side, 400, 0)) for side in (0, 1))
    assert have_clusters(p, q)
    rows = np.arange(400)
    assert not have_clusters(p, replace(q, pairs=Pairs(6, rows, np.roll(rows, 1))))
