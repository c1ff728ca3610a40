"""The ratio fitted directly, as a sum of Gaussian kernels; no density is estimated.

All three methods share the model

    r(x) = Σ_l θ_l exp(−‖x − c_l‖² / 2σ²),    θ_l ≥ 0,

with centres c_l drawn from the numerator, and differ in the loss.

KLIEP (Sugiyama, Nakajima, Kashima, von Bünau and Kawanabe, Direct importance estimation with model selection and its
application to covariate shift adaptation, NIPS 2007; Sugiyama, Suzuki, Nakajima, Kashima, von Bünau and Kawanabe,
Direct importance estimation for covariate shift adaptation, AISM 2008) maximises the mean of log r over the numerator,
with the mean of r over the denominator fixed at one. The width is the one with the largest held-out likelihood. In the
publication every fit uses all rows of the denominator, and ratios are unbounded. If it converges, this favours the
smallest widths: near a centre without rows of the denominator nearby, nothing limits the ratio. Here the denominator is
held out as well, and ratios are divided by their mean over it, which should be one.

uLSIF (Kanamori, Hido and Sugiyama, A least-squares approach to direct importance estimation, JMLR 2009) minimises half
the mean of r² over the denominator minus the mean of r over the numerator, plus a ridge λ‖θ‖²/2:

    θ = max(0, (H + λI)⁻¹ h),    H = mean of φφᵀ over the denominator,    h = mean of φ over the numerator,

with φ(x) the kernels at x. Width and ridge are those with the smallest leave-one-out loss, which has a closed form.

RuLSIF (Yamada, Suzuki, Kanamori, Hachiya and Sugiyama, Relative density-ratio estimation for robust distribution
comparison, NIPS 2011; Neural Computation 2013) does the same with the mixture αp + (1−α)q for the denominator. Its
ratio r_α = p/(αp + (1−α)q) cannot exceed 1/α; the ordinary one is r = (1−α) r_α / (1 − α r_α). Width and ridge are
those with the smallest loss in five folds. Negative coefficients count as zero here as in uLSIF, for the logarithm.

The KL divergence is the mean of log r at the rows of the numerator used in the fit, which for KLIEP is the value that
it maximises. The values at single rows are held out instead: those of a fold come from a fit without its rows and
without the centres among them, with the width and ridge chosen on all rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.special import logsumexp

from vwkde._compute import parallel
from vwkde.baselines.answer import Answer
from vwkde.baselines.proportions import mixture_proportions
from vwkde.baselines.settings import check_count, check_positive

Floats = NDArray[np.float64]
Solve = Callable[[Floats, Floats], Floats]
"""Returns log θ, given the logarithms of the kernels at the two samples."""

WIDTHS = tuple(np.geomspace(0.05, 2, 11).tolist())
"""Widths tried, in units of the median distance."""
RIDGES = tuple(np.geomspace(1e-3, 10, 9).tolist())
"""Ridges tried; they have no unit, since kernels are at most one."""
_FOLDS = 5
_MOST_FOR_MEDIAN = 500
"""Rows of each sample whose distances give the median."""


@dataclass(frozen=True)
class KernelRatio:
    """The ratio Σ exp(log_coefficients) · kernel; a coefficient of zero has the logarithm −∞."""

    centres: Floats
    width: float
    log_coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return log r, of shape (n,)."""
        rows = parallel.block_rows(8 * len(self.centres), parallel.DEFAULT_MEMORY_BUDGET // 4)
        blocks = parallel.split(len(x), rows)
        parts = [_log_sum(_log_kernels(x[block], self.centres, self.width), self.log_coefficients) for block in blocks]
        return np.concatenate(parts) if parts else np.zeros(0)


@parallel.single_threaded()
def kliep(p: Floats, q: Floats, seed: int, *, width: float | None = None, centres: int = 100) -> Answer:
    """Return the divergence by KLIEP.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows. Repeated rows count; rows that are all equal raise a ValueError.
    seed
        Seed of the centres and folds.
    width
        The kernels' width in units of the median distance between rows; by default it is chosen from the data.
    centres
        The number of kernels.

    Returns
    -------
    Answer
        The divergence, its log ratio, and the settings chosen.
    """
    check_positive("width", width)
    problem = _pose(p, q, seed, centres)
    held_out = {each: problem.hold_out(_kliep_coefficients, each) for each in _candidates(width, WIDTHS)}
    best = max(held_out, key=lambda each: _held_out_likelihood(*held_out[each]))
    ratio = problem.fit(_kliep_coefficients, best)
    return _answer(ratio(p), held_out[best], ratio, {"width": best})


@parallel.single_threaded()
def ulsif(
    p: Floats,
    q: Floats,
    seed: int,
    *,
    width: float | None = None,
    ridge: float | None = None,
    centres: int = 100,
) -> Answer:
    """Return the divergence by uLSIF.

    The sum is computed from logarithms, so that no ratio is zero, even far from all centres.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows. Repeated rows count; rows that are all equal raise a ValueError.
    seed
        Seed of the centres and folds.
    width
        The kernels' width in units of the median distance between rows; by default it is chosen from the data.
    ridge
        The ridge λ; by default it is chosen from the data.
    centres
        The number of kernels.

    Returns
    -------
    Answer
        The divergence, its log ratio, and the settings chosen.
    """
    check_positive("width", width)
    check_positive("ridge", ridge)
    problem = _pose(p, q, seed, centres)
    random = np.random.default_rng(seed)
    pairs = random.permutation(len(p)), random.permutation(len(q))
    losses: dict[tuple[float, float], float] = {}
    for each in _candidates(width, WIDTHS):
        at_p, at_q = (np.exp(part) for part in problem.log_kernels(each))
        strengths = _candidates(ridge, RIDGES)
        by_ridge = leave_one_out_losses(at_p, at_q, strengths, *pairs)
        losses |= {(each, strength): loss for strength, loss in zip(strengths, by_ridge, strict=True)}
    best, strength = min(losses, key=lambda setting: losses[setting])
    solve = partial(_least_squares_coefficients, strength, 0.0)
    ratio = problem.fit(solve, best)
    return _answer(ratio(p), problem.hold_out(solve, best), ratio, {"width": best, "ridge": strength})


@parallel.single_threaded()
def rulsif(
    p: Floats,
    q: Floats,
    seed: int,
    *,
    alpha: float = 0.1,
    width: float | None = None,
    ridge: float | None = None,
    centres: int = 100,
) -> Answer:
    """Return the divergence by RuLSIF.

    A fitted relative ratio may exceed 1/α, where the ordinary one is not defined. Ordinary ratios are limited to the
    number of rows of the denominator: with a mean of one over these rows, no ratio can be larger.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows. Repeated rows count; rows that are all equal raise a ValueError.
    seed
        Seed of the centres and folds.
    alpha
        The share of the numerator in the mixture, at least 0 and less than 1.
    width
        The kernels' width in units of the median distance between rows; by default it is chosen from the data.
    ridge
        The ridge λ; by default it is chosen from the data.
    centres
        The number of kernels.

    Returns
    -------
    Answer
        The divergence, its log ratio, and the settings chosen.
    """
    check_positive("width", width)
    check_positive("ridge", ridge)
    if not 0 <= alpha < 1:
        raise ValueError(f"The 'alpha' parameter must be at least 0 and less than 1. Got {alpha!r} instead.")
    problem = _pose(p, q, seed, centres)
    losses: dict[tuple[float, float], float] = {}
    for each in _candidates(width, WIDTHS):
        moments = problem.fold_moments(each)
        for strength in _candidates(ridge, RIDGES):
            losses[each, strength] = _cross_validated_loss(*moments, strength, alpha)
    best, strength = min(losses, key=lambda setting: losses[setting])
    solve = partial(_least_squares_coefficients, strength, alpha)
    relative = problem.fit(solve, best)

    def ratio(x: Floats) -> Floats:
        return ordinary_log_ratio(relative(x), alpha, len(q))

    at_p, at_q = (ordinary_log_ratio(part, alpha, len(q)) for part in problem.hold_out(solve, best))
    return _answer(ratio(p), (at_p, at_q), ratio, {"width": best, "ridge": strength})


def leave_one_out_losses(
    at_p: Floats, at_q: Floats, ridges: tuple[float, ...], p_rows: NDArray[np.intp], q_rows: NDArray[np.intp]
) -> list[float]:
    """Return, for each ridge, the mean loss of uLSIF at pairs of rows, one of each sample, that the fit did not see.

    `at_p` and `at_q` are the kernels at the samples, of shapes (n, k) and (m, k). Rows are paired until the shorter
    list ends. A fit without a pair follows from the fit with all rows, since H changes by a matrix of rank one. All
    ridges share the eigenvectors of H.
    """
    n, m, pairs = len(at_p), len(at_q), min(len(p_rows), len(q_rows))
    p_out, q_out = at_p[p_rows[:pairs]], at_q[q_rows[:pairs]]
    eigenvalues, vectors = np.linalg.eigh(at_q.T @ at_q / m)
    means = (at_p.sum(axis=0) - p_out) / (n - 1) @ vectors
    rows = q_out @ vectors
    products, squares = rows * means, rows**2
    losses = []
    for ridge in ridges:
        inverse = 1 / (eigenvalues + ridge * (m - 1) / m)
        shift = (products @ inverse) / (m - squares @ inverse)
        coefficients = np.maximum(0, (means + shift[:, None] * rows) @ (inverse[:, None] * vectors.T) * (m - 1) / m)
        at_numerator = np.einsum("ij,ij->i", coefficients, p_out)
        at_denominator = np.einsum("ij,ij->i", coefficients, q_out)
        losses.append(float(np.mean(0.5 * at_denominator**2 - at_numerator)))
    return losses


def ordinary_log_ratio(log_relative: Floats, alpha: float, rows: int) -> Floats:
    """Return log p/q for the logarithm of p/(αp + (1−α)q), at most the logarithm of the denominator's rows."""
    largest = np.log(rows) - np.log(1 - alpha + alpha * rows)
    log_relative = np.minimum(log_relative, largest)
    return log_relative + np.log(1 - alpha) - np.log1p(-alpha * np.exp(log_relative))


@dataclass(frozen=True)
class _Problem:
    """The two samples as their squared distances to the centres, and the folds of their rows.

    Lengths are in units of the median distance. The centres are rows of the numerator, spread evenly over the folds.
    """

    centres: Floats
    unit: float
    p_squares: Floats
    q_squares: Floats
    p_fold: NDArray[np.intp]
    q_fold: NDArray[np.intp]
    centre_fold: NDArray[np.intp]

    def log_kernels(self, width: float) -> tuple[Floats, Floats]:
        """Return the logarithms of the kernels at the samples."""
        return -0.5 * self.p_squares / width**2, -0.5 * self.q_squares / width**2

    def fit(self, solve: Solve, width: float) -> KernelRatio:
        """Return the ratio fitted to all rows."""
        return KernelRatio(self.centres, width * self.unit, solve(*self.log_kernels(width)))

    def hold_out(self, solve: Solve, width: float) -> tuple[Floats, Floats]:
        """Return the log ratio at the samples, for each fold by a fit without it."""
        at_p, at_q = self.log_kernels(width)
        values = np.empty(len(at_p)), np.empty(len(at_q))
        for fold in range(self.p_fold.max() + 1):
            known = self.centre_fold != fold
            p_out, q_out = self.p_fold == fold, self.q_fold == fold
            coefficients = solve(at_p[~p_out][:, known], at_q[~q_out][:, known])
            values[0][p_out] = _log_sum(at_p[p_out][:, known], coefficients)
            values[1][q_out] = _log_sum(at_q[q_out][:, known], coefficients)
        return values

    def fold_moments(self, width: float) -> tuple["_Moments", "_Moments"]:
        """Return the moments of the kernels over each fold of the samples."""
        at_p, at_q = (np.exp(part) for part in self.log_kernels(width))
        return _moments_by_fold(at_p, self.p_fold), _moments_by_fold(at_q, self.q_fold)


@dataclass(frozen=True)
class _Moments:
    """Sums over the rows of each fold of a sample: their number, the kernels and the kernels' products."""

    counts: Floats
    first: Floats
    second: Floats


def _pose(p: Floats, q: Floats, seed: int, centres: int) -> _Problem:
    check_count("centres", centres, 2)
    random = np.random.default_rng(seed)
    unit = _median_distance(p, q, random)
    folds = min(_FOLDS, len(p), len(q))
    order = random.permutation(len(p))
    p_fold, q_fold = np.empty(len(p), dtype=np.intp), random.permutation(np.arange(len(q)) % folds)
    p_fold[order] = np.arange(len(p)) % folds
    chosen = order[:centres]
    p_squares, q_squares = (cdist(x / unit, p[chosen] / unit, "sqeuclidean") for x in (p, q))
    return _Problem(p[chosen], unit, p_squares, q_squares, p_fold, q_fold, p_fold[chosen])


def _median_distance(p: Floats, q: Floats, random: np.random.Generator) -> float:
    """Return the median distance between different rows, from a random part of each sample."""
    rows = [x[random.choice(len(x), min(len(x), _MOST_FOR_MEDIAN), replace=False)] for x in (p, q)]
    distances = pdist(np.concatenate(rows))
    distances = distances[distances > 0]
    if not len(distances):
        raise ValueError("All rows of the samples are equal, so there is no ratio to fit. Give rows that differ.")
    return float(np.median(distances))


def _candidates(given: float | None, tried: tuple[float, ...]) -> tuple[float, ...]:
    return tried if given is None else (given,)


def _answer(
    in_sample: Floats, held_out: tuple[Floats, Floats], ratio: Callable[[Floats], Floats], chosen: dict[str, float]
) -> Answer:
    return Answer(float(in_sample.mean()), held_out[0], held_out[1], ratio, chosen)


def _held_out_likelihood(at_p: Floats, at_q: Floats) -> float:
    """Return mean log r over the numerator − log mean r over the denominator, of held-out log ratios.

    Ratios are limited to the number of rows of the denominator: with a mean of one over them, none can be larger.
    """
    largest = np.log(len(at_q))
    return float(np.minimum(at_p, largest).mean() - logsumexp(np.minimum(at_q, largest)) + largest)


def _log_kernels(x: Floats, centres: Floats, width: float) -> Floats:
    return -0.5 * cdist(x / width, centres / width, "sqeuclidean")


def _log_sum(log_kernels: Floats, log_coefficients: Floats) -> Floats:
    positive = log_coefficients > -np.inf
    return np.asarray(logsumexp(log_kernels[:, positive] + log_coefficients[positive], axis=1))


def _kliep_coefficients(at_p: Floats, at_q: Floats) -> Floats:
    """Return log θ of KLIEP.

    With θ_l = w_l / (mean of kernel l over the denominator) the constraint is Σ w_l = 1: the weights are the
    proportions of a mixture, and the objective is its likelihood.
    """
    log_means = logsumexp(at_q, axis=0) - np.log(len(at_q))
    log_parts = at_p - log_means
    parts = np.exp(log_parts - log_parts.max(axis=1, keepdims=True))
    return _log(mixture_proportions(parts)) - log_means


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _least_squares_coefficients(ridge: float, alpha: float, at_p: Floats, at_q: Floats) -> Floats:
    """Return log θ of RuLSIF, or with alpha = 0 of uLSIF."""
    p_kernels, q_kernels = np.exp(at_p), np.exp(at_q)
    second = alpha * (p_kernels.T @ p_kernels) / len(at_p) + (1 - alpha) * (q_kernels.T @ q_kernels) / len(at_q)
    return _log(_ridge_solution(second, p_kernels.mean(axis=0), ridge))


def _ridge_solution(second: Floats, first: Floats, ridge: float) -> Floats:
    return np.maximum(0, np.linalg.solve(second + ridge * np.eye(len(second)), first))


def _moments_by_fold(kernels: Floats, fold: NDArray[np.intp]) -> _Moments:
    parts = [kernels[fold == each] for each in range(fold.max() + 1)]
    return _Moments(
        np.array([float(len(part)) for part in parts]),
        np.stack([part.sum(axis=0) for part in parts]),
        np.stack([part.T @ part for part in parts]),
    )


def _cross_validated_loss(p: _Moments, q: _Moments, ridge: float, alpha: float) -> float:
    """Return the mean over the folds of the loss of RuLSIF, without its constant."""
    losses = []
    for fold in range(len(p.counts)):
        p_count, q_count = p.counts.sum() - p.counts[fold], q.counts.sum() - q.counts[fold]
        p_second, q_second = p.second.sum(axis=0) - p.second[fold], q.second.sum(axis=0) - q.second[fold]
        second = alpha * p_second / p_count + (1 - alpha) * q_second / q_count
        theta = _ridge_solution(second, (p.first.sum(axis=0) - p.first[fold]) / p_count, ridge)
        out = alpha * p.second[fold] / p.counts[fold] + (1 - alpha) * q.second[fold] / q.counts[fold]
        losses.append(0.5 * theta @ out @ theta - p.first[fold] @ theta / p.counts[fold])
    return float(np.mean(losses))
