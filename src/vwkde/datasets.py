"""Synthetic pairs of densities whose ratio, derivatives and divergence are known exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from vwkde.derivatives.gaussian import GaussianDerivatives

Floats = NDArray[np.float64]

_HETEROSCEDASTIC_VARIANCE = {10: 0.750**2, 20: 0.863**2}


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution."""

    mean: Floats
    covariance: Floats

    @property
    def derivatives(self) -> GaussianDerivatives:
        """The exact score and Laplacian."""
        return GaussianDerivatives(self.mean, np.linalg.inv(self.covariance).astype(np.float64))

    def log_density(self, x: Floats) -> Floats:
        """Return log p, of shape (n,)."""
        return np.atleast_1d(multivariate_normal(self.mean, self.covariance).logpdf(x))

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw n points, of shape (n, d)."""
        return random.multivariate_normal(self.mean, self.covariance, size=n, method="cholesky")


@dataclass(frozen=True)
class GaussianPair:
    """Two normal distributions, to be compared."""

    numerator: Gaussian
    denominator: Gaussian

    @property
    def kl(self) -> float:
        """The exact KL(numerator ‖ denominator), in nats."""
        p, q = self.numerator, self.denominator
        difference = q.mean - p.mean
        precision = np.linalg.inv(q.covariance)
        log_volumes = np.linalg.slogdet(q.covariance)[1] - np.linalg.slogdet(p.covariance)[1]
        spread = np.trace(precision @ p.covariance) - len(p.mean)
        return float(0.5 * (spread + difference @ precision @ difference + log_volumes))

    def log_ratio(self, x: Floats) -> Floats:
        """Return the exact log p₁/p₂, of shape (n,)."""
        return self.numerator.log_density(x) - self.denominator.log_density(x)

    def sample(self, n: int, m: int | None = None, random_state: int = 0) -> tuple[Floats, Floats]:
        """Draw n points of the numerator and m (n unless told) of the denominator."""
        random = np.random.default_rng(random_state)
        return self.numerator.sample(n, random), self.denominator.sample(n if m is None else m, random)


def one_dimensional() -> GaussianPair:
    """Return the paper's 1-D example: N(0, 1.1²) against N(1, 0.9²)."""
    return GaussianPair(
        Gaussian(np.zeros(1), np.array([[1.1**2]])),
        Gaussian(np.ones(1), np.array([[0.9**2]])),
    )


def mean_difference(dimension: int, difference: float) -> GaussianPair:
    """Return the paper's VMD setting: unit Gaussians whose means differ by so much along the first axis."""
    shifted = np.zeros(dimension)
    shifted[0] = difference
    return GaussianPair(
        Gaussian(np.zeros(dimension), np.eye(dimension)),
        Gaussian(shifted, np.eye(dimension)),
    )


def isotropic(dimension: int) -> GaussianPair:
    """Return the paper's Iso setting: unit Gaussians with means √2 apart, so that the KL is one."""
    return mean_difference(dimension, np.sqrt(2))


def heteroscedastic(dimension: int) -> GaussianPair:
    """Return the paper's NH setting, in 10 or 20 dimensions: equal means, a narrower and correlated denominator."""
    if dimension not in _HETEROSCEDASTIC_VARIANCE:
        raise ValueError(f"The heteroscedastic pair exists in 10 and 20 dimensions. Got {dimension} instead.")
    covariance = _HETEROSCEDASTIC_VARIANCE[dimension] * np.eye(dimension)
    covariance[0, 1] = covariance[1, 0] = 0.1
    return GaussianPair(
        Gaussian(np.zeros(dimension), np.eye(dimension)),
        Gaussian(np.zeros(dimension), covariance),
    )
