"""Dense changes of dependence: unbiased coefficients of all products, their noise, and whether there is anything."""

from functools import partial

import numpy as np
import pytest
from scipy.linalg import expm

from vwkde import DensityRatio, mutual_information
from vwkde._coordinates.normal_scores import fit_normal_scores
from vwkde._data.sample import make_unordered_sample as sample
from vwkde._models.guides import dependence
from vwkde._models.guides.cross_fit import cross_fit, shows
from vwkde._models.guides.dependence import Kind, fit_dependence
from vwkde._models.log_loss import log_loss, loss_terms, mean_loss, without_noise

COLUMNS = 35
APART, SPREAD = 0.8, 0.6


def two_humps(random, rows):
    """Return independent columns with two humps each, of variance one."""
    return APART * random.choice([-1.0, 1.0], (rows, COLUMNS)) + SPREAD * random.normal(size=(rows, COLUMNS))


def log_density(x):
    humps = [-0.5 * ((x - side * APART) / SPREAD) ** 2 for side in (-1, 1)]
    return np.logaddexp(*humps).sum(axis=1)


def rotated(rows, angle=0.3, seed=0):
    """Return rows of a rotation and of the same columns before it, and the log ratio at both."""
    random = np.random.default_rng(seed)
    generator = np.triu(random.normal(size=(COLUMNS, COLUMNS)), 1)
    turn = expm(angle * (generator - generator.T) / np.linalg.norm(generator, 2))
    p, q = two_humps(random, rows) @ turn.T, two_humps(random, rows)
    return p, q, [log_density(x @ turn) - log_density(x) for x in (p, q)]


def test_a_rotation_that_no_pair_of_columns_shows_is_found():
    p, q, truth = rotated(8_000)
    scores = fit_normal_scores(p, q, (np.ones(len(p)), np.ones(len(q))))
    samples = sample(scores(p)), sample(scores(q))
    assert shows("dependence", samples)
    guide = cross_fit("dependence", samples, 0)
    assert 0.3 * truth[0].mean() < guide.at_samples[0].mean() < 1.1 * truth[0].mean()
    terms = loss_terms(guide.at_samples)
    without = mean_loss(without_noise(guide.at_samples, guide.sure_noise), samples)
    assert mean_loss(terms, samples) > np.log(2)  # at single points it is worse than no guide
    assert without < np.log(2) - 0.25 * (np.log(2) - log_loss(truth, samples))


def test_the_default_averages_it():
    """Humps are more than cubes tell: a part is missed, and the interval knows."""
    p, q, truth = rotated(5_000, seed=1)
    ratio = DensityRatio(guide=["gaussian", "dependence"], subspace=False).fit(p, q)
    estimate = ratio.divergence("kl")
    assert ratio.guide_ == "dependence"
    assert estimate.value > 0.3 * truth[0].mean()
    assert estimate.interval[0] < truth[0].mean() < estimate.interval[1]


def test_it_is_unbiased_and_knows_its_noise():
    """Rows are accepted so that the log ratio is a sum of products with these coefficients, as far as it is small."""
    random, kind = np.random.default_rng(3), Kind(1, 3)
    coefficients = 0.06 * np.array([[0, 1, -1], [1, 0, 1], [-1, 1, 0]])
    at = np.array([[1.0, -1.0, 0.5], [0.3, 1.2, -2.0]])

    def products(x):
        z = np.clip(x, -3, 3)
        return np.einsum("ni,ij,nj->n", z, coefficients, z * (z**2 - 3) / np.sqrt(6))

    def tilted(rows, sign):
        x = random.normal(size=(8 * rows, 3))
        return x[random.uniform(size=len(x)) < np.exp(np.clip(0.5 * sign * products(x) - 1, None, 0))][:rows]

    fits = [fit_dependence((kind,), sample(tilted(500, 1)), sample(tilted(700, -1))) for _ in range(200)]
    values = np.array([fit(at) for fit in fits])
    error = values.std(axis=0) / np.sqrt(len(fits))
    expected = products(at)
    assert (np.abs(values.mean(axis=0) - expected) < 4 * error + 0.1 * np.abs(expected)).all()
    assert np.abs(expected).max() > 10 * error.max()
    np.testing.assert_allclose(values.var(axis=0), np.mean([fit.noise(at) for fit in fits], axis=0), rtol=0.35)


def correlated(random, rows):
    return random.standard_t(4, (rows, 3)) @ np.array([[1, 0.9, 0, 1], [0, 1, 0.5, 0], [0, 0, 1, 1]])


def flags(random, rows):
    x = (random.random((rows, 6)) < [0.5, 0.1, 0.01, 0.002, 0.3, 0.3]).astype(float)
    return np.column_stack([x, x[:, 0]])


@pytest.mark.parametrize(
    "draw", [two_humps, correlated, flags, lambda random, rows: np.exp(random.normal(size=(rows, 5)))]
)
def test_equal_densities_show_nothing(draw):
    random = np.random.default_rng(4)
    shown = [shows("dependence", (sample(draw(random, 2_500)), sample(draw(random, 2_600)))) for _ in range(10)]
    assert not any(shown)


def test_a_linear_change_of_normal_columns_shows_no_other_products():
    random = np.random.default_rng(5)
    p, q = random.normal(size=(2, 2_000, 8))
    excess = dependence._excess((sample(p + 0.1), sample(q)))
    assert max(excess.values()) < dependence._CLEARLY


def test_products_that_hardly_vary_get_no_coefficient():
    """A flag that is set in one row of one sample would get coefficients as large as those of the other columns."""
    random, rows = np.random.default_rng(6), 20_000
    p, q = random.normal(size=(2, rows, 4))
    p[:, 3], q[:, 3] = np.arange(rows) == 7, 0.0
    for each in fit_dependence(dependence.KINDS, sample(p), sample(q)).products:
        assert each.coefficients[:3, :3].any()
        if 2 not in each.kind:  # the square of a flag varies about one
            assert not each.coefficients[3].any()


def test_few_rows_and_pairs_of_x_and_y_are_left_alone(monkeypatch):
    p, q, _ = rotated(300)
    assert not shows("dependence", (sample(p), sample(q)))
    monkeypatch.setattr(dependence, "_excess", partial(pytest.fail, "pairs were compared"))
    x = np.random.default_rng(0).normal(size=(150, 2))
    assert mutual_information(x, x + 1.0 * np.random.default_rng(1).normal(size=(150, 2))).value > 0.2
