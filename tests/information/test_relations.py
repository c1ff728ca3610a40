"""Two columns that scatter around a curve more closely than rows are apart."""

import warnings

import numpy as np
import pytest

import vwkde
from vwkde.information._relations import Relation, find_relation, information_in_widths

ROWS, SCATTER = 600, 0.003
FOLD = np.arange(ROWS) % 5


def around(curve, seed=0, scatter=SCATTER):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, ROWS)
    return x, curve(x) + scatter * random.normal(size=ROWS)


def wave(x):
    return np.sin(5 * x)


def entropy_of_wave():
    """The entropy of sin 5x and the scatter, for x uniform between −1 and 1, by very many values."""
    values = wave(np.linspace(-1, 1, 2_000_001)) + SCATTER * np.random.default_rng(9).normal(size=2_000_001)
    counts, edges = np.histogram(values, 2_000, density=True)
    return -np.sum(counts * np.log(np.maximum(counts, 1e-300)) * np.diff(edges))


TRUTH = entropy_of_wave() - 0.5 * np.log(2 * np.pi * np.e * SCATTER**2)


@pytest.mark.parametrize("swapped", [False, True])
def test_what_a_curve_leaves_is_the_scatter(swapped):
    x, y = around(wave)
    relation = find_relation(y, x, FOLD) if swapped else find_relation(x, y, FOLD)
    assert np.corrcoef(relation.known, x)[0, 1] > 0.99  # x is no function of y
    ratio = np.std(relation.left) / np.std(relation.other)
    assert ratio == pytest.approx(SCATTER / np.std(y), rel=0.6)  # tails are drawn in, which changes slopes
    assert np.mean(information_in_widths(relation, 6)[0]) == pytest.approx(TRUTH, abs=0.4)


def test_the_information_in_widths_is_the_difference_of_entropies():
    """Of normal columns; a curve through few rows leaves too little where it has seen them, and else too much."""
    random = np.random.default_rng(1)
    known, other, left = random.normal(size=(3, 4_000)) * [[1.0], [3.0], [0.5]]
    terms, in_doubt = information_in_widths(Relation(known, other, 1.2 * left, left / 1.2), 6)
    assert terms.mean() == pytest.approx(np.log(3 / 0.5), abs=0.06)
    assert in_doubt == pytest.approx(2 * np.log(1.2))


def test_a_thin_relation_is_resolved():
    """Neighbours alone see 0.7 nats less, and an interval without an end."""
    estimate = vwkde.mutual_information(*around(wave))
    low, high = estimate.interval
    assert estimate.value == pytest.approx(TRUTH, abs=0.15)
    assert TRUTH - 0.5 < low < TRUTH < high < TRUTH + 0.5
    assert not estimate.open_above


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_an_exact_relation_has_no_upper_end(kind):
    x = np.random.default_rng(2).uniform(-1, 1, ROWS).astype(kind)
    with pytest.warns(vwkde.DegenerateDataWarning, match="is a function of the other"):
        estimate = vwkde.mutual_information(x, x**2)
    assert estimate.open_above
    assert np.isinf(estimate.interval[1])


def test_rounding_and_equal_values_are_no_scatter():
    x = np.random.default_rng(3).uniform(-1, 1, ROWS)
    noise = np.random.default_rng(4).normal(size=ROWS)
    assert find_relation(x, 2 * x + 1e-4 * noise, FOLD) is not None
    assert find_relation(x, 2 * x + 1e-8 * noise, FOLD) is None
    assert find_relation(np.round(x, 2), x + np.round(x, 2), FOLD) is None


def test_where_there_is_no_curve_the_neighbours_stay():
    """A cross of two lines: a curve between them would see two nats less."""
    random = np.random.default_rng(4)
    x = random.uniform(-1, 1, ROWS)
    y = np.where(random.uniform(size=ROWS) < 0.5, x, -x) + 0.005 * random.normal(size=ROWS)
    truth = np.log(2) - np.log(2) - 0.5 * np.log(2 * np.pi * np.e * 0.005**2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vwkde.DegenerateDataWarning)  # for all that so few rows can tell
        estimate = vwkde.mutual_information(x, y)
    assert estimate.value > truth - 0.7
    assert estimate.interval[0] < truth + 0.2
