"""The multivariate Student t distribution of a sample: a Gaussian with heavier tails."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from vwkde._data.sample import Sample
from vwkde._models.folds import deal_folds
from vwkde._models.gaussian import variance_of_unbiased

Floats = NDArray[np.float64]

_FREEDOM = 0.6, 200.0
"""Range of the degrees of freedom. Samples with more are Gaussian, and those with fewer hardly occur."""
_STEPS, _MORE_STEPS = 60, 4
"""Steps of a fit, and of one that starts from a fit to nearly the same rows."""
_TOLERANCE = 1e-5
"""Training stops when the mean log likelihood rises by less."""
_LEAST_VARIANCE = 1e-6
"""Smallest variance in any direction, in whitened units, so that columns with many equal values have a density."""
_LEAST_SHARE = 1e-12
"""Smallest variance relative to the largest: with less, rounding may leave no root."""
_PARTS = 5
"""Parts of the rows that the jackknife leaves out in turn."""


@dataclass(frozen=True)
class StudentModel:
    """The density with a mean, a scale matrix by its lower root, and degrees of freedom."""

    mean: Floats
    root: Floats
    freedom: float

    def log_density(self, x: Floats) -> Floats:
        """Return log p, normalised."""
        return student_log_density(self.distances(x), len(self.mean), self.freedom) - np.log(np.diag(self.root)).sum()

    def distances(self, x: Floats) -> Floats:
        """Return the squared distances from the mean, in units of the scale matrix."""
        inverse = solve_triangular(self.root, np.eye(len(self.root)), lower=True)
        scaled = (x - self.mean) @ inverse.T
        return np.einsum("ij,ij->i", scaled, scaled)


def student_log_density(distances: Floats, d: int, freedom: float | Floats) -> Floats:
    """Return the log density, for a scale matrix of volume one, at these squared distances from the mean."""
    peak = gammaln((freedom + d) / 2) - gammaln(freedom / 2) - 0.5 * d * np.log(freedom * np.pi)
    return np.asarray(peak - (freedom + d) / 2 * np.log1p(distances / freedom))


def fit_student(sample: Sample, start: StudentModel | None = None) -> StudentModel:
    """Fit by maximum likelihood: expectation and maximisation for mean and scale, a search for degrees of freedom.

    `start` is a fit to nearly the same rows.
    """
    x, share = sample.points, sample.weight / sample.weight.sum()
    model = start or _rough(x)
    likelihood = -np.inf
    for _ in range(_STEPS if start is None else _MORE_STEPS):
        before = likelihood
        distances = model.distances(x)
        freedom, likelihood = _most_likely_freedom(distances, share, x.shape[1])
        likelihood -= np.log(np.diag(model.root)).sum()
        pull = share * (freedom + x.shape[1]) / (freedom + distances)
        mean = pull @ x / pull.sum()
        centred = x - mean
        model = StudentModel(mean, _root((centred.T * pull) @ centred / pull.sum()), freedom)
        if likelihood - before < _TOLERANCE:
            break
    return model


@dataclass(frozen=True)
class JackknifedStudent:
    """A log density without the leading part of its bias, from fits to all rows and without each part of them."""

    whole: StudentModel
    others: tuple[StudentModel, ...]
    rows: float

    def log_density(self, x: Floats) -> Floats:
        """Return the log density, which need not be normalised."""
        mean = np.mean([model.log_density(x) for model in self.others], axis=0)
        return np.asarray(_PARTS * self.whole.log_density(x) - (_PARTS - 1) * mean)

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the log density at points, as for a Gaussian of rows that are weighted alike."""
        d, freedom = x.shape[1], self.whole.freedom
        distances = self.whole.distances(x)
        return variance_of_unbiased(distances * (freedom + d) / (freedom + distances), self.rows, d)


def jackknifed_student(sample: Sample, seed: int = 0) -> JackknifedStudent:
    """Fit to all rows, and without one part of them after another."""
    whole = fit_student(sample)
    part = deal_folds(sample, _PARTS, np.random.default_rng(seed))
    others = [fit_student(sample.subset(part != left_out), whole) for left_out in range(_PARTS)]
    return JackknifedStudent(whole, tuple(others), sample.effective_rows)


def _rough(x: Floats) -> StudentModel:
    """Return a start that outliers do not spoil: median and covariance of the nine tenths of rows that are closest."""
    centre = np.median(x, axis=0)
    distance = ((x - centre) ** 2).sum(axis=1)
    inner = x[distance <= np.quantile(distance, 0.9)]
    return StudentModel(centre, _root(np.cov(inner.T).reshape(x.shape[1], -1)), 5.0)


def _root(covariance: Floats) -> Floats:
    """Return the lower root of a covariance, raised a little where rows hardly vary."""
    values, vectors = np.linalg.eigh(covariance)
    least = max(_LEAST_VARIANCE, _LEAST_SHARE * values[-1])
    return np.linalg.cholesky((vectors * np.maximum(values, least)) @ vectors.T)


def _most_likely_freedom(distances: Floats, share: Floats, d: int) -> tuple[float, float]:
    """Return the degrees of freedom with the largest mean log likelihood, and that, for a scale of volume one."""

    def loss(log_freedom: float) -> float:
        return -float(share @ student_log_density(distances, d, float(np.exp(log_freedom))))

    best = minimize_scalar(loss, bounds=np.log(_FREEDOM), method="bounded", options={"xatol": 0.05})
    return float(np.exp(best.x)), -float(best.fun)
