"""The guide named "waves": log odds with a linear part, and waves along a few directions.

A ratio that rises and falls several times along a direction through several columns shows in no moment, hardly in
single columns, and not in kernel sums, which are wider than the wave. It does show in the characteristic functions:
those of the two samples differ at the frequency of the wave. Sine and cosine of the wave that is found there, and of
twice its frequency, become columns of a logistic regression, whose residuals show the next wave.

The search takes some rows only. If there are more, Newton's method in coefficients and frequencies ends at the largest
likelihood of all rows, of which the search knows the neighbourhood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from vwkde._coordinates.axes import principal_axes
from vwkde._data.sample import Sample
from vwkde._models.exponentials import chance_of
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.kind import Fit, Refinement
from vwkde._models.guides.logistic import quadratic_features
from vwkde._models.guides.regression import fit_line
from vwkde._models.guides.residuals import RIDGE, Both, Samples, error_elsewhere, shares, unexplained
from vwkde._models.guides.wave_search import by_chance, find_wave, highest_wave
from vwkde._models.log_loss import log_loss

Floats = NDArray[np.float64]

_MOST_WAVES = 2
_MOST_ROWS = 1_000
"""Rows of each sample by which waves are found."""
_SEARCHES = 3
"""Parts of so many rows in which a wave is looked for, if there are more: a search may end at a lower peak."""
_MORE_ROWS = 10_000
"""Rows of each sample that decide among those waves, and by which their frequencies become exact."""
_NEWTON_STEPS = 2
_INVERSE_RIDGE = 0.3
"""The ridge, as scikit-learn's C."""
_TOLERANCE = 1e-5
"""The slope of the loss at which a regression on many features ends."""
_CLEARLY = 1.5
"""Factor by which a wave must exceed what is found by chance, for the guide to be worth its time."""
_SURELY = 3.0
"""Standard deviations by which squares and products must explain more than chance does to know a part of a wave."""
_NEARLY_APART = 1.3
"""Difference of the characteristic functions, at most two, above which a wave nearly separates the samples."""
_ROWS_PER_FEATURE = 4
"""Rows for each feature of a regression that leave residuals which tell something."""


