"""The guide named "radial": log odds with a linear part, and a curve of the distance from the centre.

Two samples may differ by how far out their rows are: one has more of them in a shell around the centre. With many
columns no column shows it, and a quadratic function of all of them does only if the difference grows or falls with the
distance. A curve of the whitened distance is one column more, however many there are.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.axes import principal_axes
from vwkde._data.sample import Sample
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.regression import fit_line
from vwkde._models.guides.residuals import unexplained
from vwkde._models.guides.splines import AdditiveSplines

Floats = NDArray[np.float64]
Samples = tuple[Sample, Sample]

_INVERSE_RIDGE = 0.3
"""The ridge, as scikit-learn's C."""
_KNOTS, _MORE_KNOTS, _MANY_ROWS = 8, 16, 8_000
"""Knots of the splines, and how many there are from so many rows of the smaller sample on."""
_SHELLS = 10
"""Shells of equally many rows in which the samples are compared."""
_CLEARLY = 3.0
"""Factor by which the differences between the samples in the shells must exceed what chance explains."""


@dataclass(frozen=True)
class Radial:
    """A guide that is linear in the whitened columns and in splines of the distance from the centre."""

    centre: Floats
    whitening: Floats
    splines: AdditiveSplines | None = None
    intercept: float = 0.0
    coefficients: Floats | None = None

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        if self.coefficients is None:
            return np.zeros(len(x))
        return self.intercept + self.features(x) @ self.coefficients

    def features(self, x: Floats) -> Floats:
        """Return the whitened columns, and the splines of the distance."""
        z = self.whitened(x)
        return np.concatenate([z, self.splines.transform(distance(z))], axis=1) if self.splines else z

    def whitened(self, x: Floats) -> Floats:
        """Return points in the coordinates in which the rows that the guide was fitted to are white."""
        return (x - self.centre) @ self.whitening


def fit_radial(numerator: Sample, denominator: Sample) -> Radial:
    """Fit a logistic regression on the columns and on splines of the distance from the centre."""
    samples = numerator, denominator
    guide = _without_curve(samples)
    if not guide.whitening.size:  # rows that are all equal, without the few that differ
        return guide
    z = np.concatenate([guide.whitened(sample.points) for sample in samples])
    knots = _MORE_KNOTS if min(map(len, samples)) >= _MANY_ROWS else _KNOTS
    guide = replace(guide, splines=AdditiveSplines(knots).fit(distance(z)))
    p, q = (replace(sample, points=guide.features(sample.points)) for sample in samples)
    intercept, coefficients = fit_line(p, q, _INVERSE_RIDGE)
    return replace(guide, intercept=intercept, coefficients=coefficients)


def have_shells(numerator: Sample, denominator: Sample) -> bool:
    """Return whether the samples differ in shells around the centre, beyond the columns and the squared distance."""
    samples = numerator, denominator
    guide = _without_curve(samples)
    if guide.whitening.shape[1] < 2 or denominator.pairs is not None:
        return False
    points = [guide.whitened(sample.points) for sample in samples]
    distances = [distance(z) for z in points]
    features = [np.column_stack([z, r**2]) for z, r in zip(points, distances, strict=True)]
    residuals = np.concatenate(unexplained(features[0], features[1], samples))
    radius = np.concatenate(distances)[:, 0]
    shell = np.searchsorted(np.quantile(radius, np.arange(1, _SHELLS) / _SHELLS), radius)
    sums, squares = (np.bincount(shell, weights=each, minlength=_SHELLS) for each in (residuals, residuals**2))
    return bool(np.sum(sums**2 / np.maximum(squares, np.finfo(np.float64).tiny)) > _CLEARLY * _SHELLS)


def distance(z: Floats) -> Floats:
    """Return the distances of whitened points from the centre, as one column."""
    return np.linalg.norm(z, axis=1)[:, None]


def _without_curve(samples: Samples) -> Radial:
    """Return a guide of zero, with the whitening of these rows."""
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
    return Radial(centre, principal_axes(pooled_covariance(samples), np.finfo(np.float64).eps).root)
