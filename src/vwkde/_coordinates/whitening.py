"""The coordinates in which everything else works.

One affine map shifts, rotates and scales both samples so that their pooled within-class covariance is the identity.
Such a map does not change ratio and divergences, and a round kernel in the new coordinates is an ellipse in the old
ones that follows the data: the estimate is the same for any affine copy of the data.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from vwkde._compute import parallel
from vwkde._coordinates.axes import principal_axes
from vwkde._coordinates.moved_in import moved_in
from vwkde._coordinates.shrinkage import ledoit_wolf_shrinkage
from vwkde._data.clouds import Cloud, InMemory
from vwkde._data.moments import Moments
from vwkde._data.outliers import Reach, find_reach
from vwkde._data.validation import Array, Names
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning, DisjointSupportError

Floats = NDArray[np.float64]

_MANY_COLUMNS, _HARDLY_ENOUGH = 20, 6
"""From this many columns on, correlations are shrunk if there are fewer than this many rows for each column."""
_THIN = 1e-3
"""Variance of a direction, relative to others, and deviation of a column, relative to its largest value, from which
rounding changes the map by less than 1e-12."""
_LARGEST = 1e150
"""Largest value of new points, in units of those that were fitted: sums of products of larger ones would overflow."""
_SUMS_TO = 1e-6
"""How exactly columns add up to a constant, relative to their sizes."""
_FARTHEST = 1e6
"""Distance between the samples, in standard deviations, beyond which there is nothing to estimate."""


@dataclass(frozen=True)
class Whitening:
    """The affine map x → (x / unit − centre) · matrix, of columns whose outliers beyond `reach` are moved closer."""

    unit: Floats
    centre: Floats
    matrix: Floats
    reach: Reach

    def __call__(self, x: Array) -> Floats:
        """Return the points in the new coordinates."""
        result = np.empty((len(x), self.matrix.shape[1]))

        def work(rows: slice) -> None:
            with np.errstate(over="ignore"):
                scaled = np.clip(moved_in(x[rows], self.reach) / self.unit, -_LARGEST, _LARGEST)
            result[rows] = (scaled - self.centre) @ self.matrix

        parallel.run_over_rows(work, len(x), parallel.rows_at_a_time(x.shape[1]))
        return result


def fit_whitening(numerator: Array, denominator: Array, weights: tuple[Floats, Floats], names: Names) -> Whitening:
    """Return the map that makes the pooled within-class variance one in every direction that varies."""
    return whiten((InMemory(numerator, weights[0]), InMemory(denominator, weights[1])), names)


def whiten(clouds: tuple[Cloud, Cloud], names: Names) -> Whitening:
    """Return the same map for samples in memory, in files or on a cluster."""
    return whiten_with_moments(clouds, names)[0]


def whiten_with_moments(clouds: tuple[Cloud, Cloud], names: Names) -> tuple[Whitening, tuple[Moments, Moments]]:
    """Return the map, and the moments of both samples in the new coordinates."""
    reach = find_reach((clouds[0].given(), clouds[1].given()))
    unit = _powers_of_two(_largest(clouds, reach))
    coarse = _whiten_once(clouds, lambda x: moved_in(x, reach) / unit, names, unit)
    whitening, last = replace(coarse.whitening, unit=unit, reach=reach), coarse
    if coarse.uneven and not _are_shrunk(clouds, whitening.matrix.shape[1]):
        # A second round repairs what rounding did to directions much thinner than others.
        last = _whiten_once(clouds, whitening, None)
        fine = last.whitening
        centre = whitening.centre + fine.centre @ np.linalg.pinv(whitening.matrix)
        whitening = Whitening(unit, centre, whitening.matrix @ fine.matrix, reach)
    p, q = last.moments
    _refuse_if_too_far(float(np.linalg.norm(p.mean - q.mean)))
    return whitening, (p, q)


def whiten_blocks(values: Array, weight: Floats, split: int, names: Names) -> tuple[Whitening, int]:
    """Return the map that whitens the columns before `split` and the others separately, and its own split.

    Independent blocks stay independent columns.
    """
    blocks = [
        whiten((cloud, cloud), names and names[part])
        for part in (slice(split), slice(split, None))
        for cloud in [InMemory(values[:, part], weight)]
    ]
    unit, centre = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("unit", "centre"))
    reach = Reach(*(np.concatenate(ends) for ends in zip(*(block.reach for block in blocks), strict=True)))
    return Whitening(unit, centre, block_diag(*(block.matrix for block in blocks)), reach), blocks[0].matrix.shape[1]


class _Round(NamedTuple):
    """A map that whitens, the moments of both samples after it, and whether some directions are much thinner."""

    whitening: Whitening
    moments: tuple[Moments, Moments]
    uneven: bool


def _whiten_once(
    clouds: tuple[Cloud, Cloud], place: Callable[[Array], Floats], names: Names, unit: Floats | float = 1.0
) -> _Round:
    """Return the map that whitens samples in these coordinates, of which columns as given are multiples, by a unit."""
    means, scatters = zip(*(cloud.moments(place) for cloud in clouds), strict=True)
    covariance = (scatters[0] + scatters[1]) / (clouds[0].rows + clouds[1].rows - 2)
    scale = np.sqrt(np.diag(covariance))
    constant = scale <= 1e-15  # the rounding of numbers near one
    _report_constant(constant, means[0] - means[1], names)
    scale[constant] = np.inf
    correlation = covariance / np.outer(scale, scale)
    varying = int(np.count_nonzero(~constant))
    if _are_shrunk(clouds, varying):
        centred = [(cloud.some(place) - mean) / scale for cloud, mean in zip(clouds, means, strict=True)]
        correlation = _shrunk(correlation, np.concatenate(centred), constant)
    principal = principal_axes(correlation, 10 * len(scale) * np.finfo(float).eps)
    flat = principal.flat
    sums = _are_sums((flat / (scale * unit)[:, None])[~constant])
    _report_flat(flat.shape[1] - int(constant.sum()), flat, (means[0] - means[1]) / scale, sums)
    root = principal.root
    if not flat.size:
        root = root @ principal.axes.T  # the symmetric root does not depend on the arbitrary choice of eigenvectors
    matrix = root / scale[:, None]
    everywhere = Reach(np.full(len(scale), -np.inf), np.full(len(scale), np.inf), np.zeros(len(scale), dtype=bool))
    whitening = Whitening(np.ones(len(scale)), (means[0] + means[1]) / 2, matrix, everywhere)
    p, q = (
        Moments((mean - whitening.centre) @ matrix, matrix.T @ scatter @ matrix)
        for mean, scatter in zip(means, scatters, strict=True)
    )
    thin = principal.variances[0] < _THIN * principal.variances[-1]
    return _Round(whitening, (p, q), bool(thin or flat.size or (scale < _THIN).any()))


def _largest(clouds: tuple[Cloud, Cloud], reach: Reach) -> Floats:
    """Return a bound for the sizes of the values of each column, with outliers moved closer."""
    size = np.maximum(clouds[0].largest(), clouds[1].largest()).astype(np.float64)
    return np.abs(moved_in(np.stack([-size, size]), reach)).max(axis=0)


def _powers_of_two(size: Floats) -> Floats:
    """Return units that bring the sizes close to one; division by a power of two is exact."""
    return np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))))


def _shrunk(correlation: Floats, centred: Floats, constant: NDArray[np.bool_]) -> Floats:
    """Shrink towards the identity if there are too few rows to estimate the correlations (Ledoit and Wolf)."""
    varying = int(np.count_nonzero(~constant))
    shrinkage = ledoit_wolf_shrinkage(centred[:, ~constant])
    warn(
        f"The rows are few for {varying} columns: the correlations between columns were shrunk by {shrinkage:.0%}. "
        f"Divergences may be far too small, by more than their intervals say. Use more rows or fewer columns.",
        DegenerateDataWarning,
    )
    return (1 - shrinkage) * correlation + shrinkage * np.diag(np.where(constant, 0.0, 1.0))


def _few_rows(clouds: tuple[Cloud, Cloud], columns: int, for_each: int = 2) -> bool:
    """Return whether there are fewer rows than this many for each column."""
    return clouds[0].rows + clouds[1].rows - 2 < for_each * columns


def _are_shrunk(clouds: tuple[Cloud, Cloud], columns: int) -> bool:
    """Return whether correlations are shrunk: if the rows are few, or hardly enough for many columns.

    Coordinates that are fitted to noise know the rows that they come from, and a model that is judged by rows held out
    of its fit would look too good in them.
    """
    return _few_rows(clouds, columns) or (columns >= _MANY_COLUMNS and _few_rows(clouds, columns, _HARDLY_ENOUGH))


def _report_constant(constant: NDArray[np.bool_], difference: Floats, names: Names) -> None:
    if not constant.any():
        return
    labels = [names[i] if names else int(i) for i in np.flatnonzero(constant)]
    if (np.abs(difference[constant]) > 1e-12).any():
        raise DisjointSupportError(
            f"Columns {labels} are constant within each sample but differ between them: the supports are disjoint and "
            f"the ratio is infinite. Drop those columns if they are labels, not measurements."
        )
    if constant.all():
        raise ValueError(
            "The samples must vary in at least one column. Got samples in which all rows are equal in the 15 digits "
            "that a float keeps; check the data. From large numbers, subtract what they have in common first."
        )
    warn(f"Columns {labels} are constant in both samples and were left out.", DegenerateDataWarning)


def _refuse_if_too_far(distance: float) -> None:
    if distance > _FARTHEST:
        raise DisjointSupportError(
            f"The distance between the samples is {distance:.0e} times their spread: the supports are disjoint and the "
            f"ratio is infinite. Check that both are in the same units."
        )


def _are_sums(directions: Floats) -> bool:
    """Return whether columns lack variation only because some of them add up to a constant, as shares do.

    If each column belongs to one such sum at most, the projection on the flat directions has equal entries for the
    columns of a sum, and zeros elsewhere.
    """
    basis = np.linalg.svd(directions, full_matrices=False)
    projection = basis.U[:, _SUMS_TO * basis.S.max(initial=0.0) < basis.S]
    projection = projection @ projection.T
    own = np.diag(projection)[:, None]
    return bool(np.minimum(np.abs(projection), np.abs(projection - own)).max(initial=0.0) < _SUMS_TO)


def _report_flat(count: int, directions: Floats, difference: Floats, sums: bool) -> None:
    """Tell which directions are flat; columns that add up to a constant, as `sums` says, are as they should be."""
    if count <= 0:
        return
    if (np.abs(difference @ directions) > 1e-6).any():
        raise DisjointSupportError(
            "The samples are in parallel planes that do not meet: the supports are disjoint and the ratio is infinite. "
            "Look for a column that is a combination of the others, and drop it."
        )
    if sums:
        return
    warn(
        f"Some columns are copies or linear combinations of others: {count} of the {len(difference)} directions "
        f"carry no variation and were left out.",
        DegenerateDataWarning,
    )
