from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import vwkde
from vwkde import DensityRatio
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.forward import Forward, counting
from vwkde._models.guides.bends import bend_forms, fit_bends, have_bends
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.log_loss import log_loss
from vwkde._models.shared_chain import polynomials, waves_and_products

CURVES = {
    "parabola": lambda x: 0.5 * (x**2 - 1),
    "wave": lambda x: np.sin(1.8 * x),
    "corner": lambda x: np.abs(x) - 0.8,
}


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def bent(rows, share, curve, seed, columns=4, width=0.6):
    """Normal columns, of which the third follows a curve of the first, with noise."""
    x = np.random.default_rng([seed, int(100 * share)]).normal(size=(rows, columns))
    x[:, 2] = share * curve(x[:, 0]) + width * x[:, 2]
    return x


def log_ratio(x, curve, p=1.0, q=0.4, width=0.6):
    return norm.logpdf(x[:, 2], p * curve(x[:, 0]), width) - norm.logpdf(x[:, 2], q * curve(x[:, 0]), width)


@pytest.mark.parametrize(
    ("name", "rows", "part"),
    [
        *((name, (400, 400), 0.6) for name in CURVES),
        ("parabola", (100, 2000), 0.5),
        ("corner", (100, 2000), 0.5),
    ],
)
def test_a_curve_that_bends_otherwise_is_known_nearly_as_well_as_by_its_formula(name, rows, part):
    curve = CURVES[name]
    x = bent(rows[0], 1.0, curve, 1), bent(rows[1], 0.4, curve, 2)
    samples = sample(x[0]), sample(x[1])
    assert have_bends(*samples)
    least = log_loss((log_ratio(x[0], curve), log_ratio(x[1], curve)), samples)
    loss = {guide: log_loss(cross_fit(guide, samples, 0).at_samples, samples) for guide in ("gaussian", "bends")}
    assert loss["bends"] < np.log(2) - part * (np.log(2) - least)
    assert loss["bends"] < loss["gaussian"] - 0.2 * (np.log(2) - least)


@pytest.mark.parametrize("rows", [(300, 300), (100, 3000), (3000, 100)])
def test_the_default_knows_curves(rows):
    """It found 0.00 to 0.05, and intervals ended below the truth."""
    curve = CURVES["parabola"]
    of_p = bent(200_000, 1.0, curve, 9)
    truth = log_ratio(of_p, curve).mean()
    found = [
        vwkde.kl_divergence(bent(rows[0], 1.0, curve, seed), bent(rows[1], 0.4, curve, seed + 10)) for seed in range(3)
    ]
    assert np.mean([estimate.value for estimate in found]) > 0.5 * truth
    assert all(estimate.interval[0] < truth < estimate.interval[1] for estimate in found)


def test_what_does_not_differ_is_shared():
    """Equal curves have a log ratio of zero, and one change changes one link."""
    curve = CURVES["parabola"]
    p, q = bent(1_000, 0.7, curve, 1), bent(1_000, 0.7, curve, 2)
    order = bend_forms(sample(p), sample(q))[0].args[0]
    same = fit_bends(order, polynomials, sample(p), sample(q))
    assert sum(len(link.different) for link in same.links) <= 2  # 2 standard errors, about ten coefficients
    q[:, 2] += 0.5 * q[:, 0] ** 2
    changed = fit_bends(order, polynomials, sample(p), sample(q))
    assert max(changed.links, key=lambda link: len(link.different)).column == list(order).index(2)
    assert np.abs(same(p)).mean() < 0.2 * np.abs(changed(p)).mean()


def test_the_samples_may_change_places():
    curve = CURVES["corner"]
    p, q = sample(bent(500, 1.0, curve, 1)), sample(bent(300, 0.4, curve, 2))
    there, back = bend_forms(p, q)[1](p, q), bend_forms(q, p)[1](q, p)
    np.testing.assert_allclose(there(p.points), -back(p.points), atol=1e-3)
    assert np.abs(there(p.points)).max() > 1


