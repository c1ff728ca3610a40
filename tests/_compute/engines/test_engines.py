"""Every engine that this machine can run, on the same hard cases, against the oracle."""

from dataclasses import replace

import numpy as np
import pytest

from support.loops import take_loops
from vwkde._compute.engines import ENGINES
from vwkde._compute.resources import Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde._compute.sums.batches import make_batch, mean_log_sums, mutual_mean_log_sums

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-4}
SHARPER = {"numba": 2e-5}
"""Engines that are closer than that in float32, but for queries that coincide with points in many columns."""
PRECISIONS = pytest.mark.parametrize("dtype", [np.float64, np.float32])
ORACLE = Resources(ENGINES["reference"])


def usable(engine, device):
    """Return the engine, or skip with the reason why it cannot run here."""
    if engine in ("torch", "triton"):
        torch = pytest.importorskip("torch")
        if device == "cuda" and not torch.cuda.is_available():
            pytest.skip("no CUDA GPU")
    if engine == "triton":
        pytest.importorskip("triton")
    return Resources(ENGINES[engine], device=device)


@pytest.fixture(
    params=[
        ("numba", "cpu", "compiled"),
        ("numba", "cpu", "NumPy"),
        ("torch", "cpu"),
        ("torch", "cuda"),
        ("triton", "cuda"),
    ],
    ids=lambda param: "-".join(param),
)
def resources(request, monkeypatch):
    engine, device, *loops = request.param
    for each in loops:
        take_loops(monkeypatch, each)
    return usable(engine, device)


def draw(n, m, d, dtype, offset=0.0, seed=0):
    random = np.random.default_rng(seed)
    queries = (random.normal(size=(n, d)) + offset).astype(dtype)
    points = (random.normal(size=(m, d)) + offset).astype(dtype)
    return queries, points, random.normal(size=m)


def check(resources, dtype, queries, points, bandwidth, sharp=True, **options):
    """Compare with the oracle by the relative error of the log; infinities must be in the same places."""
    expected = log_kernel_sums(queries, points, bandwidth, resources=ORACLE, **options)
    found = log_kernel_sums(queries, points, bandwidth, resources=resources, **options)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    finite = np.isfinite(expected)
    error = np.abs(found[finite] - expected[finite]) / (1 + np.abs(expected[finite]))
    tolerance = TOLERANCE[dtype]
    if sharp and dtype == np.float32:
        tolerance = SHARPER.get(resources.name, tolerance)
    assert error.max(initial=0) < tolerance
    return found


@PRECISIONS
@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("d", [1, 4, 6, 7, 16, 17, 40])
def test_sums_are_those_of_the_oracle(resources, dtype, d, leave_one_out):
    queries, points, log_weight = draw(301, 700, d, dtype)
    queries = points if leave_one_out else queries
    for weight in (None, log_weight, 20 * log_weight):
        check(resources, dtype, queries, points, 0.6, log_weight=weight, leave_one_out=leave_one_out)


@PRECISIONS
@pytest.mark.parametrize("d", [3, 12])
def test_the_first_of_the_points_may_be_left_out(resources, dtype, d):
    points, log_weight = draw(1, 600, d, dtype)[1:]
    whole = log_kernel_sums(points, points, 0.6, log_weight=log_weight, leave_one_out=True, resources=ORACLE)
    found = check(resources, dtype, points[:250], points, 0.6, log_weight=log_weight, leave_one_out=True)
    np.testing.assert_allclose(found, whole[:250], rtol=1e-3, atol=1e-4)


@PRECISIONS
@pytest.mark.parametrize("d", [3, 12])
def test_any_of_the_points_may_be_left_out(resources, dtype, d):
    points, log_weight = draw(1, 600, d, dtype)[1:]
    some = np.random.default_rng(0).permutation(600)[:250]
    whole = log_kernel_sums(points, points, 0.6, log_weight=log_weight, leave_one_out=True, resources=ORACLE)
    found = check(resources, dtype, points[some], points, 0.6, log_weight=log_weight, leave_one_out=some)
    np.testing.assert_allclose(found, whole[some], rtol=1e-3, atol=1e-4)


@PRECISIONS
@pytest.mark.parametrize("d", [2, 20])
def test_logs_far_below_the_smallest_number(resources, dtype, d):
    queries, points, log_weight = draw(5, 60, d, dtype)
    queries = queries + np.array([0, 10, 100, 450, 2000], dtype)[:, None]
    assert check(resources, dtype, queries, points, 1.0, log_weight=log_weight).min() < -1e5


@PRECISIONS
@pytest.mark.parametrize("d", [2, 20])
def test_samples_far_from_the_origin(resources, dtype, d):
    queries, points, log_weight = draw(40, 300, d, dtype, offset=1e3)
    check(resources, dtype, queries, points, 0.3, log_weight=log_weight)


@PRECISIONS
@pytest.mark.parametrize("d", [1, 8])
def test_one_near_point_among_thousands_of_far_ones(resources, dtype, d):
    queries, points, log_weight = draw(30, 4_000, d, dtype)
    queries += dtype(30)
    points[1_234] = queries[7] + dtype(0.5)
    for bandwidth in (1.0, 0.2):
        check(resources, dtype, queries, points, bandwidth, log_weight=log_weight)


