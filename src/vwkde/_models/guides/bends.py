"""The guide named "bends": columns that follow curves of other columns, which bend or scatter otherwise in one sample.

Both samples share a chain of columns (`_models/shared_chain.py`). A column comes after those whose curves it follows.
The columns keep their own scale: mapped to normal scores, curves would be others.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.chain import with_constant
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.kind import Fit
from vwkde._models.shared_chain import (
    FIRST,
    MOST_WITH_PRODUCTS,
    SECOND,
    Curves,
    Rows,
    SharedLink,
    hardly_by_chance,
    polynomials,
    waves_and_products,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_COLUMNS = 30
_MOST_ROWS = 2_000
"""Rows of each sample that show whether columns follow curves, and in which order."""
_CLEARLY = 3.0
"""Standard errors by which a curve of one column must count to say which of two columns comes first."""
_CURVES_OF_ONE = 6
"""Curves of a single column: two powers and four waves."""
_NEW = 1e-2
"""Share of the squares of a curve that straight functions must leave for it to be one."""


@dataclass(frozen=True)
class Bends:
    """The log ratio of a chain of columns; of its links, only those that differ between the samples."""

    order: Ints
    centre: Floats
    unit: Floats
    links: tuple[SharedLink, ...]

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio."""
        z = (x[:, self.order] - self.centre) / self.unit
        return np.sum([link.log_ratio(z) for link in self.links], axis=0) + np.zeros(len(x))


def bend_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with polynomials, and with waves."""
    order = _order(_some_rows(numerator, denominator))
    return tuple(partial(fit_bends, order, curves) for curves in (polynomials, waves_and_products))


def have_bends(numerator: Sample, denominator: Sample) -> bool:
    """Return whether some column follows a curve of others in one of the samples."""
    if denominator.pairs is not None or not 2 <= numerator.points.shape[1] <= _MOST_COLUMNS:
        return False
    followed = _followed(_some_rows(numerator, denominator))
    return bool(followed.max() > hardly_by_chance(followed.size))


def fit_bends(order: Ints, curves: Curves, numerator: Sample, denominator: Sample) -> Bends:
    """Return the guide from one chain of columns for both samples, with what differs between them."""
    centre, unit = _centre_and_unit(numerator, denominator)
    rows = _rows(numerator, denominator, centre, unit)
    rows = rows._replace(z=rows.z[:, order])
    links = (rows.link(j, curves, own_scale=False) for j in range(len(order)))
    return Bends(order, centre[order], unit[order], tuple(link for link in links if link.differs))


def _centre_and_unit(numerator: Sample, denominator: Sample) -> tuple[Floats, Floats]:
    samples = numerator, denominator
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
    return centre, np.sqrt(np.maximum(np.diag(pooled_covariance(samples)), np.finfo(np.float64).tiny))


def _rows(numerator: Sample, denominator: Sample, centre: Floats, unit: Floats) -> Rows:
    samples = numerator, denominator
    z = (np.concatenate([sample.points for sample in samples]) - centre) / unit
    weight = np.concatenate([sample.weight * sample.effective_rows / sample.weight.sum() for sample in samples])
    return Rows(z, weight, np.repeat([FIRST, SECOND], [len(sample) for sample in samples]))


def _some_rows(numerator: Sample, denominator: Sample) -> Rows:
    random = np.random.default_rng(0)
    p, q = numerator.thinned(_MOST_ROWS, random), denominator.thinned(_MOST_ROWS, random)
    return _rows(p, q, *_centre_and_unit(p, q))


def _order(rows: Rows) -> Ints:
    """Return an order of the columns in which few follow curves of later ones."""
    columns = rows.z.shape[1]
    of_one = _followed(rows)[: _CURVES_OF_ONE * columns].reshape(_CURVES_OF_ONE, columns, columns).max(axis=0)
    bent_by = np.maximum(of_one**2 - _CLEARLY**2, 0.0)
    left: list[int] = list(range(columns))
    order: list[int] = []
    while left:
        net = bent_by[np.ix_(left, left)]
        order.append(left.pop(int(np.argmax(net.sum(axis=0) - net.sum(axis=1)))))
    return np.array(order[::-1])


def _followed(rows: Rows) -> Floats:
    """Return by how many standard errors columns follow curves, (curves, columns), in the sample that shows it better.

    The first curves are all of one kind of each column, then those of the next; products come last. What a column
    shares with straight functions of all others is taken out of it, and of the curves.
    """
    z, columns = rows.z, rows.z.shape[1]
    one, other = np.triu_indices(columns, 1)
    kinds = [polynomials(z[:, [i]]) for i in range(columns)], [waves_and_products(z[:, [i]]) for i in range(columns)]
    by_column = [np.concatenate(of_column, axis=1) for of_column in zip(*kinds, strict=True)]
    curves = np.stack(by_column, axis=2).reshape(len(z), -1)
    own = np.tile(np.eye(columns, dtype=bool), (_CURVES_OF_ONE, 1))
    if columns <= MOST_WITH_PRODUCTS:
        curves = np.column_stack([curves, z[:, one] * z[:, other]])
        own = np.concatenate([own, np.eye(columns, dtype=bool)[one] | np.eye(columns, dtype=bool)[other]])
    found = [_counts(curves[here], z[here], rows.weight[here]) for here in rows.halves]
    return np.where(own, 0.0, np.max(found, axis=0))


def _counts(curves: Floats, z: Floats, weight: Floats) -> Floats:
    """Return by how many standard errors, those of each row, each column follows each curve beside straight ones."""
    root = np.sqrt(weight)[:, None]
    straight, curved = with_constant(z) * root, curves * root
    left = (straight @ np.linalg.pinv(straight.T @ straight))[:, 1:]  # what the others leave of each column, scaled
    new = curved - straight @ np.linalg.lstsq(straight, curved)[0]
    error = np.sqrt((new**2).T @ left**2)
    says_more = (new**2).sum(axis=0) > _NEW * (curved**2).sum(axis=0)
    slope = np.abs(curved.T @ left)
    return np.divide(slope, error, out=np.zeros_like(slope), where=says_more[:, None] & (error > 0))
