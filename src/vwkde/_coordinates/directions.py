"""Directions that carry the ratio.

If log p₁/p₂ depends on only a few directions, it equals the log ratio of the projections on them, and the other
directions add only noise. Two densities are equal if their characteristic functions are equal. So the first direction u
is one along which those of the samples differ most; each next one is orthogonal to the earlier ones, and is the one
along which the samples differ most jointly with them. Let w be the weights of the rows, positive for the numerator and
negative for the denominator, ψ = 1 or e^(iv·x) for an earlier direction v, and ⟨⟩ the mean over both samples. The
search maximises

    D(u) = Σ_ψ Σ_t | Σ_j w_j ψ(x_j) (e^(itu·x_j) − ⟨e^(itu·x)⟩) |²,

which is zero up to noise if u·x has the same distribution in both samples and is independent of the earlier directions.
The search ends when it finds no more than between samples whose rows were permuted at random. Starting points are
differences of rows, so that a rotation of the data rotates everything.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_MOST_ROWS = 2_000
_STARTS = 100
_STEPS, _TRIAL_STEPS = 40, 10
"""Steps of a search, and the step after which only the best fifth of the starts continues."""
_FREQUENCY, _HARMONICS = 0.5, 4
"""The frequencies t, in whitened units: 0.5, 1, 1.5 and 2."""
MOST_DIRECTIONS = 3
_EQUAL = 1e-9
"""Distance between two rows, in whitened units, that rounding explains."""
_PERMUTATIONS, _PERMUTED_STARTS = 3, 40
"""Searches on permuted rows, and their starts: if there is nothing to find, all maxima are similar."""
_CLEARLY = 1.35
"""A direction must exceed the mean result of the permuted searches by this factor."""


@dataclass(frozen=True)
class _Difference:
    """D as a function of directions, in single precision.

    `weights`, of shape (n, 2k), has the real parts of the k centred weight functions w·ψ, then their imaginary parts.
    """

    points: Singles
    weights: Singles

    def climb(self, directions: Singles) -> tuple[Floats, float]:
        """Climb from all starts (the columns) and return the direction of the highest maximum, and its value."""
        for step in range(_STEPS):
            value, slope = self._value_and_slope(directions)
            if step == _TRIAL_STEPS:
                best = np.argsort(-value)[: 1 + len(value) // 5]
                directions, slope = directions[:, best], slope[:, best]
            slope -= directions * (directions * slope).sum(axis=0)
            slope /= np.linalg.norm(slope, axis=0) + np.finfo(np.float32).tiny
            directions = directions + np.float32(0.5 * (1 - step / _STEPS) + 0.01) * slope
            directions /= np.linalg.norm(directions, axis=0)
        value = self._value_and_slope(directions)[0]
        return directions[:, np.argmax(value)].astype(np.float64), float(value.max())

    def _value_and_slope(self, directions: Singles) -> tuple[Singles, Singles]:
        """Return D and its gradient; the waves of higher frequencies follow from the first by recurrence."""
        angle = np.float32(_FREQUENCY) * (self.points @ directions)
        cosine, sine = np.cos(angle), np.sin(angle)
        twice = 2 * cosine
        before = np.ones_like(angle), np.zeros_like(angle)
        wave = cosine, sine
        value = np.zeros(angle.shape[1], dtype=np.float32)
        rowwise = np.zeros_like(angle)
        for harmonic in range(1, _HARMONICS + 1):
            real, imaginary = self._gaps(*wave)
            value += (real**2 + imaginary**2).sum(axis=0)
            along = self.weights @ np.concatenate([real, imaginary])
            along *= wave[1]
            along += (self.weights @ np.concatenate([-imaginary, real])) * wave[0]
            along *= np.float32(2 * harmonic * _FREQUENCY)
            rowwise -= along
            if harmonic < _HARMONICS:
                before, wave = wave, (twice * wave[0] - before[0], twice * wave[1] - before[1])
        return value, self.points.T @ rowwise

    def _gaps(self, cosine: Singles, sine: Singles) -> tuple[Singles, Singles]:
        """Return the real and imaginary parts of Σ w ψ e^(itu·x), one row per function."""
        with_cosine, with_sine = self.weights.T @ cosine, self.weights.T @ sine
        k = len(with_cosine) // 2
        return with_cosine[:k] - with_sine[k:], with_sine[:k] + with_cosine[k:]


@parallel.single_threaded()
def find_directions(
    numerator: Sample, denominator: Sample, seed: int, by_chance: dict[int, float] | None = None
) -> Floats | None:
    """Return orthonormal directions (d, k) in which the samples differ, or None if there are none or too many.

    `by_chance` keeps what permuted searches find after so many directions, for later calls with nearly the same rows.
    """
    by_chance = {} if by_chance is None else by_chance
    random = np.random.default_rng(seed)
    p, q = (sample.thinned(_MOST_ROWS, random) for sample in (numerator, denominator))
    points = np.concatenate([p.points, q.points])
    shares = np.concatenate([p.weight / p.weight.sum(), -q.weight / q.weight.sum()])
    directions = np.empty((points.shape[1], 0))
    while directions.shape[1] < min(MOST_DIRECTIONS + 1, points.shape[1]):
        rest = points - points @ directions @ directions.T
        starts = _starts(rest, random)
        if not starts.size:
            break
        direction, value = _difference(rest, shares, points @ directions).climb(starts)
        found = directions.shape[1]
        if found not in by_chance:
            permuted = [
                _difference(rest, random.permutation(shares), points @ directions) for _ in range(_PERMUTATIONS)
            ]
            by_chance[found] = float(np.mean([each.climb(starts[:, :_PERMUTED_STARTS])[1] for each in permuted]))
        if value < _CLEARLY * by_chance[found]:
            break
        direction -= directions @ (directions.T @ direction)
        directions = np.column_stack([directions, direction / np.linalg.norm(direction)])
    return directions if 0 < directions.shape[1] <= MOST_DIRECTIONS else None


def _starts(points: Floats, random: np.random.Generator) -> Singles:
    """Return directions between rows; none between equal rows, whose difference has no direction."""
    one, other = random.choice(len(points), (2, _STARTS))
    steps = (points[one] - points[other]).T
    lengths = np.linalg.norm(steps, axis=0)
    apart = lengths > _EQUAL
    return (steps[:, apart] / lengths[apart]).astype(np.float32)


def _difference(points: Floats, shares: Floats, projected: Floats) -> _Difference:
    functions = np.column_stack([np.ones(len(points)), np.exp(1j * projected)])
    weights = shares[:, None] * functions
    pooled = np.abs(shares) / np.abs(shares).sum()
    centred = weights - pooled[:, None] * weights.sum(axis=0)
    parts = np.column_stack([centred.real, centred.imag])
    return _Difference(points.astype(np.float32), parts.astype(np.float32))