@PRECISIONS
@pytest.mark.parametrize("d", [2, 12])
def test_a_grid_of_bandwidths_and_columns_of_weights(resources, dtype, d):
    _, points, log_weight = draw(1, 500, d, dtype)
    weights = np.column_stack([log_weight, 40 * log_weight, np.zeros(500)])
    bandwidths = [0.3, *(0.9 * 2.0 ** (-np.arange(5) / 2)), 1.3]  # steps of √2 share one exponential
    check(resources, dtype, points, points, bandwidths, log_weight=weights, leave_one_out=True)


@PRECISIONS
@pytest.mark.parametrize("d", [20, 60])
@pytest.mark.parametrize("bandwidth", [0.08, 0.25, 0.5, 0.6])
def test_queries_that_coincide_with_points(resources, dtype, d, bandwidth):
    """The log is near zero however many dimensions there are, and hides no cancellation.

    What is left of it is 5e-5 for numba in 60 columns, by seed and bandwidth, so only the common bound is asked for.
    """
    _, points, _ = draw(1, 300, d, dtype)
    check(resources, dtype, points[:40], points, bandwidth, sharp=False)


def test_heavy_points_far_away_do_not_show(resources):
    far = draw(1, 20_000, 2, np.float32)[1]
    points = np.concatenate([np.zeros((1, 2), np.float32), far + np.float32(1e3)])
    log_weight = np.concatenate([[0.0], np.full(20_000, 57.0)])
    found = log_kernel_sums(points[:1], points, [0.5, 0.6], log_weight=log_weight, resources=resources)
    np.testing.assert_allclose(found, 0, atol=2e-5)


@PRECISIONS
@pytest.mark.parametrize("d", [3, 9])
def test_points_without_weight_do_not_count(resources, dtype, d):
    queries, points, log_weight = draw(50, 300, d, dtype)
    log_weight[::2] = -np.inf
    check(resources, dtype, queries, points, 0.5, log_weight=log_weight)
    check(resources, dtype, queries, points, [0.5, 0.7], log_weight=np.column_stack([log_weight, np.zeros(300)]))


@PRECISIONS
@pytest.mark.parametrize("d", [1, 8])
def test_a_sum_over_nothing_is_minus_infinity(resources, dtype, d):
    points = np.tile(np.arange(3.0), (d, 1)).T.astype(dtype)
    log_weight = np.array([-np.inf, 0.0, -np.inf])
    found = check(resources, dtype, points, points, 1.0, log_weight=log_weight, leave_one_out=True)
    assert np.isneginf(found[1])
    several = np.column_stack([log_weight, log_weight])
    assert np.isneginf(check(resources, dtype, points, points, 1.0, log_weight=several, leave_one_out=True)[1]).all()
    assert np.isneginf(log_kernel_sums(points, points, 1.0, log_weight=[-np.inf] * 3, resources=resources)).all()


def test_a_constant_added_to_the_log_weights_is_added_to_the_sums(resources):
    queries, points, log_weight = draw(40, 200, 3, np.float64)
    expected = log_kernel_sums(queries, points, 0.5, log_weight=log_weight)
    for constant in (-1e6, 1e6):
        found = log_kernel_sums(queries, points, 0.5, log_weight=log_weight + constant, resources=resources)
        np.testing.assert_allclose(found - constant, expected, atol=1e-8)


@PRECISIONS
def test_few_queries_and_many_points(resources, dtype):
    queries, points, log_weight = draw(3, 200_000, 8, dtype)
    check(resources, dtype, queries, points, 0.4, log_weight=log_weight)


@pytest.mark.parametrize("budget", [1, 10**6])
def test_the_memory_budget_changes_nothing(resources, budget):
    queries, points, log_weight = draw(90, 210, 9, np.float64)
    options = {"log_weight": np.column_stack([log_weight, -log_weight])}
    expected = log_kernel_sums(queries, points, [0.4, 0.8], resources=resources, **options)
    tight = replace(resources, memory_budget=budget)
    found = log_kernel_sums(queries, points, [0.4, 0.8], resources=tight, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("columns", [1, 4, 7, 20])
def test_batches_of_samples(resources, columns):
    random = np.random.default_rng(0)
    samples, queries = random.normal(size=(5, 70, columns)), random.normal(size=(3, 41, columns))
    samples[2, 7] = 80.0
    batch, other = (make_batch(each, samples.mean(axis=(0, 1)), 0.8) for each in (samples, queries))
    oracle = [[log_kernel_sums(x, y, 0.8, resources=ORACLE).mean() for y in samples] for x in queries]
    np.testing.assert_allclose(mean_log_sums(other, batch, resources), oracle, rtol=1e-5, atol=4e-5)
    whole, part = (mutual_mean_log_sums(batch, first, resources) for first in (0, 3))
    own = [
        [log_kernel_sums(x, y, 0.8, leave_one_out=i == k, resources=ORACLE).mean() for k, y in enumerate(samples)]
        for i, x in enumerate(samples)
    ]
    np.testing.assert_allclose(whole, own, rtol=1e-5, atol=4e-5)
    assert np.isnan(part[:3, :3]).all()
    np.testing.assert_allclose(part[3:], whole[3:], rtol=1e-6)
    np.testing.assert_allclose(part[:, 3:], whole[:, 3:], rtol=1e-6)


def test_arrays_that_must_not_be_written_are_read(resources):
    queries, points, log_weight = draw(20, 50, 3, np.float32)
    for array in (queries, points, log_weight):
        array.flags.writeable = False
    check(resources, np.float32, queries, points, 0.5, log_weight=log_weight)
