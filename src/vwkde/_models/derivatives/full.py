"""Components of a mixture with a covariance each.

A log density is linear in the constant one, the columns and their products, and so are the moments that give the next
components. In few columns a step is two products of this matrix, one with the coefficients of all components and one
with their shares, for a block of rows at a time. In many columns the matrix would be too large to gain anything, and
each component takes two products of its own. On a GPU the matrix pays with any number of columns.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.devices import device_of_models, send
from vwkde._models.derivatives.components import LEAST_VARIANCE, Components, Rows, shares_of
from vwkde._models.products import product_count, square_places, write_products
from vwkde._runtime.lazy import lazy

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

_FEW_COLUMNS = 10
"""Columns up to which the matrix of their products is the faster way, by a factor of two in three columns."""
_AT_A_TIME = 2**17
"""Numbers in a block of rows: so few that they stay in the processor's cache."""
_MOST_KEPT = 2**22
"""Numbers in the matrix up to which it is kept between the steps."""
_WORTH_SENDING = 20_000
"""Rows above which a step is worth launching on a GPU."""
_AT_A_TIME_THERE = 2**24
"""Numbers in a block of rows on a GPU: 128 MiB."""


def full_rows(x: Floats) -> Rows:
    """Return the rows of a centred sample: on the device of models, if they are many."""
    device = device_of_models()
    if device != "cpu" and len(x) > _WORTH_SENDING:
        return RowsOnDevice(send(x, device))
    return _FewColumns(x) if x.shape[1] <= _FEW_COLUMNS else _ManyColumns(x)


@dataclass(frozen=True)
class _ManyColumns:
    x: Floats

    def components(self, shares: Floats) -> Components:
        """Return the components that are most likely for these shares of the rows."""
        squares = [(self.x.T * share) @ self.x for share in shares]
        return _most_likely(shares.sum(axis=1), shares @ self.x, np.array(squares))

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the components after one step, and the mean log likelihood of those before it."""
        x, parts = self.x, zip(*_expanded(components), strict=True)
        logits = [constant + np.einsum("ij,ij->i", x, slope - x @ (0.5 * curve)) for constant, slope, curve in parts]
        shares, log_sum = shares_of(np.array(logits))
        return self.components(shares), float(log_sum.mean())


@dataclass(frozen=True)
class _FewColumns:
    x: Floats

    def components(self, shares: Floats) -> Components:
        """Return the components that are most likely for these shares of the rows."""
        moments = np.sum([shares[:, rows] @ features for rows, features in self._blocks], axis=0)
        return _from_moments(moments, self.x.shape[1])

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the components after one step, and the mean log likelihood of those before it."""
        coefficients = _coefficients(components)
        moments, likelihood = np.zeros_like(coefficients), 0.0
        for _, features in self._blocks:
            shares, log_sum = shares_of(coefficients @ features.T)
            moments += shares @ features
            likelihood += float(log_sum.sum())
        return _from_moments(moments, self.x.shape[1]), likelihood / len(self.x)

    @property
    def _blocks(self) -> Iterable[tuple[slice, Floats]]:
        """Blocks of rows, and their parts of the matrix."""
        few = len(self.x) * self._width <= _MOST_KEPT
        return self._kept if few else ((rows, self._features(rows)) for rows in self._parts)

    @lazy
    def _kept(self) -> list[tuple[slice, Floats]]:
        return [(rows, self._features(rows)) for rows in self._parts]

    @property
    def _parts(self) -> list[slice]:
        return parallel.split(len(self.x), _AT_A_TIME // self._width)

    @property
    def _width(self) -> int:
        return _width(self.x.shape[1])

    def _features(self, rows: slice) -> Floats:
        """Return ones, the columns and their products, side by side."""
        x, columns = self.x[rows], self.x.shape[1]
        features = np.empty((len(x), self._width))
        features[:, 0] = 1
        features[:, 1 : columns + 1] = x
        write_products(x, features[:, columns + 1 :])
        return features


@dataclass(frozen=True)
class RowsOnDevice:
    """The rows of a centred sample on a device: the same steps as in few columns, for larger blocks."""

    x: "Tensor"

    def components(self, shares: Floats) -> Components:
        """Return the components that are most likely for these shares of the rows."""
        there = send(shares, str(self.x.device))
        moments = np.sum([(there[:, rows] @ features).cpu() for rows, features in self._blocks()], axis=0)
        return _from_moments(moments, self.x.shape[1])

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the components after one step, and the mean log likelihood of those before it."""
        import torch

        coefficients = send(_coefficients(components), str(self.x.device))
        moments, likelihood = torch.zeros_like(coefficients), coefficients.new_zeros(())
        for _, features in self._blocks():
            logits = features @ coefficients.T
            log_sum = logits.logsumexp(dim=1, keepdim=True)
            moments += (logits - log_sum).exp_().T @ features
            likelihood += log_sum.sum()
        return _from_moments(moments.cpu().numpy(), self.x.shape[1]), float(likelihood) / len(self.x)

    def _blocks(self) -> Iterator[tuple[slice, "Tensor"]]:
        """Yield blocks of rows, with ones, the columns and their products, side by side."""
        import torch

        columns = self.x.shape[1]
        first, second = torch.triu_indices(columns, columns, device=self.x.device)
        for rows in parallel.split(len(self.x), _AT_A_TIME_THERE // _width(columns)):
            x = self.x[rows]
            yield rows, torch.cat([torch.ones_like(x[:, :1]), x, x[:, first] * x[:, second]], dim=1)


def _width(columns: int) -> int:
    """Return the number of features: the constant one, the columns and their products."""
    return 1 + columns + product_count(columns)


def _coefficients(components: Components) -> Floats:
    """Return the coefficients of each component's log density, times its weight, in the features."""
    constants, slopes, precisions = _expanded(components)
    columns = slopes.shape[1]
    curvatures = -precisions[:, *np.triu_indices(columns)]
    curvatures[:, square_places(columns)] *= 0.5
    return np.hstack([constants[:, None], slopes, curvatures])


def _from_moments(moments: Floats, columns: int) -> Components:
    """Return the components with these sums of the features, each weighted by the component's shares."""
    first, second = np.triu_indices(columns)
    squares = np.empty((len(moments), columns, columns))
    squares[:, first, second] = squares[:, second, first] = moments[:, columns + 1 :]
    return _most_likely(moments[:, 0], moments[:, 1 : columns + 1], squares)


def _expanded(components: Components) -> tuple[Floats, Floats, Floats]:
    """Return constants, slopes and precisions: log densities are constant + slope·x − xᵀPx/2, weights included."""
    weights, means, precisions = components
    slopes = np.einsum("kij,kj->ki", precisions, means)
    peaks = np.log(weights) + 0.5 * (np.linalg.slogdet(precisions)[1] - means.shape[1] * np.log(2 * np.pi))
    return peaks - 0.5 * (slopes * means).sum(axis=1), slopes, precisions


def _most_likely(rows: Floats, sums: Floats, squares: Floats) -> Components:
    """Return the components with these numbers of rows, sums of the rows, and sums of their products."""
    rows = rows + 10 * np.finfo(np.float64).eps
    means = sums / rows[:, None]
    covariances = squares / rows[:, None, None] - means[:, :, None] * means[:, None, :]
    precisions = np.linalg.inv(covariances + LEAST_VARIANCE * np.eye(sums.shape[1]))
    return Components(rows / rows.sum(), means, np.asarray(precisions, dtype=np.float64))
