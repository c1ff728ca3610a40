"""Columns in which P and Q have a known log ratio: what the kinds of data are put together from.

A part knows its log ratio u at every point, and nodes with their probabilities under P: the integral of f(u) over P is
Σ w·f(u). With it KL = E_p[u], Var_p(u) and E_q[r²] = E_p[r] are known to many digits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import k0, ndtr

from vwkde.datasets import GaussianMixtureDensity, GaussianPair, MixturePair

Floats = NDArray[np.float64]
Random = np.random.Generator

_NODES = 120
"""Nodes of a Gaussian quadrature per column; more do not change the sixth digit of what is asked of them."""
_FINE = 600
"""Nodes of a quadrature in one variable."""


class Nodes(NamedTuple):
    """Log ratios, and how probable each is under P."""

    log_ratio: Floats
    weight: Floats


@dataclass(frozen=True)
class Part:
    """Some columns that are independent of all others.

    `sample` takes whether P is meant, the number of rows and the source of random numbers.
    """

    columns: int
    sample: Callable[[bool, int, Random], Floats]
    log_ratio: Callable[[Floats], Floats]
    nodes: Callable[[], Nodes]


def gaussian_shift(pair: GaussianPair) -> Part:
    """Return two Gaussians of one covariance: under P the log ratio is normal, with mean KL and variance 2·KL."""

    def nodes() -> Nodes:
        z, weight = _normal_nodes()
        return Nodes(pair.kl + np.sqrt(2 * pair.kl) * z, weight)

    return Part(len(pair.numerator.mean), _sampler(pair), pair.log_ratio, nodes)


def gaussian_scale(scale: float) -> Part:
    """Return one column: P is standard normal, Q is normal and `scale` times as wide."""

    def sample(of_p: bool, rows: int, random: Random) -> Floats:
        return random.normal(0, 1 if of_p else scale, (rows, 1))

    def log_ratio(x: Floats) -> Floats:
        return np.log(scale) - 0.5 * (1 - scale**-2) * x[:, 0] ** 2

    def nodes() -> Nodes:
        z, weight = _normal_nodes()
        return Nodes(log_ratio(z[:, None]), weight)

    return Part(1, sample, log_ratio, nodes)


def mixtures(pair: MixturePair) -> Part:
    """Return two mixtures of Gaussians, which may have columns of noise."""

    def nodes() -> Nodes:
        p, q = (side.marginal(pair.informative) for side in (pair.numerator, pair.denominator))
        z, weight = _normal_nodes()
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*[z] * pair.informative)], axis=1)
        on_grid = np.prod(np.meshgrid(*[weight] * pair.informative), axis=0).ravel()
        roots = np.linalg.cholesky(p.covariances)
        points = np.concatenate([mean + grid @ root.T for mean, root in zip(p.means, roots, strict=True)])
        return Nodes(p.log_density(points) - q.log_density(points), np.kron(p.weights, on_grid))

    return Part(_columns_of(pair.numerator), _sampler(pair), pair.log_ratio, nodes)


def ring(waves: int, height: float, thickness: float) -> Part:
    """Return a ring that is tilted in three columns: along it Q is uniform, and r = 1 + height·cos(waves·angle)."""
    tilt = np.linalg.qr(np.array([[1.0, 0, 0], [0, 1, -1], [0, 1, 1]]))[0]

    def sample(of_p: bool, rows: int, random: Random) -> Floats:
        angle = random.uniform(0, 2 * np.pi, rows)
        if of_p:  # half a wave further on the cosine has the other sign
            stays = 2 * random.uniform(size=rows) < 1 + height * np.cos(waves * angle)
            angle = np.where(stays, angle, angle + np.pi / waves)
        radius, level = np.exp(thickness * random.normal(size=rows)), thickness * random.normal(size=rows)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), level], axis=1) @ tilt

    def log_ratio(x: Floats) -> Floats:
        flat = x @ tilt.T
        return np.log1p(height * np.cos(waves * np.arctan2(flat[:, 1], flat[:, 0])))

    def nodes() -> Nodes:
        ratio = 1 + height * np.cos(2 * np.pi * (np.arange(_FINE) + 0.5) / _FINE)
        return Nodes(np.log(ratio), ratio / _FINE)

    return Part(3, sample, log_ratio, nodes)


def cells(p: Floats, q: Floats, edges: Floats | None = None) -> Part:
    """Return a column per axis of two tables of probabilities.

    With `edges`, the same along each axis, rows are uniform within their cell. Without, they are the numbers of the
    cell.
    """

    def sample(of_p: bool, rows: int, random: Random) -> Floats:
        cell = random.choice(p.size, rows, p=(p if of_p else q).ravel())
        place = np.stack(np.unravel_index(cell, p.shape), axis=1)
        return place.astype(np.float64) if edges is None else random.uniform(edges[place], edges[place + 1])

    def log_ratio(x: Floats) -> Floats:
        place = x.astype(np.intp) if edges is None else np.searchsorted(edges, x, side="right") - 1
        return np.log(p / q)[tuple(place.T)]

    return Part(p.ndim, sample, log_ratio, lambda: Nodes(np.log(p / q).ravel(), p.ravel()))


def student_shift(degrees: float, shift: float) -> Part:
    """Return one column of Student t: P is shifted."""

    def sample(of_p: bool, rows: int, random: Random) -> Floats:
        return shift * of_p + random.standard_t(degrees, (rows, 1))

    def log_ratio(x: Floats) -> Floats:
        kernel = np.log1p(x**2 / degrees) - np.log1p((x - shift) ** 2 / degrees)
        return 0.5 * (degrees + 1) * kernel[:, 0]

    def nodes() -> Nodes:  # with x = √degrees · tan φ the density of φ is a power of its cosine, and ends nowhere
        angle, weight = _legendre_nodes()
        weight = weight * np.cos(np.pi / 2 * angle) ** (degrees - 1)
        x = shift + np.sqrt(degrees) * np.tan(np.pi / 2 * angle)
        return Nodes(log_ratio(x[:, None]), weight / weight.sum())

    return Part(1, sample, log_ratio, nodes)


def interaction(height: float, steepness: float) -> Part:
    """Return two columns, normal in Q, with r = 1 + height·tanh(steepness·x₁·x₂): neither tells anything alone."""

    def ratio(product: Floats) -> Floats:
        return 1 + height * np.tanh(steepness * product)

    def sample(of_p: bool, rows: int, random: Random) -> Floats:
        x = random.normal(size=(rows, 2))
        if of_p:  # a row whose first number has the other sign is as probable in Q
            x[2 * random.uniform(size=rows) > ratio(x.prod(axis=1)), 0] *= -1
        return x

    def nodes() -> Nodes:  # the product has the density K₀(|z|)/π; z = t² makes its pole at zero harmless
        t, weight = _legendre_nodes()
        root = 3 * (t + 1)  # beyond z = 36 there are 1e-17 of the rows
        on_each_side = 3 * weight * 2 * root * k0(root**2) / np.pi
        product = np.concatenate([-(root**2), root**2])
        return Nodes(np.log(ratio(product)), np.tile(on_each_side, 2) * ratio(product))

    return Part(2, sample, lambda x: np.log(ratio(x.prod(axis=1))), nodes)


def rounded_shift(step: float, shift: float) -> Part:
    """Return one column of normal numbers that are rounded to multiples of a step: P is shifted."""

    def probability(multiple: Floats, mean: float) -> Floats:
        low, high = ((multiple + end) * step - mean for end in (-0.5, 0.5))
        swapped = np.where(low > 0, -1, 1)  # the difference of small numbers is exact, that of numbers near one is not
        return np.abs(ndtr(swapped * high) - ndtr(swapped * low))

    def log_ratio(x: Floats) -> Floats:
        multiple = np.rint(x[:, 0] / step)
        return np.log(probability(multiple, shift)) - np.log(probability(multiple, 0.0))

    def sample(of_p: bool, rows: int, random: Random) -> Floats:
        return step * np.rint((shift * of_p + random.normal(size=(rows, 1))) / step)

    def nodes() -> Nodes:
        multiple = np.arange(-np.ceil(10 / step), np.ceil(10 / step) + 1)  # ten standard deviations
        return Nodes(log_ratio(step * multiple[:, None]), probability(multiple, shift))

    return Part(1, sample, log_ratio, nodes)


def noise(columns: int) -> Part:
    """Return columns of standard normal noise, the same in both."""
    return Part(
        columns,
        lambda _, rows, random: random.normal(size=(rows, columns)),
        lambda x: np.zeros(len(x)),
        lambda: Nodes(np.zeros(1), np.ones(1)),
    )


@cache
def _legendre_nodes() -> tuple[Floats, Floats]:
    return leggauss(_FINE)


@cache
def _normal_nodes() -> tuple[Floats, Floats]:
    z, weight = hermegauss(_NODES)
    return z, weight / weight.sum()


def _sampler(pair: Any) -> Callable[[bool, int, Random], Floats]:
    return lambda of_p, rows, random: (pair.numerator if of_p else pair.denominator).sample(rows, random)


def _columns_of(density: GaussianMixtureDensity) -> int:
    return density.means.shape[1]
