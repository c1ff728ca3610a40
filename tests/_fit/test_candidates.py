"""What is chosen, on data whose right answer is known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import vwkde
from vwkde import DensityRatio
from vwkde._data.sample import make_unordered_sample
from vwkde._fit import averaging
from vwkde._fit.candidates import Space, find_candidates
from vwkde._fit.guided_ratio import GuidedRatio
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.kernel_pair import make_pair
from vwkde._fit.sharing import FoldShares, Ways, combine, shares
from vwkde._models.log_loss import log_loss
from vwkde._models.weights.uniform import UniformWeight
from vwkde.datasets import Gaussian, GaussianPair, isotropic, mean_difference
from vwkde.exceptions import DegenerateDataWarning


class Slope:
    """A weight that grows along the first column."""

    def log_weight(self, x):
        return 0.4 * x[:, 0]


class SlopeTrial:
    """A trial of that weight."""

    def fit(self, samples, numerics):
        del samples, numerics
        return Slope()


def space(p, q, guides, name="whitened", weight=None):
    samples = make_unordered_sample(p), make_unordered_sample(q)
    return Space(name, np.asarray, samples, guides, axes_matter=name != "whitened", weight=weight)


def candidates(*arguments, bandwidth=None, **options):
    return find_candidates(space(*arguments, **options), bandwidth, Numerics())


def test_candidates_are_the_guided_ratios_they_stand_for():
    p, q = isotropic(2).sample(120, 90)
    found = candidates(p, q, (None, "gaussian"), weight=SlopeTrial())
    assert sum(isinstance(c.form.weight, Slope) and c.bandwidth is not None for c in found) == 12
    for c in [c for c in found if c.bandwidth is not None][::5]:
        pair = make_pair(c.space.samples, c.form.weight, c.bandwidth, Numerics(), c.form.guide)
        ratio = GuidedRatio(c.form.guide, pair, most=np.log(90))
        for alone, at in zip(ratio.at_samples, c.at_samples, strict=True):
            np.testing.assert_allclose(alone, at, rtol=1e-9, atol=1e-10)
        expected = np.mean(np.logaddexp(0, -c.at_samples[0])) + np.mean(np.logaddexp(0, c.at_samples[1]))
        assert c.loss == pytest.approx(expected / 2)


def test_guides_alone_are_candidates_unless_a_bandwidth_is_given():
    p, q = isotropic(2).sample(120, 90)
    alone = [c for c in candidates(p, q, (None, "gaussian")) if c.bandwidth is None]
    assert [c.form.guide.name for c in alone] == ["none", "gaussian"]
    assert all(c.at_samples is c.form.guide.at_samples for c in alone)
    assert {c.bandwidth for c in candidates(p, q, (None, "gaussian"), bandwidth=0.7)} == {0.7}


def test_shares_add_up_and_fall_off_with_the_loss():
    found = candidates(*isotropic(2).sample(200), (None, "gaussian", "logistic"))
    share = np.array(shares(found, averages=False))
    assert share.sum() == pytest.approx(1)
    assert np.count_nonzero(share) <= 3  # one bandwidth for each guide
    assert np.argmax(share) == np.argmin([c.loss for c in found])


def test_in_averages_all_bandwidths_share():
    found = candidates(*isotropic(2).sample(200), ("gaussian",))
    share = np.array(shares(found, averages=True))
    assert share.sum() == pytest.approx(1)
    assert np.count_nonzero(share) > 2
    losses = np.array([c.average_loss for c in found])
    ratio = share[share > 0] / share.max()
    np.testing.assert_allclose(ratio, np.exp(-0.5 * 400 * (losses[share > 0] - losses.min())), rtol=1e-9)


def test_what_is_worse_than_knowing_nothing_has_no_share():
    p, q = mean_difference(2, 0.0).sample(8)
    found = candidates(p, q, (None,))
    losses = np.array([c.loss for c in found])
    assert losses.max() > np.log(2) + 0.05
    for averages in (False, True):
        share = np.array(shares(found, averages))
        assert (share[losses > np.log(2) + 1e-9] == 0).all()
        assert share.sum() == pytest.approx(1)
    poor = [c for c in found if c.loss > np.log(2) + 0.05]
    assert sum(shares(poor, averages=True)) == pytest.approx(1)  # unless there is nothing else


def test_candidates_that_depend_on_the_axes_are_on_a_par_with_the_others():
    p, q = isotropic(2).sample(300)
    free = candidates(p, q, ("gaussian",))
    bound = candidates(p, q, ("gaussian",), name="normal scores")
    assert shares(free + bound, averages=True) == pytest.approx(np.tile(shares(free, averages=True), 2) / 2)
    poor = candidates(p, q, (None,), bandwidth=0.01)
    assert sum(shares(poor + bound, averages=False)[len(poor) :]) == pytest.approx(1)


def test_averages_forgive_an_unbiased_guide_its_noise():
    pair = GaussianPair(Gaussian(np.zeros(15), np.eye(15)), Gaussian(np.zeros(15), np.diag(np.geomspace(0.5, 2, 15))))
    found = candidates(*pair.sample(150), ("gaussian", "shrunk-gaussian"))
    for c in found:
        forgiven = c.form.guide.name == "gaussian" and c.bandwidth is None
        assert (0.001 < c.loss - c.average_loss < 1) if forgiven else (c.average_loss == c.loss)
    pointwise, average = (found[int(np.argmax(shares(found, averages)))] for averages in (False, True))
    assert (average.form.guide.name, average.bandwidth) == ("gaussian", None)
    assert (pointwise.form.guide.name, pointwise.bandwidth) != ("gaussian", None)


def test_the_credit_for_noise_never_makes_a_loss_smaller_than_the_best_possible():
    """With half as many columns as rows the noise is several nats, where an expansion would give a loss of −5."""
    p, q = mean_difference(100, 1.0).sample(300)
    truth = log_loss(tuple(mean_difference(100, 1.0).log_ratio(x) for x in (p, q)), space(p, q, ()).samples)
    alone = [c for c in candidates(p, q, ("gaussian", "shared-gaussian")) if c.bandwidth is None]
    assert all(c.average_loss > truth - 0.05 for c in alone)
    assert min(c.average_loss for c in alone) < truth + 0.05


def with_a_fold_spoilt(found, which, folds, by):
    """Return candidates of which one says the opposite of the truth at the rows of the first fold."""
    sides = zip(found[which].at_samples, folds, (-by, by), strict=True)
    spoilt = tuple(np.where(fold == 0, wrong, u) for u, fold, wrong in sides)
    return [replace(c, at_samples=spoilt) if i == which else c for i, c in enumerate(found)]


def test_a_candidate_that_fails_in_one_fold_has_no_share_in_any():
    """The rows outside a fold cannot show that the model that is used in it has failed."""
    found = candidates(*mean_difference(2, 0.5).sample(200), (None, "gaussian"))
    best = int(np.argmax(shares(found, averages=True)))
    before = combine(found, 0, stacked=True)
    after = combine(with_a_fold_spoilt(found, best, before.mean.folds, by=5.0), 0, stacked=True)
    assert before.mean.shares[0, best] > 0
    for share in (after.pointwise, after.average, *after.mean.shares, *after.stack.shares):
        assert share[best] == 0
        assert np.sum(share) > 0
    alone = combine(with_a_fold_spoilt(found[:1], 0, before.mean.folds, by=5.0), 0, stacked=True)
    assert alone.average == [1]  # unless there is nothing else


@pytest.mark.parametrize(("rows", "fails"), [(200, False), (3_000, True)])
def test_many_rows_show_that_a_model_failed_by_little(rows, fails):
    """In the fold its loss is 0.05 nats above that of no estimate: with few rows, overfitting costs as much."""
    found = candidates(*mean_difference(2, 0.0).sample(rows), (None, "gaussian"), bandwidth=3.0)
    before = combine(found, 0, stacked=True)
    after = combine(with_a_fold_spoilt(found, 0, before.mean.folds, by=0.1), 0, stacked=True)
    assert before.mean.shares[0, 0] > 0
    assert (after.mean.shares[0, 0] == 0) == fails


def test_shares_in_averages_come_from_rows_outside_the_fold():
    p, q = mean_difference(2, 0.0).sample(40)
    found = candidates(p, q, (None, "gaussian"))
    worst = int(np.argmax(shares(found, averages=True)))
    before = combine(found, 0, stacked=True)
    after = combine(with_a_fold_spoilt(found, worst, before.mean.folds, by=0.15), 0, stacked=True)
    assert after.average[worst] < before.average[worst] - 0.01
    for old, new in ((before.mean, after.mean), (before.stack, after.stack)):
        np.testing.assert_allclose(new.shares[0], old.shares[0], atol=1e-9)
        assert np.abs(new.shares[1] - old.shares[1]).max() > 0.01


@pytest.mark.parametrize("draw", ["exponential", "normal"])
def test_equal_densities_do_not_look_different(draw):
    """Mixtures, coordinates and shares that had seen the rows they were judged by made KL positive."""
    values = []
    for seed in range(4):
        p, q = getattr(np.random.default_rng(seed), draw)(size=(2, 150, 3))
        values.append(vwkde.kl_divergence(p, q).value)
    assert abs(np.mean(values)) < 0.02


def unequal_gaussians(random):
    return random.normal(size=(500, 5)), random.normal(0.2, 1, size=(500, 5)) * [0.6, 2, 1.5, 0.7, 0.5]


@pytest.mark.parametrize(
    ("draw", "guide", "coordinates"),
    [
        (unequal_gaussians, "gaussian", "whitened"),
        (lambda r: (np.exp(r.normal(size=(500, 3))), np.exp(r.normal(0.5, 1, size=(500, 3)))), None, "normal scores"),
        (lambda r: (modes(r, [-3, 0, 3], 1), modes(r, [-1.5, 1.5, 4.5], -1)), "mixture", "whitened"),
    ],
)
def test_the_data_choose(draw, guide, coordinates):
    ratio = DensityRatio().fit(*draw(np.random.default_rng(0)))
    assert guide in (None, ratio.guide_)
    assert ratio.diagnostics_["coordinates"] == coordinates


def modes(random, centres, side):
    """Return rows around three points of a triangle."""
    corners = np.column_stack([centres, side * np.array([-1.0, 1.0, -1.0])])
    return corners[random.integers(3, size=500)] + 0.3 * random.normal(size=(500, 2))


def test_a_bandwidth_given_is_kept():
    ratio = DensityRatio(bandwidth=0.8).fit(*isotropic(3).sample(200))
    assert ratio.bandwidth_ == 0.8
    assert {member.ratio.bandwidth for member in ratio._fitted.average.members} == {0.8}


@pytest.mark.parametrize("guide", ["gaussian", "logistic", LogisticRegression()])
def test_a_guide_may_be_named_or_given(guide):
    pair = mean_difference(4, 1.0)
    ratio = DensityRatio(guide=guide).fit(*pair.sample(500))
    assert ratio.guide_ == (guide if isinstance(guide, str) else "LogisticRegression")
    assert ratio.divergence("kl").value == pytest.approx(pair.kl, abs=0.15)


def test_the_variational_weight_acts_on_what_a_guide_leaves():
    """A linear guide for densities of different width: the weight takes most of the bias that is left."""
    pair = GaussianPair(Gaussian(np.zeros(2), np.eye(2)), Gaussian(np.array([0.7, 0.0]), 1.6 * np.eye(2)))
    p, q = pair.sample(2_000)
    options = {"guide": LogisticRegression(), "bandwidth": 0.6}
    weighted, plain = (DensityRatio(**options, weighting=w).fit(p, q) for w in ("variational", "uniform"))
    z = np.random.default_rng(5).normal(size=(300, 2))
    error = [np.mean((r.log_ratio(z) - pair.log_ratio(z)) ** 2) for r in (weighted, plain)]
    assert error[0] < 0.5 * error[1]
    after, before = (np.mean(r.residual_bias(z) ** 2) for r in (weighted, plain))
    assert after < 0.1 * before


def test_large_samples_are_chosen_for_on_a_part_and_fitted_whole(monkeypatch):
    p, q = isotropic(3).sample(1_500)
    whole = vwkde.kl_divergence(p, q)
    monkeypatch.setattr("vwkde._fit.candidates.MOST_ROWS", 400)
    monkeypatch.setattr("vwkde._fit.candidates._FEW_ROWS", 400)
    ratio = DensityRatio().fit(p, q)
    assert len(ratio.numerator_log_ratio_) == 1_500
    members = ratio._fitted.average.members
    assert all(len(m.ratio.guide.at_samples[0]) == 1_500 for m in members)
    assert ratio.divergence("kl").value == pytest.approx(whole.value, abs=0.1)
    smoothed = [member.ratio for member in members if isinstance(member.ratio, GuidedRatio)]
    assert smoothed
    for each in smoothed:  # what one pass gave them is what each would have computed
        alone = replace(each, known=None)
        np.testing.assert_allclose(each.at_samples, alone.at_samples, rtol=1e-9, atol=1e-10)


def test_many_rows_decide_in_rounds(monkeypatch):
    rounds = []

    def note(candidates, used, spaces, *others):
        rounds.append((len(spaces[0].samples[0]), [candidates[i] for i in used]))
        return refit(candidates, used, spaces, *others)

    refit = averaging._refit
    monkeypatch.setattr(averaging, "_refit", note)
    monkeypatch.setattr(averaging, "_MANY_ROWS", 600)
    monkeypatch.setattr("vwkde._fit.candidates.MOST_ROWS", 300)
    monkeypatch.setattr("vwkde._fit.candidates._FEW_ROWS", 300)
    p, q = isotropic(3).sample(1_500)
    DensityRatio().fit(p, q)
    assert [rows for rows, _ in rounds] == [600, 1_500]
    first, last = (used for _, used in rounds)
    assert len(last) < len(first)
    assert "boosting" in {c.form.guide.name for c in first}  # it may win with more rows
    widths = [c.bandwidth / c.space.scott for c in first if c.bandwidth is not None]
    later = [c.bandwidth / c.space.scott for c in last if c.bandwidth is not None]
    assert set(np.round(later, 6)) <= set(np.round(widths, 6))


def test_more_rows_of_one_sample_are_more_rows(monkeypatch):
    """A small numerator does not hide that the denominator has many more rows than decided first."""
    asked = []

    def keep_all(found, more):
        asked.append(more)
        return np.ones(len(found), dtype=bool)

    monkeypatch.setattr(averaging, "_promise", keep_all)
    monkeypatch.setattr("vwkde._fit.candidates.MOST_ROWS", 300)
    monkeypatch.setattr("vwkde._fit.candidates._FEW_ROWS", 300)
    p, q = isotropic(2).sample(1_500)
    DensityRatio().fit(p[:200], q)
    assert asked == [pytest.approx(1_700 / 500)]


def test_kernel_sums_that_change_nothing_are_not_fitted_to_more_rows():
    p, q = mean_difference(2, 1.0).sample(400)
    found = candidates(p, q, ("shared-gaussian",))
    kept = [c for c, promise in zip(found, averaging._promise(found, 10.0), strict=True) if promise]
    assert all(c in kept for c in found if c.bandwidth is None)
    assert sum(c.bandwidth is not None for c in kept) < 0.5 * sum(c.bandwidth is not None for c in found)
    for c in kept:
        assert c.bandwidth is None or c.loss < log_loss(c.form.guide.at_samples, c.space.samples)


def test_more_rows_get_the_kernel_sums_around_one_guide():
    p, q = mean_difference(2, 1.0).sample(200)
    found = candidates(p, q, (None, "gaussian", "logistic"))
    used = np.arange(len(found)) % 5 > 0
    sums = [c for c, is_used in zip(found, used, strict=True) if is_used and c.bandwidth is not None]
    best = min(sums, key=lambda c: c.loss)
    for one_bandwidth in (False, True):
        stay = used & averaging._best_sums(found, used, one_bandwidth)
        kept = [c for c, stays in zip(found, stay, strict=True) if stays]
        assert sum(c.bandwidth is None for c in kept) == np.sum(used) - len(sums)
        same_guide = [c for c in sums if c.form.key == best.form.key]
        assert [c for c in kept if c.bandwidth is not None] == ([best] if one_bandwidth else same_guide)


def test_the_papers_weight_is_a_candidate(monkeypatch):
    """Where the choice falls on it, the answer is the paper's."""
    chosen = []

    def choose_weighted(found, *_):
        weighted = [c for c in found if not isinstance(c.form.weight, UniformWeight)]
        chosen.append(weighted[len(weighted) // 2])
        return np.array([float(c is chosen[-1]) for c in found])

    monkeypatch.setattr("vwkde._fit.sharing._shares", choose_weighted)
    p, q = isotropic(2).sample(150)
    ratio = DensityRatio().fit(p, q)
    assert ratio.diagnostics_["weighting"] == "variational"
    assert ratio.diagnostics_["guide"] == "none"
    paper = DensityRatio(guide=None, derivatives="gaussian", bandwidth=chosen[-1].bandwidth, max_basis=500).fit(p, q)
    np.testing.assert_allclose(ratio.log_ratio(p[:5] + 0.1), paper.log_ratio(p[:5] + 0.1), rtol=1e-6)


def test_few_rows_leave_the_kernels_to_themselves():
    p, q = mean_difference(2, 0.5).sample(7)
    assert DensityRatio().fit(p, q).guide_ == "none"
    with pytest.warns(DegenerateDataWarning, match="too few rows for a guide, which needs 8 of each sample"):
        assert DensityRatio(guide="gaussian").fit(p, q).guide_ == "none"


@pytest.mark.parametrize("guide", ["additive", "boosting", LogisticRegression()])
def test_directions_are_not_sought_where_the_only_guide_depends_on_the_axes(guide):
    p, q = isotropic(5).sample(250)
    ratio = DensityRatio(guide=guide, subspace=True).fit(p, q)
    assert ratio.diagnostics_["coordinates"] == "whitened"
    assert ratio.log_ratio(p[:1]).shape == (1,)


def test_a_list_of_guides_is_what_the_choice_is_among():
    p, q = isotropic(2).sample(200)
    ratio = DensityRatio(guide=["shared-gaussian", LogisticRegression(), LogisticRegression(C=1e-4)]).fit(p, q)
    names = {member.ratio.guide.name for member in ratio._fitted.average.members}
    assert names <= {"none", "shared-gaussian", "LogisticRegression"}
    assert ratio.divergence("kl").value == pytest.approx(1, abs=0.35)
    assert ratio.divergence("kl").unseen > 0


@pytest.mark.parametrize("guide", [[], ["auto"], [None], ["gaussian", 3], [LogisticRegression]])
def test_a_list_with_other_things_than_guides_is_refused(guide):
    with pytest.raises(ValueError, match="if a list, must have at least one guide"):
        DensityRatio(guide=guide).fit(*isotropic(2).sample(50))


def test_guides_in_a_list_are_tried_even_if_the_default_would_not():
    ratio = DensityRatio(guide=["boosting"]).fit(*isotropic(2).sample(60))
    assert "boosting" in {member.ratio.guide.name for member in ratio._fitted.average.members}


def test_a_guide_that_grows_is_tried_again_where_it_was_best():
    def candidate(name, loss, bandwidth=None, space_grows=False):
        guide = SimpleNamespace(name=name, grows=name in ("boosting", "paired-mixture"))
        space = SimpleNamespace(grows=space_grows)
        return SimpleNamespace(form=SimpleNamespace(guide=guide), space=space, loss=loss, bandwidth=bandwidth)

    tried = [
        candidate("gaussian", 0.60),
        candidate("line", 0.69, space_grows=True),
        candidate("line", 0.68, bandwidth=1.0, space_grows=True),
        candidate("paired-mixture", 0.70),
        candidate("paired-mixture", 0.65),
        candidate("paired-mixture", 0.64, bandwidth=1.0),
        candidate("boosting", 0.69),
    ]
    assert averaging._may_grow(tried).tolist() == [False, True, False, False, True, False, True]


def test_many_rows_drop_candidates_that_hardly_count_in_the_stack():
    folds = np.zeros(4, dtype=int), np.zeros(4, dtype=int)
    mean = FoldShares(np.array([[1.0, 0, 0, 0]]), np.zeros(1), folds)
    stack = FoldShares(np.array([[0.8, 0.15, 0.04, 0.0], [0.8, 0.10, 0.0, 0.0]]), np.zeros(2), folds)
    ways = Ways([1.0, 0, 0, 0], [1.0, 0, 0, 0], mean, stack)

    def worth_fitting(bandwidth, least_of_guides, least_of_sums, ways=ways):
        space, guide = SimpleNamespace(name=""), SimpleNamespace(form="gaussian")
        forms = [SimpleNamespace(key=key, guide=guide) for key in range(4)]
        tried = [SimpleNamespace(bandwidth=bandwidth, space=space, form=form) for form in forms]
        return averaging._worth_fitting(tried, ways, least_of_guides, least_of_sums).tolist()

    assert worth_fitting(1.0, 0.0, 0.1) == worth_fitting(None, 0.1, 0.0) == [True, True, False, False]
    assert worth_fitting(1.0, 0.1, 0.0) == worth_fitting(None, 0.0, 0.1) == [True, True, True, False]
    assert worth_fitting(1.0, 0.1, 0.1, ways._replace(stack=None)) == [True] + 3 * [False]


def test_the_coefficients_of_all_bandwidths_count_for_their_guide():
    folds = np.zeros(4, dtype=int), np.zeros(4, dtype=int)
    mean = FoldShares(np.array([[0.0, 0, 0, 1.0]]), np.zeros(1), folds)
    stack = FoldShares(np.array([[0.06, 0.06, 0.06, 0.0]]), np.zeros(1), folds)
    ways = Ways([0.0, 0, 0, 1.0], [0.0, 0, 0, 1.0], mean, stack)
    space, guide = SimpleNamespace(name=""), SimpleNamespace(form="waves")
    tried = [
        SimpleNamespace(bandwidth=bandwidth, space=space, form=SimpleNamespace(key=key, guide=guide))
        for key, bandwidth in (("waves", None), ("waves", 2.0), ("other", None), ("best", None))
    ]
    assert averaging._worth_fitting(tried, ways, 0.1, 0.1).tolist() == [True, False, False, True]
