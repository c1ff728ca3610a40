"""Coordinate systems of the default: ranks of some of many rows are enough, and which ones depends on the data only."""

import numpy as np
import pytest
from scipy.special import gammaln

from vwkde import DensityRatio, kl_divergence
from vwkde._data.sample import make_unordered_sample
from vwkde._fit import spaces

GUIDES = ["additive", "logistic"]


def skewed_pair(rows=600):
    random = np.random.default_rng(2)
    return np.exp(random.normal(size=(rows, 2))), np.exp(random.normal([0.5, 0], 1, (rows, 2)))  # KL = 0.125


def test_ranks_of_some_rows_give_nearly_the_answer_of_all(monkeypatch):
    p, q = skewed_pair()
    of_all = DensityRatio(guide=GUIDES).fit(p, q).divergence("kl")
    monkeypatch.setattr(spaces, "_MOST_RANKED", 200)
    of_some = DensityRatio(guide=GUIDES).fit(p, q).divergence("kl")
    assert of_some.value != of_all.value
    assert of_some.value == pytest.approx(of_all.value, abs=0.3 * of_all.standard_error)


def test_the_rows_that_are_ranked_do_not_depend_on_their_order(monkeypatch):
    p, q = skewed_pair()
    monkeypatch.setattr(spaces, "_MOST_RANKED", 200)
    shuffled = np.random.default_rng(0).permutation(p)
    one, other = (DensityRatio(guide=GUIDES).fit(each, q).divergence("kl").value for each in (p, shuffled))
    assert one == pytest.approx(other, rel=1e-9)


def scores(random, loading, rows, columns=15):
    """Return a space of columns with variance one that share a factor."""
    samples = tuple(
        make_unordered_sample(
            loading * random.normal(size=(count, 1)) + (1 - loading**2) ** 0.5 * random.normal(size=(count, columns))
        )
        for count in rows
    )
    return spaces.Space("as given", np.asarray, samples, ())


@pytest.mark.parametrize(
    ("loading", "rows", "tried"),
    [
        (0.7, (500, 800), True),  # a clear factor
        (0.4, (500, 800), False),  # a faint one
        (0.4, (150, 200), True),  # the same, but too few rows for all correlations
        (0.0, (150, 200), False),
        (0.7, (2_000, 2_000), False),  # all correlations are known
    ],
)
def test_components_are_tried_for_clear_factors_or_few_rows(loading, rows, tried):
    found = spaces.few_components(scores(np.random.default_rng(0), loading, rows), ("gaussian",))
    assert [space.name for space in found] == ["components"] * tried


def test_a_gain_that_all_columns_share_is_compared():
    """Counts of 15 neurons: the values were three fifths of the truth."""
    random = np.random.default_rng(1)
    rates = random.uniform(0.5, 6, 15)

    def counts(shape, rows):
        return random.poisson(random.gamma(shape, 1 / shape, (rows, 1)) * rates).astype(float)

    def log_density(x, k):
        total = x.sum(axis=1)
        return gammaln(k + total) - gammaln(k) + k * np.log(k) - (k + total) * np.log(k + rates.sum())

    many = counts(8.0, 200_000)
    truth = np.mean(log_density(many, 8.0) - log_density(many, 3.5))
    found = [kl_divergence(counts(8.0, 500), counts(3.5, 800)) for _ in range(3)]
    assert all(estimate.interval[0] < truth < estimate.interval[1] for estimate in found)
    assert np.mean([estimate.value for estimate in found]) > 0.8 * truth
