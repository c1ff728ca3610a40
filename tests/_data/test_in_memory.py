"""Fits to samples in files: equal to an array's if all rows are in memory, else close to the truth."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import vwkde
from support.elsewhere import ROWS, samples, save_samples
from vwkde.divergences import make_estimator

GROUPS = np.repeat(np.arange(12), 10)


@pytest.mark.parametrize("guide", ["auto", "gaussian", "logistic", None])
@pytest.mark.parametrize("gone", [range(7), [0, 5, 10], [1, 2, 3, 4, 6, 7, 8]])
def test_rows_and_groups_of_weight_zero_are_as_if_they_were_not_there(guide, gone):
    random = np.random.default_rng(3)
    p, q = random.normal(size=(120, 2)), random.normal(0.5, 1, size=(120, 2))
    counted = ~np.isin(GROUPS, gone)
    weight = np.where(counted, random.uniform(0.5, 2, 120), 0.0)
    found = vwkde.DensityRatio(guide=guide).fit(p, q, groups=(None, GROUPS), denominator_weight=weight)
    expected = vwkde.DensityRatio(guide=guide).fit(
        p, q[counted], groups=(None, GROUPS[counted]), denominator_weight=weight[counted]
    )
    assert found.divergence("kl").value == pytest.approx(expected.divergence("kl").value, rel=1e-9)
    assert found.divergence("kl").standard_error == pytest.approx(expected.divergence("kl").standard_error, rel=1e-9)
    assert len(found.denominator_log_ratio_) == 120
    np.testing.assert_allclose(found.denominator_log_ratio_[counted], expected.denominator_log_ratio_, rtol=1e-8)
    np.testing.assert_allclose(found.denominator_log_ratio_[~counted], expected.log_ratio(q[~counted]), rtol=1e-8)
    weights = found.importance_weights()
    assert not weights[~counted].any()
    assert weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(weights[counted] / weights.sum(), expected.importance_weights() / counted.sum())


def test_halves_are_drawn_from_groups_that_count():
    random = np.random.default_rng(3)
    p, q = random.normal(size=(120, 2)), random.normal(0.5, 1, size=(120, 2))
    weight = np.where(GROUPS < 2, 0.0, 1.0)
    settings = {"guide": "gaussian", "interval": "subsample", "groups": (GROUPS, None)}
    assert vwkde.kl_divergence(p, q, numerator_weight=weight, **settings).standard_error > 0
    with pytest.raises(ValueError, match=r"needs at least 10 groups of each sample.*Got 9"):
        vwkde.kl_divergence(p, q, numerator_weight=np.where(GROUPS < 3, 0.0, 1.0), **settings)


def test_too_few_groups_that_count_are_refused():
    random = np.random.default_rng(3)
    p, q = random.normal(size=(120, 2)), random.normal(size=(120, 2))
    with pytest.raises(ValueError, match=r"at least 5 different labels in rows of positive weight\. Got 4"):
        vwkde.kl_divergence(p, q, groups=(GROUPS, None), numerator_weight=np.where(GROUPS < 8, 0.0, 1.0))


@pytest.fixture
def files(tmp_path):
    return save_samples(tmp_path)


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.OverlapWarning")  # p is wider than q
@pytest.mark.parametrize("method", ["kde", "vwkde-mb"])
def test_rows_that_fit_give_the_answer_of_an_array(files, method):
    expected = vwkde.kl_divergence(*samples(), method=method)
    found = vwkde.kl_divergence(*files, method=method)
    assert found.value == expected.value
    assert found.standard_error == expected.standard_error
    assert "rows_held" not in found.diagnostics


def test_a_given_bandwidth_gives_the_log_ratios_of_an_array(files):
    p, q = samples()
    whole = make_estimator("kde", {"bandwidth": 0.6}).fit(p, q)
    some = make_estimator("kde", {"bandwidth": 0.6, "max_held": 400, "memory_budget": 2**17}).fit(*files)
    np.testing.assert_allclose(some.log_ratio(q[:50]), whole.log_ratio(q[:50]), rtol=1e-9, atol=1e-9)
    rows = some.held_rows_[0]
    assert len(rows) == 400
    np.testing.assert_allclose(some.numerator_log_ratio_, whole.numerator_log_ratio_[rows], rtol=1e-9, atol=1e-9)
    assert np.ptp(whole.numerator_log_ratio_) > 1


@pytest.mark.parametrize("settings", [{"method": "kde"}, {"method": "vwkde-mb", "max_basis": 200}, {}])
def test_the_answer_does_not_depend_on_blocks(files, settings):
    small, large = (
        vwkde.kl_divergence(*files, max_held=300, memory_budget=budget, **settings) for budget in (2**18, 2**24)
    )
    np.testing.assert_allclose(small.value, large.value, rtol=1e-9)
    np.testing.assert_allclose(small.standard_error, large.standard_error, rtol=1e-7)
    assert small.diagnostics["rows"] == [ROWS, ROWS + 80]
    assert small.diagnostics["rows_held"] == [300, 300]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"method": "kde"},
        {"method": "vwkde-mb"},
        {"guide": "gaussian"},
        {"guide": None, "weighting": "closed-form", "derivatives": "gaussian"},
        {"guide": None, "target": "posterior", "derivatives": "gaussian"},
        {"guide": None, "derivatives": "mixture", "target": "kl"},
    ],
    ids=str,
)
def test_every_form_is_near_the_truth_on_streams(tmp_path, settings):
    """KL(N(0, I) ‖ N(0.5, I)) in two columns is 0.25."""
    random = np.random.default_rng(0)
    for name, mean in (("p", 0.0), ("q", 0.5)):
        np.save(tmp_path / f"{name}.npy", random.normal(mean, 1, (6_000, 2)).astype(np.float32))
    found = vwkde.kl_divergence(tmp_path / "p.npy", tmp_path / "q.npy", max_held=600, max_basis=200, **settings)
    assert abs(found.value - 0.25) < 4 * found.standard_error
    assert 0.01 < found.standard_error < 0.08


def test_gaussian_guides_are_those_of_all_rows(files):
    p, q = samples()
    found = vwkde.DensityRatio(guide="gaussian", bandwidth=1e6, weighting="uniform", max_held=100).fit(*files)
    whole = vwkde.DensityRatio(guide="gaussian", bandwidth=1e6, weighting="uniform").fit(p, q)
    rows = vwkde.DensityRatio(guide="gaussian", bandwidth=1e6, weighting="uniform").fit(p[:100], q[:100])
    near, far = (np.abs(each.log_ratio(q[:80]) - whole.log_ratio(q[:80])).mean() for each in (found, rows))
    assert near < 0.1 * far


def test_weights_count_as_copies(files):
    p, q = samples()
    twice = np.where(np.arange(ROWS) % 2, 2.0, 0.0)
    settings = {"guide": None, "weighting": "uniform", "bandwidth": 0.5, "max_held": 200}
    found = vwkde.DensityRatio(**settings).fit(*files, numerator_weight=twice)
    expected = vwkde.DensityRatio(**settings).fit(p, q, numerator_weight=twice)
    np.testing.assert_allclose(found.log_ratio(q[:40]), expected.log_ratio(q[:40]), rtol=1e-9, atol=1e-9)
    assert (found.held_rows_[0] % 2 == 1).all()


def test_a_float32_file_is_summed_in_float32(tmp_path):
    p, q = samples(np.float32)
    np.save(tmp_path / "p.npy", p)
    settings = {"guide": None, "weighting": "uniform", "bandwidth": 0.5, "max_held": 200}
    ratio = vwkde.DensityRatio(**settings).fit(np.load(tmp_path / "p.npy", mmap_mode="r"), q)
    expected = vwkde.DensityRatio(**settings).fit(p.astype(float), q.astype(float))
    assert ratio._fitted.numerics.dtype == np.float32
    np.testing.assert_allclose(ratio.log_ratio(q[:40]), expected.log_ratio(q[:40]), atol=2e-4)


def test_one_column(tmp_path):
    random = np.random.default_rng(0)
    np.save(tmp_path / "p.npy", random.normal(size=900))
    found = vwkde.kl_divergence(tmp_path / "p.npy", random.normal(1, 1, 900), max_held=300, method="kde")
    assert abs(found.value - 0.5) < 4 * found.standard_error


def test_the_same_seed_gives_the_same_answer_and_another_one_other_rows(files):
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform", max_held=200)
    one, again = ratio.fit(*files), clone(ratio).fit(*files)
    np.testing.assert_array_equal(one.numerator_log_ratio_, again.numerator_log_ratio_)
    other = clone(ratio).set_params(random_state=1).fit(*files)
    assert (one.held_rows_[0] != other.held_rows_[0]).any()
    assert one.bandwidth_ != other.bandwidth_


def test_an_entry_that_is_not_finite_is_told_with_its_row(files):
    mapped = np.load(files[0], mmap_mode="r+")
    mapped[650, 1] = np.nan
    mapped[690, 2] = np.inf
    with pytest.raises(ValueError, match=r"numerator must be finite. Got nan in row 650, column 1, and 2 such"):
        vwkde.kl_divergence(*files, max_held=200, memory_budget=2**13)


def test_named_columns_are_brought_into_order(tmp_path):
    p, q = samples()
    pd.DataFrame(p, columns=list("abc")).to_parquet(tmp_path / "p.parquet", row_group_size=100)
    pd.DataFrame(q[:, [2, 0, 1]], columns=list("cab")).to_parquet(tmp_path / "q.parquet", row_group_size=100)
    settings = {"guide": None, "weighting": "uniform", "bandwidth": 0.5, "max_held": 200}
    ratio = vwkde.DensityRatio(**settings).fit(tmp_path / "p.parquet", tmp_path / "q.parquet")
    assert list(ratio.feature_names_in_) == ["a", "b", "c"]
    expected = vwkde.DensityRatio(**settings).fit(p, q)
    np.testing.assert_allclose(ratio.log_ratio(p[:30]), expected.log_ratio(p[:30]), rtol=1e-9, atol=1e-9)


def test_points_may_come_from_a_file_too(files):
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform", max_held=200).fit(*files)
    np.testing.assert_array_equal(ratio.log_ratio(str(files[1])), ratio.log_ratio(samples()[1]))


def test_columns_must_match(files, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((50, 2)))
    with pytest.raises(ValueError, match=r"denominator must have as many columns as the numerator \(3\). Got 2"):
        vwkde.kl_divergence(files[0], tmp_path / "x.npy")


def test_what_needs_all_rows_at_hand_says_so(files):
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform", max_held=200).fit(*files)
    with pytest.raises(ValueError, match="influence"):
        ratio.divergence(interval="subsample")
    with pytest.raises(ValueError, match="ratio\\(rows\\)"):
        ratio.importance_weights()


def test_baselines_read_files(files):
    arrays = [np.asarray(pd.read_parquet(path)) if str(path).endswith("parquet") else np.load(path) for path in files]
    assert vwkde.kl_divergence(*files, method="nn") == vwkde.kl_divergence(*arrays, method="nn")
