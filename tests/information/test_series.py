"""Lags and blocks: rows in the order of time."""

import warnings

import numpy as np
import pytest
from scipy.stats import entropy

import vwkde
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._series import in_time, memory

ROWS = np.arange(30.0)[:, None]


def sticky(random, rows, share, stay):
    """Return truth values that stay as they are with a probability, and are drawn anew otherwise."""
    drawn = np.where(random.random(rows) > stay, np.arange(rows), 0)
    return (random.random(rows) < share)[np.maximum.accumulate(drawn)]


def noisy_copy(seed, rows=2_000, stay=0.9):
    random = np.random.default_rng(seed)
    x = sticky(random, rows, 0.5, stay)
    return x, x ^ sticky(random, rows, 0.2, stay)


def covered(blocks):
    """Return in which of 30 runs the interval covers the truth, with seeds on which nothing was chosen."""
    truth = np.log(2) - entropy([0.2, 0.8])
    ends = [vwkde.mutual_information(*noisy_copy(seed), blocks=blocks).interval for seed in range(9_000, 9_030)]
    return sum(low <= truth <= high for low, high in ends)


def test_blocks_make_intervals_cover_where_rows_remember():
    assert covered("auto") >= 25  # of 30; the standard error of such a count is about one
    assert covered(None) <= 15


def test_blocks_of_independent_rows_change_little():
    random = np.random.default_rng(0)
    x = random.integers(2, size=400)
    y = x ^ (random.random(400) < 0.2)
    apart, together = (vwkde.mutual_information(x, y, blocks=blocks) for blocks in (None, "auto"))
    assert together.standard_error == pytest.approx(apart.standard_error, rel=0.25)


@pytest.mark.parametrize(("stay", "expected"), [(0.0, 1.0), (0.8, 9.0)])
def test_memory_is_the_integrated_autocorrelation_time(stay, expected):
    random = np.random.default_rng(1)
    drawn = np.maximum.accumulate(np.where(random.random(20_000) >= stay, np.arange(20_000), 0))
    assert memory(random.normal(size=20_000)[drawn]) == pytest.approx(expected, rel=0.15)
    assert memory(np.ones(10)) == 1.0


@pytest.mark.parametrize("lag", [2, -2])
def test_a_lag_pairs_earlier_rows_with_later_ones(lag):
    order = np.random.default_rng(0).permutation(30)[:, None]
    (x, y), group = in_time([order, order], {"lag": lag, "": 0}, None, None, "f")
    np.testing.assert_array_equal(*((x, order[:-2]) if lag > 0 else (x, order[2:])))
    np.testing.assert_array_equal(*((y, order[2:]) if lag > 0 else (y, order[:-2])))
    assert group is not None  # a lag makes the rows a time series


def test_no_lag_reaches_into_another_group():
    labels = np.repeat(np.arange(6), 5)
    (x, y), group = in_time([ROWS, ROWS], {"lag": 1, "": 0}, labels, None, "f")
    assert len(x) == 24  # the first row of each group has no row before it
    np.testing.assert_array_equal(x[:, 0] // 5, y[:, 0] // 5)
    np.testing.assert_array_equal(group, np.repeat(np.arange(6), 4))


def test_a_short_last_block_belongs_to_the_one_before():
    _, group = in_time([ROWS, ROWS], {"lag": 0, "": 0}, None, 3, "f")
    np.testing.assert_array_equal(np.bincount(group), np.full(10, 3))
    _, group = in_time([ROWS[:29], ROWS[:29]], {"lag": 0, "": 0}, None, 2, "f")
    np.testing.assert_array_equal(np.bincount(group), [*[2] * 13, 3])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lag": 1.5}, "'lag' parameter of mutual_information must be an int"),
        ({"lag": True}, "'lag' parameter of mutual_information must be an int"),
        ({"lag": 25}, "must leave at least 10 of 30 rows"),
        ({"blocks": 7}, "'auto' or an int from 1 to 3, the rows of a block"),
        ({"blocks": "long"}, "Got 'long' instead"),
        ({"blocks": 2, "groups": np.arange(30) // 2}, "must be None with 'groups'"),
    ],
)
def test_what_cannot_be_is_told(parameters, message):
    with pytest.raises(ValueError, match=message):
        vwkde.mutual_information(ROWS, ROWS, **parameters)


def test_a_series_that_is_too_short_for_its_memory_is_told():
    trend = np.cumsum(np.random.default_rng(0).normal(size=(2, 400)), axis=1) > 0
    with pytest.warns(DegenerateDataWarning, match="worth few independent ones"):
        vwkde.mutual_information(*trend, blocks="auto")


def test_transfer_entropy_is_conditional_on_the_past():
    """Y copies X one row later, with errors; X knows nothing of Y that Y's own past does not tell."""
    random = np.random.default_rng(3)
    x = random.integers(2, size=1_500)
    y = np.roll(x, 1) ^ (random.random(1_500) < 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there, back = (
            vwkde.conditional_mutual_information(a, b, b, lag=1, z_lag=1, unit="bits") for a, b in ((x, y), (y, x))
        )
    assert there.value == pytest.approx(1 - entropy([0.1, 0.9], base=2), abs=3 * there.standard_error)
    assert there.standard_error < 0.03
    assert back.interval[0] <= 0 < back.interval[1] < 0.02


def test_the_largest_lag_is_found_and_handed_on():
    random = np.random.default_rng(4)
    x = random.integers(3, size=400)
    lagged = vwkde.mutual_information_by_lag(x, np.roll(x, 2), range(4))
    assert lagged.largest == 2
    assert lagged[2].value == pytest.approx(np.log(3), abs=0.02)
    frame = lagged.to_frame().set_index("lag")
    assert frame.loc[2, "low"] > 1 > frame.loc[1, "high"]
    assert str(lagged).splitlines()[2].startswith("lag 2: 1.09")
    assert lagged.to_dict()["values"]["2"] == lagged[2].value
    assert lagged.to_latex().count(r"\\") == 5
    with pytest.raises(ValueError, match="at least one lag"):
        vwkde.mutual_information_by_lag(x, x, [])
