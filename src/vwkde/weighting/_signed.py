"""Weights of both signs, as events of Monte Carlo generators have, made non-negative without changing the density.

Rows with weights of both signs stand for a density as long as their local sum is positive. It is the density of rows
with weights |w|, times the local mean of the signs: Σ w δ ≈ |w|(x)·(2·P(positive | x) − 1). So each row gets the weight
|w|·(2·P(positive | x) − 1), with the probability from classifiers that have not seen the row. Everything built for
non-negative weights then works unchanged. The rows' own signed weights come back at the end.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._data.sample import Sample, make_sample
from vwkde._models.guides.cross_fit import CrossFitted, cross_fit
from vwkde._models.log_loss import log_loss
from vwkde._runtime.warn import warn
from vwkde.exceptions import OverlapWarning

Floats = NDArray[np.float64]

_LEAST = 0.05
"""Local mean sign below which it counts as this: it cannot be told from zero there."""
_MANY = 0.05
"""Share of the weight there from which there is a warning."""
_FEWEST = 100
"""Rows of each sign from which the mean sign may depend on the columns."""


def is_signed(weight: Floats | None) -> bool:
    """Return whether some weights are negative."""
    return weight is not None and bool((weight < 0).any())


def local_weights(x: Floats, weight: Floats, name: str, seed: int) -> Floats:
    """Return non-negative weights with which rows have the density that signed weights give them."""
    if weight.sum() <= 0:
        raise ValueError(
            f"The {name} must add up to more than zero. Got a sum of {weight.sum():.4g}; check the signs, or give the "
            f"weights as they came from the generator."
        )
    sign = _mean_signs(x, weight, seed)
    size, counted = np.abs(weight), np.maximum(sign, _LEAST)
    share = float(size[sign < _LEAST].sum() / size.sum())
    if share > _MANY:
        warn(
            f"Negative weights cancel nearly all positive ones for {share:.0%} of the rows by {name}: there is no "
            f"density to speak of there, and their ratios cannot be trusted. Use more rows, or leave that region out.",
            OverlapWarning,
        )
    return size * counted * (weight.sum() / (size * counted).sum())


def _mean_signs(x: Floats, weight: Floats, seed: int) -> Floats:
    """Return the mean sign near each row, weighted by size, from models that have not seen the row."""
    positive, size = weight > 0, np.abs(weight)
    share = size[positive].sum() / size.sum()
    if min(np.count_nonzero(positive), np.count_nonzero(weight < 0)) < _FEWEST:
        return np.full(len(x), 2 * share - 1)
    kept = weight != 0
    chosen = [np.flatnonzero(kept & side) for side in (positive, ~positive)]
    samples = [make_sample(x[rows], size[rows] / size[rows].mean()) for rows in chosen]
    fitted = _best(("logistic", "boosting"), (samples[0], samples[1]), seed)
    log_ratio = np.zeros(len(x))
    for rows, sample, values in zip(chosen, samples, fitted.at_samples, strict=True):
        log_ratio[rows] = sample.in_given_order(values)
    return np.asarray(2 * expit(log_ratio + np.log(share) - np.log1p(-share)) - 1)


def _best(guides: tuple[str, ...], samples: tuple[Sample, Sample], seed: int) -> CrossFitted:
    """Return the guide with the smallest loss on rows that it has not seen."""
    fitted = [cross_fit(guide, samples, seed) for guide in guides]
    return min(fitted, key=lambda each: log_loss(each.at_samples, samples))
