import numpy as np
import pytest

import vwkde
from vwkde._coordinates.derived import Amount, Combination, Heaps, SharedCurves
from vwkde._coordinates.of_rows import Direction, Repeated
from vwkde._data.sample import make_unordered_sample
from vwkde._fit.derived import missed_columns
from vwkde._fit.residuals import Residuals


def of_nothing(p, q):
    """Return the residuals if nothing is known: a log ratio of zero."""
    samples = make_unordered_sample(p), make_unordered_sample(q)
    return Residuals.of((np.zeros(len(p)), np.zeros(len(q))), samples)


def found_in(p, q):
    return missed_columns(p, q, of_nothing(p, q))


def kept(random, rows, columns, chance):
    """Return normal rows that are kept with a chance that depends on the row."""
    x = random.normal(size=(20 * rows, columns))
    return x[random.random(len(x)) < chance(x)][:rows]


def ages(random, share, rows, noise=2):
    """Return ages, of which a share is rounded to fives, beside columns of noise."""
    age = np.round(random.normal(45, 14, rows))
    age = np.where(random.random(rows) < share, 5 * np.round(age / 5), age)
    return np.column_stack([age, random.normal(size=(rows, noise))])


def log_ratio_of_ages(age, shares):
    """Return the log ratio of two such densities, by their probabilities."""
    from scipy.stats import norm

    values = np.arange(-60.0, 181)
    chance = norm.cdf(values + 0.5, 45, 14) - norm.cdf(values - 0.5, 45, 14)
    fives = np.zeros_like(chance)
    np.add.at(fives, (5 * np.round(values / 5)).astype(int) + 60, chance)
    p, q = ((1 - share) * chance + share * fives for share in shares)
    at = age.astype(int) + 60
    return np.log(p[at] / q[at])


def walks(random, share, rows, small=0.8, steps=12):
    """Return series whose steps are mostly small, and large in a share of them."""
    scale = np.where(random.random((rows, steps)) < share, 3.0, small)
    return np.cumsum(scale * random.normal(size=(rows, steps)), axis=1)


def test_the_difference_of_two_columns_is_found_and_nothing_else():
    random = np.random.default_rng(0)
    p = kept(random, 800, 5, lambda x: np.where(abs(x[:, 1] - x[:, 3]) < 0.6, 1.0, 0.2))
    (found,) = found_in(p, random.normal(size=(800, 5)))
    assert isinstance(found, Combination)
    assert (found.first.column, found.second.column, found.sign) == (1, 3, -1)


def test_the_units_of_the_data_do_not_matter():
    random = np.random.default_rng(1)
    p = kept(random, 800, 3, lambda x: np.where(abs(x[:, 0] + x[:, 2]) < 0.6, 1.0, 0.2))
    (found,) = found_in(p * [1, 1, 1_000] + 5, random.normal(size=(800, 3)) * [1, 1, 1_000] + 5)
    assert (found.first.column, found.second.column, found.sign) == (0, 2, 1)
    assert found.second.scale / found.first.scale == pytest.approx(1_000, rel=0.2)


def test_copies_and_constants_add_nothing():
    random = np.random.default_rng(12)
    p = kept(random, 800, 3, lambda x: np.where(abs(x[:, 0] - x[:, 2]) < 0.6, 1.0, 0.2))
    q = random.normal(size=(800, 3))
    alone = found_in(p, q)
    p, q = (np.column_stack([x, 3 - 2 * x[:, 0], np.ones(800)]) for x in (p, q))
    both = found_in(p, q)
    assert both[0] == alone[0]
    assert (both[0].first.column, both[0].second.column, both[0].sign) == (0, 2, -1)
    assert {type(each) for each in both[1:]} <= {type(each) for each in alone[1:]} <= {SharedCurves}


def test_heaps_are_found():
    random = np.random.default_rng(2)
    (found,) = found_in(ages(random, 0.5, 600), ages(random, 0.1, 600))
    assert isinstance(found, Heaps)


def test_what_all_steps_share_is_found():
    random = np.random.default_rng(3)
    found = found_in(walks(random, 0.04, 800), walks(random, 0.12, 800))
    assert isinstance(found[0], SharedCurves)
    assert found[0].parts.kind == "steps"


def stuck(random, share, rows, columns=8):
    """Return series of readings, of which a share repeats the one before."""
    x = random.normal(size=(rows, columns))
    for at in range(1, columns):
        new = 0.6 * x[:, at - 1] + 0.8 * x[:, at]
        x[:, at] = np.where(random.random(rows) < share, x[:, at - 1], new)
    return 20 + 3 * x


def test_repeated_readings_are_found():
    random = np.random.default_rng(13)
    found = found_in(stuck(random, 0.18, 600), stuck(random, 0.08, 600))
    assert isinstance(found[0], Repeated)


def test_a_quotient_of_amounts_is_found():
    random = np.random.default_rng(14)
    p = np.exp(kept(random, 800, 5, lambda x: np.where(abs(x[:, 1] - x[:, 3] - 0.5) < 0.4, 1.0, 0.25)))
    (found,) = found_in(p, np.exp(random.normal(size=(800, 5))))
    assert isinstance(found.first, Amount)
    assert (found.first.column, found.second.column, found.sign) == (1, 3, -1)


def test_what_all_columns_share_is_found():
    """No column changes, and every correlation by little."""
    random = np.random.default_rng(15)

    def draw(extreme, rows=900, columns=12):
        common = np.where(random.random(rows) < extreme, random.choice([-1.6, 1.6], rows), random.normal(size=rows))
        return 0.5 * common[:, None] + random.normal(size=(rows, columns))

    found = found_in(draw(0.7), draw(0.0))
    assert isinstance(found[0], Direction)


