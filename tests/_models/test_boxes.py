from dataclasses import replace

import numpy as np
import pytest

import vwkde
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides import worth_trying
from vwkde._models.guides.boxes import fit_boxes, have_few_columns
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.log_loss import log_loss

EDGES = np.array([0.2, 0.55])
HEIGHTS = np.array([1.0, 2.0, 4.0])[np.indices((3, 3, 3)).sum(axis=0) % 3]
"""The ratio in the boxes between these edges of three columns, up to a factor; two columns show little of it."""
WIDTHS = np.diff([0.0, *EDGES, 1.0])
MEAN = float(np.einsum("ijk,i,j,k->", HEIGHTS, WIDTHS, WIDTHS, WIDTHS))
LOG_RATIOS = np.log(HEIGHTS / MEAN)


def sample(x, weight=None):
    return Sample(x, np.ones(len(x)) if weight is None else weight / weight.mean(), np.arange(len(x)))


def log_ratio(x):
    return LOG_RATIOS[tuple(np.searchsorted(EDGES, x.T))]


def boxes(rows, seed=0):
    """Uniform rows of which those in some boxes are more likely to be accepted, and uniform rows."""
    random = np.random.default_rng(seed)
    x = random.uniform(size=(4 * rows, 3))
    accepted = x[random.uniform(size=len(x)) < np.exp(log_ratio(x)) * MEAN / HEIGHTS.max()]
    assert len(accepted) > rows
    return accepted[:rows], random.uniform(size=(rows, 3))


def test_edges_are_found_that_no_column_shows_alone():
    guide = fit_boxes(*map(sample, boxes(4_000)))
    for own in guide.edges:
        np.testing.assert_allclose(own, EDGES, atol=0.015)
    x = np.random.default_rng(5).uniform(size=(5_000, 3))
    assert np.median(np.abs(guide(x) - log_ratio(x))) < 0.15


def test_boxes_tell_the_samples_apart_where_trees_hardly_do():
    samples = tuple(map(sample, boxes(4_000)))
    least = log_loss((log_ratio(samples[0].points), log_ratio(samples[1].points)), samples)
    found, trees = (log_loss(cross_fit(name, samples, 0).at_samples, samples) for name in ("boxes", "boosting"))
    assert found - least < 0.25 * (trees - least)


def test_the_default_finds_the_divergence_of_boxes():
    p, q = boxes(6_000, seed=1)
    truth = log_ratio(np.concatenate([boxes(20_000, seed=seed)[0] for seed in (2, 3)])).mean()
    estimate = vwkde.kl_divergence(p, q)
    assert estimate.diagnostics["guide"] == "boxes"
    assert estimate.value == pytest.approx(truth, abs=0.03)
    assert estimate.interval[0] < truth < estimate.interval[1]


def test_equal_samples_have_no_edges():
    cells = [
        len(fit_boxes(*map(sample, np.random.default_rng(seed).normal(size=(2, 1_000, 3)))).log_ratio)
        for seed in range(20)
    ]
    assert np.mean(np.equal(cells, 1)) >= 0.9


def test_rows_of_integer_weight_count_as_repeated_ones():
    p, q = boxes(2_000)
    weight = np.where(p[:, 0] < 0.5, 1.0, 2.0)
    weighted = fit_boxes(sample(p, weight), sample(q))
    repeated = fit_boxes(sample(np.repeat(p, weight.astype(int), axis=0)), sample(q))
    x = np.random.default_rng(5).uniform(size=(5_000, 3))
    assert np.mean(np.abs(weighted(x) - repeated(x)) < 0.15) > 0.9


def test_the_table_has_enough_rows_in_its_cells():
    """A shift of many columns has a staircase in each of them, and far more cells than rows."""
    random = np.random.default_rng(0)
    guide = fit_boxes(sample(random.normal(1.0, 1.0, (2_000, 6))), sample(random.normal(size=(2_000, 6))))
    assert 1 < len(guide.log_ratio) <= 100


@pytest.mark.parametrize("columns", [1, 12])
def test_any_number_of_columns_can_be_asked_for(columns):
    random = np.random.default_rng(0)
    guide = fit_boxes(sample(random.normal(1.0, 1.0, (500, columns))), sample(random.normal(size=(500, columns))))
    at_p, at_q = guide(np.full((1, columns), 1.0)), guide(np.zeros((1, columns)))
    assert at_p > at_q


def test_columns_of_few_values_are_cut_between_them():
    random = np.random.default_rng(0)
    p, q = random.integers(3, size=(2, 2_000, 2)).astype(float)
    together = p[p[:, 0] == p[:, 1]]
    guide = fit_boxes(sample(together), sample(q))
    assert [list(own) for own in guide.edges] == [[0.0, 1.0], [0.0, 1.0]]
    assert guide(np.array([[2.0, 2.0]])) == pytest.approx(np.log(3), abs=0.1)


def test_boxes_are_tried_with_many_rows_of_few_columns():
    p, q = map(sample, boxes(200))
    assert "boxes" in worth_trying(None, 2_000)
    assert "boxes" not in worth_trying(None, 1_999)
    assert have_few_columns(p, q)
    assert not have_few_columns(p, replace(q, points=q.points[:, :1]))
    assert not have_few_columns(p, replace(q, points=np.tile(q.points, 3)))
    pairs = Pairs(1, np.arange(200), np.roll(np.arange(200), 1))
    assert not have_few_columns(p, replace(q, pairs=pairs))
