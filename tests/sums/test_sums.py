"""Every engine against exact arithmetic, then against the reference on sizes that cross all block boundaries."""

import mpmath
import numpy as np
import pytest

from vwkde.resources import Resources
from vwkde.sums import log_kernel_sums

TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}


def exact_log_sum(x, points, bandwidth, log_weight):
    with mpmath.workdps(40):
        x, points = [mpmath.mpf(float(v)) for v in x], [[mpmath.mpf(float(v)) for v in y] for y in points]
        h = mpmath.mpf(float(bandwidth))
        terms = [
            mpmath.mpf(float(w)) - sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2 * h**2)
            for y, w in zip(points, log_weight, strict=True)
        ]
        largest = max(terms)
        return float(largest + mpmath.log(sum(mpmath.exp(t - largest) for t in terms)))


def relative_error(found, expected):
    return np.max(np.abs(found - expected) / (1 + np.abs(expected)))


def draw(n, m, d, dtype=np.float64, offset=0.0, seed=0):
    random = np.random.default_rng(seed)
    queries = (random.normal(size=(n, d)) + offset).astype(dtype)
    points = (random.normal(size=(m, d)) + offset).astype(dtype)
    return queries, points, random.normal(size=m)


@pytest.mark.parametrize("engine", ["numba", "reference"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("times_scott", [1.0, 0.1])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 20])
def test_agrees_with_exact_arithmetic(engine, dtype, offset, times_scott, d):
    queries, points, log_weight = draw(12, 80, d, dtype, offset)
    bandwidth = times_scott * 80 ** (-1 / (d + 4))
    expected = [exact_log_sum(x, points, bandwidth, log_weight) for x in queries]
    found = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight, resources=Resources(engine))
    assert found.dtype == np.float64
    assert relative_error(found, np.array(expected)) < TOLERANCE[dtype]


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logs_are_right_far_below_the_smallest_number(d, dtype):
    queries, points, log_weight = draw(5, 60, d, dtype)
    queries = queries + np.array([0, 10, 100, 450, 2000], dtype)[:, None]
    expected = np.array([exact_log_sum(x, points, 1.0, log_weight) for x in queries])
    assert expected.min() < -1e5
    found = log_kernel_sums(queries, points, 1.0, log_weight=log_weight)
    assert relative_error(found, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("d", [1, 8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_clusters_that_the_sample_of_points_misses(d, dtype):
    """One near point among thousands of far ones decides the sum."""
    queries, points, log_weight = draw(30, 4_000, d, dtype)
    queries += dtype(30)
    points[1_234] = queries[7] + dtype(0.5)
    for bandwidth in (1.0, 0.2):
        found = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight)
        expected = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight, resources=Resources("reference"))
        assert relative_error(found, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 5, 9])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_blocks_tiles_and_padding(dtype, d, leave_one_out):
    _, points, log_weight = draw(1, 1_300, d, dtype)
    queries = points if leave_one_out else draw(1_111, 1, d, dtype, seed=1)[0]
    for weight in (None, 20 * log_weight):
        options = {"log_weight": weight, "leave_one_out": leave_one_out}
        found = log_kernel_sums(queries, points, 0.6, **options)
        expected = log_kernel_sums(queries, points, 0.6, resources=Resources("reference"), **options)
        assert relative_error(found, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 12])
def test_a_grid_of_bandwidths_and_columns_of_weights_share_a_pass(dtype, d):
    _, points, log_weight = draw(1, 700, d, dtype)
    bandwidths = np.array([0.3, *(0.9 * 2.0 ** (-np.arange(7) / 2)), 1.3])
    weights = np.column_stack([log_weight, 40 * log_weight, np.zeros(700)])
    found = log_kernel_sums(points, points, bandwidths, log_weight=weights, leave_one_out=True)
    assert found.shape == (9, 700, 3)
    for g, bandwidth in enumerate(bandwidths):
        for c in range(3):
            expected = log_kernel_sums(
                points,
                points,
                bandwidth,
                log_weight=weights[:, c],
                leave_one_out=True,
                resources=Resources("reference"),
            )
            assert relative_error(found[g, :, c], expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [20, 60])