@pytest.mark.parametrize("seed", range(21))
def test_equal_samples_miss_nothing(seed):
    random = np.random.default_rng([4, seed])
    draw = (
        lambda rows: random.standard_cauchy((rows, 6)),
        lambda rows: random.normal(size=(rows, 15)),
        lambda rows: ages(random, 0.3, rows),
        lambda rows: walks(random, 0.1, rows),
        lambda rows: stuck(random, 0.1, rows),
        lambda rows: random.lognormal(size=(rows, 8)),
        lambda rows: np.maximum(random.normal(size=(rows, 1)) + random.normal(size=(rows, 6)), 0.5),
    )[seed % 7]
    assert not found_in(draw(400), draw(300))


def test_single_columns_are_left_to_other_guides():
    """Every sum with a column that moves differs too, but tells nothing new."""
    random = np.random.default_rng(5)
    p = random.normal([0.8, 0, 0, 0], size=(700, 4))
    assert not found_in(p, random.normal(size=(700, 4)))


def test_what_the_model_knows_is_not_missed():
    random = np.random.default_rng(6)
    p, q = ages(random, 0.5, 600), ages(random, 0.1, 600)
    samples = make_unordered_sample(p), make_unordered_sample(q)
    known = log_ratio_of_ages(p[:, 0], (0.5, 0.1)), log_ratio_of_ages(q[:, 0], (0.5, 0.1))
    assert found_in(p, q)
    assert not missed_columns(p, q, Residuals.of(known, samples))


def test_heaped_answers_are_compared():
    """A model of ranks saw a fifth of it, and was sure of that."""
    random = np.random.default_rng(7)
    p, q = ages(random, 0.5, 800), ages(random, 0.15, 800)
    truth = log_ratio_of_ages(ages(random, 0.5, 400_000)[:, 0], (0.5, 0.15)).mean()
    estimate = vwkde.kl_divergence(p, q)
    low, high = estimate.interval
    assert low < truth < high
    assert estimate.value > 0.7 * truth
    assert high - low < truth


def test_repeated_readings_are_compared():
    """A model of single columns and steps saw a third of it, and was sure of that."""
    random = np.random.default_rng(16)
    truth = 7 * (0.18 * np.log(0.18 / 0.08) + 0.82 * np.log(0.82 / 0.92))
    estimate = vwkde.kl_divergence(stuck(random, 0.18, 1_000), stuck(random, 0.08, 1_000))
    assert estimate.interval[0] < truth < estimate.interval[1]
    assert estimate.value == pytest.approx(truth, rel=0.25)


def test_angles_that_follow_each_other_are_compared():
    """All angles are uniform, and only their differences are not."""
    from scipy.special import i0, i1

    random = np.random.default_rng(8)

    def phases(kappa, rows):
        steps = np.column_stack([random.uniform(-np.pi, np.pi, rows), random.vonmises(0, kappa, (rows, 3))])
        return (np.cumsum(steps, axis=1) + np.pi) % (2 * np.pi) - np.pi

    truth = 3 * ((1.4 - 0.6) * i1(1.4) / i0(1.4) - np.log(i0(1.4) / i0(0.6)))
    estimate = vwkde.kl_divergence(phases(1.4, 800), phases(0.6, 800))
    low, high = estimate.interval
    assert low < truth < high
    assert estimate.value > 0.75 * truth
    assert estimate.diagnostics["coordinates"] == "differences of angles"


def test_rarer_jumps_of_walks_are_compared():
    """The law of a step is shared by all steps: by each of them alone the samples hardly differ.

    It is not found in every sample. Without it the mean is half of the truth, and one of three intervals holds.
    """
    laws = (0.04, 0.9), (0.10, 0.8)

    def draw(seed, law, rows):
        share, small = law
        return walks(np.random.default_rng([9, seed]), share, rows, small, steps=15)

    def log_density(x, share, small):
        steps = np.diff(x, axis=1, prepend=0)
        parts = [np.log(part / s) - 0.5 * (steps / s) ** 2 for part, s in ((share, 3.0), (1 - share, small))]
        return np.logaddexp(*parts).sum(axis=1)

    many = draw(99, laws[0], 200_000)
    truth = float(np.mean(log_density(many, *laws[0]) - log_density(many, *laws[1])))
    found = [vwkde.kl_divergence(draw(k, laws[0], 1_000), draw(10 + k, laws[1], 1_000)) for k in range(3)]
    assert np.mean([estimate.value for estimate in found]) > 0.7 * truth
    assert sum(estimate.interval[0] < truth < estimate.interval[1] for estimate in found) >= 2


def test_new_rows_are_placed_as_the_samples_are():
    random = np.random.default_rng(10)
    p, q = ages(random, 0.5, 600), ages(random, 0.1, 600)
    ratio = vwkde.DensityRatio().fit(p, q)
    assert ratio.diagnostics_["coordinates"].startswith("derived")
    new = ages(random, 0.5, 3_000)
    at_new = ratio.log_ratio(new)
    assert np.corrcoef(at_new, log_ratio_of_ages(new[:, 0], (0.5, 0.1)))[0, 1] > 0.8
    np.testing.assert_allclose(ratio.log_ratio(new[:7]), at_new[:7], rtol=1e-9)


def test_units_and_origin_do_not_matter():
    random = np.random.default_rng(11)
    p, q = ages(random, 0.5, 400), ages(random, 0.1, 400)
    one = vwkde.kl_divergence(p, q)
    other = vwkde.kl_divergence(p * [4.0, 2, 0.5] + [64, 0, 8], q * [4.0, 2, 0.5] + [64, 0, 8])
    assert other.value == pytest.approx(one.value, rel=1e-6)
