"""The reference and the tiles against exact arithmetic, sizes that cross all block boundaries, and refusals.

What every engine must do is in `test_engines.py`.
"""

from functools import cache

import mpmath
import numpy as np
import pytest

from support.loops import LOOPS, take_loops
from vwkde._compute import parallel
from vwkde._compute.engines import ENGINES
from vwkde._compute.resources import Resources
from vwkde._compute.sums import log_kernel_sums

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


def by(loops, monkeypatch):
    """Return the resources that sum by these loops, or by the reference."""
    if loops == "reference":
        return Resources(ENGINES["reference"])
    take_loops(monkeypatch, loops)
    return Resources()


def relative_error(found, expected):
    return np.max(np.abs(found - expected) / (1 + np.abs(expected)))


def draw(n, m, d, dtype=np.float64, offset=0.0, seed=0):
    random = np.random.default_rng(seed)
    queries = (random.normal(size=(n, d)) + offset).astype(dtype)
    points = (random.normal(size=(m, d)) + offset).astype(dtype)
    return queries, points, random.normal(size=m)


@cache  # for all loops: it takes longer than all that is tested with it
def drawn_with_exact_sums(dtype, offset, times_scott, d):
    queries, points, log_weight = draw(12, 80, d, dtype, offset)
    bandwidth = times_scott * 80 ** (-1 / (d + 4))
    expected = np.array([exact_log_sum(x, points, bandwidth, log_weight) for x in queries])
    return queries, points, log_weight, bandwidth, expected


@pytest.mark.parametrize("loops", [*LOOPS, "reference"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("times_scott", [1.0, 0.1])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 20])
def test_agrees_with_exact_arithmetic(monkeypatch, loops, dtype, offset, times_scott, d):
    queries, points, log_weight, bandwidth, expected = drawn_with_exact_sums(dtype, offset, times_scott, d)
    found = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight, resources=by(loops, monkeypatch))
    assert found.dtype == np.float64
    assert relative_error(found, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("loops", [*LOOPS, "reference"])
@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logs_are_right_far_below_the_smallest_number(monkeypatch, loops, d, dtype):
    queries, points, log_weight = draw(5, 60, d, dtype)
    queries = queries + np.array([0, 10, 100, 450, 2000], dtype)[:, None]
    expected = np.array([exact_log_sum(x, points, 1.0, log_weight) for x in queries])
    assert expected.min() < -1e5
    found = log_kernel_sums(queries, points, 1.0, log_weight=log_weight, resources=by(loops, monkeypatch))
    assert relative_error(found, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize("bandwidth", [0.5, [0.5, 0.6]])
@pytest.mark.parametrize("d", [2, 9])
@pytest.mark.parametrize("points", [[0.0], [0.0, 1e200]], ids=["alone", "too far for a square"])
def test_a_point_without_others_in_reach_has_a_sum_of_nothing(monkeypatch, loops, bandwidth, d, points):
    take_loops(monkeypatch, loops)
    x = np.tile(points, (d, 1)).T
    assert np.isneginf(log_kernel_sums(x, x, bandwidth, leave_one_out=True)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 5, 9])
@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("loops", LOOPS)
def test_blocks_tiles_and_padding(monkeypatch, loops, dtype, d, leave_one_out):
    take_loops(monkeypatch, loops)
    _, points, log_weight = draw(1, 1_300, d, dtype)
    queries = points if leave_one_out else draw(1_111, 1, d, dtype, seed=1)[0]
    for weight in (None, 20 * log_weight):
        options = {"log_weight": weight, "leave_one_out": leave_one_out}
        found = log_kernel_sums(queries, points, 0.6, **options)
        expected = log_kernel_sums(queries, points, 0.6, resources=Resources(ENGINES["reference"]), **options)
        assert relative_error(found, expected) < TOLERANCE[dtype]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.zeros((3, 1)), np.zeros((3, 2)), 1.0), {}, "shapes"),
        ((np.zeros((3, 2)), np.zeros((0, 2)), 1.0), {}, "shapes"),
        ((np.zeros((3, 2)), np.zeros((3, 2)), -1.0), {}, "positive"),
        ((np.zeros((3, 2)), np.zeros((3, 2)), np.nan), {}, "positive"),
        ((np.zeros((3, 2)), np.zeros((3, 2)), 1.0), {"log_weight": np.zeros(2)}, "each of the 3 points"),
        ((np.zeros((4, 2)), np.zeros((3, 2)), 1.0), {"leave_one_out": True}, "must be points"),
        ((np.zeros((4, 2)), np.zeros((9, 2)), 1.0), {"leave_one_out": np.arange(3)}, "must be points"),
        ((np.zeros((2, 2)), np.zeros((9, 2)), 1.0), {"leave_one_out": np.array([0, 9])}, "must be points"),
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


@pytest.mark.parametrize("bandwidth", [0.4, [0.4, 0.8]])
@pytest.mark.parametrize("loops", LOOPS)
def test_memory_budget_and_threads_change_nothing(monkeypatch, loops, bandwidth):
    take_loops(monkeypatch, loops)
    queries, points, log_weight = draw(900, 2_100, 9)
    expected = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight)
    for budget in (1, 10**6, 2**30):
        for n_threads in (1, 2, 3):
            resources = Resources(memory_budget=budget)
            with parallel.at_most(n_threads):
                found = log_kernel_sums(queries, points, bandwidth, log_weight=log_weight, resources=resources)
            np.testing.assert_allclose(found, expected, rtol=1e-13)
