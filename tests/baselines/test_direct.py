from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from vwkde.baselines import direct
from vwkde.baselines.direct import KernelRatio, kliep, rulsif, ulsif
from vwkde.datasets import heteroscedastic, isotropic, mean_difference, one_dimensional

METHODS = pytest.mark.parametrize("method", [kliep, ulsif, rulsif])
P, Q = isotropic(2).sample(60, 45)
NEW = np.random.default_rng(5).normal(size=(20, 2))


def kernels(x, centres, width):
    return np.array([[np.exp(-((a - c) ** 2).sum() / (2 * width**2)) for c in centres] for a in x])


def fit_kliep(p, q, centres, width):
    """KLIEP with these centres, and a width in the units of the rows."""
    log_kernels = (np.log(kernels(x, centres, width)) for x in (p, q))
    return KernelRatio(centres, width, direct._kliep_coefficients(*log_kernels))


def fit_least_squares(p, q, centres, width, ridge, alpha):
    """The relative ratio, or with alpha = 0 the ordinary one, with a width in the units of the rows."""
    log_kernels = (np.log(kernels(x, centres, width)) for x in (p, q))
    return KernelRatio(centres, width, direct._least_squares_coefficients(ridge, alpha, *log_kernels))


def least_squares_by_hand(p, q, centres, width, ridge, alpha):
    second = np.zeros((len(centres), len(centres)))
    for row in kernels(p, centres, width):
        second += alpha * np.outer(row, row) / len(p)
    for row in kernels(q, centres, width):
        second += (1 - alpha) * np.outer(row, row) / len(q)
    theta = np.linalg.inv(second + ridge * np.eye(len(centres))) @ kernels(p, centres, width).mean(axis=0)
    return np.where(theta > 0, theta, 0)


@METHODS
def test_recovers_the_divergence_in_two_dimensions(method):
    values = [method(*isotropic(2).sample(5_000, random_state=seed), 0).kl for seed in range(2)]
    assert np.mean(values) == pytest.approx(1, abs=0.1)


@METHODS
def test_log_ratio_is_near_the_truth(method):
    pair = isotropic(2)
    answer = method(*pair.sample(2_000, 1_200), 0)
    x = np.array([[0.0, 0.0], [0.7, 0.3], [1.4, -0.4]])
    np.testing.assert_allclose(answer.log_ratio(x), pair.log_ratio(x), atol=0.6)
    assert answer.at_numerator.shape == (2_000,)
    assert answer.at_denominator.shape == (1_200,)
    assert answer.at_numerator.mean() > 0.7
    assert answer.at_denominator.mean() < -0.7


@METHODS
def test_equal_distributions_have_no_divergence(method):
    p, q = mean_difference(3, 0.0).sample(600, 400)
    assert abs(method(p, q, 0).kl) < 0.1


@METHODS
def test_the_divergence_is_the_mean_over_the_rows_of_the_fit(method):
    answer = method(P, Q, 0)
    assert answer.kl == pytest.approx(answer.log_ratio(P).mean(), rel=1e-9)
    assert answer.kl > answer.at_numerator.mean()