@dataclass(frozen=True)
class Waves:
    """A guide that is linear in the whitened columns and in waves with some frequency vectors, (columns, waves)."""

    centre: Floats
    whitening: Floats
    frequencies: Floats
    intercept: float
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.intercept + self.features(x) @ self.coefficients

    def features(self, x: Floats) -> Floats:
        """Return the whitened columns, and the waves with each frequency and with twice each."""
        z = self.whitened(x)
        angle = z @ self.frequencies
        cosine, sine = np.cos(angle), np.sin(angle)
        return np.concatenate([z, cosine, sine, 2 * cosine**2 - 1, 2 * sine * cosine], axis=1)

    def whitened(self, x: Floats) -> Floats:
        """Return points in the coordinates in which the rows that the guide was fitted to are white."""
        return (x - self.centre) @ self.whitening

    def fitted(self, samples: Samples) -> "Waves":
        """Return the guide with the coefficients of a logistic regression between two samples."""
        p, q = (replace(sample, points=self.features(sample.points)) for sample in samples)
        intercept, coefficients = fit_line(p, q, _INVERSE_RIDGE, _TOLERANCE)
        return replace(self, intercept=intercept, coefficients=coefficients)

    def sharpened(self, samples: Samples) -> "Waves":
        """Return the guide after steps of Newton's method in coefficients and frequencies, if they lower the loss."""
        best, loss = self, self._loss(samples)
        for _ in range(_NEWTON_STEPS):
            moved = best._moved(samples)
            after = moved._loss(samples)
            if not after < loss:
                break
            best, loss = moved, after
        return best

    def _moved(self, samples: Samples) -> "Waves":
        slopes = np.concatenate([self._slopes(sample.points) for sample in samples])
        known = np.append(self.intercept, self.coefficients)
        chance = chance_of(slopes[:, : len(known)] @ known)
        share = np.concatenate([shares(sample) for sample in samples])
        products = (slopes * (share * chance * (1 - chance))[:, None]).T @ slopes
        products.flat[:: len(products) + 1] += RIDGE * np.trace(products)
        of_numerator = np.arange(len(chance)) < len(samples[0])
        step = solve(products, (share * (of_numerator - chance)) @ slopes, assume_a="pos")
        known, frequencies = known + step[: len(known)], step[len(known) :].reshape(self.frequencies.T.shape).T
        return replace(
            self, intercept=float(known[0]), coefficients=known[1:], frequencies=self.frequencies + frequencies
        )

    def _slopes(self, x: Floats) -> Floats:
        """Return the slopes of the log odds in the intercept, the coefficients and each wave's frequencies."""
        features, (columns, waves) = self.features(x), self.frequencies.shape
        z, (cosine, sine, twice_cosine, twice_sine) = features[:, :columns], _in_parts(features[:, columns:])
        a, b, twice_a, twice_b = _in_parts(self.coefficients[columns:])
        along = b * cosine - a * sine + 2 * (twice_b * twice_cosine - twice_a * twice_sine)
        by_frequency = (along[:, wave, None] * z for wave in range(waves))
        return np.concatenate([np.ones((len(x), 1)), features, *by_frequency], axis=1)

    def _residuals(self, samples: Samples) -> tuple[Floats, Floats]:
        p, q = samples
        return shares(p) * chance_of(-self(p.points)), -shares(q) * chance_of(self(q.points))

    def _loss(self, samples: Samples) -> float:
        p, q = samples
        return log_loss((self(p.points), self(q.points)), samples)

    def with_wave(self, parts: Sequence[Samples], samples: Samples) -> "Waves":
        """Return the guide with one more wave: of those that its residuals show in parts of the rows, the highest."""
        found = [find_wave(*self._whitened_residuals(part))[0] for part in parts]
        best = found[0] if len(found) == 1 else highest_wave(found, *self._whitened_residuals(samples))
        return replace(self, frequencies=np.column_stack([self.frequencies, best]))

    def _whitened_residuals(self, samples: Samples) -> tuple[Both, Both]:
        p, q = samples
        return (self.whitened(p.points), self.whitened(q.points)), self._residuals(samples)


