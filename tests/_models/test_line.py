"""The line without a ridge: unbiased over many samples, with the variance that it states."""

import numpy as np
import pytest

from vwkde._data.sample import make_unordered_sample as sample
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.line import fit_unbiased_line, have_rows_for_a_line

COLUMNS, ROWS = 12, 120
SLOPE = np.full(COLUMNS, 0.25)


def gaussians(random, rows=(ROWS, ROWS)):
    """Return samples whose log ratio is SLOPE · x."""
    p, q = (random.normal(size=(count, COLUMNS)) for count in rows)
    return sample(p + SLOPE / 2), sample(q - SLOPE / 2)


@pytest.mark.parametrize("rows", [(120, 120), (100, 400)])
def test_it_is_unbiased_and_knows_its_noise(rows):
    random = np.random.default_rng(0)
    at = random.normal(size=(5, COLUMNS)) + 2 * SLOPE
    fits = [fit_unbiased_line(*gaussians(random, rows)) for _ in range(400)]
    values = np.array([fit(at) for fit in fits])
    error = values.std(axis=0) / np.sqrt(len(fits))
    assert (np.abs(values.mean(axis=0) - at @ SLOPE) < 4 * error).all()
    assert (at @ SLOPE).max() > 30 * error.min()  # so that a bias of a tenth would show
    stated = np.mean([fit.noise(at) for fit in fits], axis=0)
    np.testing.assert_allclose(values.var(axis=0), stated, rtol=0.3)


def test_without_the_correction_it_would_be_too_steep():
    random = np.random.default_rng(1)
    lengths = []
    for _ in range(100):
        p, q = gaussians(random)
        x, sign = np.concatenate([p.points, q.points]), np.repeat([1.0, 0.0], ROWS)
        x, plain = np.column_stack([x, np.ones(len(x))]), np.zeros(COLUMNS + 1)
        for _ in range(12):
            chance = 1 / (1 + np.exp(-x @ plain))
            plain += np.linalg.solve((x.T * chance * (1 - chance)) @ x, (sign - chance) @ x)
        slopes = plain[:-1], fit_unbiased_line(p, q).coefficients[:-1]
        lengths.append([each @ SLOPE / (SLOPE @ SLOPE) for each in slopes])
    plain, corrected = np.mean(lengths, axis=0)
    assert abs(corrected - 1) < 0.05 < plain - 1


def test_samples_that_a_line_separates_have_finite_values():
    random = np.random.default_rng(2)
    p, q = sample(random.normal(5, 1, (60, 2))), sample(random.normal(-5, 1, (60, 2)))
    guide = fit_unbiased_line(p, q)
    assert np.isfinite(guide.noise(p.points)).all()
    assert 0 < guide(p.points).min() < guide(p.points).max() < 100


def test_a_direction_in_which_rows_do_not_vary_gets_no_coefficient():
    random = np.random.default_rng(6)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    p, q = (sample(random.normal(mean, 1, (80, 3)) * [1.0, 1.0, 0.0] @ turn) for mean in (0.3, 0.0))
    guide, off = fit_unbiased_line(p, q), [[0.0, 0.0, 5.0]] @ turn
    np.testing.assert_allclose(guide(p.points + off), guide(p.points), atol=1e-6)
    assert (guide.noise(p.points + off) >= 0).all()


def test_the_sign_turns_if_the_samples_change_places():
    p, q = gaussians(np.random.default_rng(3), (80, 150))
    np.testing.assert_allclose(fit_unbiased_line(p, q)(p.points), -fit_unbiased_line(q, p)(p.points), atol=1e-9)


def test_many_skewed_columns_are_not_drawn_to_zero():
    """Lognormal columns, of which P has more by a linear tilt: what a ridge loses, and Gaussians do not know."""
    random = np.random.default_rng(4)
    x = np.exp(0.7 * random.normal(size=(60_000, 30)))
    slope = 0.25 * random.normal(size=30)
    log_ratio = x @ slope
    highest = np.quantile(log_ratio, 0.999)
    accepted = x[np.log(random.uniform(size=len(x))) < np.minimum(log_ratio, highest) - highest][:800]
    p, q = sample(accepted), sample(np.exp(0.7 * random.normal(size=(800, 30))))
    truth = (accepted @ slope).mean() - np.log(np.exp(np.minimum(log_ratio, highest)).mean())
    found = {name: cross_fit(name, (p, q), 0).at_samples[0].mean() for name in ("line", "logistic", "shared-gaussian")}
    assert found["line"] == pytest.approx(truth, rel=0.15)
    assert max(found["logistic"], found["shared-gaussian"]) < 0.85 * truth


def test_it_is_tried_if_there_are_rows_enough():
    p, q = gaussians(np.random.default_rng(5), (65, 200))
    assert have_rows_for_a_line(p, q)
    assert not have_rows_for_a_line(p.subset(np.arange(64)), q)
