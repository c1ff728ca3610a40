"""Synthetic pairs of densities whose ratio, derivatives and divergence are known exactly."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from vwkde._models.derivatives.mixture import MixtureDerivatives, make_mixture
from vwkde._models.gaussian import GaussianModel

Floats = NDArray[np.float64]

_HETEROSCEDASTIC_VARIANCE = {10: 0.750**2, 20: 0.863**2}
_NODES = 120
"""Quadrature nodes per column."""


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution."""

    mean: Floats
    covariance: Floats

    @property
    def derivatives(self) -> GaussianModel:
        """The exact score and Laplacian."""
        return GaussianModel(self.mean, np.linalg.inv(self.covariance).astype(np.float64))

    def log_density(self, x: Floats) -> Floats:
        """Return log p, of shape (n,)."""
        return np.atleast_1d(multivariate_normal(self.mean, self.covariance).logpdf(x))

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw n points, of shape (n, d)."""
        return random.multivariate_normal(self.mean, self.covariance, size=n, method="cholesky")


@dataclass(frozen=True)
class GaussianMixtureDensity:
    """A mixture of normal distributions, one per row of the means."""

    weights: Floats
    means: Floats
    covariances: Floats

    @property
    def derivatives(self) -> MixtureDerivatives:
        """The exact score and Laplacian."""
        return make_mixture(self.weights, self.means, np.linalg.inv(self.covariances).astype(np.float64))

    def log_density(self, x: Floats) -> Floats:
        """Return log p, of shape (n,)."""
        return self.derivatives.log_density(x)

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw n points, of shape (n, d)."""
        component = random.choice(len(self.weights), n, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)[component]
        return self.means[component] + np.einsum("nij,nj->ni", roots, random.normal(size=(n, self.means.shape[1])))

    def marginal(self, columns: int) -> "GaussianMixtureDensity":
        """Return the distribution of the first so many columns."""
        return GaussianMixtureDensity(self.weights, self.means[:, :columns], self.covariances[:, :columns, :columns])

    def with_noise(self, columns: int) -> "GaussianMixtureDensity":
        """Return the distribution with so many more columns of independent standard normal noise."""
        means = np.pad(self.means, ((0, 0), (0, columns)))
        covariances = np.stack([block_diag(each, np.eye(columns)) for each in self.covariances])
        return GaussianMixtureDensity(self.weights, means, covariances)


@dataclass(frozen=True)
class Banana:
    """A curved density: x₁ is standard normal, x₂ = bend (x₁² − 1) + width · a standard normal."""

    bend: float
    width: float = 0.5

    @property
    def derivatives(self) -> "Banana":
        """The density itself, which knows its score and Laplacian."""
        return self

    def log_density(self, x: Floats) -> Floats:
        """Return log p, of shape (n,)."""
        off = (x[:, 1] - self.bend * (x[:, 0] ** 2 - 1)) / self.width
        return -0.5 * (x[:, 0] ** 2 + off**2) - np.log(2 * np.pi * self.width)

    def score(self, x: Floats) -> Floats:
        """Return ∇log p, of shape (n, 2)."""
        pull = (self.bend * (x[:, 0] ** 2 - 1) - x[:, 1]) / self.width**2
        return np.stack([-x[:, 0] - 2 * self.bend * x[:, 0] * pull, pull], axis=1)

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p, of shape (n,)."""
        score = self.score(x)
        of_log = -1 - 2 * self.bend * score[:, 1] - (1 + 4 * self.bend**2 * x[:, 0] ** 2) / self.width**2
        return of_log + (score**2).sum(axis=1)

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw n points, of shape (n, 2)."""
        first, second = random.normal(size=(2, n))
        return np.stack([first, self.bend * (first**2 - 1) + self.width * second], axis=1)


