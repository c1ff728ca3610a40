"""Rows that repeat others, and rows that belong together, do not make an answer too sure, whatever is asked."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import vwkde

N = 300


def normal(seed, rows=N, shift=0.0):
    x = np.random.default_rng(seed).normal(size=(rows, 3))
    x[:, 0] += shift
    return x


def bootstrap(x, seed):
    return x[np.random.default_rng(seed).integers(len(x), size=len(x))]


def jittered(x, size, seed=9):
    return x + size * np.random.default_rng(seed).normal(size=x.shape)


def between(x, seed=8):
    """Return rows between a row and one of its neighbours, as SMOTE makes them."""
    random = np.random.default_rng(seed)
    other = cKDTree(x).query(x, 6)[1][np.arange(len(x)), random.integers(1, 6, size=len(x))]
    return x + random.random((len(x), 1)) * (x[other] - x)


def visits(seed, patients=60, each=5, within=0.05):
    """Return rows of some patients, with this share of their variance within a patient, and their labels."""
    rows = np.repeat(normal(seed, patients), each, axis=0)
    x = np.sqrt(1 - within) * rows + np.sqrt(within) * normal(seed + 1, len(rows))
    return x, np.repeat(np.arange(patients), each)


REPEATED = {
    "twice": lambda p, q: (np.repeat(p[: N // 2], 2, axis=0), q),
    "bootstrapped": lambda p, q: (bootstrap(p, 5), bootstrap(q, 6)),
    "three in ten twice": lambda p, q: (np.concatenate([p, p[:90]]), q),
}
NEARLY = {
    "with noise": lambda p, q: (np.concatenate([p[: N // 2], jittered(p[: N // 2], 1e-3)]), q),
    "interpolated": lambda p, q: (np.concatenate([p[: N // 2], between(p[: N // 2])]), q),
}


@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("name", REPEATED)
def test_repeated_rows_do_not_raise_the_divergence(name, shift):
    """With copies that count as rows, equal samples had a KL between 0.5 and 1.8, and small errors."""
    estimate = vwkde.kl_divergence(*REPEATED[name](normal(0, shift=shift), normal(1)))
    assert estimate.value == pytest.approx(shift**2 / 2, abs=0.03 + 4 * estimate.standard_error)
    assert estimate.diagnostics["distinct_rows"][0] < estimate.diagnostics["rows"][0]


@pytest.mark.parametrize("name", NEARLY)
def test_rows_that_nearly_repeat_others_are_told(name):
    with pytest.warns(vwkde.DegenerateDataWarning, match="rows of the numerator .* count as weight"):
        estimate = vwkde.kl_divergence(*NEARLY[name](normal(0), normal(1)))
    assert estimate.value == pytest.approx(0, abs=0.03 + 4 * estimate.standard_error)


def test_copies_are_weights():
    p, q = normal(0), normal(1)
    counts = np.random.default_rng(2).integers(1, 4, size=N)
    copied = vwkde.DensityRatio(guide="gaussian").fit(np.repeat(p, counts, axis=0), q)
    weighted = vwkde.DensityRatio(guide="gaussian").fit(p, q, numerator_weight=counts)
    np.testing.assert_allclose(copied.numerator_log_ratio_, np.repeat(weighted.numerator_log_ratio_, counts))
    assert copied.divergence("kl").standard_error == pytest.approx(weighted.divergence("kl").standard_error)
    assert copied.diagnostics_["rows"] == [counts.sum(), N]
    assert copied.diagnostics_["distinct_rows"] == [N, N]


def test_answers_keep_the_rows_that_were_given():
    p, q = normal(0), normal(1)
    order = np.random.default_rng(0).permutation(2 * N)
    doubled = np.repeat(q, 2, axis=0)[order]
    ratio = vwkde.DensityRatio(guide="gaussian").fit(p, doubled)
    weights = ratio.importance_weights()
    assert weights.shape == (2 * N,)
    back = np.argsort(order)
    np.testing.assert_array_equal(weights[back][::2], weights[back][1::2])
    assert ratio.denominator_log_ratio_.shape == (2 * N,)


def test_errors_from_subsamples_count_distinct_rows():
    p, q = normal(0), normal(1, shift=0.5)
    once, twice = (
        vwkde.kl_divergence(np.repeat(p, times, axis=0), q, guide="gaussian", interval="subsample") for times in (1, 2)
    )
    assert twice.standard_error == pytest.approx(once.standard_error, rel=0.01)


def test_whole_numbers_stay_as_they_are():
    random = np.random.default_rng(0)
    p, q = random.integers(6, size=(2, 400, 3)).astype(float)
    estimate = vwkde.kl_divergence(p, q, guide=None, weighting="uniform")
    assert "distinct_rows" not in estimate.diagnostics


def test_close_pairs_are_told():
    p = normal(0, 250)
    with pytest.warns(vwkde.DegenerateDataWarning, match="come in close pairs"):
        vwkde.kl_divergence(np.concatenate([p, jittered(p, 0.08)]), normal(1), guide="gaussian")


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_groups_are_left_out_together(shift):
    p, labels = visits(0)
    p[:, 0] += shift
    estimate = vwkde.kl_divergence(p, normal(1), groups=(labels, None))
    assert estimate.value == pytest.approx(shift**2 / 2, abs=0.05 + 3 * estimate.standard_error)


@pytest.mark.parametrize("guide", ["gaussian", None])
def test_groups_of_single_rows_change_nothing_but_folds(guide):
    p, q = normal(0), normal(1, shift=1.0)
    alone = vwkde.kl_divergence(p, q, guide=guide)
    grouped = vwkde.kl_divergence(p, q, guide=guide, groups=(np.arange(N), np.arange(N) + N))
    assert grouped.value == pytest.approx(alone.value, abs=0.03)
    assert grouped.standard_error == pytest.approx(alone.standard_error, rel=0.1)


def test_labels_do_not_matter_nor_does_the_order_of_rows():
    p, labels = visits(0)
    q, other = visits(10)
    one = vwkde.kl_divergence(p, q, groups=(labels, other + 100), guide="gaussian")
    mixed = np.random.default_rng(0).permutation(len(p))
    names = np.array([f"patient {label}" for label in labels])
    two = vwkde.kl_divergence(p[mixed], q, groups=(names[mixed], other), guide="gaussian")
    assert two.value == pytest.approx(one.value, rel=1e-9)
    assert two.standard_error == pytest.approx(one.standard_error, rel=1e-9)


def test_errors_count_groups():
    p, labels = visits(0, within=0.2)
    p[:, 0] += 1
    settings = {"guide": "gaussian", "weighting": "uniform"}
    alone = vwkde.kl_divergence(p, normal(1), **settings)
    grouped, refitted = (
        vwkde.kl_divergence(p, normal(1), groups=(labels, None), interval=interval, **settings)
        for interval in ("influence", "subsample")
    )
    assert grouped.standard_error > 1.3 * alone.standard_error
    assert refitted.standard_error == pytest.approx(grouped.standard_error, rel=0.25)


def test_other_functions_take_groups():
    p, labels = visits(0)
    q, other = visits(10)
    z = np.concatenate([p, q])
    groups = np.concatenate([labels, other + 100])
    at = vwkde.log_density_ratio(p, q, at=z[:3], groups=(labels, other + 100), guide="gaussian")
    assert np.isfinite(at).all()
    ratio = vwkde.DensityRatio(guide="gaussian")
    classifier = vwkde.RatioClassifier(ratio=ratio).fit(z, np.repeat([0, 1], N), groups=groups)
    grouped = vwkde.DensityRatio(guide="gaussian").fit(p, q, groups=(labels, other + 100))
    np.testing.assert_allclose(classifier.ratios_[0, 1].log_ratio(z[:9]), grouped.log_ratio(z[:9]))


def test_mutual_information_of_repeated_rows():
    """With copies that count as rows, it was 2.8 for 0.45."""
    x = normal(0, 200)[:, :2]
    y = 0.6 * x + 0.8 * normal(1, 200)[:, :2]
    truth = -np.log(0.64)
    for again, labels in ((0.0, None), (0.02, np.tile(np.arange(200), 2))):
        twice = [np.concatenate([each, jittered(each, again)]) for each in (x, y)]
        estimate = vwkde.mutual_information(*twice, groups=labels, guide="gaussian")
        assert estimate.value == pytest.approx(truth, abs=3 * estimate.standard_error)


def test_samples_in_files_and_baselines_have_no_groups(tmp_path):
    p, labels = visits(0)
    np.save(tmp_path / "p.npy", p)
    with pytest.raises(ValueError, match="'groups' parameter of fit must be None for samples in files"):
        vwkde.kl_divergence(tmp_path / "p.npy", normal(1), groups=(labels, None))
    with pytest.raises(ValueError, match="'groups' parameter of fit must be None with method='nn'"):
        vwkde.kl_divergence(p, normal(1), groups=(labels, None), method="nn")


def test_too_few_groups_for_mutual_information():
    x, labels = visits(0, patients=8)
    with pytest.raises(ValueError, match=r"at least 10 different labels\. Got 8"):
        vwkde.mutual_information(x[:, 0], x[:, 1], groups=labels)


def test_the_two_sample_test_of_groups_is_exact():
    """Patients with different numbers of visits: with groups p ≤ 0.1 in a tenth of the cases, without in most."""
    grouped, alone = [], []
    for seed in range(200):
        random = np.random.default_rng(seed)
        labels = np.repeat(np.arange(20), random.integers(1, 6, size=20))
        x = random.normal(size=(20, 1))[labels] + 0.1 * random.normal(size=(len(labels), 1))
        first = labels < 10
        groups = labels[first], labels[~first]
        settings = {"n_permutations": 19, "random_state": seed}
        grouped.append(vwkde.two_sample_test(x[first], x[~first], groups=groups, **settings).p_value)
        alone.append(vwkde.two_sample_test(x[first], x[~first], **settings).p_value)
    assert np.mean(np.array(grouped) <= 0.1 + 1e-9) < 0.1 + 3 * np.sqrt(0.09 / 200)
    assert np.mean(np.array(alone) <= 0.1 + 1e-9) > 0.3


def test_the_two_sample_test_refuses_shared_groups_and_tells_of_repeats():
    p, labels = visits(0)
    with pytest.raises(ValueError, match="different labels in the two samples"):
        vwkde.two_sample_test(p, normal(1), groups=(labels, np.arange(N)))
    with pytest.warns(vwkde.DegenerateDataWarning, match="300 rows of the denominator repeat others"):
        vwkde.two_sample_test(p, np.repeat(normal(1), 2, axis=0), n_permutations=19)
