"""Derivatives by score matching: the paper's model-free variant.

The score is that of a Gaussian plus a network, ∇log p = −P(x − m) + f(x), trained on the score-matching loss

    mean of trace ∂s + ½‖s‖²,        s = ∇log p.

Sliced score matching estimates the trace by random projections, to avoid the cost of a Jacobian. With two hidden layers
the trace has a closed form that costs no more than one projection, so the loss has no variance of its own. Training
stops when held-out rows show no progress; for Gaussian data f stays zero. Every step moves the points a little at
random, so that the score does not drop abruptly between and beyond them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import require_torch
from vwkde._data.sample import effective_rows
from vwkde._models.gaussian import GaussianModel, fit_gaussian
from vwkde._models.networks import Network, fit_networks, mean_of

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

_NOISE = 0.4
"""Standard deviation of these moves, in units of the sample's spread times n^(−1/5)."""


@dataclass(frozen=True)
class NetworkDerivatives:
    """Score and Laplacian of a Gaussian plus the mean of some networks; there is no log density."""

    base: GaussianModel
    networks: tuple[Network, ...]

    kind: ClassVar[str] = "network"

    def score(self, x: Floats) -> Floats:
        """Return ∇log p."""
        return self._score_and_divergence(x)[0]

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p: the divergence of the score plus its square."""
        score, divergence = self._score_and_divergence(x)
        return divergence + (score**2).sum(axis=1)

    def _score_and_divergence(self, x: Floats) -> tuple[Floats, Floats]:
        score, divergence = self.base.score(x), np.full(len(x), -np.trace(self.base.precision))
        if self.networks:
            correction, its_divergence = mean_of(self.networks, (x,), Network.values_and_traces)
            score, divergence = score + correction, divergence + its_divergence
        return score, divergence


def fit_network(
    x: Floats,
    weight: Floats,
    name: str | None = None,
    random_state: int = 0,
    device: str = "cpu",
    group: NDArray[np.intp] | None = None,
) -> NetworkDerivatives:
    """Fit networks to the score of a whitened sample; its name, if any, is for the warning when it has no density."""
    require_torch(device)
    import torch

    base = fit_gaussian(x, weight, name)
    mean, precision = (
        torch.as_tensor(part, dtype=torch.float32, device=device) for part in (base.mean, base.precision)
    )

    def terms(network: Network, points: "Tensor") -> "Tensor":
        correction, divergence = network.values_and_traces(points)
        score = correction - (points - mean) @ precision
        return divergence - precision.trace() + 0.5 * (score**2).sum(dim=1)

    noise = _NOISE * effective_rows(weight) ** (-1 / 5)
    stage = f"{name} scores" if name else "scores"
    networks = fit_networks(
        x,
        weight,
        (),
        outputs=x.shape[1],
        terms=terms,
        seed=random_state,
        device=device,
        stage=stage,
        noise=noise,
        group=group,
    )
    return NetworkDerivatives(base, networks)