@METHODS
def test_scale_and_place_do_not_matter(method):
    answer, moved = method(P, Q, 0), method(1000 * P - 500, 1000 * Q - 500, 0)
    assert moved.kl == pytest.approx(answer.kl, rel=1e-6)
    assert moved.chosen == answer.chosen
    np.testing.assert_allclose(moved.at_numerator, answer.at_numerator, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(moved.log_ratio(1000 * NEW - 500), answer.log_ratio(NEW), rtol=1e-5, atol=1e-6)


@METHODS
def test_the_seed_decides(method):
    p, q = isotropic(2).sample(250, 200)
    first, again, other = (method(p, q, seed, centres=20) for seed in (1, 1, 2))
    assert first.kl == again.kl
    np.testing.assert_array_equal(first.at_denominator, again.at_denominator)
    assert first.kl != other.kl


@pytest.mark.parametrize("solve", [direct._kliep_coefficients, partial(direct._least_squares_coefficients, 0.1, 0.1)])
def test_held_out_values_know_nothing_of_their_fold(solve):
    problem = direct._pose(P, Q, 0, 20)
    p_squares, q_squares = problem.p_squares.copy(), problem.q_squares.copy()
    p_row, q_row = (np.flatnonzero(fold == 3)[0] for fold in (problem.p_fold, problem.q_fold))
    p_squares[p_row], q_squares[q_row] = 0.5, 1.5
    p_squares[:, problem.centre_fold == 3] = 0
    before = problem.hold_out(solve, 0.5)
    after = replace(problem, p_squares=p_squares, q_squares=q_squares).hold_out(solve, 0.5)
    folds = problem.p_fold, problem.q_fold
    for old, new, fold, row in zip(before, after, folds, (p_row, q_row), strict=True):
        others = (fold == 3) & (np.arange(len(fold)) != row)
        np.testing.assert_array_equal(new[others], old[others])
        assert (new[fold != 3] != old[fold != 3]).all()


@METHODS
@pytest.mark.parametrize("width", [1e-4, 0.05, 50.0])
def test_any_width_gives_finite_answers(method, width):
    for p, q in (heteroscedastic(10).sample(30, 80), mean_difference(2, 30.0).sample(40, 25)):
        answer = method(p, q, 0, width=width)
        assert np.isfinite(answer.kl)
        assert np.isfinite(answer.at_numerator).all()
        assert np.isfinite(answer.at_denominator).all()
        assert np.isfinite(answer.log_ratio(100 * p)).all()


@METHODS
def test_few_and_equal_rows_are_taken(method):
    for p, q in ((P[:2], Q[:2]), (np.round(P), np.round(Q)), (np.repeat(P[:3], 20, axis=0), Q)):
        answer = method(p, q, 0)
        assert np.isfinite([answer.kl, *answer.at_numerator, *answer.at_denominator]).all()


@METHODS
def test_rows_without_a_difference_are_refused(method):
    with pytest.raises(ValueError, match="All rows of the samples are equal"):
        method(np.ones((5, 2)), np.ones((7, 2)), 0)


@METHODS
@pytest.mark.parametrize("setting", [{"width": 0.0}, {"width": np.nan}, {"centres": 1}])
def test_wrong_settings_are_refused(method, setting):
    with pytest.raises(ValueError, match=f"The '{next(iter(setting))}' parameter must be"):
        method(P, Q, 0, **setting)


def test_wrong_ridges_and_alphas_are_refused():
    for method in (ulsif, rulsif):
        with pytest.raises(ValueError, match="The 'ridge' parameter must be positive"):
            method(P, Q, 0, ridge=-1.0)
    with pytest.raises(ValueError, match="The 'alpha' parameter must be at least 0"):
        rulsif(P, Q, 0, alpha=1.0)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.6])
def test_least_squares_is_that_of_plain_loops(alpha):
    ratio = fit_least_squares(P, Q, P[:15], 0.7, 0.003, alpha)
    theta = least_squares_by_hand(P, Q, P[:15], 0.7, 0.003, alpha)
    assert (theta == 0).any()
    np.testing.assert_allclose(np.exp(ratio.log_coefficients), theta, rtol=1e-9)
    np.testing.assert_allclose(ratio(NEW), np.log(kernels(NEW, P[:15], 0.7) @ theta), rtol=1e-9)


