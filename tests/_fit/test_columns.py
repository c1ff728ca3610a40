import numpy as np
import pytest

from vwkde._data.sample import make_unordered_sample
from vwkde._fit import columns
from vwkde._fit.columns import informative_columns


def hidden_banana(rows=600, others=10, seed=0):
    """Return samples that differ only in how columns 3 and 7 depend on each other; no column differs by itself."""
    random = np.random.default_rng(seed)
    p, q = random.normal(size=(2, rows, 2 + others))
    p[:, 3] = 0.5 * p[:, 3] + 0.6 * (p[:, 7] ** 2 - 1)
    return make_unordered_sample(p), make_unordered_sample(q)


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_among_noise_is_found(seed):
    assert {3, 7} <= set(informative_columns(hidden_banana(seed=seed), 0))


def test_equal_samples_have_no_pair_that_all_searches_find():
    found = []
    for seed in range(6):
        p, q = np.random.default_rng(seed).normal(size=(2, 600, 12))
        found.append(len(informative_columns((make_unordered_sample(p), make_unordered_sample(q)), 0)))
    assert np.mean(found) < 2


def test_few_columns_or_rows_are_not_searched():
    p, q = np.random.default_rng(0).normal(size=(2, 600, 4))
    assert not informative_columns((make_unordered_sample(p), make_unordered_sample(q)), 0).size
    assert not informative_columns(hidden_banana(rows=100), 0).size


def test_the_losses_of_all_pairs_are_those_of_plain_sums():
    """The slow oracle: one pair, one row at a time."""
    rows = columns._some_rows(hidden_banana(rows=40, others=6), 0)
    loss, count = 0.0, 0.0
    outside = rows.fold != 0
    for i in np.flatnonzero(outside):
        kernel = np.exp(-0.5 * ((rows.columns[:, [0, 3]] - rows.columns[i, [0, 3]]) ** 2).sum(axis=1))
        kernel[i] = 0
        p, q = (np.sum((kernel * rows.weight)[outside & (rows.side == side)]) for side in (0, 1))
        log_ratio = np.clip(np.log(p) - np.log(q), -6, 6)
        loss += rows.weight[i] * np.log1p(np.exp(-log_ratio if rows.side[i] == 0 else log_ratio))
        count += rows.weight[i]
    part = columns._Rows(*(each[outside] for each in (rows.columns, rows.side, rows.fold, rows.weight)))
    now, _ = columns._losses_with_one_more(part, np.array([0, 3]))
    assert now == pytest.approx(loss / count, rel=1e-4)
    assert columns._pair_losses(rows)[0][0, 3] / count == pytest.approx(loss / count, rel=1e-4)
