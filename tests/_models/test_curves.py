"""Curves of single columns without a ridge: unbiased over many samples, with the variance that they state."""

import numpy as np
import pytest

import vwkde
from vwkde._data.sample import make_unordered_sample as sample
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.curves import curve_forms, fit_curves, have_rows_for_curves
from vwkde._models.guides.hermite import hermite_polynomials

COLUMNS, ROWS, WIDTH = 8, 200, 1.2


def log_ratio(x, width=WIDTH):
    """Return log p/q where every column of P is wider by a factor than the normal ones of Q."""
    return np.sum(0.5 * x**2 * (1 - width**-2) - np.log(width), axis=1)


def widened(random, columns=COLUMNS, rows=ROWS, width=WIDTH):
    return sample(width * random.normal(size=(rows, columns))), sample(random.normal(size=(rows, columns)))


def test_polynomials_of_a_normal_column_are_uncorrelated_with_variance_about_one():
    x = np.random.default_rng(0).normal(size=(200_000, 1))
    together = np.concatenate(hermite_polynomials(x), axis=1)
    np.testing.assert_allclose(np.corrcoef(together.T), np.eye(3), atol=0.05)
    np.testing.assert_allclose(together.var(axis=0), 1, atol=0.2)  # few values far out, which count less, have most
    np.testing.assert_allclose(together.mean(axis=0), 0, atol=0.02)


def test_it_is_unbiased_and_knows_its_noise():
    random = np.random.default_rng(1)
    at = random.normal(size=(6, COLUMNS))
    fits = [fit_curves(2, *widened(random)) for _ in range(300)]
    values = np.array([fit(at) for fit in fits])
    error = values.std(axis=0) / np.sqrt(len(fits))
    assert (np.abs(values.mean(axis=0) - log_ratio(at)) < 4 * error).all()
    assert np.abs(log_ratio(at)).max() > 12 * error.max()  # so that a bias of a third would show
    np.testing.assert_allclose(values.var(axis=0), np.mean([fit.noise(at) for fit in fits], axis=0), rtol=0.35)


def test_many_columns_that_differ_by_little_are_not_drawn_to_zero():
    """No column shows its width: of 30 columns some are by chance as far from one another as all of them are."""
    random = np.random.default_rng(2)
    truth = log_ratio(1.07 * random.normal(size=(400_000, 30)), 1.07).mean()
    found = {"curves": [], "additive": []}
    for _ in range(6):
        samples = widened(random, 30, 700, 1.07)
        for name, values in found.items():
            values.append(cross_fit(name, samples, 0).at_samples[0].mean())
    assert np.mean(found["curves"]) == pytest.approx(truth, rel=0.25)
    assert np.mean(found["additive"]) < 0.5 * truth


def test_the_default_finds_them():
    p, q = widened(np.random.default_rng(3), 30, 700, 1.1)
    truth = 30 * (0.5 * (1.1**2 - 1) - np.log(1.1))
    estimate = vwkde.kl_divergence(np.sinh(p.points), np.sinh(q.points))
    assert estimate.value == pytest.approx(truth, rel=0.35)
    assert estimate.interval[0] < truth < estimate.interval[1]


def test_cubic_curves_see_a_change_that_parabolas_do_not():
    random = np.random.default_rng(4)
    x = random.normal(size=(20_000, 2))
    tilt = 0.5 * hermite_polynomials(x)[2].sum(axis=1)
    p = sample(x[np.log(random.uniform(size=len(x))) < tilt - tilt.max()][:1_500])
    q = sample(random.normal(size=(1_500, 2)))
    parabola, cubic = (form(p, q) for form in curve_forms(p, q))
    assert np.corrcoef(cubic(x), tilt)[0, 1] > 0.95 > 0.5 > np.corrcoef(parabola(x), tilt)[0, 1]


def test_far_out_a_curve_is_a_line():
    guide = fit_curves(3, *widened(np.random.default_rng(5)))
    steps = np.diff(guide(np.outer([4.0, 5.0, 6.0, 7.0], np.ones(COLUMNS))))
    np.testing.assert_allclose(steps, steps[0], atol=1e-9)


def test_it_is_tried_if_there_are_rows_enough():
    random = np.random.default_rng(6)
    p, q = widened(random, 8, 85)
    assert have_rows_for_curves(p, q)
    assert not have_rows_for_curves(p.subset(np.arange(84)), q)
