"""How much changed at least: a limit that holds, and an amount that does not contradict the test."""

import numpy as np
import pytest

import vwkde
from vwkde.monitoring import _drift
from vwkde.monitoring._columns import Column
from vwkde.monitoring._least import Least, as_jensen_shannon, at_least, least_change
from vwkde.monitoring._measured import Measured
from vwkde.results import Estimate

NO_GROUPS = (None, None)


def columns(reference, current):
    return [Column(str(k), one, other) for k, (one, other) in enumerate(zip(reference.T, current.T, strict=True))]


def test_a_small_shift_of_one_column_among_many_is_measured():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 6_000, 15))
    y[:, 3] += 0.15  # the total variation is 0.06
    found = least_change(columns(x, y), NO_GROUPS, random)
    assert found.value == pytest.approx(0.06, abs=3 * found.standard_error)
    assert found.value > 3 * found.standard_error


def test_what_shows_in_two_columns_only_is_measured():
    random = np.random.default_rng(1)
    x, y = random.normal(size=(2, 1_000, 4))
    y[:, 1] = 0.7 * y[:, 0] + np.sqrt(1 - 0.7**2) * y[:, 1]
    found = least_change(columns(x, y), NO_GROUPS, random)
    assert found.value > 4 * found.standard_error
    assert found.value < 0.27  # the total variation, by integration


def test_without_change_it_is_zero_on_average():
    found = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        found.append(least_change(columns(*random.normal(size=(2, 200, 3))), NO_GROUPS, random))
    values, errors = np.array(found).T
    assert abs(values.mean()) < 0.02
    assert values.std() == pytest.approx(errors.mean(), rel=0.25)


def test_groups_are_not_split_and_count_as_one():
    random = np.random.default_rng(2)
    x, y = (np.repeat(random.normal(size=(40, 2)), 25, axis=0) for _ in range(2))
    labels = np.repeat(np.arange(40), 25)
    pair = columns(x, y)
    together = least_change(pair, (labels, labels), np.random.default_rng(0))
    assert together.standard_error > 3 * least_change(pair, NO_GROUPS, np.random.default_rng(0)).standard_error
    assert together.value < 2 * together.standard_error


def test_an_amount_is_raised_and_its_upper_end_stays():
    blunt = Estimate(0.0, 0.08, "total-variation", "")
    raised = at_least(blunt, Least(0.04, 0.01))
    assert raised.value == 0.04
    assert raised.interval[0] == pytest.approx(0.04 - 1.96 * 0.01, abs=1e-4)
    assert raised.interval[1] == pytest.approx(blunt.interval[1])
    assert at_least(raised, Least(0.01, 0.01)) == raised
    assert as_jensen_shannon(Least(0.1, 0.02)).value == pytest.approx(0.1**2 / 2, rel=0.01)


def test_the_amount_does_not_contradict_the_test(monkeypatch):
    """It said "0 % of the rows (0 to 16 %)" when the test was sure that there is drift."""
    nothing = Measured(Estimate(0.0, 0.08, "total-variation", ""), Estimate(0.0, 0.01, "jensen-shannon"), None, None)
    monkeypatch.setattr(_drift, "measure_drift", lambda *_: nothing)
    monkeypatch.setattr(_drift, "_rows", lambda *_: ())
    random = np.random.default_rng(3)
    x, y = random.normal(size=(2, 2_000, 4))
    y[:, 2] += 0.25
    result = vwkde.drift(x, y)
    assert result.has_drifted
    assert 0 < result.total_variation.interval[0] < 0.0995 < result.total_variation.interval[1]
    assert result.jensen_shannon.value > 0
    monkeypatch.setattr(_drift, "least_change", lambda *_: Least(-0.01, 0.02))
    words = vwkde.drift(x, y).words[0]
    assert words == "how much: too few rows would have to change to be measured (95 % interval more than 0 to 16 %)"