def test_the_response_comes_after_its_driver():
    order = list(bend_forms(sample(bent(500, 1.0, np.sin, 1)), sample(bent(500, 1.0, np.square, 2)))[0].args[0])
    assert order.index(0) < order.index(2)


def test_straight_columns_and_pairs_are_left_out():
    random = np.random.default_rng(0)
    mixed = random.normal(size=(5, 5))
    opened = [have_bends(*(sample(x @ mixed) for x in random.normal(size=(2, 300, 5)))) for _ in range(10)]
    assert sum(opened) <= 2
    p, q = (sample(bent(500, 1.0, CURVES["parabola"], seed)) for seed in (1, 2))
    assert have_bends(p, q)
    rows = np.arange(500)
    assert not have_bends(p, replace(q, pairs=Pairs(2, rows, np.roll(rows, 1))))


@pytest.mark.parametrize("curves", [polynomials, waves_and_products])
def test_shift_scale_and_order_of_columns_change_nothing(curves):
    curve = CURVES["parabola"]
    p, q = bent(400, 1.0, curve, 1), bent(400, 0.4, curve, 2)
    samples = sample(p), sample(q)
    given = cross_fit("bends", samples, 0).at_samples
    assert min(np.abs(each).max() for each in given) > 1
    moved = np.array([2, 0, 3, 1])
    others = tuple(sample(1e3 * x[:, moved] * [1, 2, 3, 1e-3] - 7) for x in (p, q))
    for one, other in zip(given, cross_fit("bends", others, 0).at_samples, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert curves(p).shape == (400, {polynomials: 8, waves_and_products: 16}[curves] + 6)


def test_copies_and_constant_columns_do_no_harm():
    x, y = bent(300, 1.0, np.square, 1), bent(300, 0.4, np.square, 2)
    p, q = (np.column_stack([z, z[:, 0], np.ones(len(z))]) for z in (x, y))
    guide = fit_bends(np.arange(6), polynomials, sample(p), sample(q))
    assert np.isfinite(guide(p)).all()
    with pytest.warns(vwkde.DegenerateDataWarning):
        value = DensityRatio().fit(p, q).divergence("kl").value
    truth = log_ratio(bent(100_000, 1.0, np.square, 3), np.square).mean()
    assert 0.4 * truth < value < 2.5 * truth


def test_errors_of_a_regression_are_those_of_each_row():
    """White's standard errors, by formula; adding a column is fitting again."""
    random = np.random.default_rng(0)
    used, others, weight = random.normal(size=(300, 3)), random.normal(size=(300, 4)), random.uniform(0.5, 2, 300)
    y = used @ [1, 2, 3] + 0.3 * others[:, 1] + random.normal(size=300) * np.exp(0.3 * used[:, 0])

    def expected(used, other):
        design = np.column_stack([used, other]) * np.sqrt(weight)[:, None]
        left = y * np.sqrt(weight) - design[:, :-1] @ np.linalg.lstsq(design[:, :-1], y * np.sqrt(weight))[0]
        new = design[:, -1] - design[:, :-1] @ np.linalg.lstsq(design[:, :-1], design[:, -1])[0]
        left_near = np.clip(left, *(4 * np.sqrt(np.mean(left**2)) * np.array([-1, 1])))
        return abs(new @ left) / np.sqrt((new**2 * left_near**2).sum())

    search = Forward(y, used, others, weight)
    np.testing.assert_allclose(search.standard_errors(), [expected(used, other) for other in others.T])
    search.add(1)
    assert search.standard_errors()[1] == 0
    more = np.column_stack([used, others[:, 1]])
    np.testing.assert_allclose(search.standard_errors()[[0, 2, 3]], [expected(more, others[:, k]) for k in (0, 2, 3)])
    assert list(counting([Forward(y, used, others, weight)], 3.0, 4)) == [1]
