"""The variational weight as a network: log α = f(x), trained on the mean of B² plus a cost of steep weights.

With a steep weight the kernel sums depend on few rows. So the loss is

    mean of B²  +  a share of the variance of log α over the rows,        B = ∇f · (s₁ − s₂) + ½ (∇²p₁/p₁ − ∇²p₂/p₂).

The terms of B are computed once; a step takes two passes through the network and no Jacobian.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._models.networks import Network, fit_networks, mean_of
from vwkde._models.weights.residual import BiasTerms

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

_SPREAD_COST = 0.01
"""Cost of the variance of log α, in units of B²."""


@dataclass(frozen=True)
class NetworkWeight:
    """log α as the mean of some networks."""

    networks: tuple[Network, ...]

    def log_weight(self, x: Floats) -> Floats:
        """Return log α."""
        if not self.networks:
            return np.zeros(len(x))
        return mean_of(self.networks, (x,), lambda network, points: (network.values(points)[:, 0],))[0]

    def slope(self, x: Floats, direction: Floats) -> Floats:
        """Return ∇log α · direction."""
        if not self.networks:
            return np.zeros(len(x))
        return mean_of(self.networks, (x, direction), Network.values_and_slopes)[1][:, 0]


def fit_weight_network(
    x: Floats,
    terms: BiasTerms,
    importance: Floats,
    random_state: int = 0,
    device: str = "cpu",
) -> NetworkWeight:
    """Return the network that minimises mean(importance · B²) plus the cost of the variance of log α."""

    def loss(network: Network, points: "Tensor", direction: "Tensor", unweighted: "Tensor") -> "Tensor":
        log_weight, slope = (part[:, 0] for part in network.values_and_slopes(points, direction))
        return (slope + unweighted) ** 2 + _SPREAD_COST * (log_weight - log_weight.mean()) ** 2

    terms_of_b = terms.direction, terms.unweighted
    networks = fit_networks(
        x, importance, terms_of_b, outputs=1, terms=loss, seed=random_state, device=device, stage="weight network"
    )
    return NetworkWeight(networks)
