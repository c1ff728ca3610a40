"""The guide named "independent": each sample is a linear mixture of independent columns of any shape.

Where columns are sums of independent parts, such as windows of a time series or sensors that share sources, a change of
the sums changes every shape that a Gaussian knows, and tails too. The directions of the parts, common to both samples
or one set for each, start from FastICA (Hyvärinen, 1999) and become the most likely ones for the densities along them
(`column_shapes.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.gaussian import is_few
from vwkde._models.guides.column_shapes import PARTS, ColumnShapes, fit_shapes
from vwkde._models.guides.densities import LogDensityDifference
from vwkde._models.guides.fast_ica import fast_ica
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]

_MOST_ROWS = 500
"""Rows of each sample that show whether its parts are independent and not normal."""
_MOST_COLUMNS = 30
_LEAST_VARIANCE = 1e-6
_ROTATIONS, _TOLERANCE = 50, 1e-3
_STEPS, _HALVINGS = 8, 5
"""Steps of the axes, and times that each may be halved."""
_LEAST_RISE = 1e-4
"""Rise of the mean log likelihood that is worth a further step."""
_LEAST_CURVATURE = 0.5


@dataclass(frozen=True)
class IndependentColumns:
    """The density of x with (x − centre)·axes independent, each column of its own shape."""

    centre: Floats
    axes: Floats
    shapes: ColumnShapes

    def log_density(self, x: Floats) -> Floats:
        """Return log p, normalised."""
        y = _along(self.axes, x - self.centre)
        return self.shapes.log_density(y).sum(axis=0) + np.linalg.slogdet(self.axes)[1]


def independent_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with axes that both samples share, and with those of each sample."""
    del numerator, denominator
    return partial(fit_independent, True), partial(fit_independent, False)


def fit_independent(shared: bool, numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from both samples' independent columns, with axes that are `shared` or not."""
    samples = numerator, denominator
    p, q = independent_columns(samples) if shared else (independent_columns([sample])[0] for sample in samples)
    return LogDensityDifference(p.log_density, q.log_density)


def have_independent_columns(numerator: Sample, denominator: Sample) -> bool:
    """Return whether a sample is described better by independent columns than by a Gaussian (Akaike's criterion)."""
    samples = numerator, denominator
    columns = numerator.points.shape[1]
    if denominator.pairs is not None or not 2 <= columns <= _MOST_COLUMNS:
        return False
    if any(is_few(0.8 * sample.effective_rows - 1, columns) for sample in samples):
        return False
    return any(_gain(sample.thinned(_MOST_ROWS, np.random.default_rng(0))) > 0 for sample in samples)


def _gain(sample: Sample) -> float:
    """Return by how much the criterion of independent columns is below that of a Gaussian, per row."""
    columns, rows = sample.points.shape[1], _rows_of(sample)
    y = _along(_first_axes([rows]), rows.x)
    likelihood = fit_shapes(y, rows.share).log_density(y).sum(axis=0) @ rows.share
    gaussian = -0.5 * columns * np.log(2 * np.pi * np.e)
    more = (3 * PARTS - 3) * columns + columns * (columns - 1) / 2
    return float(likelihood - gaussian - more / sample.effective_rows)


class _Rows(NamedTuple):
    """The rows of a sample, from their mean, and their shares."""

    centre: Floats
    x: Floats
    share: Floats


def _rows_of(sample: Sample) -> _Rows:
    centre = sample.mean_and_covariance()[0]
    return _Rows(centre, sample.points - centre, sample.weight / sample.weight.sum())


def independent_columns(samples: Sequence[Sample]) -> list[IndependentColumns]:
    """Fit axes that the samples share, and for each sample the density along each of them."""
    rows = [_rows_of(sample) for sample in samples]
    first = _first_axes(rows)
    axes = _most_likely_axes(rows, first, _shapes(rows, first))
    return [IndependentColumns(part.centre, axes, shape) for part, shape in zip(rows, _shapes(rows, axes), strict=True)]


def _shapes(rows: list[_Rows], axes: Floats) -> list[ColumnShapes]:
    return [fit_shapes(_along(axes, part.x), part.share) for part in rows]


def _along(axes: Floats, x: Floats) -> Floats:
    """Return rows along axes, of shape (axes, rows)."""
    return np.asarray(axes.T @ x.T)


def _first_axes(rows: list[_Rows]) -> Floats:
    """Return the axes that FastICA finds, along which the rows of all samples together have variance one."""
    x = np.concatenate([part.x for part in rows])
    covariance = np.mean([(part.x.T * part.share) @ part.x for part in rows], axis=0)
    values, vectors = np.linalg.eigh(covariance)
    white = vectors / np.sqrt(np.maximum(values, _LEAST_VARIANCE))
    return np.asarray(white @ fast_ica(x @ white, _ROTATIONS, _TOLERANCE).T)


def _most_likely_axes(rows: list[_Rows], axes: Floats, shapes: list[ColumnShapes]) -> Floats:
    """Return better axes for given shapes, after some steps of Newton's method on the relative change of the axes.

    Its curvature is that of independent columns, so that it mixes only the changes of two axes into each other.
    """
    identity = np.eye(len(axes))

    def likelihood(at: Floats) -> float:
        logs = [s.log_density(_along(at, p.x)).sum(axis=0) @ p.share for p, s in zip(rows, shapes, strict=True)]
        return float(np.mean(logs) + np.linalg.slogdet(at)[1])

    reached = likelihood(axes)
    for _ in range(_STEPS):
        change, before = _change(rows, axes, shapes), reached
        for _ in range(_HALVINGS):
            moved = axes @ (identity + change).T
            reached = likelihood(moved)
            if reached > before:
                break
            change = change / 2
        else:
            return axes
        axes = moved
        if reached - before < _LEAST_RISE:
            break
    return axes


def _change(rows: list[_Rows], axes: Floats, shapes: list[ColumnShapes]) -> Floats:
    """Return the relative change of the axes, by which column i gains a part of column j."""
    slopes, curvatures = [], []
    for part, shape in zip(rows, shapes, strict=True):
        y = _along(axes, part.x)
        score = shape.score(y)
        slopes.append((score * part.share) @ y.T - np.eye(len(axes)))
        curvature = np.outer(score**2 @ part.share, y**2 @ part.share)
        np.fill_diagonal(curvature, np.maximum((score * y) ** 2 @ part.share - 1, _LEAST_CURVATURE))
        curvatures.append(curvature)
    slope, curvature = np.mean(slopes, axis=0), np.mean(curvatures, axis=0)
    # columns that are normal can be rotated freely: there the determinant is zero
    determinant = np.maximum(curvature * curvature.T - 1, _LEAST_CURVATURE)
    change = (slope.T - curvature.T * slope) / determinant
    np.fill_diagonal(change, -np.diag(slope) / np.diag(curvature))
    return np.asarray(change)
