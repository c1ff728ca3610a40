import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import gaussian_kde

from vwkde._fit.bandwidth import scott, select_bandwidth, silverman


def sample(n=400, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(
    ("rule", "expected"), [(scott, gaussian_kde.scotts_factor), (silverman, gaussian_kde.silverman_factor)]
)
def test_rules_of_thumb_agree_with_scipy(rule, expected):
    x = sample(d=3)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    assert rule(x, np.ones(len(x))) == pytest.approx(expected(gaussian_kde(x.T)))


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_of_thumb_do_not_see_rows_that_do_not_count(rule):
    x = sample(100)
    more, weight = np.concatenate([x, sample(900) + 50]), np.repeat([10.0, 0.0], [100, 900])
    assert select_bandwidth(more, rule, weight=weight) == pytest.approx(select_bandwidth(x, rule))


def negative_log_likelihood(x, h):
    squared = cdist(x, x, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    return x.shape[1] * np.log(h) - logsumexp(-squared / (2 * h**2), axis=1).mean()


def integrated_squared_error(x, h):
    n, d = x.shape
    squared = cdist(x, x, "sqeuclidean")

    def density(s):
        return np.exp(-squared / (2 * s**2)) / (np.sqrt(2 * np.pi) * s) ** d

    own = density(h) - np.diag(np.diag(density(h)))
    return density(np.sqrt(2) * h).mean() - 2 * own.sum() / (n * (n - 1))


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize(("rule", "loss"), [("likelihood", negative_log_likelihood), ("ise", integrated_squared_error)])
def test_selection_finds_the_minimum_of_its_loss(rule, loss, d):
    x = sample(d=d)
    found = select_bandwidth(x, rule)
    best = minimize_scalar(
        lambda log_h: loss(x, np.exp(log_h)), bounds=np.log([found / 2, found * 2]), method="bounded"
    )
    assert found == pytest.approx(np.exp(best.x), rel=0.03)


@pytest.mark.parametrize("rule", ["scott", "silverman", "likelihood", "ise"])
def test_bandwidths_scale_with_the_data_and_ignore_where_they_lie(rule):
    x = sample()
    expected = select_bandwidth(x, rule, part=0.5)
    for scale in (1e-6, 1e6):
        assert select_bandwidth(scale * (x + 7), rule, part=0.5) == pytest.approx(scale * expected, rel=1e-6)


def test_a_part_of_the_sample_wants_a_wider_kernel_as_the_paper_has_it():
    x = sample(2_000, 4)
    ratio = select_bandwidth(x, "likelihood", part=0.25) / select_bandwidth(x, "likelihood")
    assert ratio == pytest.approx(4 ** (1 / 8), rel=0.05)


def test_a_quarter_is_averaged_over_all_four():
    x = sample(200, 3)
    spread = np.std([np.log(select_bandwidth(x, "likelihood", part=0.25, random_state=s)) for s in range(30)])
    single = np.std(
        [np.log(select_bandwidth(np.random.default_rng(s).permutation(x)[:50], "likelihood")) for s in range(30)]
    )
    assert spread < 0.7 * single


def test_equal_rows_do_not_drive_the_bandwidth_to_zero():
    x = sample(100, 2)
    some = np.concatenate([x, x[:8]])
    assert select_bandwidth(some, "likelihood") == pytest.approx(select_bandwidth(x, "likelihood"), rel=0.1)
    counts = np.random.default_rng(0).poisson(4, size=(500, 1)).astype(float)
    assert select_bandwidth(counts, "likelihood") == scott(counts, np.ones(len(counts)))


def test_clusters_far_apart_get_a_bandwidth_of_their_own_size():
    x = sample(400, 2) + 1_000 * np.random.default_rng(1).integers(0, 2, size=(400, 1))
    assert 0.2 < select_bandwidth(x, "likelihood") < 1


def test_weights_count_like_copies():
    x = sample(60, 2)
    counts = np.where(np.arange(60) < 6, 2, 1)
    weighted = select_bandwidth(x, "likelihood", weight=counts.astype(float))
    assert weighted == pytest.approx(select_bandwidth(np.repeat(x, counts, axis=0), "likelihood"), rel=1e-3)
    assert weighted != pytest.approx(select_bandwidth(x, "likelihood"), rel=1e-3)


@pytest.mark.parametrize("rule", ["likelihood", "ise"])
def test_judging_by_some_of_many_rows_finds_nearly_the_same(rule, monkeypatch):
    x = np.random.default_rng(3).normal(size=(3_000, 2))
    expected = select_bandwidth(x, rule)
    monkeypatch.setattr("vwkde._fit.bandwidth._MOST_QUERIES", 1_000)
    found = select_bandwidth(x, rule)
    assert found != expected
    np.testing.assert_allclose(found, expected, rtol=0.1)


def test_single_precision_finds_the_same_within_rounding():
    x = np.random.default_rng(4).normal(size=(400, 3))
    np.testing.assert_allclose(
        select_bandwidth(x, "likelihood", dtype=np.float32), select_bandwidth(x, "likelihood"), rtol=1e-3
    )