def test_the_loss_of_left_out_pairs_is_that_of_fits_without_them():
    centres, ridge = P[:9], 0.05
    p_rows, q_rows = np.arange(len(P))[::-1], np.arange(len(Q))
    terms = []
    for i, j in zip(p_rows, q_rows, strict=False):
        p, q = np.delete(P, i, axis=0), np.delete(Q, j, axis=0)
        theta = least_squares_by_hand(p, q, centres, 0.7, ridge, 0.0)
        at_p, at_q = (float(kernels(x[None], centres, 0.7)[0] @ theta) for x in (P[i], Q[j]))
        terms.append(0.5 * at_q**2 - at_p)
    found = direct.leave_one_out_losses(
        kernels(P, centres, 0.7), kernels(Q, centres, 0.7), (1.0, ridge), p_rows, q_rows
    )
    assert found[1] == pytest.approx(np.mean(terms), rel=1e-9)
    assert found[0] != pytest.approx(found[1], rel=1e-3)


def test_the_loss_of_folds_is_that_of_fits_without_them():
    problem, alpha, ridge = direct._pose(P, Q, 0, 9), 0.2, 0.05
    width = 0.7 / problem.unit
    losses = []
    for fold in range(5):
        p_out, q_out = problem.p_fold == fold, problem.q_fold == fold
        theta = least_squares_by_hand(P[~p_out], Q[~q_out], problem.centres, 0.7, ridge, alpha)
        at_p, at_q = (kernels(x, problem.centres, 0.7) @ theta for x in (P[p_out], Q[q_out]))
        losses.append(alpha / 2 * np.mean(at_p**2) + (1 - alpha) / 2 * np.mean(at_q**2) - at_p.mean())
    found = direct._cross_validated_loss(*problem.fold_moments(width), ridge, alpha)
    assert found == pytest.approx(np.mean(losses), rel=1e-9)


def test_what_is_chosen_has_the_smallest_loss():
    answer = ulsif(P, Q, 0)
    chosen = answer.chosen["width"], answer.chosen["ridge"]
    assert chosen[0] in direct.WIDTHS
    assert chosen[1] in direct.RIDGES
    assert ulsif(P, Q, 0, width=chosen[0], ridge=chosen[1]).kl == answer.kl
    assert ulsif(P, Q, 0, width=chosen[0]).chosen["ridge"] == chosen[1]


@pytest.mark.parametrize("width", [0.3, 1.0, 3.0])
def test_kliep_reaches_the_maximum_that_a_general_solver_finds(width):
    centres = P[:12]
    at_p, at_q = kernels(P, centres, width), kernels(Q, centres, width).mean(axis=0)
    ratio = fit_kliep(P, Q, centres, width)
    assert np.exp(ratio(Q)).mean() == pytest.approx(1, rel=1e-9)
    found = minimize(
        lambda theta: -np.log(at_p @ theta).mean(),
        np.full(12, 1 / at_q.sum()),
        jac=lambda theta: -(at_p / (at_p @ theta)[:, None]).mean(axis=0),
        method="SLSQP",
        bounds=[(0, None)] * 12,
        constraints={"type": "eq", "fun": lambda theta: at_q @ theta - 1, "jac": lambda _: at_q},
        options={"ftol": 1e-13, "maxiter": 1_000},
    )
    assert ratio(P).mean() == pytest.approx(-found.fun, abs=1e-5)
    assert ratio(P).mean() > -found.fun - 1e-7


def test_proportions_meet_the_conditions_of_a_maximum():
    """Components in use gain nothing by more weight, the others lose: the mean share is one, or less."""
    parts = np.random.default_rng(0).gamma(0.2, size=(400, 30))
    weights = direct.mixture_proportions(parts)
    gains = (parts / (parts @ weights)[:, None]).mean(axis=0)
    assert weights.min() == 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(gains[weights > 1e-6], 1, atol=1e-4)
    assert gains.max() < 1 + 1e-6


def test_proportions_of_separate_parts_are_their_counts():
    rows = np.repeat(np.eye(4), [1, 2, 3, 994], axis=0)
    np.testing.assert_allclose(direct.mixture_proportions(rows), [0.001, 0.002, 0.003, 0.994], rtol=1e-3)


