"""Densities that can be drawn from, and whose values and derivatives are known exactly."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from vwkde._models.derivatives.mixture import MixtureDerivatives, make_mixture
from vwkde._models.gaussian import GaussianModel

Floats = NDArray[np.float64]


class Density(Protocol):
    """A distribution that can be drawn from, and whose density is known."""

    def log_density(self, x: Floats) -> Floats:
        """Return log p at points.

        Parameters
        ----------
        x : array of shape (n, d)
            The points.

        Returns
        -------
        array of shape (n,)
            The log density at each point.
        """

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw points.

        Parameters
        ----------
        n : int
            How many points to draw.
        random : numpy.random.Generator
            The source of random numbers.

        Returns
        -------
        array of shape (n, d)
            The points.
        """


@dataclass(frozen=True)
class Gaussian:
    """A normal distribution.

    Parameters
    ----------
    mean : array of shape (d,)
        The mean.
    covariance : array of shape (d, d)
        The covariance matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from vwkde.datasets import Gaussian
    >>> standard = Gaussian(np.zeros(2), np.eye(2))
    >>> standard.sample(3, np.random.default_rng(0)).shape
    (3, 2)
    >>> bool(np.isclose(standard.log_density(np.zeros((1, 2)))[0], -np.log(2 * np.pi)))
    True
    """

    mean: Floats
    covariance: Floats

    @property
    def derivatives(self) -> GaussianModel:
        """The exact derivatives of the density.

        Returns
        -------
        object
            An object with the methods `score` and `laplacian_over_density`.
        """
        return GaussianModel(self.mean, np.linalg.inv(self.covariance).astype(np.float64))

    def log_density(self, x: Floats) -> Floats:
        """Return log p at points.

        Parameters
        ----------
        x : array of shape (n, d)
            The points.

        Returns
        -------
        array of shape (n,)
            The log density at each point.
        """
        return np.atleast_1d(multivariate_normal(self.mean, self.covariance).logpdf(x))

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw points.

        Parameters
        ----------
        n : int
            How many points to draw.
        random : numpy.random.Generator
            The source of random numbers.

        Returns
        -------
        array of shape (n, d)
            The points.
        """
        return random.multivariate_normal(self.mean, self.covariance, size=n, method="cholesky")


@dataclass(frozen=True)
class GaussianMixtureDensity:
    """A mixture of normal distributions.

    Parameters
    ----------
    weights : array of shape (k,)
        The weights of the components, which sum to one.
    means : array of shape (k, d)
        The means of the components.
    covariances : array of shape (k, d, d)
        The covariance matrices of the components.

    Examples
    --------
    >>> import numpy as np
    >>> from vwkde.datasets import GaussianMixtureDensity
    >>> two_modes = GaussianMixtureDensity(np.full(2, 0.5), np.array([[-2.0], [2.0]]), np.ones((2, 1, 1)))
    >>> two_modes.with_noise(3).sample(5, np.random.default_rng(0)).shape
    (5, 4)
    """

    weights: Floats
    means: Floats
    covariances: Floats

    @property
    def derivatives(self) -> MixtureDerivatives:
        """The exact derivatives of the density.

        Returns
        -------
        object
            An object with the methods `score` and `laplacian_over_density`.
        """
        return make_mixture(self.weights, self.means, np.linalg.inv(self.covariances).astype(np.float64))

    def log_density(self, x: Floats) -> Floats:
        """Return log p at points.

        Parameters
        ----------
        x : array of shape (n, d)
            The points.

        Returns
        -------
        array of shape (n,)
            The log density at each point.
        """
        return self.derivatives.log_density(x)

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw points.

        Parameters
        ----------
        n : int
            How many points to draw.
        random : numpy.random.Generator
            The source of random numbers.

        Returns
        -------
        array of shape (n, d)
            The points.
        """
        component = random.choice(len(self.weights), n, p=self.weights)
        roots = np.linalg.cholesky(self.covariances)[component]
        return self.means[component] + np.einsum("nij,nj->ni", roots, random.normal(size=(n, self.means.shape[1])))

    def marginal(self, columns: int) -> "GaussianMixtureDensity":
        """Return the distribution of the first columns.

        Parameters
        ----------
        columns : int
            How many columns to keep.

        Returns
        -------
        GaussianMixtureDensity
            The marginal distribution.
        """
        return GaussianMixtureDensity(self.weights, self.means[:, :columns], self.covariances[:, :columns, :columns])

    def with_noise(self, columns: int) -> "GaussianMixtureDensity":
        """Return the distribution with further columns of independent standard normal noise.

        Parameters
        ----------
        columns : int
            How many columns of noise to add.

        Returns
        -------
        GaussianMixtureDensity
            The distribution with more columns.
        """
        means = np.pad(self.means, ((0, 0), (0, columns)))
        covariances = np.stack([block_diag(each, np.eye(columns)) for each in self.covariances])
        return GaussianMixtureDensity(self.weights, means, covariances)


@dataclass(frozen=True)
class Banana:
    """A curved density: x₁ is standard normal, and x₂ = bend · (x₁² − 1) + width · a standard normal.

    Parameters
    ----------
    bend : float
        How much the density is curved.
    width : float, default=0.5
        Its width across the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from vwkde.datasets import Banana
    >>> x = Banana(0.7).sample(4, np.random.default_rng(0))
    >>> Banana(0.7).score(x).shape
    (4, 2)
    """

    bend: float
    width: float = 0.5

    @property
    def derivatives(self) -> "Banana":
        """The exact derivatives of the density.

        Returns
        -------
        Banana
            The density itself, which has the methods `score` and `laplacian_over_density`.
        """
        return self

    def log_density(self, x: Floats) -> Floats:
        """Return log p at points.

        Parameters
        ----------
        x : array of shape (n, 2)
            The points.

        Returns
        -------
        array of shape (n,)
            The log density at each point.
        """
        off = (x[:, 1] - self.bend * (x[:, 0] ** 2 - 1)) / self.width
        return -0.5 * (x[:, 0] ** 2 + off**2) - np.log(2 * np.pi * self.width)

    def score(self, x: Floats) -> Floats:
        """Return ∇log p at points.

        Parameters
        ----------
        x : array of shape (n, 2)
            The points.

        Returns
        -------
        array of shape (n, 2)
            The score at each point.
        """
        pull = (self.bend * (x[:, 0] ** 2 - 1) - x[:, 1]) / self.width**2
        return np.stack([-x[:, 0] - 2 * self.bend * x[:, 0] * pull, pull], axis=1)

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p at points.

        Parameters
        ----------
        x : array of shape (n, 2)
            The points.

        Returns
        -------
        array of shape (n,)
            The Laplacian of the density over the density, at each point.
        """
        score = self.score(x)
        of_log = -1 - 2 * self.bend * score[:, 1] - (1 + 4 * self.bend**2 * x[:, 0] ** 2) / self.width**2
        return of_log + (score**2).sum(axis=1)

    def sample(self, n: int, random: np.random.Generator) -> Floats:
        """Draw points.

        Parameters
        ----------
        n : int
            How many points to draw.
        random : numpy.random.Generator
            The source of random numbers.

        Returns
        -------
        array of shape (n, 2)
            The points.
        """
        first, second = random.normal(size=(2, n))
        return np.stack([first, self.bend * (first**2 - 1) + self.width * second], axis=1)
