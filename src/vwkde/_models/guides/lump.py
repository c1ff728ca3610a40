"""The guide named "lump": one sample has a small cluster of rows that the other one lacks.

A hundredth of the rows hardly changes means, covariances or the log loss, but far from all others it can make up most
of a divergence. So a sample is described as the other one's density plus one more component, in either direction:

    log p/q  =  log(1 − s + s·g/q) − log(1 − t + t·h/p),

alone, or with a linear function of the columns in addition, if the means of all rows differ too.

The density of the other sample is a Student t distribution, which reaches to where it has no rows. The rows that the
component starts from are close together, and the other sample has few of them.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.gaussian import GaussianModel, is_few
from vwkde._models.guides.densities import fit_shared_gaussians
from vwkde._models.guides.kind import Guide
from vwkde._models.guides.lump_search import crowded_rows
from vwkde._models.student import StudentModel, fit_student

Floats = NDArray[np.float64]

_LARGEST_SHARE = 0.1
_FEWEST_ROWS, _HARDLY_A_ROW = 4.0, 0.1
_STEPS = 15


@dataclass(frozen=True)
class Lump:
    """A component beside the density of the other sample, and its shares of the sample and of the other one."""

    other: StudentModel
    component: GaussianModel
    share: float
    other_share: float = 0.0

    def log_ratio(self, x: Floats) -> Floats:
        """Return the log ratio of the sample to the other one."""
        odds = self.log_odds(x)
        return _log_mix(self.share, odds) - _log_mix(self.other_share, odds)

    def log_odds(self, x: Floats) -> Floats:
        """Return the log ratio of the component to the density."""
        return self.component.log_density(x) - self.other.log_density(x)


def _log_mix(share: float, odds: Floats) -> Floats:
    """Return log(1 − share + share·exp(odds))."""
    return np.logaddexp(np.log1p(-share), odds + np.log(share)) if share else np.zeros_like(odds)


def _belongs(share: float, odds: Floats) -> Floats:
    """Return the probabilities that rows with these odds belong to a component of this share."""
    return np.exp(odds + np.log(share) - _log_mix(share, odds))


@dataclass(frozen=True)
class Lumps:
    """The guide: what the numerator has in addition, what the denominator has, if anything, and a tilt of all rows."""

    numerator: Lump | None
    denominator: Lump | None
    tilt: Guide | None = None

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio."""
        p, q = (np.zeros(len(x)) if lump is None else lump.log_ratio(x) for lump in (self.numerator, self.denominator))
        return p - q if self.tilt is None else p - q + self.tilt(x)


def fit_lumps(numerator: Sample, denominator: Sample) -> Lumps:
    """Fit what each sample has in addition to the other one."""
    return Lumps(_fit_lump(numerator, denominator), _fit_lump(denominator, numerator))


def fit_tilted_lumps(numerator: Sample, denominator: Sample) -> Lumps:
    """Fit the same, and a linear function of the columns for the means of all rows."""
    return replace(fit_lumps(numerator, denominator), tilt=fit_shared_gaussians(numerator, denominator))


def have_lumps(numerator: Sample, denominator: Sample) -> bool:
    """Return whether a sample has rows close together where the other one has few."""
    samples = numerator, denominator
    if denominator.pairs is not None or any(is_few(0.8 * s.effective_rows - 1, s.points.shape[1]) for s in samples):
        return False
    return crowded_rows(numerator, denominator) is not None or crowded_rows(denominator, numerator) is not None


def _fit_lump(sample: Sample, other: Sample) -> Lump | None:
    """Return the lump of a sample that grows from where it may start, if there is such a place."""
    rows = crowded_rows(sample, other)
    lump = None if rows is None else _grow(sample, fit_student(other), rows)
    return None if lump is None else replace(lump, other_share=_share(lump, other))


def _share(lump: Lump, sample: Sample) -> float:
    """Return the most likely share of a component in a sample; zero if it has hardly a row there."""
    odds, share = lump.log_odds(sample.points), lump.share
    for _ in range(_STEPS):
        share = float(np.average(_belongs(share, odds), weights=sample.weight))
        if share * sample.effective_rows < _HARDLY_A_ROW:
            return 0.0
    return share


def _grow(sample: Sample, density: StudentModel, rows: Floats) -> Lump | None:
    """Return the lump that is most likely beside a density, grown from some rows; None if it has hardly any rows."""
    x, total = sample.points, sample.effective_rows
    weight = sample.weight * total / sample.weight.sum()
    lump = Lump(density, _component(rows, np.ones(len(rows))), min(len(rows) / total, _LARGEST_SHARE))
    for _ in range(_STEPS):
        belongs = weight * _belongs(lump.share, lump.log_odds(x))
        if belongs.sum() < _FEWEST_ROWS:
            return None
        lump = Lump(density, _component(x, belongs), float(min(belongs.sum() / total, _LARGEST_SHARE)))
    return lump


def _component(x: Floats, weight: Floats) -> GaussianModel:
    """Return the Gaussian of weighted rows, whose covariance is drawn to a sphere: there are few of them."""
    rows, d = weight.sum(), x.shape[1]
    mean = weight @ x / rows
    centred = x - mean
    covariance = (centred.T * weight) @ centred / rows
    sphere = np.eye(d) * max(np.trace(covariance) / d, np.finfo(np.float64).eps)
    covariance = (rows * covariance + (d + 1) * sphere) / (rows + d + 1)
    precision = np.linalg.inv(covariance)
    log_peak = 0.5 * (np.linalg.slogdet(precision)[1] - d * np.log(2 * np.pi))
    return GaussianModel(mean, precision, float(log_peak))
