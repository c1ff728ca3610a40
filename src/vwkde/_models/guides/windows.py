"""The guide named "windows": columns that are steps of one series, each a function of the few before it.

Rows that are cut out of a series look alike at every step, so one regression on the last few steps serves all columns:
a few numbers instead of all correlations, which few rows do not show among many columns. Both samples share the
regression (`_models/shared_chain.py`), and only what clearly differs belongs to one of them.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.guides.kind import Fit
from vwkde._models.shared_chain import (
    FIRST,
    SECOND,
    Curves,
    Rows,
    SharedLink,
    hardly_by_chance,
    polynomials,
    waves_and_products,
)

Floats = NDArray[np.float64]

_FEWEST_COLUMNS = 6
_MOST_LAGS = 6
_MOST_STEPS = 100_000
"""Steps of each sample that a regression learns from at most."""
_UNEVEN = 2.5
"""Mean squared standard error by which columns may differ from their mean, and correlations from that of their lag."""
_CLEARLY = 5.0
"""Standard errors by which a step must go with the one before it, or its size with that one's."""


@dataclass(frozen=True)
class Windows:
    """The log ratio of a series in two samples; a step has a link by how many steps before it are known."""

    centre: float
    unit: float
    links: tuple[SharedLink, ...]

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio."""
        z = (x - self.centre) / self.unit
        result = np.zeros(len(x))
        for link in self.links:
            # all steps after the first few have the last link
            known = z if link is self.links[-1] else z[:, : link.column + 1]
            if link.differs:
                result += link.log_ratio(_embedded(known, link.column)).reshape(len(x), -1).sum(axis=1)
        return result


def windows_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with powers of the steps before, and with waves."""
    lags = max(_lags(_some_rows(sample)) for sample in (numerator, denominator))
    return tuple(partial(fit_windows, lags, curves) for curves in (polynomials, waves_and_products))


def fit_windows(lags: int, curves: Curves, numerator: Sample, denominator: Sample) -> Windows:
    """Return the guide from regressions of a step on up to so many before it."""
    p, q = _some_rows(numerator), _some_rows(denominator)
    means, variances = zip(*(_mean_and_variance(sample) for sample in (p, q)), strict=True)
    centre, unit = float(np.mean(means)), float(np.sqrt(np.mean(variances)))
    links = (_steps(p, q, k, centre, unit).link(k, curves, own_scale=True) for k in range(lags + 1))
    return Windows(centre, unit, tuple(links))


def _some_rows(sample: Sample) -> Sample:
    most = max(2, _MOST_STEPS // sample.points.shape[1])
    return sample.thinned(most, np.random.default_rng(0))


def _mean_and_variance(sample: Sample) -> tuple[float, float]:
    """Return the mean of all steps and their variance."""
    mean, covariance = sample.mean_and_covariance()
    return float(mean.mean()), float(np.mean(np.diag(covariance)))


def _steps(numerator: Sample, denominator: Sample, lags: int, centre: float, unit: float) -> Rows:
    """Return all steps of both samples, each with so many before it as columns."""
    z, weight, side = [], [], []
    for sample, own in ((numerator, FIRST), (denominator, SECOND)):
        z.append(_embedded((sample.points - centre) / unit, lags))
        rows = sample.weight * sample.effective_rows / sample.weight.sum()
        weight.append(np.repeat(rows, len(z[-1]) // len(rows)))
        side.append(np.full(len(z[-1]), own))
    return Rows(np.concatenate(z), np.concatenate(weight), np.concatenate(side))


def _embedded(z: Floats, lags: int) -> Floats:
    """Return each step with so many before it, those of the first row first."""
    return np.lib.stride_tricks.sliding_window_view(z, lags + 1, axis=1).reshape(-1, lags + 1)


def have_windows(numerator: Sample, denominator: Sample) -> bool:
    """Return whether the columns of both samples look like steps of a series, and one goes with those before it."""
    if denominator.pairs is not None or numerator.points.shape[1] < _FEWEST_COLUMNS:
        return False
    samples = numerator, denominator
    return all(_is_even(sample) for sample in samples) and any(_remembers(sample) for sample in samples)


def _is_even(sample: Sample) -> bool:
    """Return whether means, variances and correlations do not depend on the step."""
    rows, share = sample.effective_rows, sample.weight / sample.weight.sum()
    mean, covariance = sample.mean_and_covariance()
    variance = np.diag(covariance)
    if not variance.all():
        return False
    squares = (sample.points - mean) ** 2
    error = share @ (squares - share @ squares) ** 2 / rows
    of_means = (mean - mean.mean()) ** 2 / (variance.mean() / rows)
    of_variances = (variance - variance.mean()) ** 2 / np.maximum(error.mean(), np.finfo(np.float64).tiny)
    correlation = covariance / np.sqrt(np.outer(variance, variance))
    by_lag = [np.diagonal(correlation, lag) for lag in range(1, len(mean) - 1)]
    of_lags = [(each - each.mean()) ** 2 * rows / (1 - min(each.mean() ** 2, 0.99)) ** 2 for each in by_lag]
    return max(of_means.mean(), of_variances.mean(), np.concatenate(of_lags).mean()) < _UNEVEN


def _remembers(sample: Sample) -> bool:
    """Return whether a step clearly goes with the one before it, or its size with that one's size."""
    z = sample.points - sample.mean_and_covariance()[0]
    size = np.abs(z) - np.average(np.abs(z), axis=0, weights=sample.weight)
    return any(_clear_mean((each[:, 1:] * each[:, :-1]).mean(axis=1), sample) > _CLEARLY for each in (z, size))


def _clear_mean(values: Floats, sample: Sample) -> float:
    """Return by how many standard errors a mean over rows differs from zero."""
    error = np.sqrt(sample.variance_of_mean(values))
    return float(abs(np.average(values, weights=sample.weight)) / max(error, np.finfo(np.float64).tiny))


def _lags(sample: Sample) -> int:
    """Return how many steps before it a step clearly depends on, in a straight line or by its size; at least one."""
    z = sample.points - sample.mean_and_covariance()[0]
    size = np.abs(z) - np.average(np.abs(z), axis=0, weights=sample.weight)
    most = min(_MOST_LAGS, z.shape[1] // 2)
    steps = z.shape[1] - most
    known, errors = [np.ones((len(z) * steps, 1))], []
    for lag in range(1, most + 1):
        own = [each[:, most - lag : most - lag + steps].reshape(-1, 1) for each in (z, size)]
        errors.append(
            max(_beyond(known, one, each[:, most:], sample) for one, each in zip(own, (z, size), strict=True))
        )
        known += own
    clear = [lag for lag, error in enumerate(errors, start=1) if error > hardly_by_chance(2 * most)]
    return max(clear, default=1)


def _beyond(known: list[Floats], column: Floats, y: Floats, sample: Sample) -> float:
    """Return by how many standard errors steps go with a column beside others."""
    others = np.concatenate(known, axis=1)
    left, new = (each.reshape(-1) - others @ np.linalg.lstsq(others, each.reshape(-1))[0] for each in (y, column))
    return _clear_mean((left * new).reshape(y.shape).mean(axis=1), sample)