class Density(Protocol):
    """A distribution that can be drawn from, and whose density is known."""

    def log_density(self, x: Floats) -> Floats:
        """Return log p, of shape (n,)."""

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw n points, of shape (n, d)."""


AnyDensity = TypeVar("AnyDensity", bound=Density)


@dataclass(frozen=True)
class Pair(Generic[AnyDensity]):
    """Two distributions, to be compared."""

    numerator: AnyDensity
    denominator: AnyDensity

    def log_ratio(self, x: Floats) -> Floats:
        """Return the exact log p₁/p₂, of shape (n,)."""
        return self.numerator.log_density(x) - self.denominator.log_density(x)

    def sample(self, n: int, m: int | None = None, random_state: int = 0) -> tuple[Floats, Floats]:
        """Draw n points of the numerator and m (n unless told) of the denominator."""
        random = np.random.default_rng(random_state)
        return self.numerator.sample(n, random), self.denominator.sample(n if m is None else m, random)


@dataclass(frozen=True)
class GaussianPair(Pair[Gaussian]):
    """Two normal distributions."""

    @property
    def kl(self) -> float:
        """The exact KL(numerator ‖ denominator), in nats."""
        p, q = self.numerator, self.denominator
        difference = q.mean - p.mean
        precision = np.linalg.inv(q.covariance)
        log_volumes = np.linalg.slogdet(q.covariance)[1] - np.linalg.slogdet(p.covariance)[1]
        spread = np.trace(precision @ p.covariance) - len(p.mean)
        return float(0.5 * (spread + difference @ precision @ difference + log_volumes))


@dataclass(frozen=True)
class MixturePair(Pair[GaussianMixtureDensity]):
    """Two mixtures that differ in the first `informative` columns; the others are independent noise, alike in both."""

    informative: int

    @cached_property
    def kl(self) -> float:
        """KL(numerator ‖ denominator) in nats, to five digits, by Gauss–Hermite quadrature over each component."""
        p, q = self.numerator.marginal(self.informative), self.denominator.marginal(self.informative)
        nodes, node_weights = hermegauss(_NODES)
        grid = np.array(list(product(nodes, repeat=self.informative)))
        grid_weights = np.prod(list(product(node_weights / node_weights.sum(), repeat=self.informative)), axis=1)
        total = 0.0
        for weight, mean, covariance in zip(p.weights, p.means, p.covariances, strict=True):
            points = mean + grid @ np.linalg.cholesky(covariance).T
            total += float(weight * grid_weights @ (p.log_density(points) - q.log_density(points)))
        return total


@dataclass(frozen=True)
class BananaPair(Pair[Banana]):
    """Two curved densities of one width."""

    @property
    def kl(self) -> float:
        """The exact KL(numerator ‖ denominator), in nats."""
        return ((self.numerator.bend - self.denominator.bend) / self.denominator.width) ** 2


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


def three_modes(dimension: int = 2) -> MixturePair:
    """Return a pair in the manner of the paper's mixtures: three Gaussians each in two columns, noise in the others.

    The modes stand on two triangles, one turned against the other, so that a single Gaussian per sample sees hardly
    any difference.
    """
    if dimension < 2:
        raise ValueError(f"The three-mode pair exists in 2 dimensions and more. Got {dimension} instead.")
    noise = dimension - 2
    return MixturePair(_triangle(0.5).with_noise(noise), _triangle(-0.5).with_noise(noise), informative=2)


def bananas() -> BananaPair:
    """Return two curved densities, one more bent than the other."""
    return BananaPair(Banana(0.7), Banana(0.3))


def _triangle(turn: float) -> GaussianMixtureDensity:
    """Return three modes on a circle, the first at `turn` times π, longer along the circle than across."""
    angles = np.pi * (turn + np.array([0, 2, 4]) / 3)
    across = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    covariances = 0.3 * np.einsum("ki,kj->kij", across, across) + 0.6 * np.einsum("ki,kj->kij", along, along)
    return GaussianMixtureDensity(np.full(3, 1 / 3), 1.75 * across, covariances)
