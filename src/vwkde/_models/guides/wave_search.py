"""The wave along which two samples differ most.

For residuals s of rows x, the frequency vector w at which

    D(w) = |Σ_j s_j e^(iw·x_j)|² / Σ_j s_j²

is largest is found by gradient ascent from the best of many starts, and again from points around what was found: a wave
has lower peaks around its own, where some columns take few values. If the residuals are noise, D has a mean of one at
every w; the largest value that a search finds grows with the number of columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Both = tuple[Floats, Floats]

_TRIED, _STARTS = 2_000, 96
"""Random frequency vectors, and the best of them, from which the search starts: the peak of a wave is narrow."""
_HOPS, _AROUND, _FAR = 2, 64, 2.0
"""How often the search goes on from around the best frequency vector, from how many points, and how far from it."""
_STEPS, _TRIAL_STEPS = 40, 8
"""Steps of a search, and the step after which only the best sixth of the starts continues."""
_FIRST_STEP, _LAST_STEP = 0.4, 0.005
"""Lengths of the steps: the first one, and what the last ones tend to."""
_SLOWEST, _FASTEST = 0.7, 7.0
"""Lengths of the frequency vectors, in whitened units."""
_BLOCK = 32
"""Frequency vectors at a time: so many waves of 2,000 rows stay in a processor's cache."""
_MANY_ROWS = 1_500
"""Rows of both samples from which compiled loops are used; kernel sums of so many rows load the compiler too."""
_BY_CHANCE, _PER_COLUMN = 3.0, 1.9
"""The largest D between samples of one density is about the first, plus the second for each column."""


@dataclass(frozen=True)
class _Difference:
    """D as a function of frequency vectors, the columns of an array; in single precision."""

    points: Singles
    residuals: Singles

    def value(self, frequencies: Singles) -> Singles:
        """Return D at frequency vectors."""
        real, imaginary = self._sums(self._weights[:1], frequencies)
        return (real**2 + imaginary**2)[0]

    def climb(self, frequencies: Singles) -> tuple[Floats, float]:
        """Climb from all starts and return the frequency vector of the highest maximum, and its D."""
        tried = self._moved(frequencies, range(_TRIAL_STEPS))
        best = np.argsort(-self.value(tried))[: 1 + tried.shape[1] // 6]
        found = self._moved(tried[:, best], range(_TRIAL_STEPS, _STEPS))
        value = self.value(found)
        return found[:, np.argmax(value)].astype(np.float64), float(value.max())

    def _moved(self, frequencies: Singles, steps: range) -> Singles:
        """Return frequency vectors after some steps uphill."""
        lengths = (_FIRST_STEP * (1 - np.array(steps) / _STEPS) ** 2 + _LAST_STEP).astype(np.float32)
        if len(self.points) >= _MANY_ROWS:
            from vwkde._models.guides.wave_loops import climb

            frequencies = np.array(frequencies, order="C")
            climb(self.points, self._weights, frequencies, lengths, np.float32(_FASTEST))
            return frequencies
        for length in lengths:
            slope = self.slope(frequencies)
            slope /= np.linalg.norm(slope, axis=0) + np.finfo(np.float32).tiny
            frequencies = frequencies + length * slope
            speed = np.linalg.norm(frequencies, axis=0)
            frequencies *= np.float32(_FASTEST) / np.maximum(speed, np.float32(_FASTEST))
        return frequencies

    def slope(self, frequencies: Singles) -> Singles:
        """Return the gradients of D / 2 at frequency vectors."""
        real, imaginary = self._sums(self._weights, frequencies)
        return imaginary[0] * real[1:] - real[0] * imaginary[1:]

    def _sums(self, weights: Singles, frequencies: Singles) -> tuple[Singles, Singles]:
        """Return the sums over rows of cosines and of sines times weights, (weights, frequencies)."""
        shape = len(weights), frequencies.shape[1]
        real, imaginary = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)
        if len(self.points) >= _MANY_ROWS:
            from vwkde._models.guides.wave_loops import set_sums

            set_sums(self.points, weights, np.ascontiguousarray(frequencies), real, imaginary)
            return real, imaginary
        for at in (slice(start, start + _BLOCK) for start in range(0, shape[1], _BLOCK)):
            angle = self.points @ frequencies[:, at]
            real[:, at], imaginary[:, at] = weights @ np.cos(angle), weights @ np.sin(angle)
        return real, imaginary

    @lazy
    def _weights(self) -> Singles:
        """The residuals, and the points times their residuals, a line for each column."""
        return np.ascontiguousarray(np.vstack([self.residuals, self.residuals * self.points.T]))


def find_wave(points: Both, residuals: Both, thoroughly: bool = True) -> tuple[Floats, float]:
    """Return the frequency vector (columns,) of the highest D, and D, from whitened rows of two samples.

    If it is not done thoroughly, the search ends at the first peak.
    """
    difference, tried = _difference(points, residuals), _between(*points)
    heights = difference.value(tried)
    best = difference.climb(tried[:, np.argsort(-heights)[:_STARTS]])
    random = np.random.default_rng(1)
    for _ in range(_HOPS if thoroughly else 0):
        steps = _FAR / np.sqrt(len(best[0])) * random.normal(size=(len(best[0]), _AROUND))
        best = max(best, difference.climb((best[0][:, None] + steps).astype(np.float32)), key=lambda found: found[1])
    return best


def highest_wave(found: list[Floats], points: Both, residuals: Both) -> Floats:
    """Return the one of some frequency vectors whose D is highest at these rows."""
    heights = _difference(points, residuals).value(np.stack(found, axis=1).astype(np.float32))
    return found[int(np.argmax(heights))]


def _difference(points: Both, residuals: Both) -> _Difference:
    both = np.concatenate(residuals)
    scale = np.linalg.norm(both) or 1.0
    return _Difference(
        np.ascontiguousarray(np.concatenate(points), dtype=np.float32), (both / scale).astype(np.float32)
    )


def by_chance(columns: int) -> float:
    """Return about what D a search finds if there is nothing to find."""
    return _BY_CHANCE + _PER_COLUMN * columns


def _between(numerator: Floats, denominator: Floats) -> Singles:
    """Return frequency vectors along lines between the samples, the same ones if these change places."""
    random = np.random.default_rng(0)
    places, lengths = random.uniform(size=_TRIED), random.uniform(_SLOWEST, _FASTEST, size=_TRIED)
    one, other = (x[(places * len(x)).astype(np.intp)] for x in (numerator, denominator))
    steps = (one - other).T
    sizes = np.linalg.norm(steps, axis=0)
    return (steps / np.maximum(sizes, np.finfo(np.float64).tiny) * lengths).astype(np.float32)
