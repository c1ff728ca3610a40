"""Densities with a sampler and a closed form, all positive everywhere, and the affine images and mixtures of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import solve_triangular
from scipy.special import gammaln, logsumexp

Floats = NDArray[np.float64]
Random = np.random.Generator


class Density(Protocol):
    """What can be drawn, and whose log density is known."""

    def sample(self, rows: int, random: Random) -> Floats:
        """Return rows of the density."""
        ...

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at points."""
        ...


@dataclass(frozen=True)
class Elliptical:
    """A Gaussian, or with finite `freedom` a Student t, of the scatter root · rootᵀ; `root` is lower triangular."""

    mean: Floats
    root: Floats
    freedom: float = np.inf

    def sample(self, rows: int, random: Random) -> Floats:
        """Return rows of the density."""
        x = random.normal(size=(rows, len(self.mean))) @ self.root.T
        if np.isfinite(self.freedom):
            x *= np.sqrt(self.freedom / random.chisquare(self.freedom, size=(rows, 1)))
        return self.mean + x

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at points."""
        columns, freedom = len(self.mean), self.freedom
        squared = np.sum(solve_triangular(self.root, (x - self.mean).T, lower=True) ** 2, axis=0)
        volume = np.log(np.diag(self.root)).sum()
        if not np.isfinite(freedom):
            return -0.5 * (squared + columns * np.log(2 * np.pi)) - volume
        constant = gammaln(0.5 * (freedom + columns)) - gammaln(0.5 * freedom) - 0.5 * columns * np.log(freedom * np.pi)
        return constant - volume - 0.5 * (freedom + columns) * np.log1p(squared / freedom)


@dataclass(frozen=True)
class Independent:
    """Independent columns of one distribution of SciPy."""

    distribution: Any
    columns: int

    def sample(self, rows: int, random: Random) -> Floats:
        """Return rows of the density."""
        return np.asarray(self.distribution.rvs((rows, self.columns), random_state=random))

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at points."""
        return np.asarray(self.distribution.logpdf(x).sum(axis=1))


@dataclass(frozen=True)
class Mixture:
    """A mixture of densities with these shares."""

    parts: tuple[Density, ...]
    shares: tuple[float, ...]

    def sample(self, rows: int, random: Random) -> Floats:
        """Return rows of the density, in random order."""
        counts = random.multinomial(rows, self.shares)
        drawn = [part.sample(int(count), random) for part, count in zip(self.parts, counts, strict=True)]
        return random.permutation(np.concatenate(drawn))

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at points."""
        terms = [
            part.log_density(x) + np.log(share) for part, share in zip(self.parts, self.shares, strict=True) if share
        ]
        return np.asarray(logsumexp(terms, axis=0))


@dataclass(frozen=True)
class Affine:
    """The density of matrix · x + shift for x of a base."""

    base: Density
    matrix: Floats
    shift: Floats

    @cached_property
    def _inverse(self) -> Floats:
        return np.linalg.inv(self.matrix)

    @cached_property
    def _log_volume(self) -> float:
        return float(np.linalg.slogdet(self.matrix)[1])

    def sample(self, rows: int, random: Random) -> Floats:
        """Return rows of the density."""
        return self.base.sample(rows, random) @ self.matrix.T + self.shift

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at points."""
        return self.base.log_density((x - self.shift) @ self._inverse.T) - self._log_volume


def gaussian(columns: int, random: Random) -> Density:
    return Elliptical(np.zeros(columns), random_root(columns, random))


def student(columns: int, random: Random) -> Density:
    return Elliptical(np.zeros(columns), random_root(columns, random), float(random.integers(3, 11)))


def mixture(columns: int, random: Random) -> Density:
    """Return a mixture of two to five Gaussians, whose means differ in at most four columns."""
    count, spread = int(random.integers(2, 6)), random.uniform(1.0, 2.5)
    differing = np.arange(columns) < 4
    parts = [
        Elliptical(
            np.where(differing, spread * random.normal(size=columns), 0.0),
            random.uniform(0.5, 1.2) * random_root(columns, random),
        )
        for _ in range(count)
    ]
    return Mixture(tuple(parts), tuple(random.dirichlet(np.full(count, 3.0))))


def independent(columns: int, random: Random) -> Density:
    marginals = (stats.laplace(), stats.logistic(), stats.t(5), stats.hypsecant(), stats.gumbel_r())
    return Independent(marginals[random.integers(len(marginals))], columns)


def random_root(columns: int, random: Random) -> Floats:
    """Return the lower-triangular root of a random correlation matrix of condition number up to about 30."""
    spectrum = np.exp(random.uniform(-1, 1) * np.linspace(-1.7, 1.7, columns))
    turn = np.linalg.qr(random.normal(size=(columns, columns)))[0]
    covariance = turn * spectrum @ turn.T
    scale = np.sqrt(np.diag(covariance))
    return np.linalg.cholesky(covariance / np.outer(scale, scale))


DENSITIES: dict[str, Callable[[int, Random], Density]] = {
    "Gaussian": gaussian,
    "Student t": student,
    "mixture": mixture,
    "independent": independent,
}
"""Densities by name: functions of the number of columns and a random generator."""
