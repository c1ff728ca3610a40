import numpy as np
import pytest

from vwkde._data.copies import find_distinct, has_even_steps, in_steps_of, merge_repeats


def normal(seed, rows=300, columns=3):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def drawn(seed, pool, rows=300):
    return pool[np.random.default_rng(seed).integers(len(pool), size=rows)]


def merged(p, q):
    return merge_repeats(find_distinct(p), find_distinct(q))


def gauge_by_line(seed, silent_line, rows=300):
    """Return a gauge that is silent on one of three lines, and columns of few values: line, shift, and step."""
    random = np.random.default_rng(seed)
    gauge, line = random.normal(size=rows), random.integers(3, size=rows)
    shift, step, is_silent = random.integers(2, size=rows), random.integers(5, size=rows), line == silent_line
    columns = np.where(is_silent, 0.5, gauge), is_silent, line == 1, line == 2, shift, step
    return np.column_stack(columns).astype(float)


REPEATED = {
    "each row twice": (np.repeat(normal(0, 150), 2, axis=0), normal(1)),
    "rounded, each row twice": (np.repeat(normal(0, 150), 2, axis=0).round(2), normal(1).round(2)),
    "a bootstrap": (drawn(2, normal(0)), drawn(3, normal(1))),
    "three in ten doubled": (np.concatenate([normal(0), normal(0)[:90]]), normal(1)),
    "part of the other sample, doubled": (np.repeat(normal(1)[:100], 2, axis=0), normal(1)),
    "answers to thirty questions, each row twice": (
        np.repeat(np.random.default_rng(0).integers(5, size=(150, 30)), 2, axis=0).astype(float) ** 2.5,
        np.random.default_rng(1).integers(5, size=(300, 30)).astype(float) ** 2.5,
    ),
    "one column, each row twice": (np.repeat(normal(0, 150, 1), 2, axis=0), normal(1, columns=1)),
}
TIED = {
    "whole numbers": np.floor(6 * np.random.default_rng(0).random((2, 300, 3))),
    "whole numbers far apart": np.floor(6 * np.random.default_rng(0).random((2, 300, 3)) + np.array([[[0]], [[50]]])),
    "counts with many zeros": (
        np.random.default_rng(0).poisson(20, (2, 300, 3)) * (np.random.default_rng(1).random((2, 300, 3)) < 0.4)
    ).astype(float),
    "categories as vectors": (drawn(2, normal(0, 40)), drawn(3, normal(0, 40))),
    "one pool": (drawn(2, normal(0)), drawn(3, normal(0))),
    "rounded, one column": (normal(0, columns=1).round(1), normal(1, columns=1).round(1)),
    "a gauge that falls silent": (gauge_by_line(0, silent_line=0), gauge_by_line(1, silent_line=None)),
    "few combinations beside a silent gauge": (
        gauge_by_line(0, silent_line=0, rows=60)[:, :5],
        gauge_by_line(50, silent_line=None, rows=60)[:, :5],
    ),
    "a rare level that is frequent in the other sample": (
        np.eye(2)[np.repeat([0, 1], [291, 9])],
        np.eye(2)[np.repeat([0, 1], [200, 100])],
    ),
    "an atom": (normal(0) * (np.random.default_rng(1).random((300, 1)) > 0.2), normal(1)),
}


@pytest.mark.parametrize("name", REPEATED)
def test_repeats_become_weights(name):
    p, q = REPEATED[name]
    merging = merged(p, q)
    np.testing.assert_array_equal(p[merging.kept], np.unique(p, axis=0)[np.argsort(first_places(p))])
    np.testing.assert_allclose(merging.shares.sum(axis=1), 1)
    np.testing.assert_array_equal(p[merging.kept][merging.target], p)
    weight = np.random.default_rng(0).random(len(p))
    assert merging.weight(weight).mean() == pytest.approx(1)
    np.testing.assert_allclose(
        np.average(p[merging.kept], axis=0, weights=merging.weight(weight)), weight @ p / weight.sum()
    )


def first_places(x):
    return np.unique(x, axis=0, return_index=True)[1]


@pytest.mark.parametrize("name", TIED)
def test_ties_of_discrete_data_stay(name):
    p, q = TIED[name]
    assert merged(p, q) is None
    assert merged(q, p) is None


@pytest.mark.parametrize(("values", "columns"), [(2, 3), (4, 2), (4, 4), (6, 3)])
def test_ties_of_few_discrete_rows_stay(values, columns):
    found = [
        merged(*np.random.default_rng(seed).integers(0, values, size=(2, 15, columns)).astype(float))
        for seed in range(200)
    ]
    assert sum(merging is not None for merging in found) <= 2


def test_copies_beside_ties_become_weights():
    p, q = gauge_by_line(0, silent_line=0), gauge_by_line(1, silent_line=None)
    measured = p[p[:, 1] == 0]
    doubled = np.concatenate([p, measured])
    merging = merged(doubled, q)
    np.testing.assert_array_equal(np.sort(doubled[merging.kept], axis=0), np.sort(p, axis=0))


def test_repeats_of_few_rows_become_weights():
    for seed in range(20):
        p, q = np.repeat(normal(seed, 8, 2), 2, axis=0), normal(seed + 100, 15, 2)
        assert len(merged(p, q).kept) == 8
        assert len(merged(p.round(2), q.round(2)).kept) == 8


def test_a_sample_without_copies_stays():
    assert merged(normal(0), normal(1)) is None
    assert merged(normal(0)[:100], normal(0)) is None


def test_minus_zero_is_zero():
    assert len(find_distinct(np.array([[0.0], [-0.0], [1.0]])).first) == 2


@pytest.mark.parametrize(
    ("column", "even"),
    [(normal(0, columns=1)[:, 0], False), (normal(0, columns=1)[:, 0].round(2), True), (np.ones(5), False)],
)
def test_steps_of_a_column(column, even):
    codes, is_even = in_steps_of(column)
    assert is_even is even
    assert (np.argsort(codes, kind="stable") == np.argsort(column, kind="stable")).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("copied", [0, 1])
def test_distinct_rows_are_the_same_however_they_are_found(dtype, copied):
    random = np.random.default_rng(0)
    x = random.integers(-3, 3, (40, 6)).astype(dtype) + random.normal(size=6).astype(dtype)
    x = np.concatenate([np.unique(x, axis=0), x[:copied]])
    found = find_distinct(x)
    values, counts = np.unique(x, axis=0, return_counts=True)
    np.testing.assert_array_equal(np.unique(found.values, axis=0), values)
    np.testing.assert_array_equal(np.sort(found.counts), np.sort(counts))
    np.testing.assert_array_equal(found.values[found.behind], x)
    np.testing.assert_array_equal(x[found.first], found.values)


@pytest.mark.parametrize(
    ("column", "even"),
    [
        (np.random.default_rng(0).normal(size=200_000), False),
        (np.random.default_rng(0).normal(size=200_000).round(3), True),
        (np.arange(150_000) % 7 * 0.1, True),
        (np.append(np.arange(150_000) * 1.0, 0.3), False),
        (np.ones(10), False),
    ],
    ids=["continuous", "rounded", "few values", "one value between", "constant"],
)
def test_some_values_tell_at_once_that_there_are_no_steps(column, even):
    assert has_even_steps(column) == even
    assert in_steps_of(column)[1] == even
