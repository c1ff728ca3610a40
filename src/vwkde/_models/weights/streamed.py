"""The variational weight for rows that are not all in memory: its normal equations are sums over rows, in one pass."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import Resources
from vwkde._data.sample import Sample
from vwkde._models.derivatives.protocol import Derivatives
from vwkde._models.weights.expansion import KernelExpansion, NormalEquations, normal_equations, solved
from vwkde._models.weights.residual import bias_terms

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _EquationsOf:
    """The contribution of points to the normal equations of a weight; it is pickled for passes over rows."""

    expansion: KernelExpansion
    tilted: tuple[Derivatives, Derivatives]
    rows: float

    def __call__(self, points: Floats, weight: Floats) -> NormalEquations:
        return normal_equations(self.expansion, points, bias_terms(*self.tilted, points), weight, self.rows)


def fit_expansion_to_all(
    samples: tuple[Sample, ...],
    models: tuple[Derivatives, Derivatives],
    basis: Floats,
    length_scale: float,
    ridge: float,
    resources: Resources,
) -> KernelExpansion:
    """Fit the expansion to all rows of the samples, in memory or not, with equal weight for each sample."""
    expansion = KernelExpansion(basis, np.zeros(len(basis)), length_scale, resources=resources)
    equations = []
    for sample in samples:
        work = _EquationsOf(expansion, models, len(samples) * sample.total_weight)
        equations.append(work(sample.points, sample.weight))
        if sample.rest is not None:
            equations.append(sample.rest.reduce(work, NormalEquations.plus, "weight fit"))
    return solved(expansion, reduce(NormalEquations.plus, equations), ridge)
