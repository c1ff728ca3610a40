"""Synthetic pairs of densities whose ratio, derivatives and divergence are known exactly."""

from vwkde.datasets._densities import Banana, Density, Gaussian, GaussianMixtureDensity
from vwkde.datasets._pairs import (
    BananaPair,
    GaussianPair,
    MixturePair,
    Pair,
    bananas,
    heteroscedastic,
    isotropic,
    mean_difference,
    one_dimensional,
    three_modes,
)

__all__ = [
    "Banana",
    "BananaPair",
    "Density",
    "Gaussian",
    "GaussianMixtureDensity",
    "GaussianPair",
    "MixturePair",
    "Pair",
    "bananas",
    "heteroscedastic",
    "isotropic",
    "mean_difference",
    "one_dimensional",
    "three_modes",
]
