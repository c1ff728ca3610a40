"""The guide named "curves": log odds that are a sum of one curve of each column, without a ridge and nearly unbiased.

Where many columns differ, each by so little that no test would notice, a guide with a ridge such as "additive" learns
nothing of any of them. Without one the coefficients are noisy, but their noise averages out and its variance is known:
see `line`, whose regression this is, on Hermite polynomials of the columns. The first two say where a column is and how
wide, the third how skew.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.guides.hermite import hermite_polynomials
from vwkde._models.guides.kind import Fit
from vwkde._models.guides.line import UnbiasedLine, fit_unbiased_line, have_rows_for

Floats = NDArray[np.float64]

_DEGREES = (2, 3)
"""The highest powers of the curves that are tried."""


@dataclass(frozen=True)
class Curves:
    """A guide that is linear in polynomials of single columns up to a degree."""

    degree: int
    line: UnbiasedLine

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.line(_polynomials(x, self.degree))

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the log odds at points."""
        return self.line.noise(_polynomials(x, self.degree))


def curve_forms(_numerator: Sample, _denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with parabolas, and with cubic curves."""
    return tuple(partial(fit_curves, degree) for degree in _DEGREES)


def fit_curves(degree: int, numerator: Sample, denominator: Sample) -> Curves:
    """Fit curves of a degree; the columns are normal scores."""
    p, q = (replace(sample, points=_polynomials(sample.points, degree)) for sample in (numerator, denominator))
    return Curves(degree, fit_unbiased_line(p, q))


def have_rows_for_curves(numerator: Sample, denominator: Sample) -> bool:
    """Return whether there are several rows for each coefficient of the parabolas."""
    return have_rows_for(min(_DEGREES) * numerator.points.shape[1], numerator, denominator)


def _polynomials(x: Floats, degree: int) -> Floats:
    """Return the columns, and their polynomials from the second degree on: far out a curve is a line."""
    return np.concatenate([x, *hermite_polynomials(x)[1:degree]], axis=1)
