import numpy as np
import pytest

from vwkde._data import near_copies
from vwkde._data.order import canonical_order

N = 400


def merge(x):
    return near_copies.merge_near_copies(x, near_copies.some_neighbours(x, canonical_order(x)))


def close_pairs(x):
    return near_copies.has_close_pairs(near_copies.some_neighbours(x, canonical_order(x)))


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def with_near_copies(columns, share, jitter, times=1, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(N, columns))
    copied = int(share * N)
    copies = [x[:copied] + jitter * random.normal(size=(copied, columns)) for _ in range(times)]
    return np.concatenate([x, *copies]), np.concatenate([np.arange(N), *[np.arange(copied)] * times])


def curve(random, noise):
    t = random.uniform(0, 6, N)
    return np.column_stack([np.cos(t), np.sin(2 * t), t / 3]) + noise * random.normal(size=(N, 3))


ORDINARY = {
    "normal": lambda random: random.normal(size=(N, 3)),
    "thirty columns": lambda random: random.normal(size=(N, 30)),
    "one column": lambda random: random.random((N, 1)),
    "heavy tails": lambda random: random.standard_t(1.5, (N, 3)),
    "skewed": lambda random: np.exp(5 * random.normal(size=(N, 3))),
    "so skewed that most differences are lost": lambda random: np.exp(20 * random.normal(size=(N, 1))),
    "scales": lambda random: random.normal(size=(N, 3)) * np.where(random.random((N, 1)) < 0.3, 1e-3, 1.0),
    "rounded": lambda random: random.normal(size=(N, 3)).round(2),
    "counts": lambda random: np.unique(random.poisson(5, (N, 3)), axis=0).astype(float),
    "a curve": lambda random: curve(random, 1e-3),
    "a thin curve": lambda random: curve(random, 1e-6),
    "one discrete column": lambda random: np.column_stack([random.integers(20, size=N), random.normal(size=(N, 2))]),
    "clusters": lambda random: (
        random.normal(size=(N // 8, 3))[np.arange(N) % (N // 8)] + 0.3 * random.normal(size=(N, 3))
    ),
    "few and very skewed rows": lambda random: np.exp(20 * random.normal(size=(40, 3))),
    "few rows": lambda random: random.normal(size=(12, 2)),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_data_have_none(name):
    for seed in range(3):
        x = standardised(ORDINARY[name](np.random.default_rng(seed)))
        assert merge(x) is None
        assert not close_pairs(x)


@pytest.mark.parametrize(
    ("columns", "share", "jitter", "times"),
    [(3, 1.0, 1e-3, 1), (3, 0.3, 1e-3, 1), (2, 1.0, 1e-4, 1), (10, 1.0, 1e-2, 1), (3, 1.0, 1e-3, 3)],
)
def test_near_copies_are_merged_with_their_original(columns, share, jitter, times):
    x, original = with_near_copies(columns, share, jitter, times)
    target = merge(x).target
    same = target[:, None] == target
    expected = original[:, None] == original
    assert (same != expected).sum() < 0.02 * expected.sum()


def test_the_kept_row_is_one_of_them_and_the_order_does_not_matter():
    x, _ = with_near_copies(3, 1.0, 1e-3)
    merging = merge(x)
    assert np.abs(x[merging.kept][merging.target] - x).max() < 0.02
    mixed = np.random.default_rng(1).permutation(len(x))
    np.testing.assert_array_equal(np.unique(x[merging.kept], axis=0), np.unique(x[mixed][merge(x[mixed]).kept], axis=0))


def test_pairs_too_far_apart_to_merge_are_seen():
    x, _ = with_near_copies(3, 1.0, 0.08)
    merging = merge(x)
    assert close_pairs(x if merging is None else x[merging.kept])
