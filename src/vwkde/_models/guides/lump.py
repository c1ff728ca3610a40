"""The guide named "lump": one sample has a small cluster of rows that the other one lacks.

A hundredth of the rows hardly changes means, covariances or the log loss, but far from all others it can make up most
of a divergence. So a sample is described as the other one's density plus one more component, in either direction:

    log p/q  =  log(1 − s + s·g/q) − log(1 − t + t·h/p).

The density of the other sample is a Student t distribution, which reaches to where it has no rows. The rows that the
component starts from are close together, and the other sample has few of them.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from vwkde._data.sample import Sample
from vwkde._models.gaussian import GaussianModel, is_few
from vwkde._models.student import StudentModel, fit_student

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_COUNTS = 5, 8, 12, 18, 27, 40
"""Numbers of neighbours that may be a cluster."""
_MOST_ROWS = 1_000
"""Rows of each sample among which clusters are looked for."""
_CLEARLY_TIGHT = 15.0
"""Gain of log likelihood beyond which rows are a cluster."""
_CLEARLY = 2.0
"""How far the gain of unequal parts must exceed the logarithm of the number of clustered rows."""
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
    """The guide: what the numerator has in addition, and what the denominator has, if anything."""

    numerator: Lump | None
    denominator: Lump | None

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio."""
        p, q = (np.zeros(len(x)) if lump is None else lump.log_ratio(x) for lump in (self.numerator, self.denominator))
        return p - q


def fit_lumps(numerator: Sample, denominator: Sample) -> Lumps:
    """Fit what each sample has in addition to the other one."""
    return Lumps(_fit_lump(numerator, denominator), _fit_lump(denominator, numerator))


def have_lumps(numerator: Sample, denominator: Sample) -> bool:
    """Return whether a sample has rows close together where the other one has few."""
    samples = numerator, denominator
    if denominator.pairs is not None or any(is_few(0.8 * s.effective_rows - 1, s.points.shape[1]) for s in samples):
        return False
    return _start(numerator, denominator) is not None or _start(denominator, numerator) is not None


def _fit_lump(sample: Sample, other: Sample) -> Lump | None:
    """Return the lump of a sample that grows from where it may start, if there is such a place."""
    rows = _start(sample, other)
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


def _start(sample: Sample, other: Sample) -> Floats | None:
    """Return rows that are much closer together than a smooth density explains, of which the other sample has few.

    Among clusters that both samples have, one sample outnumbers the other by chance: the more places, the more clearly
    it must do so.
    """
    own, others = (each.thinned(_MOST_ROWS, np.random.default_rng(0)) for each in (sample, other))
    counts = np.array([count for count in _COUNTS if count < len(own) / 2])
    distances = _distances(own.points, own.points)
    nearest = _nearest(distances, counts[-1] + 1)
    reach = np.take_along_axis(distances, nearest[:, counts], axis=1)
    tight = _gain_of_clusters(counts + 1.0, _expected(own, nearest, counts, reach)) > _CLEARLY_TIGHT
    if not tight.any():
        return None
    from_others = _distances(own.points, others.points)
    inside = np.stack([(from_others <= each[:, None]).sum(axis=1) for each in reach.T], axis=1)
    gains = np.where(tight, _gain_of_parts(counts + 1.0, inside, own, others), 0.0)
    centre, count = np.unravel_index(np.argmax(gains), gains.shape)
    if gains[centre, count] < _CLEARLY + np.log(tight.any(axis=1).sum()):
        return None
    return np.asarray(own.points[distances[centre] <= reach[centre, count]])


def _nearest(distances: Floats, count: int) -> Ints:
    """Return the numbers of the closest rows, the closest first."""
    some = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return np.take_along_axis(some, np.argsort(np.take_along_axis(distances, some, axis=1), axis=1), axis=1)


def _expected(sample: Sample, nearest: Ints, counts: Ints, reach: Floats) -> Floats:
    """Return how many rows balls around each row should have, by a Student t distribution; `reach` is squared.

    Its density is taken at the rows in the ball: around an outlier most of them are where it is much higher.
    """
    d = sample.points.shape[1]
    log_volume = 0.5 * d * np.log(np.pi * np.maximum(reach, np.finfo(np.float64).tiny)) - gammaln(d / 2 + 1)
    density = np.exp(fit_student(sample).log_density(sample.points))
    means = (density[nearest].cumsum(axis=1) / np.arange(1, nearest.shape[1] + 1))[:, counts]
    return np.asarray(len(sample) * np.minimum(means * np.exp(log_volume), 1.0))


def _gain_of_clusters(rows: Floats, expected: Floats) -> Floats:
    """Return the log likelihood that is gained if a ball has more rows than expected."""
    return np.where(rows > expected, rows * np.log(rows / np.maximum(expected, 1e-300)) - rows + expected, 0.0)


def _gain_of_parts(own: Floats, others: Floats, sample: Sample, other: Sample) -> Floats:
    """Return the log likelihood that is gained if a sample has a larger part of these rows than of all rows."""
    part, both = len(sample) / (len(sample) + len(other)), own + others
    gain = xlogy(own, own / both / part) + xlogy(others, others / both / (1 - part))
    return np.where(own > part * both, gain, 0.0)


def _distances(x: Floats, y: Floats) -> Floats:
    """Return the squared distances between rows."""
    return np.maximum((x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T, 0.0)


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
