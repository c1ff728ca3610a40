"""Densities of single columns, of any shape: Student's t, or a mixture of three normal distributions.

Each column gets Student's t unless a mixture is clearly more likely for its number of parameters (Schwarz's criterion):
the tails of a mixture end where the sample does.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from vwkde._models.derivatives.components import Components, shares_of
from vwkde._models.student import student_log_density

Floats = NDArray[np.float64]

PARTS = 3
"""Normal distributions that make up a mixture."""
_FIRST_STEPS, _STEPS = 4, 25
"""Steps from every start, and from the better one."""
_STUDENT_STEPS = 8
_PRIOR = 3.0
"""Rows with the variance of the column that each part has in addition, so that equal values have a spread."""
_FREEDOMS = (2.5, 4.0, 7.0, 15.0, 1e6)
"""Degrees of freedom that are tried."""
_LEAST_VARIANCE = 1e-6


class Students(NamedTuple):
    """Student's t in every column: locations, squared scales and degrees of freedom."""

    location: Floats
    variance: Floats
    freedom: Floats

    def log_density(self, y: Floats) -> Floats:
        """Return the log density of every value."""
        distances = (y - self.location) ** 2 / self.variance
        return student_log_density(distances, 1, self.freedom) - 0.5 * np.log(self.variance)

    def score(self, y: Floats) -> Floats:
        """Return minus the slope of the log density."""
        away = y - self.location
        return np.asarray((self.freedom + 1) * away / (self.freedom * self.variance + away**2))


@dataclass(frozen=True)
class ColumnShapes:
    """The densities of columns: where `heavy`, Student's t, elsewhere mixtures with parts of shape (k, d)."""

    students: Students
    mixtures: Components
    heavy: NDArray[np.bool_]

    def log_density(self, y: Floats) -> Floats:
        """Return the log density of every value."""
        return self._chosen(self.students.log_density(y), np.asarray(logsumexp(_logits(y, self.mixtures), axis=0)))

    def score(self, y: Floats) -> Floats:
        """Return minus the slope of the log density."""
        shares, _ = shares_of(_logits(y, self.mixtures))
        pulls = self.mixtures.precisions[:, None] * (y - self.mixtures.means[:, None])
        return self._chosen(self.students.score(y), (shares * pulls).sum(axis=0))

    def _chosen(self, of_students: Floats, of_mixtures: Floats) -> Floats:
        return np.where(self.heavy, of_students, of_mixtures)


def fit_shapes(y: Floats, share: Floats) -> ColumnShapes:
    """Fit the density of each column; `share` are the shares of the rows, which sum to one."""
    students, mixtures = _students(y, share), _mixtures(y, share[:, None])
    rise = share @ logsumexp(_logits(y, mixtures), axis=0) - share @ students.log_density(y)
    more = 3 * PARTS - 1 - len(students)
    return ColumnShapes(students, mixtures, rise < 0.5 * more * np.log(len(y)) / len(y))


def _students(y: Floats, share: Floats) -> Students:
    """Return the most likely location, scale and degrees of freedom of each column."""
    best = _student(y, share, _FREEDOMS[0])
    for freedom in _FREEDOMS[1:]:
        other = _student(y, share, freedom)
        better = share @ other.log_density(y) > share @ best.log_density(y)
        best = Students(*(np.where(better, new, old) for new, old in zip(other, best, strict=True)))
    return best


def _student(y: Floats, share: Floats, freedom: float) -> Students:
    location, variance = np.median(y, axis=0), y.var(axis=0) + _LEAST_VARIANCE
    for _ in range(_STUDENT_STEPS):
        pull = 1 / (freedom + (y - location) ** 2 / variance)
        total = share @ pull
        location = share @ (pull * y) / total
        variance = share @ (pull * (y - location) ** 2) / total + _LEAST_VARIANCE
    return Students(location, variance, np.full(y.shape[1], freedom))


def _mixtures(y: Floats, share: Floats) -> Components:
    """Return a mixture for each column, from two starts: parts side by side, and parts around the middle."""
    away = np.abs(y - np.median(y, axis=0))
    starts = [_climb(y, share, _thirds(each), _FIRST_STEPS) for each in (y, away)]
    better = starts[1][1] > starts[0][1]
    shares = np.where(better, starts[1][0], starts[0][0])
    return _components(y, share, _climb(y, share, shares, _STEPS)[0])


def _thirds(values: Floats) -> Floats:
    """Return the shares, (k, n, d), with which rows belong to equally many of the smallest values, and so on."""
    part = np.argsort(np.argsort(values, axis=0), axis=0) * PARTS // len(values)
    return np.asarray(part == np.arange(PARTS)[:, None, None], dtype=np.float64)


def _climb(y: Floats, share: Floats, shares: Floats, steps: int) -> tuple[Floats, Floats]:
    """Return the shares after some steps, and the mean log likelihood of each column."""
    log_sum = np.zeros_like(y)
    for _ in range(steps):
        shares, log_sum = shares_of(_logits(y, _components(y, share, shares)))
    return shares, (share * log_sum).sum(axis=0)


def _components(y: Floats, share: Floats, shares: Floats) -> Components:
    """Return the parts that are most likely for these shares of the rows."""
    counted = shares * share
    weights = counted.sum(axis=1) + np.finfo(np.float64).eps
    means = np.einsum("knd,nd->kd", counted, y) / weights
    squares = np.maximum(np.einsum("knd,nd->kd", counted, y**2) - weights * means**2, 0.0)
    few = _PRIOR / len(y)
    return Components(weights / weights.sum(axis=0), means, (weights + few) / (squares + few * y.var(axis=0)))


def _logits(y: Floats, columns: Components) -> Floats:
    """Return the log density of each part, weights included, (k, n, d)."""
    weights, means, precisions = columns
    peaks = np.log(weights) + 0.5 * np.log(precisions / (2 * np.pi))
    return np.asarray(peaks[:, None] - 0.5 * precisions[:, None] * (y - means[:, None]) ** 2)
