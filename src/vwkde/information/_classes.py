"""Mutual information of a discrete X with few values and a Y of any kind.

The values of X are split in two, each part again, and so on. By the chain rule, the information is that of the first
split, plus that of each further split in its part of the rows, in proportion to their number. Each split asks for the
ratio of two densities of Y. With prior w of the first part and log ratio u, its posterior is π = expit(u + logit w).
The information of the split is the mean of log π/w of a row's own part, or that of the divergence of π from w. Noise in
u makes the first too small and the second about as much too large, so their mean is used. What a ratio may have missed
makes the information too small, and raises the upper end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from vwkde._answers.at_samples import at_samples
from vwkde._answers.functionals import AtSample
from vwkde._answers.uncertainty import hidden as hidden_divergence
from vwkde._answers.uncertainty import in_units_of, systematic_error
from vwkde._data.validation import Array
from vwkde.exceptions import DisjointSupportError
from vwkde.information._opinions import Opinion
from vwkde.information._pairing import Paired
from vwkde.ratio._plain import PlainRatio
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Booleans = NDArray[np.bool_]

_MOST_VALUES = 10
_FEWEST_ROWS = 20
"""Rows of a value with which densities can be compared; rarer values count as one."""


@dataclass(frozen=True)
class Split:
    """Rows, and which of them are in the first of two parts."""

    rows: Ints
    first: Booleans


def merge_rare(codes: Ints) -> Ints | None:
    """Return the values with rare ones merged into one, or None if there are too many or too few values."""
    counts = np.bincount(codes)
    merged = np.where(counts[codes] < _FEWEST_ROWS, len(counts), codes)
    values, merged, counts = np.unique(merged, return_inverse=True, return_counts=True)
    if not 2 <= len(values) <= _MOST_VALUES or counts.min() < _FEWEST_ROWS:
        return None
    return np.asarray(merged.ravel())


def by_classes(
    codes: Ints, values: Array, paired: Paired, make: Callable[[], PlainRatio], hidden: float = 0.0
) -> Opinion:
    """Return the information of classes and values; `hidden` is what merged classes may hide."""
    terms, value, systematic, unseen, n = np.zeros(len(codes)), 0.0, hidden, 0.0, len(codes)
    for split in _splits(codes, np.arange(n)):
        found = _information(split, values, paired.group, make)
        value += found.value * len(split.rows) / n
        systematic += found.systematic_error * len(split.rows) / n
        unseen += found.unseen * len(split.rows) / n
        terms[split.rows] += found.terms
    least = codes.max() * values.shape[1] / (2 * paired.rows**2)
    estimate = Estimate(
        value,
        float(np.sqrt(paired.variance_of_mean(terms) + least)),
        "mutual-information",
        systematic_error=systematic,
        degrees_of_freedom=paired.rows - 1,
        unseen=unseen,
        diagnostics={"method": "classes", "rows": n, "classes": int(codes.max()) + 1, "columns": values.shape[1]},
    )
    return Opinion(estimate, terms, float(least))


def _splits(codes: Ints, rows: Ints) -> Iterator[Split]:
    """Yield the split of some rows by the value that makes the parts most alike in size, then those of the parts."""
    counts = np.bincount(codes[rows])
    if np.count_nonzero(counts) < 2:
        return
    below = np.cumsum(counts)[:-1]
    first = codes[rows] <= np.argmin(np.abs(below - len(rows) / 2))
    yield Split(rows, first)
    yield from _splits(codes, rows[first])
    yield from _splits(codes, rows[~first])


@dataclass(frozen=True)
class _Found:
    value: float
    systematic_error: float
    unseen: float
    terms: Floats


def _information(split: Split, values: Array, group: Ints | None, make: Callable[[], PlainRatio]) -> _Found:
    p, q = split.rows[split.first], split.rows[~split.first]
    share = len(p) / len(split.rows)
    ratio, log_ratio = make(), np.empty(len(split.rows))
    try:
        ratio._fit(values[p], values[q], groups=None if group is None else (group[p], group[q]))
    except DisjointSupportError:  # Y says which part it is
        terms = np.where(split.first, -np.log(share), -np.log1p(-share))
        return _Found(float(terms.mean()), 0.0, 0.0, terms)
    compute = partial(_of_split, share=share)
    at_both = at_samples(ratio._fitted)
    value, error = compute(*at_both)
    log_ratio[split.first], log_ratio[~split.first] = ratio.numerator_log_ratio_, ratio.denominator_log_ratio_
    at = log_ratio + logit(share)
    terms = np.where(split.first, log_expit(at) - np.log(share), log_expit(-at) - np.log1p(-share))
    fitted = ratio._fitted
    missed = in_units_of("jensen-shannon", None, hidden_divergence(fitted.samples), value)
    return _Found(value, systematic_error(fitted, compute, error, at_both), missed, terms)


def _of_split(p: AtSample, q: AtSample, share: float) -> tuple[float, float]:
    """Return the information of the label and the values, and its standard error, given the share of the first part."""
    one_step = plugged_in = variance = 0.0
    for sign, each, part in ((1, p, share), (-1, q, 1 - share)):
        own = log_expit(sign * (each.log_ratio + logit(share))) - np.log(part)
        one_step += part * each.mean(own)
        plugged_in += part * each.mean(_gain(each.log_ratio, share))
        variance += part**2 * each.variance_of_mean(own)
    return (one_step + plugged_in) / 2, float(np.sqrt(variance))


def _gain(log_ratio: Floats, share: float) -> Floats:
    """Return the divergence of the posterior from the prior."""
    at = log_ratio + logit(share)
    return np.asarray(expit(at) * (log_expit(at) - np.log(share)) + expit(-at) * (log_expit(-at) - np.log1p(-share)))
