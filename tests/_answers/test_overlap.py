import numpy as np
import pytest

import vwkde
from vwkde.datasets import isotropic, mean_difference


def test_kernel_effective_size_is_the_number_of_points_under_a_wide_kernel():
    p, q = isotropic(2).sample(300, 200)
    diagnostics = vwkde.DensityRatio(guide=None, weighting="uniform", bandwidth=1e3).fit(p, q).diagnostics_
    assert diagnostics["kernel_effective_size"] == pytest.approx([300, 200], rel=1e-3)
    assert diagnostics["largest_weight_share"] == pytest.approx([1 / 300, 1 / 200])


def test_kernel_effective_size_agrees_with_its_definition():
    p, q = isotropic(2).sample(150, 120)
    ratio = vwkde.DensityRatio(guide=None).fit(p, q)
    a, b = ratio._fitted.average.main.coordinates(p), ratio._fitted.average.main.coordinates(q)
    squared = ((b[:, None] - a[None]) ** 2).sum(axis=2)
    terms = np.exp(ratio.weight_.log_weight(a) - squared / (2 * ratio.bandwidth_**2))
    expected = np.exp(np.median(np.log(terms.sum(axis=1) ** 2 / (terms**2).sum(axis=1))))
    assert ratio.diagnostics_["kernel_effective_size"][0] == pytest.approx(expected)


def test_a_heavy_row_shows():
    p, q = isotropic(2).sample(100)
    weight = np.ones(100)
    weight[3] = 100
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform").fit(p, q, denominator_weight=weight)
    assert ratio.diagnostics_["largest_weight_share"][1] == pytest.approx(100 / 199)


def test_unsupported_fraction_grows_with_the_distance():
    fractions = [
        vwkde.DensityRatio().fit(*mean_difference(3, distance).sample(300)).diagnostics_["unsupported_fraction"]
        for distance in (0.0, 2.0, 8.0)
    ]
    assert max(fractions[0]) < 0.05
    assert max(fractions[0]) < min(fractions[1]) < min(fractions[2])
    assert min(fractions[2]) > 0.95


def test_the_weight_is_no_part_of_the_density():
    """Two equal densities support each other, however steep the weight between them."""
    random = np.random.default_rng(0)
    p, q = random.normal(size=(400, 4)), random.normal(size=(400, 4))
    for weighting in ("closed-form", "variational"):
        fractions = vwkde.DensityRatio(guide=None, weighting=weighting).fit(p, q).diagnostics_["unsupported_fraction"]
        assert max(fractions) < 0.06


def test_the_warning_names_the_sample_that_is_not_covered():
    random = np.random.default_rng(0)
    narrow, wide = random.normal(0, 0.05, size=(300, 3)), random.normal(0, 3, size=(300, 3))
    with pytest.warns(vwkde.OverlapWarning, match="the numerator's points lie where the denominator"):
        vwkde.divergence(wide, narrow, "kl")
    with pytest.warns(vwkde.OverlapWarning, match="the denominator's points lie where the numerator"):
        vwkde.divergence(narrow, wide, "reverse-kl")
    with pytest.warns(vwkde.OverlapWarning, match="the denominator's points lie where the numerator"):
        vwkde.divergence(narrow, wide, "renyi", order=0.5, guide=None, weighting="uniform")
    assert vwkde.divergence(narrow, wide, "total-variation", guide=None, weighting="uniform").value > 0.8


def test_a_divergence_that_may_be_infinite_is_open_above():
    random = np.random.default_rng(0)
    wide, narrow = random.uniform(0, 1.25, size=(300, 1)), random.uniform(0, 1, size=(300, 1))
    ratio = vwkde.DensityRatio(guide="gaussian").fit(wide, narrow)
    assert ratio.diagnostics_["outside_fraction"][0] == pytest.approx(0.2, abs=0.06)
    assert ratio.diagnostics_["outside_fraction"][1] == 0
    for kind, order in (("kl", None), ("chi2", None), ("renyi", 1.5)):
        with pytest.warns(vwkde.OverlapWarning, match="% of the numerator's points .* means only 'at least'"):
            estimate = ratio.divergence(kind, order)
        assert estimate.open_above
        assert estimate.interval[1] == np.inf
    for kind, order in (("reverse-kl", None), ("renyi", 0.5), ("jensen-shannon", None), ("hellinger", None)):
        assert np.isfinite(ratio.divergence(kind, order).interval).all()
    with pytest.warns(vwkde.OverlapWarning, match="% of the denominator's points .* means only 'at least'"):
        assert vwkde.divergence(narrow, wide, "reverse-kl", guide="gaussian").open_above
    with pytest.warns(vwkde.OverlapWarning, match="no weights make the denominator stand for them"):
        ratio.importance_weights()


def test_a_shift_is_no_end():
    random = np.random.default_rng(0)
    estimate = vwkde.kl_divergence(random.normal(1, 1, size=(300, 1)), random.normal(size=(300, 1)), guide="gaussian")
    assert not estimate.open_above
    assert np.isfinite(estimate.interval[1])


def test_weights_of_samples_that_do_not_meet_do_not_look_even():
    random = np.random.default_rng(0)
    ratio = vwkde.DensityRatio(guide="gaussian").fit(random.normal(size=(200, 4)), random.normal(50, 1, size=(200, 4)))
    with pytest.warns(vwkde.OverlapWarning, match="100% of the numerator's points lie where the denominator has none"):
        weights = ratio.importance_weights()
    assert weights.mean() == pytest.approx(1)
    assert weights.sum() ** 2 / (weights**2).sum() < 3


def test_a_divergence_that_cannot_be_is_told():
    random = np.random.default_rng(1)
    shared = random.normal(size=(300, 10))
    with pytest.warns(vwkde.BiasWarning, match="no divergence is negative"):
        assert vwkde.kl_divergence(shared, shared, guide=None).value < -0.5
    narrow, wide = random.normal(0, 1, size=(200, 1)), random.normal(0, 5, size=(200, 1))
    with pytest.warns(vwkde.BiasWarning, match="Try the default guide='auto', method='kde'"):
        vwkde.kl_divergence(narrow, wide, guide=None)
    assert vwkde.kl_divergence(narrow, wide).value == pytest.approx(1.13, abs=0.3)
    assert vwkde.kl_divergence(narrow, wide, guide=None, weighting="uniform").value == pytest.approx(1.13, abs=0.4)


def test_overlap_seen_on_a_part_is_told_for_all_rows(monkeypatch):
    p, q = isotropic(2).sample(600, 500)
    monkeypatch.setattr("vwkde._answers.diagnostics.MOST_ROWS", 300)
    found = vwkde.DensityRatio(guide="gaussian").fit(p, q).diagnostics_
    assert found["largest_weight_share"] == pytest.approx([1 / 600, 1 / 500])
    monkeypatch.undo()
    whole = vwkde.DensityRatio(guide="gaussian").fit(p, q).diagnostics_
    assert found["kernel_effective_size"] == pytest.approx(whole["kernel_effective_size"], rel=0.5)
