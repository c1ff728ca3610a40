"""Pairs of densities to compare, with their exact log ratio and KL divergence."""

from dataclasses import dataclass
from itertools import product
from typing import Generic, TypeVar

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from vwkde._runtime.lazy import lazy
from vwkde.datasets._densities import Banana, Density, Gaussian, GaussianMixtureDensity

Floats = NDArray[np.float64]

_HETEROSCEDASTIC_VARIANCE = {10: 0.750**2, 20: 0.863**2}
_NODES = 120
"""Quadrature nodes per column."""

AnyDensity = TypeVar("AnyDensity", bound=Density)


@dataclass(frozen=True)
class Pair(Generic[AnyDensity]):
    """Two distributions to compare.

    Parameters
    ----------
    numerator : Density
        The distribution P.
    denominator : Density
        The distribution Q.

    Examples
    --------
    >>> from vwkde.datasets import Banana, Gaussian, Pair
    >>> import numpy as np
    >>> P, Q = Pair(Banana(0.7), Gaussian(np.zeros(2), np.eye(2))).sample(100, 200)
    >>> P.shape, Q.shape
    ((100, 2), (200, 2))
    """

    numerator: AnyDensity
    denominator: AnyDensity

    def log_ratio(self, x: Floats) -> Floats:
        """Return the exact log p₁/p₂ at points.

        Parameters
        ----------
        x : array of shape (n, d)
            The points.

        Returns
        -------
        array of shape (n,)
            The log ratio at each point.
        """
        return self.numerator.log_density(x) - self.denominator.log_density(x)

    def sample(self, n: int, m: int | None = None, random_state: int = 0) -> tuple[Floats, Floats]:
        """Draw points of both distributions.

        Parameters
        ----------
        n : int
            How many points of the numerator to draw.
        m : int, optional
            How many points of the denominator to draw. By default, n.
        random_state : int, default=0
            Seeds the draw.

        Returns
        -------
        pair of arrays of shape (n, d) and (m, d)
            The points of the numerator and of the denominator.
        """
        random = np.random.default_rng(random_state)
        return self.numerator.sample(n, random), self.denominator.sample(n if m is None else m, random)


@dataclass(frozen=True)
class GaussianPair(Pair[Gaussian]):
    """Two normal distributions.

    Parameters
    ----------
    numerator : Gaussian
        The distribution P.
    denominator : Gaussian
        The distribution Q.

    Examples
    --------
    >>> from vwkde.datasets import isotropic
    >>> pair = isotropic(3)
    >>> round(pair.kl, 6)
    1.0
    """

    @property
    def kl(self) -> float:
        """The exact KL(numerator ‖ denominator).

        Returns
        -------
        float
            The divergence in nats.
        """
        p, q = self.numerator, self.denominator
        difference = q.mean - p.mean
        precision = np.linalg.inv(q.covariance)
        log_volumes = np.linalg.slogdet(q.covariance)[1] - np.linalg.slogdet(p.covariance)[1]
        spread = np.trace(precision @ p.covariance) - len(p.mean)
        return float(0.5 * (spread + difference @ precision @ difference + log_volumes))


@dataclass(frozen=True)
class MixturePair(Pair[GaussianMixtureDensity]):
    """Two mixtures that differ in the first columns; the other columns are independent noise, the same in both.

    Parameters
    ----------
    numerator : GaussianMixtureDensity
        The distribution P.
    denominator : GaussianMixtureDensity
        The distribution Q.
    informative : int
        How many columns differ.

    Examples
    --------
    >>> from vwkde.datasets import three_modes
    >>> pair = three_modes(5)
    >>> pair.informative, pair.numerator.means.shape
    (2, (3, 5))
    """

    informative: int

    @lazy
    def kl(self) -> float:
        """KL(numerator ‖ denominator), by Gauss–Hermite quadrature over each component.

        Returns
        -------
        float
            The divergence in nats, to five digits.
        """
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
    """Two curved densities of the same width.

    Parameters
    ----------
    numerator : Banana
        The distribution P.
    denominator : Banana
        The distribution Q.

    Examples
    --------
    >>> from vwkde.datasets import bananas
    >>> round(bananas().kl, 6)
    0.64
    """

    @property
    def kl(self) -> float:
        """The exact KL(numerator ‖ denominator).

        Returns
        -------
        float
            The divergence in nats.
        """
        return ((self.numerator.bend - self.denominator.bend) / self.denominator.width) ** 2


