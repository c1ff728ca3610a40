"""The guide named "additive": log odds that are sums of smooth functions of single columns.

The columns themselves are among the features, so that a ridge restrains what is bent more than what is straight. Eight
knots follow most columns. A narrow peak, or many teeth, in a column need more: such columns get as many as clearly
lower the loss of that column alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.exponentials import chance_of
from vwkde._models.guides.kind import Fit
from vwkde._models.guides.regression import Line, fit_line
from vwkde._models.guides.splines import KNOTS, AdditiveSplines
from vwkde._models.log_loss import log_loss

Floats = NDArray[np.float64]
Samples = tuple[Sample, Sample]

_INVERSE_RIDGE, _INVERSE_RIDGE_OF_MORE = 0.1, 1.0
"""The ridge, as scikit-learn's C, of few knots, and the weaker one of more: what they follow is there."""
_TOLERANCE = 1e-4
"""The slope of the loss at which a regression on many features ends."""
_MORE_KNOTS = (16, 32, 48)
"""Numbers of knots that a column with fine structure may get."""
_BINS, _ROWS_PER_BIN = 128, 15
"""Bins in which columns are looked at: at most so many, with at least so many rows of the smaller sample in each."""
_WIDTHS, _PERHAPS = (1, 2, 4), 0.02
"""Bins that are looked at together, and the p-value of what is left in them below which more knots are tried."""
_CLEARLY = 4.0
"""Standard errors by which more knots must lower the deviance of a column beyond what chance does."""


@dataclass(frozen=True)
class Additive:
    """A guide that is linear in splines of the columns; its log odds are kept within `most` of zero."""

    splines: AdditiveSplines
    line: Line
    most: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        log_odds = self.line.intercept + self.splines.transform(x) @ self.line.coefficients
        return np.clip(log_odds, -self.most, self.most)


def additive_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with few knots, or with more in the columns that need them."""
    samples = numerator, denominator
    with parallel.single_threaded():
        knots = tuple(_needed(samples, column) for column in range(numerator.points.shape[1]))
    inverse_ridge = _INVERSE_RIDGE_OF_MORE if max(knots) > KNOTS else _INVERSE_RIDGE
    return (partial(fit_additive, knots, inverse_ridge),)


def fit_additive(knots: Sequence[int], inverse_ridge: float, numerator: Sample, denominator: Sample) -> Additive:
    """Fit a logistic regression on splines with so many knots in each column."""
    samples = numerator, denominator
    splines = AdditiveSplines(knots, straight=True).fit(np.concatenate([sample.points for sample in samples]))
    p, q = (replace(sample, points=splines.transform(sample.points)) for sample in samples)
    # so many rows show no larger ratio
    return Additive(splines, fit_line(p, q, inverse_ridge, _TOLERANCE), float(np.log(2 * (len(p) + len(q)) - 1)))


def _needed(samples: Samples, column: int) -> int:
    """Return how many knots a column needs."""
    rows = min(sample.effective_rows for sample in samples)
    bins = min(_BINS, int(rows / _ROWS_PER_BIN))
    if bins <= 2 * _MORE_KNOTS[0]:
        return KNOTS
    values = np.concatenate([sample.points[:, column] for sample in samples])
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1]))
    if len(edges) < 2 * _MORE_KNOTS[0]:
        return KNOTS
    binned = _binned(samples, column, edges)
    few = _fitted(binned, rows, KNOTS)
    if not _looks_finer(binned, rows, few):
        return KNOTS

    def gain(knots: int) -> float:
        """Return the fall of the deviance beyond twice the chance one, if it is clear."""
        losses = [log_loss((at, at), binned) for at in (few, _fitted(binned, rows, knots))]
        fall, more = 4 * rows * (losses[0] - losses[1]), knots - KNOTS
        return fall - 2 * more if fall > more + _CLEARLY * np.sqrt(2 * more) else 0.0

    return max((KNOTS, *(knots for knots in _MORE_KNOTS if 2 * knots <= len(edges))), key=gain)


def _binned(samples: Samples, column: int, edges: Floats) -> Samples:
    """Return the centres of the bins of a column, weighted with the rows of each sample in them."""
    bins = len(edges) + 1
    places = [np.searchsorted(edges, sample.points[:, column]) for sample in samples]
    counts = [np.bincount(at, s.weight, bins) for at, s in zip(places, samples, strict=True)]
    sums = [np.bincount(at, s.weight * s.points[:, column], bins) for at, s in zip(places, samples, strict=True)]
    total = np.sum(counts, axis=0)
    held = np.flatnonzero(total)
    centres = (np.sum(sums, axis=0)[held] / total[held])[:, None]
    p, q = (Sample(centres, count[held] * len(held) / count.sum(), np.arange(len(held))) for count in counts)
    return p, q


def _fitted(binned: Samples, rows: float, knots: int) -> Floats:
    """Return the log odds, at the bins, of a smooth function with so many knots."""
    splines = AdditiveSplines(knots).fit(binned[0].points)
    p, q = (replace(sample, points=splines.transform(sample.points)) for sample in binned)
    line = fit_line(p, q, rows / len(binned[0]))
    return line.intercept + p.points @ line.coefficients


def _looks_finer(binned: Samples, rows: float, log_odds: Floats) -> bool:
    """Return whether the bins, or some next to each other, have rows of one sample that the log odds do not expect."""
    p, q = (sample.weight * rows / len(sample) for sample in binned)
    chance = chance_of(log_odds)
    surprise = (p - (p + q) * chance) / np.sqrt((p + q) * chance * (1 - chance))
    for width in _WIDTHS:
        groups = len(surprise) // width
        squares = surprise[: groups * width].reshape(groups, width).sum(axis=1) ** 2 / width
        if min(chdtrc(groups, squares.sum()), chdtrc(1, squares.max()) * groups) < _PERHAPS:
            return True
    return False
