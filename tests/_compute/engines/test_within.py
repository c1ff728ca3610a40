"""Sums within a permitted error, against exact ones: on a grid, in leaves, and by whatever the engine chooses."""

import numpy as np
import pytest

from vwkde._compute.engines import ENGINES, gridded, many_rows, numba_engine, pruned, within
from vwkde._compute.engines.asked import Asked
from vwkde._compute.engines.gridded import sums_on_grid
from vwkde._compute.engines.leaves import leaf_order, make_leaves
from vwkde._compute.engines.pruned import make_pruning
from vwkde._compute.engines.pruned_kernels import sum_pruned
from vwkde._compute.parallel import at_most
from vwkde._compute.resources import Resources
from vwkde._compute.sums import MAX_ERROR, log_kernel_sums

EXACT = Resources(ENGINES["numba-exact"])
ROUNDING = {np.float64: 1e-11, np.float32: 1e-4}
"""What exact sums may be wrong by, relative to one plus the size of the log."""
NONE = np.empty(0, np.int64)


def uniform(random, n, d):
    return random.uniform(size=(n, d))


def clustered(random, n, d):
    return random.normal(size=(12, d))[random.integers(0, 12, n)] + 0.02 * random.normal(size=(n, d))


def heavy_tailed(random, n, d):
    return random.standard_t(1.5, size=(n, d))


def repeated(random, n, d):
    return random.integers(0, 4, size=(n, d)).astype(float)


def with_outliers(random, n, d):
    rows = random.normal(size=(n, d))
    rows[::997] *= 1e4
    return rows


