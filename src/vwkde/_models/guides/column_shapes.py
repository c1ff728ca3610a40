"""Densities of single columns, of any shape: Student's t, or a mixture of three normal distributions.

Each column gets Student's t unless a mixture is clearly more likely for its number of parameters (Schwarz's criterion):
the tails of a mixture end where the sample does.

Values are of shape (d, n), a line for each column: loops over the rows are then the inner ones, three times as fast.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.components import Components, shares_of
from vwkde._models.exponentials import log_sum
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
    """Student's t in every column: locations, squared scales and degrees of freedom, each of shape (d, 1)."""

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
    """The densities of columns: where `heavy`, Student's t, elsewhere mixtures with parts of shape (k, d, 1)."""

    students: Students
    mixtures: Components
    heavy: NDArray[np.bool_]

    def log_density(self, y: Floats) -> Floats:
        """Return the log density of every value."""
        of_mixtures = log_sum(_logits(_Values.of(y), self.mixtures))
        return np.where(self.heavy, self.students.log_density(y), of_mixtures)

    def score(self, y: Floats) -> Floats:
        """Return minus the slope of the log density."""
        shares, _ = shares_of(_logits(_Values.of(y), self.mixtures))
        pulls = self.mixtures.precisions * (y - self.mixtures.means)
        return np.where(self.heavy, self.students.score(y), (shares * pulls).sum(axis=0))


class _Values(NamedTuple):
    """The values of columns and their squares, both (d, n)."""

    y: Floats
    squares: Floats

    @classmethod
    def of(cls, y: Floats) -> "_Values":
        return cls(y, y**2)


def fit_shapes(y: Floats, share: Floats) -> ColumnShapes:
    """Fit the density of each column; `share` are the shares of the rows, which sum to one."""
    students, mixtures = _students(y, share), _mixtures(y, share)
    rise = log_sum(_logits(_Values.of(y), mixtures)) @ share - students.log_density(y) @ share
    more, rows = 3 * PARTS - 1 - len(students), len(share)
    return ColumnShapes(students, mixtures, (rise < 0.5 * more * np.log(rows) / rows)[:, None])


def _students(y: Floats, share: Floats) -> Students:
    """Return the most likely location, scale and degrees of freedom of each column."""
    best = _student(y, share, _FREEDOMS[0])
    for freedom in _FREEDOMS[1:]:
        other = _student(y, share, freedom)
        better = (other.log_density(y) @ share > best.log_density(y) @ share)[:, None]
        best = Students(*(np.where(better, new, old) for new, old in zip(other, best, strict=True)))
    return best


def _student(y: Floats, share: Floats, freedom: float) -> Students:
    location, variance = np.median(y, axis=1, keepdims=True), y.var(axis=1, keepdims=True) + _LEAST_VARIANCE
    weight = share[:, None]
    for _ in range(_STUDENT_STEPS):
        pull = 1 / (freedom + (y - location) ** 2 / variance)
        total = pull @ weight
        location = (pull * y) @ weight / total
        variance = (pull * (y - location) ** 2) @ weight / total + _LEAST_VARIANCE
    return Students(location, variance, np.full((len(y), 1), freedom))


def _mixtures(y: Floats, share: Floats) -> Components:
    """Return a mixture for each column, from two starts: parts side by side, and parts around the middle."""
    values, prior = _Values.of(y), _PRIOR / len(share) * y.var(axis=1, keepdims=True)
    away = np.abs(y - np.median(y, axis=1, keepdims=True))

    def climb(shares: Floats, steps: int) -> tuple[Floats, Floats]:
        """Return the shares after some steps, and the mean log likelihood of each column."""
        log_sum = np.zeros_like(y)
        for _ in range(steps):
            shares, log_sum = shares_of(_logits(values, _components(values, share, shares, prior)))
        return shares, log_sum @ share

    starts = [climb(_thirds(each), _FIRST_STEPS) for each in (y, away)]
    better = starts[1][1] > starts[0][1]
    shares, _ = climb(np.where(better[:, None], starts[1][0], starts[0][0]), _STEPS)
    return _components(values, share, shares, prior)


def _thirds(values: Floats) -> Floats:
    """Return the shares, (k, d, n), with which rows belong to equally many of the smallest values, and so on."""
    part = np.argsort(np.argsort(values, axis=1), axis=1) * PARTS // values.shape[1]
    return np.asarray(part == np.arange(PARTS)[:, None, None], dtype=np.float64)


def _components(values: _Values, share: Floats, shares: Floats, prior: Floats) -> Components:
    """Return the parts that are most likely for these shares of the rows; `prior` adds to their squares."""
    counted = shares * share
    weights = counted.sum(axis=2, keepdims=True) + np.finfo(np.float64).eps
    sums, squares = (np.einsum("kdn,dn->kd", counted, each)[..., None] for each in values)
    means = sums / weights
    spread = np.maximum(squares - weights * means**2, 0.0)
    return Components(weights / weights.sum(axis=0), means, (weights + _PRIOR / len(share)) / (spread + prior))


def _logits(values: _Values, columns: Components) -> Floats:
    """Return the log density of each part, weights included, (k, d, n)."""
    weights, means, precisions = columns
    peaks = np.log(weights) + 0.5 * np.log(precisions / (2 * np.pi)) - 0.5 * precisions * means**2
    logits = -0.5 * precisions * values.squares
    logits += precisions * means * values.y
    logits += peaks
    return np.asarray(logits)