@pytest.mark.parametrize("times_scott", [0.1, 0.3, 0.6])
def test_queries_that_coincide_with_points(dtype, d, times_scott):
    """The log is near zero however many dimensions there are, and hides no cancellation."""
    _, points, _ = draw(1, 300, d, dtype)
    bandwidth = times_scott * 300 ** (-1 / (d + 4))
    found = log_kernel_sums(points[:40], points, bandwidth)
    assert (
        relative_error(found, log_kernel_sums(points[:40], points, bandwidth, resources=Resources("reference")))
        < TOLERANCE[dtype]
    )


def test_heavy_points_far_away_do_not_show_through_the_floor():
    _, far, _ = draw(1, 20_000, 2, np.float32)
    points = np.concatenate([np.zeros((1, 2), np.float32), far + np.float32(1e3)])
    log_weight = np.concatenate([[0.0], np.full(20_000, 57.0)])
    found = log_kernel_sums(points[:1], points, [0.5, 0.6], log_weight=log_weight)
    np.testing.assert_allclose(found, 0, atol=2e-5)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.zeros((3, 1)), np.zeros((3, 2)), 1.0), {}, "shapes"),
        ((np.zeros((3, 2)), np.zeros((0, 2)), 1.0), {}, "shapes"),
        ((np.zeros((3, 2)), np.zeros((3, 2)), -1.0), {}, "positive"),
        ((np.zeros((3, 2)), np.zeros((3, 2)), np.nan), {}, "positive"),
        ((np.zeros((3, 2)), np.zeros((3, 2)), 1.0), {"log_weight": np.zeros(2)}, "each of the 3 points"),
        ((np.zeros((4, 2)), np.zeros((3, 2)), 1.0), {"leave_one_out": True}, "points themselves"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        log_kernel_sums(*arguments, **options)


def test_shapes_follow_what_was_given():
    queries, points, log_weight = draw(6, 9, 2)
    assert log_kernel_sums(queries, points, 1.0).shape == (6,)
    assert log_kernel_sums(queries, points, [1.0]).shape == (1, 6)
    assert log_kernel_sums(queries, points, 1.0, log_weight=log_weight[:, None]).shape == (6, 1)
    assert log_kernel_sums(queries, points, [1.0, 2.0], log_weight=np.zeros((9, 4))).shape == (2, 6, 4)


@pytest.mark.parametrize("columns", [1, 2])
def test_points_without_weight_do_not_count(columns):
    queries, points, log_weight = draw(50, 300, 3)
    log_weight[::2] = -np.inf
    expected = log_kernel_sums(queries, points[1::2], 0.5, log_weight=log_weight[1::2])
    found = log_kernel_sums(queries, points, 0.5, log_weight=np.repeat(log_weight[:, None], columns, axis=1))
    np.testing.assert_allclose(found, np.repeat(expected[:, None], columns, axis=1), rtol=1e-13)


@pytest.mark.parametrize("columns", [1, 2])
def test_a_sum_over_nothing_is_minus_infinity(columns):
    points = np.arange(3.0)[:, None]
    log_weight = np.array([-np.inf, 0.0, -np.inf])[:, None].repeat(columns, axis=1)
    found = log_kernel_sums(points, points, 1.0, log_weight=log_weight, leave_one_out=True)
    assert np.isneginf(found[1]).all()
    np.testing.assert_allclose(found[[0, 2]], -0.5)


@pytest.mark.parametrize("bandwidth", [0.4, [0.4, 0.8]])
def test_memory_budget_and_threads_change_nothing(bandwidth):
    queries, points, log_weight = draw(900, 2_100, 9)
    expected = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight)
    for budget in (1, 10**6, 2**30):
        for n_threads in (1, 2, 3):
            found = log_kernel_sums(
                queries,
                points,
                bandwidth,
                log_weight=log_weight,
                resources=Resources(memory_budget=budget, n_threads=n_threads),
            )
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_adding_a_constant_to_the_log_weights_adds_it_to_the_log_sums():
    queries, points, log_weight = draw(40, 200, 3)
    expected = log_kernel_sums(queries, points, 0.5, log_weight=log_weight)
    for constant in (-1e6, 1e6):
        found = log_kernel_sums(queries, points, 0.5, log_weight=log_weight + constant)
        np.testing.assert_allclose(found - constant, expected, atol=1e-8)