def one_dimensional() -> GaussianPair:
    """Return the paper's 1-D example: N(0, 1.1²) against N(1, 0.9²).

    Returns
    -------
    GaussianPair
        The pair.

    Examples
    --------
    >>> from vwkde.datasets import one_dimensional
    >>> round(one_dimensional().kl, 3)
    0.664
    """
    return GaussianPair(
        Gaussian(np.zeros(1), np.array([[1.1**2]])),
        Gaussian(np.ones(1), np.array([[0.9**2]])),
    )


def mean_difference(dimension: int, difference: float) -> GaussianPair:
    """Return the paper's VMD setting: unit Gaussians whose means differ along the first axis.

    Parameters
    ----------
    dimension : int
        The number of columns.
    difference : float
        The distance between the means.

    Returns
    -------
    GaussianPair
        The pair.

    Examples
    --------
    >>> from vwkde.datasets import mean_difference
    >>> mean_difference(10, 2.0).kl
    2.0
    """
    shifted = np.zeros(dimension)
    shifted[0] = difference
    return GaussianPair(
        Gaussian(np.zeros(dimension), np.eye(dimension)),
        Gaussian(shifted, np.eye(dimension)),
    )


def isotropic(dimension: int) -> GaussianPair:
    """Return the paper's Iso setting: unit Gaussians with means √2 apart, so that the KL is one.

    Parameters
    ----------
    dimension : int
        The number of columns.

    Returns
    -------
    GaussianPair
        The pair.

    Examples
    --------
    >>> from vwkde.datasets import isotropic
    >>> P, Q = isotropic(20).sample(1000)
    >>> P.shape
    (1000, 20)
    """
    return mean_difference(dimension, np.sqrt(2))


def heteroscedastic(dimension: int) -> GaussianPair:
    """Return the paper's NH setting: equal means, and a narrower, correlated denominator.

    Parameters
    ----------
    dimension : {10, 20}
        The number of columns.

    Returns
    -------
    GaussianPair
        The pair.

    Raises
    ------
    ValueError
        If the dimension is neither 10 nor 20.

    Examples
    --------
    >>> from vwkde.datasets import heteroscedastic
    >>> round(heteroscedastic(10).kl, 2)
    1.05
    """
    if dimension not in _HETEROSCEDASTIC_VARIANCE:
        raise ValueError(
            f"The 'dimension' parameter of heteroscedastic must be one of 10 and 20. Got {dimension} instead."
        )
    covariance = _HETEROSCEDASTIC_VARIANCE[dimension] * np.eye(dimension)
    covariance[0, 1] = covariance[1, 0] = 0.1
    return GaussianPair(
        Gaussian(np.zeros(dimension), np.eye(dimension)),
        Gaussian(np.zeros(dimension), covariance),
    )


def three_modes(dimension: int = 2) -> MixturePair:
    """Return two mixtures like the paper's: three Gaussians each in two columns, and noise in the others.

    The modes form two triangles, one rotated against the other, so that a single Gaussian per sample hardly sees a
    difference.

    Parameters
    ----------
    dimension : int, default=2
        The number of columns, at least 2.

    Returns
    -------
    MixturePair
        The pair.

    Raises
    ------
    ValueError
        If the dimension is less than 2.

    Examples
    --------
    >>> from vwkde.datasets import three_modes
    >>> P, Q = three_modes(5).sample(100)
    >>> P.shape
    (100, 5)
    """
    if dimension < 2:
        raise ValueError(f"The 'dimension' parameter of three_modes must be at least 2. Got {dimension} instead.")
    noise = dimension - 2
    return MixturePair(_triangle(0.5).with_noise(noise), _triangle(-0.5).with_noise(noise), informative=2)


def bananas() -> BananaPair:
    """Return two curved densities, one more curved than the other.

    Returns
    -------
    BananaPair
        The pair.

    Examples
    --------
    >>> from vwkde.datasets import bananas
    >>> P, Q = bananas().sample(100)
    >>> P.shape
    (100, 2)
    """
    return BananaPair(Banana(0.7), Banana(0.3))


def _triangle(turn: float) -> GaussianMixtureDensity:
    """Return three modes on a circle, the first at `turn` times π, each longer along the circle than across it."""
    angles = np.pi * (turn + np.array([0, 2, 4]) / 3)
    across = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    covariances = 0.3 * np.einsum("ki,kj->kij", across, across) + 0.6 * np.einsum("ki,kj->kij", along, along)
    return GaussianMixtureDensity(np.full(3, 1 / 3), 1.75 * across, covariances)