SHAPES = pytest.mark.parametrize(
    "shape", [uniform, clustered, heavy_tailed, repeated, with_outliers], ids=lambda shape: shape.__name__
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let grids and leaves be used for few rows, so that the tests are fast."""
    monkeypatch.setattr(within, "_FEWEST_PAIRS", 1)
    for module in (within, many_rows):
        monkeypatch.setattr(module, "FEWEST_QUERIES", 200)
    monkeypatch.setattr(pruned, "_TRIED", 2)


def always(monkeypatch):
    """Use leaves and grids even where they do not pay."""
    monkeypatch.setattr(pruned, "_PAIR_COST", 0.0625)
    monkeypatch.setattr(gridded, "_WORTHWHILE", 10.0)


def check(queries, points, bandwidth, error=MAX_ERROR, **options):
    """Compare the log sums with exact ones: infinities in the same places, all others within the error."""
    exact = log_kernel_sums(queries, points, bandwidth, resources=EXACT, **options)
    found = log_kernel_sums(queries, points, bandwidth, max_error=error, **options)
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(exact))
    finite = np.isfinite(exact)
    rounding = ROUNDING[np.result_type(queries, points).type] * (1 + np.abs(exact[finite]))
    assert (np.abs(found[finite] - exact[finite]) <= error + rounding).all()
    assert finite.any()


@SHAPES
@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("forced", [False, True])
def test_sums_are_within_the_error(monkeypatch, shape, d, forced):
    if forced:
        always(monkeypatch)
    random = np.random.default_rng(3)
    points = shape(random, 3_000, d)
    log_weight = random.normal(size=3_000)
    log_weight[::3] = -np.inf
    spread = np.quantile(np.abs(points - np.median(points, axis=0)), 0.7)
    for bandwidth in (0.01 * spread, 0.2 * spread, 2 * spread):
        check(points, points, bandwidth, leave_one_out=True)
        check(shape(random, 2_500, d), points, bandwidth, log_weight=log_weight)


@pytest.mark.parametrize("d", [1, 3, 5])
def test_single_precision(monkeypatch, d):
    always(monkeypatch)
    points = np.random.default_rng(0).normal(size=(3_000, d)).astype(np.float32)
    for bandwidth in (0.05, 0.5):
        check(points, points, bandwidth, leave_one_out=True)


@pytest.mark.parametrize("d", [2, 4])
def test_several_bandwidths_and_weights(monkeypatch, d):
    always(monkeypatch)
    random = np.random.default_rng(1)
    points = random.normal(size=(3_000, d))
    weights = np.column_stack([np.zeros(3_000), 30 * random.normal(size=3_000), np.full(3_000, -np.inf)])
    check(points[:2_200], points, [0.05, 0.4, 3.0], log_weight=weights, leave_one_out=True)


@pytest.mark.parametrize("d", [1, 3, 5])
def test_queries_far_from_all_points(monkeypatch, d):
    always(monkeypatch)
    random = np.random.default_rng(2)
    points = random.normal(size=(3_000, d))
    queries = random.normal(size=(2_100, d)) * np.geomspace(1, 3e3, 2_100)[:, None]
    exact = log_kernel_sums(queries, points, 0.5, resources=EXACT)
    assert exact.min() < -1e5
    check(queries, points, 0.5)


@pytest.mark.parametrize("error", [1e-3, 1e-9])
@pytest.mark.parametrize("d", [2, 4])
def test_other_errors(monkeypatch, d, error):
    always(monkeypatch)
    points = np.random.default_rng(4).normal(size=(3_000, d))
    check(points, points, 0.2, error=error, leave_one_out=True)


def test_leaves_are_compact_and_hold_every_row_once():
    rows = np.random.default_rng(0).uniform(size=(1_000, 2))
    order = leaf_order(rows, 64)
    np.testing.assert_array_equal(np.sort(order), np.arange(1_000))
    leaves = make_leaves(rows[order], np.zeros(1_000), 64)
    assert (leaves.high - leaves.low).mean() < 0.4  # 16 leaves of a square have sides near a quarter
    np.testing.assert_allclose(np.exp2(leaves.mass), [64] * 15 + [40])
    np.testing.assert_allclose(np.exp2(leaves.least_mass), [63] * 15 + [39])


def pairs_needed(points, bandwidth, error, mass=0.0):
    """Return the part of all pairs of rows that leaves need, and the log sums; `mass` is added to the log2 bounds."""
    x = points / (bandwidth * np.sqrt(2 * np.log(2)))
    x = x[leaf_order(x, 64)]
    leaves, sums = make_leaves(x, np.zeros(len(x)), 64), np.empty(len(x))
    starts = np.append(np.arange(0, len(x), 64), len(x))
    pairs = sum_pruned(
        x, starts, leaves.tiles, leaves.column, leaves.low, leaves.high,
        leaves.mass + mass, leaves.mass, NONE, error, sums,
    )  # fmt: skip
    exact = log_kernel_sums(x, x, np.sqrt(0.5 / np.log(2)), resources=EXACT)
    return pairs / len(x) ** 2, np.abs(np.log(2) * sums - exact).max()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_leaves_far_away_are_left_out(d):
    points = np.random.default_rng(0).uniform(size=(6_000, d))
    needed, wrong = pairs_needed(points, 0.02, 1e-6)
    assert needed < 0.35
    assert wrong <= 1e-6


def test_a_larger_error_saves_more_and_shows():
    points = np.random.default_rng(0).uniform(size=(6_000, 2))
    needed, wrong = zip(*(pairs_needed(points, 0.05, error) for error in (1e-12, 1e-6, 1e-2)), strict=True)
    assert needed[0] > needed[1] > needed[2]
    assert wrong[0] < 1e-11
    assert 1e-6 < wrong[2] < 1e-2


def test_bounds_that_are_too_small_make_sums_wrong():
    """The bound is what keeps the error small: with a thousandth of it, the error is exceeded."""
    points = np.random.default_rng(0).uniform(size=(6_000, 2))
    assert pairs_needed(points, 0.05, 1e-6)[1] <= 1e-6
    assert pairs_needed(points, 0.05, 1e-6, mass=-10.0)[1] > 1e-6


def test_wide_kernels_in_many_columns_are_left_to_exact_sums():
    points = np.random.default_rng(0).normal(size=(3_000, 10))
    whole = make_pruning(points)
    assert whole.attempt(points, 1.0, np.zeros((3_000, 1)), NONE, Asked(1e-6)) is None
    expected = numba_engine.log_sums(points, points, np.ones(1), np.zeros((3_000, 1)), NONE, 2**28, "cpu")
    found = log_kernel_sums(points, points, 1.0)
    np.testing.assert_array_equal(found, expected[0, :, 0])


def test_a_grid_serves_most_rows_and_knows_which(monkeypatch):
    random = np.random.default_rng(0)
    points = random.normal(size=(40_000, 2))
    queries = random.normal(size=(3_000, 2)) * np.linspace(1, 4, 3_000)[:, None]
    exact = log_kernel_sums(queries, points, 0.2, resources=EXACT)
    monkeypatch.setattr(gridded, "_WORTHWHILE", 1e3)
    found = sums_on_grid(queries, points, 0.2, np.zeros(40_000), NONE, Asked(1e-6), 2**28)
    assert 0.7 < found.sure.mean() < 1
    wrong = np.abs(found.values - exact)
    assert wrong[found.sure].max() <= 1e-6
    assert not wrong[~found.sure].max() <= 1e-6  # or there is no sum at all


def test_slices_of_a_grid_agree_with_the_whole(monkeypatch):
    monkeypatch.setattr(gridded, "_WORTHWHILE", 1e3)
    points = np.random.default_rng(0).uniform(size=(4_000, 3)) * [10, 1, 1]
    budgets = (2**26, 2**23)
    whole, sliced = (
        sums_on_grid(points, points, 0.1, np.zeros(4_000), np.arange(4_000), Asked(1e-6), budget) for budget in budgets
    )
    assert [len(gridded._boxes(points, points, 0.03, 1.0, budget)) for budget in budgets] == [1, 4]
    both = whole.sure & sliced.sure
    assert both.mean() > 0.5
    np.testing.assert_allclose(sliced.values[both], whole.values[both], atol=2e-6)


def test_threads_change_nothing(monkeypatch):
    always(monkeypatch)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    points = np.random.default_rng(0).normal(size=(5_000, 3))
    sums = []
    for threads in (1, 4):
        with at_most(threads):
            sums.append(log_kernel_sums(points, points, [0.05, 0.3], leave_one_out=True))
    np.testing.assert_allclose(*sums, rtol=1e-12)


def test_zero_error_is_exact(monkeypatch):
    always(monkeypatch)
    points = np.random.default_rng(0).normal(size=(3_000, 2))
    exact = log_kernel_sums(points, points, 0.2, resources=EXACT)
    np.testing.assert_array_equal(log_kernel_sums(points, points, 0.2, max_error=0), exact)
    assert (log_kernel_sums(points, points, 0.2) != exact).any()


def test_equal_inputs_give_equal_sums():
    points = np.random.default_rng(0).normal(size=(5_000, 3))
    one, other = (log_kernel_sums(points, points, 0.1, leave_one_out=True) for _ in range(2))
    np.testing.assert_array_equal(one, other)