def test_the_relative_ratio_is_turned_into_the_ordinary_one():
    ratio = np.array([1e-9, 0.3, 1.0, 20.0, 99.0])
    relative = ratio / (0.1 * ratio + 0.9)
    np.testing.assert_allclose(direct.ordinary_log_ratio(np.log(relative), 0.1, 100), np.log(ratio), atol=1e-9)
    beyond = direct.ordinary_log_ratio(np.log([9.9999, 10.0, 12.0]), 0.1, 100)
    np.testing.assert_allclose(beyond, np.log(100), rtol=1e-9)
    np.testing.assert_array_equal(direct.ordinary_log_ratio(np.log(ratio), 0.0, 100), np.log(ratio))


def test_without_alpha_the_relative_ratio_is_the_ordinary_one():
    settings = {"width": 0.5, "ridge": 0.1}
    assert rulsif(P, Q, 0, alpha=0.0, **settings).kl == pytest.approx(ulsif(P, Q, 0, **settings).kl, rel=1e-9)


def test_kliep_prefers_the_width_of_the_largest_held_out_likelihood():
    p, q = one_dimensional().sample(200, 150)
    answer = kliep(p, q, 0)
    scores = {}
    for width in direct.WIDTHS:
        held_out = kliep(p, q, 0, width=width)
        at_p, at_q = (np.minimum(x, np.log(150)) for x in (held_out.at_numerator, held_out.at_denominator))
        scores[width] = at_p.mean() - logsumexp(at_q) + np.log(150)
    assert answer.chosen["width"] == max(scores, key=scores.get)


class TestDensratio:
    """The same fits by the public package, with its centres: least squares to rounding, KLIEP where it converges."""

    @staticmethod
    def fit(method, width, count, p=P, q=Q):
        package = pytest.importorskip("densratio")
        state = np.random.get_state()  # noqa: NPY002  the package draws its centres from the global state
        np.random.seed(0)  # noqa: NPY002
        try:
            return package.densratio(
                p, q, method=method, sigma_range=[width], lambda_range=[0.1], kernel_num=count, verbose=False
            )
        finally:
            np.random.set_state(state)  # noqa: NPY002

    @pytest.mark.parametrize(("method", "alpha"), [("uLSIF", 0.0), ("RuLSIF", 0.1)])
    @pytest.mark.parametrize("width", [0.4, 1.0])
    def test_least_squares_agrees_to_rounding(self, method, alpha, width):
        theirs = self.fit(method, width, 40)
        ours = fit_least_squares(P, Q, theirs.kernel_info.centers, width, 0.1, alpha)
        np.testing.assert_allclose(np.exp(ours(NEW)), np.ravel(theirs.compute_density_ratio(NEW)), rtol=1e-10)

    def test_kliep_agrees_where_theirs_converges(self):
        p, q = one_dimensional().sample(200)
        for width in (0.3, 0.6, 1.0):
            theirs = self.fit("KLIEP", width, 2, p, q)
            ours = fit_kliep(p, q, theirs.kernel_info.centers, width)
            np.testing.assert_allclose(ours(q), np.log(np.ravel(theirs.compute_density_ratio(q))), atol=1e-5)

    def test_kliep_is_better_by_no_more_than_theirs_can_gain(self):
        """With many centres their gradient steps stop early; what they miss at most is known, since it is concave."""
        theirs = self.fit("KLIEP", 0.7, 40)
        centres, theta = theirs.kernel_info.centers, np.ravel(theirs.theta)
        at_p, at_q = kernels(P, centres, 0.7), kernels(Q, centres, 0.7).mean(axis=0)
        gains = (at_p / (at_p @ theta)[:, None]).mean(axis=0) / at_q
        assert at_q @ theta == pytest.approx(1)
        missed = fit_kliep(P, Q, centres, 0.7)(P).mean() - np.log(at_p @ theta).mean()
        assert 0 <= missed <= gains.max() - 1
