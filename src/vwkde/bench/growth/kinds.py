"""The kinds of data: pairs of distributions with a known divergence, and the floor of its error."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vwkde.bench.growth import parts
from vwkde.bench.growth.parts import Part
from vwkde.datasets import isotropic, three_modes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """The KL divergence, the variance of log r under P, and that of r under Q."""

    kl: float
    variance_p: float
    variance_q: float

    def floor(self, rows: int) -> float:
        """Return the standard deviation of an efficient estimate from this many rows of each sample.

        To first order no estimator goes below the first two terms. The last one is what a single unknown number costs
        where both vanish, because P = Q.
        """
        return float(np.sqrt((self.variance_p + self.variance_q) / rows + 0.5 * (2 / rows) ** 2))


@dataclass(frozen=True)
class Kind:
    """Data of one kind, in words, and the independent parts that its columns consist of."""

    title: str
    parts: tuple[Part, ...]

    @property
    def columns(self) -> int:
        """The number of columns."""
        return sum(part.columns for part in self.parts)

    def sample(self, rows: int, seed: int) -> tuple[Floats, Floats]:
        """Return this many rows of P and of Q; samples of different sizes have no row in common."""
        random = np.random.default_rng([seed, rows])
        p, q = (np.hstack([part.sample(of_p, rows, random) for part in self.parts]) for of_p in (True, False))
        return p, q

    def log_ratio(self, x: Floats) -> Floats:
        """Return the exact log ratio at points."""
        ends = np.cumsum([part.columns for part in self.parts])
        split = np.split(x, ends[:-1], axis=1)
        return np.sum([part.log_ratio(own) for part, own in zip(self.parts, split, strict=True)], axis=0)

    def truth(self) -> Truth:
        """Return the divergence and the variances: those of independent parts add up, and their E_q[r²] multiply."""
        kl = variance = log_second = 0.0
        for u, weight in (part.nodes() for part in self.parts):
            mean = float(weight @ u)
            kl, variance = kl + mean, variance + float(weight @ (u - mean) ** 2)
            log_second += float(np.log(weight @ np.exp(u)))
        return Truth(kl, variance, float(np.expm1(log_second)))


def _gaussians() -> Kind:
    return Kind("Gaussians, shifted, 10 columns", (parts.gaussian_shift(isotropic(10)),))


def _ring() -> Kind:
    return Kind("Ring with three arcs, 3 columns", (parts.ring(waves=3, height=0.9, thickness=0.15),))


def _mixtures() -> Kind:
    return Kind("Mixtures of three, 20 columns", (parts.mixtures(three_modes(20)),))


def _piecewise() -> Kind:
    i, j, k = np.indices((4, 4, 4))
    p, q = 1.0 + (i + 2 * j + 3 * k) % 4, 1.0 + (3 * i + j * k) % 4  # neither is a product of columns
    edges = np.array([0.0, 0.1, 0.3, 0.6, 1.0])
    return Kind("Piecewise constant, 3 columns", (parts.cells(p / p.sum(), q / q.sum(), edges),))


def _heavy_tails() -> Kind:
    return Kind("Student t, 3 degrees, 10 columns", (parts.student_shift(degrees=3.0, shift=0.5),) * 10)


def _interaction() -> Kind:
    return Kind("x₁·x₂ among noise, 10 columns", (parts.interaction(height=0.9, steepness=2.0), parts.noise(8)))


def _mixed() -> Kind:
    first, second = np.indices((4, 3))
    p, q = 2.0 + (first + second) % 3, 2.0 + (first * second) % 3  # what the two codes have to do with each other
    columns = (
        parts.cells(p / p.sum(), q / q.sum()),
        parts.rounded_shift(step=0.5, shift=0.4),
        parts.rounded_shift(step=0.1, shift=-0.3),
        parts.gaussian_scale(1.4),
        parts.noise(1),
    )
    return Kind("Codes and rounded columns, 6 columns", columns)


KINDS: dict[str, Callable[[], Kind]] = {
    "gaussians": _gaussians,
    "ring": _ring,
    "mixtures": _mixtures,
    "piecewise": _piecewise,
    "heavy-tails": _heavy_tails,
    "interaction": _interaction,
    "mixed": _mixed,
}
"""The kinds by name."""


@cache
def truth_of(name: str) -> Truth:
    """Return the truth of a kind."""
    return KINDS[name]().truth()
