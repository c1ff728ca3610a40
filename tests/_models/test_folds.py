import numpy as np

from vwkde._data.sample import dealt_apart, make_sample, make_unordered_sample
from vwkde._models.folds import deal_folds, draw_rows, folds_of_distinct_rows, is_gain, known_folds
from vwkde._models.guides.cross_fit import FOLDS, cross_fit
from vwkde._models.log_loss import log_loss


def test_folds_share_the_rows_and_keep_copies_together():
    x = np.repeat(np.random.default_rng(0).normal(size=(60, 2)), 3, axis=0)
    folds = folds_of_distinct_rows(x, np.ones(180), 3, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sum(folds, axis=0), 1)
    assert [fold.sum() for fold in folds] == [60, 60, 60]
    assert all((fold.reshape(60, 3).sum(axis=1) % 3 == 0).all() for fold in folds)


def test_too_few_rows_weights_or_values_give_no_folds():
    random = np.random.default_rng(0)
    x = random.normal(size=(100, 2))
    assert folds_of_distinct_rows(x, np.ones(100), 3, random)
    assert not folds_of_distinct_rows(x[:29], np.ones(29), 3, random)
    assert not folds_of_distinct_rows(np.repeat(x[:10], 10, axis=0), np.ones(100), 3, random)
    assert not folds_of_distinct_rows(x, np.repeat([4.0, 0.0], [25, 75]), 3, random)


def test_rows_are_drawn_in_order_and_once():
    rows = np.arange(100) * 3
    drawn = draw_rows(rows, 40, np.random.default_rng(0))
    assert len(drawn) == len(set(drawn)) == 40
    assert set(drawn) <= set(rows)
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(draw_rows(rows, 100, np.random.default_rng(0)), rows)


def test_a_gain_exceeds_its_standard_error():
    noise = np.random.default_rng(0).normal(size=400)
    noise = (noise - noise.mean()) / noise.std()  # the standard error of the mean is 0.05
    zeros, ones = np.zeros(400), np.ones(400)
    assert is_gain(noise + 0.051, zeros, ones)
    assert not is_gain(noise + 0.049, zeros, ones)
    assert not is_gain(zeros, zeros, ones)
    # half the rows at weight zero: the error is that of 200 rows
    noise[:200] = noise[200:]
    half = np.repeat([2.0, 0.0], 200)
    error = noise[:200].std() / np.sqrt(200)
    assert is_gain(noise - noise.mean() + 1.01 * error, zeros, half)
    assert not is_gain(noise - noise.mean() + 0.99 * error, zeros, half)


def test_every_fold_of_many_gets_rows():
    sample = make_unordered_sample(np.zeros((900, 1)))
    counts = np.bincount(deal_folds(sample, 300, np.random.default_rng(0)), minlength=300)
    np.testing.assert_array_equal(counts, 3)


def test_samples_that_are_dealt_apart_share_folds_by_chance():
    p, q = (make_unordered_sample(np.full((5_000, 1), value)) for value in (1.0, 2.0))
    dealt_alike, apart = (
        np.mean(known_folds(one, FOLDS, 0) == known_folds(other, FOLDS, 0))
        for one, other in ((p, q), dealt_apart(p, q))
    )
    assert dealt_alike == 1
    assert abs(apart - 1 / FOLDS) < 4 * np.sqrt(0.2 * 0.8 / 5_000)


def test_equal_samples_of_equal_size_show_no_gain():
    """Of equal distributions a model learns chance, which must not help it at the rows that it has not seen."""
    gains = []
    for seed in range(20):
        cells = np.random.default_rng(seed).integers(12, size=(2, 400, 1)).astype(float)
        samples = dealt_apart(*(make_sample(x, np.ones(len(x))) for x in cells))
        gains.append(np.log(2) - log_loss(cross_fit("boosting", samples, seed=0).at_samples, samples))
    assert np.mean(gains) < -3 * np.std(gains) / np.sqrt(len(gains))
