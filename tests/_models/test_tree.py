import numpy as np
import pytest

import vwkde
from vwkde._data.sample import Sample
from vwkde._models.guides import worth_trying
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.tree import fit_tree
from vwkde._models.log_loss import log_loss

SHARE = 0.3 * 0.25
"""The share of the box in Q."""
INSIDE = 0.1
"""How often rows in the box are kept in P, relative to the others."""
LEVEL = 1 - SHARE + INSIDE * SHARE
TRUTH = -np.log(LEVEL) + INSIDE * SHARE / LEVEL * np.log(INSIDE)


def in_the_box(x):
    return (abs(x[:, 1] - 0.45) < 0.15) & (x[:, 3] > 0.75)


def log_ratio(x):
    return np.where(in_the_box(x), np.log(INSIDE), 0.0) - np.log(LEVEL)


def samples(rows, seed=0):
    """Return uniform rows of five columns of which few in a box are kept, and uniform rows."""
    random = np.random.default_rng(seed)
    x = random.uniform(size=(2 * rows, 5))
    p = x[~in_the_box(x) | (random.random(len(x)) < INSIDE)][:rows]
    return p, random.uniform(size=(rows, 5))


def made(x, weight=None):
    return Sample(x, np.ones(len(x)) if weight is None else weight / weight.mean(), np.arange(len(x)))


def test_a_box_is_cut_out_and_counted():
    p, q = samples(4_000)
    guide = fit_tree(20.0, made(p), made(q))
    x = np.random.default_rng(9).uniform(size=(4_000, 5))
    assert np.mean(abs(guide(x) - log_ratio(x)) < 0.4) > 0.97
    share_p, share_q = (in_the_box(each).mean() for each in (p, q))
    middle = guide(np.array([[0.5, 0.45, 0.5, 0.9, 0.5]]))
    assert middle == pytest.approx(np.log(share_p / share_q), abs=0.35)


def test_the_tree_is_closer_to_the_ratio_than_boosting():
    both = tuple(map(made, samples(3_000, seed=1)))
    least = log_loss((log_ratio(both[0].points), log_ratio(both[1].points)), both)
    tree, boosting = (log_loss(cross_fit(name, both, 0).at_samples, both) - least for name in ("tree", "boosting"))
    assert tree < 0.6 * boosting


def test_equal_samples_have_one_leaf():
    random = np.random.default_rng(2)
    guide = fit_tree(40.0, made(random.normal(size=(2_000, 6))), made(random.normal(size=(2_000, 6))))
    assert guide(random.normal(size=(50, 6))) == pytest.approx(0, abs=1e-12)


def test_weights_count_as_rows():
    p, q = samples(3_000, seed=3)
    keep = np.random.default_rng(4).random(len(p)) < 0.5
    weighted = fit_tree(20.0, made(p, np.where(keep, 1.0, 1e-9)), made(q))
    alone = fit_tree(20.0, made(p[keep]), made(q))
    x = np.random.default_rng(5).uniform(size=(2_000, 5))
    assert np.mean(abs(weighted(x) - alone(x)) < 0.1) > 0.9


def test_the_default_knows_a_dead_part():
    """Smooth models and boosted trees saw a third of it, and their intervals none of the rest."""
    p, q = samples(4_000, seed=6)
    estimate = vwkde.kl_divergence(q, p)
    truth = SHARE * -np.log(INSIDE) + np.log(LEVEL)  # of the uniform rows against the others
    assert estimate.interval[0] < truth < estimate.interval[1]
    assert estimate.value == pytest.approx(truth, rel=0.25)


def test_few_rows_do_not_grow_a_tree():
    assert "tree" in worth_trying(None, 1_000)
    assert "tree" not in worth_trying(None, 999)