def wave_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with one wave, and with more."""
    del numerator, denominator
    forms: list[Fit] = [fit_wave]
    while len(forms) < _MOST_WAVES:
        forms.append(Refinement(forms[-1], add_wave))
    return tuple(forms)


def fit_wave(numerator: Sample, denominator: Sample) -> Waves:
    """Fit a logistic regression on the columns and on one wave."""
    samples = numerator, denominator
    guide = _constant(samples)
    return add_wave(guide.fitted(_thinned(samples, _MORE_ROWS)) if guide.whitening.size else guide, *samples)


def add_wave(guide: Waves, numerator: Sample, denominator: Sample) -> Waves:
    """Return the guide with one more wave, fitted to these rows."""
    samples = numerator, denominator
    if not guide.whitening.size:  # rows that are all equal, without the few that differ
        return guide
    more = _thinned(samples, _MORE_ROWS)
    few = _thinned(more, _MOST_ROWS)
    parts = [few] if few is more else [few, *(_thinned(more, _MOST_ROWS, seed) for seed in range(1, _SEARCHES))]
    guide = guide.with_wave(parts, more).fitted(more)
    if more is not few:
        guide = guide.sharpened(more)
    return guide if more is samples else guide.sharpened(samples)


def have_waves(numerator: Sample, denominator: Sample) -> bool:
    """Return whether the samples differ by a wave, beyond a quadratic function, or a linear one if the rows are few.

    Of a slow wave a quadratic function knows a part. It counts if it tells rows apart better than such a function, by
    regressions that have not seen these rows. Where a wave nearly separates the samples, the log loss no longer shows
    how large the ratio is, and models of the densities know more about it. In a single column kernel sums see any wave.
    Pairs of X and Y are left out: the estimates of mutual information see waves in other ways.
    """
    samples = numerator, denominator
    guide = _constant(samples)
    some = _thinned(samples, _MOST_ROWS)
    points = guide.whitened(some[0].points), guide.whitened(some[1].points)
    rows, columns = sum(map(len, some)), points[0].shape[1]
    if columns < 2 or denominator.pairs is not None or rows < _ROWS_PER_FEATURE * columns:
        return False
    quadratic = quadratic_features(points[0]), quadratic_features(points[1])
    beyond_linear, features = unexplained(*points, some), quadratic[0].shape[1]
    if rows < _ROWS_PER_FEATURE * features:
        return _show_a_wave(points, beyond_linear)
    beyond_quadratic = unexplained(*quadratic, some)
    if _show_a_wave(points, beyond_quadratic):
        return True
    more = features - columns
    by_chance_alone = 1 + (more + _SURELY * np.sqrt(2 * more)) / rows
    know_a_part = _squares(beyond_linear) > by_chance_alone * _squares(beyond_quadratic)
    return know_a_part and _show_a_wave(points, beyond_linear) and _is_better_than_squares(points, quadratic, some)


def _show_a_wave(points: Both, residuals: Both) -> bool:
    """Return whether residuals have a wave that chance does not explain, and that does not separate the samples."""
    _, height = find_wave(points, residuals, thoroughly=False)
    apart = np.sqrt(height * _squares(residuals))
    return height > _CLEARLY * by_chance(points[0].shape[1]) and bool(apart < _NEARLY_APART)


def _squares(residuals: Both) -> float:
    return sum(float(each @ each) for each in residuals)


def _is_better_than_squares(points: Both, quadratic: Both, samples: Samples) -> bool:
    """Return whether the wave that one half of the rows shows is a better model of the other half, both ways."""
    halves = [_every_second(samples, start) for start in (0, 1)]
    columns, squares = ([(p[start::2], q[start::2]) for start in (0, 1)] for p, q in (points, quadratic))
    errors = np.zeros(3)
    for here, there in ((0, 1), (1, 0)):
        wave, _ = find_wave(columns[here], unexplained(*columns[here], halves[here]), thoroughly=False)
        waves = [(_with_wave(p, wave), _with_wave(q, wave)) for p, q in columns]
        errors += [
            error_elsewhere(features[here], halves[here], features[there], halves[there])
            for features in (columns, squares, waves)
        ]
    return int(np.argmin(errors)) == len(errors) - 1


def _every_second(samples: Samples, start: int) -> Samples:
    p, q = (sample.subset(np.arange(start, len(sample), 2)) for sample in samples)
    return p, q


def _with_wave(points: Floats, frequency: Floats) -> Floats:
    angle = points @ frequency
    return np.column_stack([points, np.cos(angle), np.sin(angle)])


def _in_parts(values: Floats) -> list[Floats]:
    """Return what belongs to the cosines, the sines, and those of twice the frequency."""
    return np.split(values, 4, axis=-1)


def _constant(samples: Samples) -> Waves:
    """Return a guide of zero, with the whitening of these rows."""
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
    root = principal_axes(pooled_covariance(samples), np.finfo(np.float64).eps).root
    columns = root.shape[1]
    return Waves(centre, root, np.empty((columns, 0)), 0.0, np.zeros(columns))


def _thinned(samples: Samples, most: int, seed: int = 0) -> Samples:
    """Return at most so many rows of each sample; the samples themselves if they have no more."""
    if max(map(len, samples)) <= most:
        return samples
    p, q = (sample.thinned(most, np.random.default_rng(seed)) for sample in samples)
    return p, q
