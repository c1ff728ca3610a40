"""The bias B that a weight function leaves: the loss of the fit and a diagnostic of the result.

With scores s₁, s₂ of the two densities, the log ratio of the weighted kernel estimates is off by h²·B to leading order,

    B = ∇log α · (s₁ − s₂) + ½ (∇²p₁/p₁ − ∇²p₂/p₂),

where the weight controls the first term, and the second is the bias of a plain estimate.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._models.derivatives.protocol import Derivatives
from vwkde._models.weights.protocol import Weight

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BiasTerms:
    """The terms of B at some points: the difference of scores (n, d), and B of a uniform weight (n,)."""

    direction: Floats
    unweighted: Floats


def bias_terms(numerator: Derivatives, denominator: Derivatives, x: Floats) -> BiasTerms:
    """Return the terms of B at the points x."""
    terms = BiasTerms(np.empty_like(x), np.empty(len(x)))

    def work(rows: slice) -> None:
        at = x[rows]
        laplacians = numerator.laplacian_over_density(at) - denominator.laplacian_over_density(at)
        terms.unweighted[rows] = 0.5 * laplacians
        terms.direction[rows] = numerator.score(at) - denominator.score(at)

    parallel.run_over_rows(work, len(x), parallel.rows_at_a_time(x.shape[1]))
    return terms


def residual_bias(weight: Weight, terms: BiasTerms, x: Floats) -> Floats:
    """Return B at the points x."""
    return weight.slope(x, terms.direction) + terms.unweighted
