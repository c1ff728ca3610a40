from dataclasses import replace

import numpy as np
import pytest

from vwkde import DensityRatio, kl_divergence
from vwkde._answers.consistency import level_error, warn_if_contradictory
from vwkde._answers.functionals import KINDS, AtSample
from vwkde._fit.averaging import Average
from vwkde._fit.guided_ratio import GuideAlone
from vwkde.datasets import isotropic, mean_difference
from vwkde.exceptions import BiasWarning

PAIR = mean_difference(2, 1.0)


def at_samples(shift=0.0, rows=4_000):
    p, q = (AtSample(PAIR.log_ratio(x) + shift, np.ones(rows)) for x in PAIR.sample(rows))
    return p, q


def test_the_true_ratio_has_no_error_of_level():
    assert level_error(*at_samples()) == 0


@pytest.mark.parametrize("shift", [-0.5, 0.5, 2.0])
def test_an_error_of_level_is_found(shift):
    assert level_error(*at_samples(shift)) == pytest.approx(-shift, abs=0.25 * abs(shift) + 0.15)


def test_a_ratio_that_contradicts_itself_is_reported():
    warn_if_contradictory({}, *at_samples(), "auto", "uniform")
    with pytest.warns(BiasWarning, match=r"its reverse-kl is -1.[45].*no divergence is negative"):
        warn_if_contradictory({}, *at_samples(2.0), None, "uniform")
    with pytest.warns(BiasWarning, match=r"its kl is -1.[45].*no divergence is negative"):
        warn_if_contradictory({}, *at_samples(-2.0), None, "variational")


@pytest.mark.parametrize(
    ("guide", "weighting", "advice"),
    [
        (None, "variational", "Try the default guide='auto', method='kde', which uses no weights, or fewer columns."),
        (None, "uniform", "Try the default guide='auto' or fewer columns."),
        ("gaussian", "variational", "Try the default guide='auto' or fewer columns."),
        (object(), "uniform", "Try the default guide='auto' or fewer columns."),
        ("auto", "uniform", "Leave out shared rows and outliers, or use more rows or fewer columns."),
        ("auto", "variational", "Leave out shared rows and outliers, or use more rows or fewer columns."),
    ],
)
def test_the_advice_is_something_that_the_caller_does_not_do_yet(guide, weighting, advice):
    with pytest.warns(BiasWarning) as told:
        warn_if_contradictory({}, *at_samples(2.0), guide, weighting)
    assert str(told[0].message).endswith(advice)


def test_the_default_is_not_recommended_to_those_who_use_it():
    ratio = DensityRatio().fit(*PAIR.sample(200))
    alone = ratio._fitted.average.main.ratio
    off = tuple(np.asarray(values) + 3 for values in alone.at_samples)
    main = replace(ratio._fitted.average.main, ratio=GuideAlone(alone.guide, alone.samples, off), average=1.0)
    ratio._fitted = replace(ratio._fitted, average=Average((main,)))
    with pytest.warns(BiasWarning, match="cannot be right") as told:
        ratio.divergence("reverse-kl")
    assert "default" not in str(told[0].message)


def test_the_interval_of_a_wrong_ratio_reaches_the_truth():
    """A guide that is too high by two everywhere, which no candidate of the default would be."""
    ratio = DensityRatio(guide="gaussian").fit(*PAIR.sample(1_000))
    main = ratio._fitted.average.main
    too_high = main.ratio.guide.at_samples[0] + 2, main.ratio.guide.at_samples[1] + 2
    alone = GuideAlone(main.ratio.guide, main.ratio.samples, too_high)
    ratio._fitted = replace(ratio._fitted, average=Average((replace(main, ratio=alone, average=1.0),)))
    with pytest.warns(BiasWarning, match="cannot be right"):
        estimate = ratio.divergence("kl")
    low, high = estimate.interval
    assert estimate.value == pytest.approx(PAIR.kl + 2, abs=0.2)
    assert low < PAIR.kl < high


def test_intervals_have_a_width_where_the_densities_are_equal():
    random = np.random.default_rng(0)
    for seed in range(3):
        p, q = random.normal(size=(2, 60, 2))
        ratio = DensityRatio(random_state=seed).fit(p, q)
        for kind in ("kl", "reverse-kl", "jensen-shannon", "hellinger", "chi2", "total-variation"):
            low, high = ratio.divergence(kind).interval
            assert high - low > 1e-4


def test_few_rows_have_the_quantile_of_student():
    estimate = kl_divergence(*isotropic(1).sample(12), method="kde")
    error = np.hypot(estimate.standard_error, estimate.systematic_error)
    assert estimate.degrees_of_freedom == 11
    assert (estimate.interval[1] - estimate.value) / error == pytest.approx(2.201, abs=0.001)


def test_the_standard_error_of_kl_sees_the_tail_of_the_ratio():
    """For a Laplace density two apart Var_q(r) is far larger than rows of q show."""
    random = np.random.default_rng(0)
    p, q = random.laplace(2, size=(500, 3)), random.laplace(0, size=(500, 3))
    p, q = (AtSample((np.abs(x) - np.abs(x - 2)).sum(axis=1), np.ones(500)) for x in (p, q))
    tail = np.exp(np.minimum(p.log_ratio, np.log(500))).mean() - 1
    expected = np.sqrt((np.var(p.log_ratio) + tail) / 500)
    assert KINDS["kl"](p, q)[1] == pytest.approx(expected, rel=0.01)
    assert expected > 2 * np.sqrt((np.var(p.log_ratio) + np.exp(q.log_ratio).var()) / 500)
