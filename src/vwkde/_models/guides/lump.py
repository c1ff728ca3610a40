"""The guide named "lump": one sample has a few rows, in small clusters or scattered far out, that the other one lacks.

A hundredth of the rows hardly changes means, covariances or the log loss, but far from all others it can make up most
of a divergence. So a sample is described as the other one's density plus a few components, in either direction:

    log p/q  =  log(1 − Σs + Σ s·g/q) − log(1 − Σt + Σ t·h/p),

alone, or with a linear function of the columns in addition, if the means of all rows differ too. What both samples have
in common cancels, so that its estimated shape adds no noise.

The density of the other sample is a Gaussian or, if its tails are heavier, a Student t distribution, which reach to
where it has no rows. The rows that a component starts from are close together or far out, and the other sample has few
of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.exponentials import log_sum
from vwkde._models.gaussian import GaussianModel, is_few
from vwkde._models.guides.densities import GAUSSIAN_FREEDOM, fit_shared_gaussians
from vwkde._models.guides.kind import Guide
from vwkde._models.guides.lump_search import crowded_rows, outer_rows
from vwkde._models.student import StudentModel, fit_student

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_COMPONENTS = 3
_LARGEST_SHARE = 0.1
_FEWEST_ROWS, _HARDLY_A_ROW = 4.0, 0.1
_STEPS = 15


@dataclass(frozen=True)
class Lump:
    """Components beside the density of the other sample, and their shares of the sample and of the other one."""

    other: StudentModel | GaussianModel
    components: tuple[GaussianModel, ...]
    shares: Floats
    other_shares: Floats

    def log_ratio(self, x: Floats) -> Floats:
        """Return the log ratio of the sample to the other one."""
        odds = self.log_odds(x)
        return _log_mix(self.shares, odds) - _log_mix(self.other_shares, odds)

    def log_odds(self, x: Floats) -> Floats:
        """Return the log ratio of each component to the density, (components, n)."""
        return np.array([component.log_density(x) for component in self.components]) - self.other.log_density(x)


def _log_mix(shares: Floats, odds: Floats) -> Floats:
    """Return log(1 − Σ shares + Σ shares·exp(odds))."""
    parts = [each + np.log(share) for share, each in zip(shares, odds, strict=True) if share]
    return log_sum(np.stack([np.full(odds.shape[1], np.log1p(-shares.sum())), *parts]))


def _belongs(shares: Floats, odds: Floats) -> Floats:
    """Return the probabilities that rows with these odds belong to components of these shares, (components, n)."""
    with np.errstate(divide="ignore"):
        return np.exp(odds + np.log(shares)[:, None] - _log_mix(shares, odds))


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


def tilted(lumps: Lumps, numerator: Sample, denominator: Sample) -> Lumps:
    """Return the guide with a linear function of the columns in addition, for the means of all rows."""
    return replace(lumps, tilt=fit_shared_gaussians(numerator, denominator))


def have_lumps(numerator: Sample, denominator: Sample) -> bool:
    """Return whether a sample has rows close together, or far out, where the other one has few."""
    samples = numerator, denominator
    if denominator.pairs is not None or any(is_few(0.8 * s.effective_rows - 1, s.points.shape[1]) for s in samples):
        return False
    return any(find(*pair) is not None for pair in (samples, samples[::-1]) for find in (crowded_rows, outer_rows))


def _fit_lump(sample: Sample, other: Sample) -> Lump | None:
    """Return what a sample has beside the density of the other one, a few components at most, if it has anything.

    Scattered rows are looked for among those that no cluster takes up, or beside clusters from the start, whichever is
    more likely in the end. A single wide component around several clusters is at first more likely than one of them.
    """
    density = _density(other)
    clusters = _add_components(None, sample, other, density, (crowded_rows,))
    starts = (clusters, None) if clusters is not None else (None,)
    grown = [_add_components(start, sample, other, density, (crowded_rows, outer_rows)) for start in starts]
    lump = max(filter(None, grown), key=lambda each: _likelihood(each, sample), default=None)
    return None if lump is None else replace(lump, other_shares=_shares(lump, other))


def _add_components(
    lump: Lump | None,
    sample: Sample,
    other: Sample,
    density: StudentModel | GaussianModel,
    searches: tuple[Callable[[Sample, Sample], Floats | None], ...],
) -> Lump | None:
    """Return a lump with the components that searches lead to, each from rows that belong to none of those before."""
    while lump is None or len(lump.components) < _MOST_COMPONENTS:
        free = np.arange(len(sample)) if lump is None else _free_rows(lump, sample)
        if len(free) < len(sample) / 2:
            break
        left = sample.subset(free)
        starts = [rows for find in searches if (rows := find(left, other)) is not None]
        grown = [each for rows in starts if (each := _grow(sample, density, rows, lump)) is not None]
        if not grown:
            break
        lump = max(grown, key=lambda each: _likelihood(each, sample))
    return lump


def _free_rows(lump: Lump, sample: Sample) -> Ints:
    """Return the rows of a sample that hardly belong to any component."""
    return np.flatnonzero(_belongs(lump.shares, lump.log_odds(sample.points)).sum(axis=0) < 0.5)


def _density(sample: Sample) -> StudentModel | GaussianModel:
    """Return the density of a sample; a Student t distribution like a Gaussian would still be far above it far out."""
    student = fit_student(sample)
    return student if student.freedom < GAUSSIAN_FREEDOM else _component(sample.points, _counted(sample))


def _likelihood(lump: Lump, sample: Sample) -> float:
    """Return the mean log likelihood that the components gain."""
    return float(np.average(_log_mix(lump.shares, lump.log_odds(sample.points)), weights=sample.weight))


def _shares(lump: Lump, sample: Sample) -> Floats:
    """Return the most likely shares of the components in a sample; zero for one that has hardly a row there."""
    odds, shares = lump.log_odds(sample.points), lump.shares
    for _ in range(_STEPS):
        shares = np.average(_belongs(shares, odds), weights=sample.weight, axis=1)
        shares = np.where(shares * sample.effective_rows < _HARDLY_A_ROW, 0.0, shares)
    return shares


def _grow(sample: Sample, density: StudentModel | GaussianModel, rows: Floats, before: Lump | None) -> Lump | None:
    """Return the lump that is most likely beside a density, grown from some rows and from the components before it.

    None if a component has hardly any rows.
    """
    x, weight, total = sample.points, _counted(sample), sample.effective_rows
    components = () if before is None else before.components
    shares = np.append([] if before is None else before.shares, min(len(rows) / total, _LARGEST_SHARE))
    lump = Lump(density, (*components, _component(rows, np.ones(len(rows)))), shares, np.zeros_like(shares))
    for _ in range(_STEPS):
        belongs = weight * _belongs(lump.shares, lump.log_odds(x))
        if belongs.sum(axis=1).min() < _FEWEST_ROWS:
            return None
        shares = np.minimum(belongs.sum(axis=1) / total, _LARGEST_SHARE)
        lump = replace(lump, components=tuple(_component(x, each) for each in belongs), shares=shares)
    return lump


def _counted(sample: Sample) -> Floats:
    """Return the weights of a sample's rows, in units of independent rows."""
    return np.asarray(sample.weight * sample.effective_rows / sample.weight.sum())


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
