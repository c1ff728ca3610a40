"""Models of a density's derivatives: its score and its Laplacian.

`DERIVATIVES` is the registry: a new named model is a module here and one entry.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.derivatives.kernel import fit_kernel
from vwkde._models.derivatives.mixture import fit_mixture
from vwkde._models.derivatives.network import fit_network
from vwkde._models.derivatives.protocol import Derivatives
from vwkde._models.derivatives.select import select_derivatives
from vwkde._models.gaussian import GaussianModel, fit_gaussian_to_all

Models = tuple[Derivatives, Derivatives]
Losses = tuple[dict[str, float], dict[str, float]]
"""Held-out score-matching losses of the models tried, for each sample; empty if nothing was tried."""
NO_LOSSES: Losses = ({}, {})

_SIDES = ("numerator", "denominator")


def _fit_mixture(sample: Sample, side: str | None, seed: int, device: str) -> Derivatives:
    del device
    return fit_mixture(sample.points, sample.weight, side, seed)


def _fit_kernel(sample: Sample, side: str | None, seed: int, device: str) -> Derivatives:
    del device
    return fit_kernel(sample.points, sample.weight, side, seed, sample.group)


def _fit_network(sample: Sample, side: str | None, seed: int, device: str) -> Derivatives:
    return fit_network(sample.points, sample.weight, side, seed, device, sample.group)


def _fit_gaussian(sample: Sample, side: str | None, seed: int, device: str) -> Derivatives:
    del seed, device
    return fit_gaussian_to_all(sample, side)


DERIVATIVES: dict[str, Callable[[Sample, str | None, int, str], Derivatives]] = {
    "gaussian": _fit_gaussian,
    "mixture": _fit_mixture,
    "kernel": _fit_kernel,
    "network": _fit_network,
}
"""Fits by name; each takes a sample, its name in warnings or None, a seed, and the device of networks."""


def fit_derivatives(
    kind: Any, samples: tuple[Sample, Sample], seed: int, device: str = "cpu", quiet: bool = False
) -> tuple[Models, Losses]:
    """Fit the derivatives of both densities, by a name, "auto" or an object; also return the losses of the choice.

    `quiet` is for parts of samples, which may be degenerate although the whole is not: they raise no warnings.
    """

    def fit(side: str) -> tuple[Derivatives, dict[str, float]]:
        return _fit_one(kind, samples[_SIDES.index(side)], None if quiet else side, seed, device)

    # a fit is many small steps in Python: for the few rows of a part, two threads would only wait for each other
    with parallel.at_most(1 if quiet else None):
        (one, its_losses), (other, other_losses) = parallel.run(fit, list(_SIDES), "derivatives")
    return (one, other), (its_losses, other_losses)


def fit_gaussians(samples: tuple[Sample, Sample]) -> tuple[GaussianModel, GaussianModel]:
    """Fit a Gaussian to all rows of each sample."""
    return fit_gaussian_to_all(samples[0], _SIDES[0]), fit_gaussian_to_all(samples[1], _SIDES[1])


def _fit_one(
    kind: Any, sample: Sample, side: str | None, seed: int, device: str
) -> tuple[Derivatives, dict[str, float]]:
    if not isinstance(kind, str):
        # a copy for each side, because `fit` may return the object itself
        return deepcopy(kind).fit(sample.points, sample.weight), {}
    if kind != "auto":
        return DERIVATIVES[kind](sample, side, seed, device), {}
    model, losses = select_derivatives(sample.points, sample.weight, side, seed, sample.group)
    all_rows = sample.rest is not None and isinstance(model, GaussianModel)
    return (fit_gaussian_to_all(sample) if all_rows else model), losses
