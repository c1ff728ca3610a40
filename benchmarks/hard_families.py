"""Pairs of samples on which estimators of divergence are easily wrong and sure of it.

Five kinds: only the scatter of columns depends otherwise on other columns, or a curve that one column follows bends
otherwise, few rows stand against many or are windows of many steps, or a few rows of one sample decide.
`families.py --hard` measures the default on them. Nothing was tuned to these samples; but pairs much like the first
two, the curves and the windows have been used in tuning, and what misled here was worked on.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import logsumexp

Floats = np.ndarray


class Density(NamedTuple):
    """A sampler, and the log density up to a constant that both densities of a pair share."""

    sample: Callable[[int, np.random.Generator], Floats]
    log_density: Callable[[Floats], Floats]


class KnownPair(NamedTuple):
    """Two densities and the rows of their samples."""

    name: str
    numerator: Density
    denominator: Density
    rows: tuple[int, int]

    def log_ratio(self, x: Floats) -> Floats:
        """Return log p − log q."""
        return self.numerator.log_density(x) - self.denominator.log_density(x)


def scattered(scatter: Callable[[Floats], Floats], columns: int, noise: stats.rv_continuous, shown: int = 1) -> Density:
    """Return columns of which the last `shown` have noise whose scatter is a function of those before."""
    known = columns - shown

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = random.normal(size=(n, known))
        y = 0.5 * x[:, :1] + scatter(x)[:, None] * noise.rvs((n, shown), random_state=random)
        return np.column_stack([x, y])

    def log_density(z: Floats) -> Floats:
        x, y = z[:, :known], z[:, known:]
        s = scatter(x)[:, None]
        return (noise.logpdf((y - 0.5 * x[:, :1]) / s) - np.log(s)).sum(axis=1)

    return Density(sample, log_density)


def volatile(past: tuple[float, ...], columns: int, noise: stats.rv_continuous) -> Density:
    """Return windows of a series whose variance is one on average and depends on the last squares (ARCH)."""

    def variance(z: Floats, at: int) -> Floats:
        lags = [share * (z[:, at - 1 - k] ** 2 if at > k else 1.0) for k, share in enumerate(past)]
        return 1 - sum(past) + sum(lags) + np.zeros(len(z))

    def sample(n: int, random: np.random.Generator) -> Floats:
        z = noise.rvs((n, columns), random_state=random)
        for at in range(columns):
            z[:, at] *= np.sqrt(variance(z, at))
        return z

    def log_density(z: Floats) -> Floats:
        roots = [np.sqrt(variance(z, at)) for at in range(columns)]
        return sum(noise.logpdf(z[:, at] / root) - np.log(root) for at, root in enumerate(roots))

    return Density(sample, log_density)


def in_regimes(stay: float, columns: int, scales: tuple[float, float] = (0.5, 1.5)) -> Density:
    """Return windows of a series that is calm or wild, and stays so with some chance."""
    moves = np.log([[stay, 1 - stay], [1 - stay, stay]])

    def sample(n: int, random: np.random.Generator) -> Floats:
        changes = random.random((n, columns)) > stay
        changes[:, 0] = random.random(n) > 0.5
        return np.array(scales)[changes.cumsum(axis=1) % 2] * random.normal(size=(n, columns))

    def log_density(z: Floats) -> Floats:
        parts = stats.norm.logpdf(z[:, :, None], scale=scales)
        forward = parts[:, 0] + np.log(0.5)
        for at in range(1, columns):
            forward = logsumexp(forward[:, :, None] + moves, axis=1) + parts[:, at]
        return logsumexp(forward, axis=1)

    return Density(sample, log_density)


def parts(shares: Floats, means: Floats, scales: Floats, freedom: float = np.inf) -> Density:
    """Return a mixture of independent columns: normal ones, or with Student's t."""
    column = stats.norm() if np.isinf(freedom) else stats.t(freedom)
    shares, means, scales = np.asarray(shares) / np.sum(shares), np.asarray(means), np.asarray(scales)
    scales = np.broadcast_to(scales.reshape(len(means), -1), means.shape)

    def sample(n: int, random: np.random.Generator) -> Floats:
        part = random.choice(len(shares), n, p=shares)
        return means[part] + scales[part] * column.rvs(means[part].shape, random_state=random)

    def log_density(x: Floats) -> Floats:
        at = [
            np.log(share) + (column.logpdf((x - m) / s) - np.log(s)).sum(axis=1)
            for share, m, s in zip(shares, means, scales, strict=True)
        ]
        return logsumexp(at, axis=0)

    return Density(sample, log_density)


def bent(bend: float, width: float, columns: int) -> Density:
    """Return a curve x₂ = bend · (x₁² − 1) with noise of some width, beside columns of noise."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        z = random.normal(size=(n, columns))
        z[:, 1] = bend * (z[:, 0] ** 2 - 1) + width * z[:, 1]
        return z

    def log_density(z: Floats) -> Floats:
        return stats.norm.logpdf(z[:, 1], bend * (z[:, 0] ** 2 - 1), width)

    return Density(sample, log_density)


def series(memory: float, columns: int) -> Density:
    """Return windows of a stationary normal series of order one, each step with variance one."""
    steps = np.arange(columns)
    normal = stats.multivariate_normal(np.zeros(columns), memory ** np.abs(np.subtract.outer(steps, steps)))
    return Density(lambda n, random: normal.rvs(n, random_state=random), normal.logpdf)


def ring(radius: float, width: float) -> Density:
    """Return a ring in two columns: the radius is normal, far from zero."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        r, angle = random.normal(radius, width, n), random.uniform(0, 2 * np.pi, n)
        return np.column_stack([r * np.cos(angle), r * np.sin(angle)])

    def log_density(z: Floats) -> Floats:
        return stats.norm.logpdf(np.linalg.norm(z, axis=1), radius, width)

    return Density(sample, log_density)


def contaminated(share: float, other: Density, columns: int) -> Density:
    """Return standard normal columns, of which a share of the rows is of another density."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        is_other = random.random(n) < share
        return np.where(is_other[:, None], other.sample(n, random), random.normal(size=(n, columns)))

    def log_density(z: Floats) -> Floats:
        normal = stats.norm.logpdf(z).sum(axis=1)
        return np.logaddexp(np.log1p(-share) + normal, np.log(share) + other.log_density(z))

    return Density(sample, log_density)


def hard_pairs() -> Iterator[KnownPair]:
    """Yield the pairs."""
    normal, laplace = stats.norm(), stats.laplace(scale=0.7)
    student = stats.t(8, scale=np.sqrt(0.75))
    yield KnownPair(
        "wavy noise 3-D",
        scattered(lambda x: np.exp(0.6 * np.sin(2 * x[:, 0])), 3, laplace),
        scattered(lambda x: np.exp(-0.6 * np.sin(2 * x[:, 0])), 3, laplace),
        (700, 700),
    )
    yield KnownPair(
        "squared noise 8-D",
        scattered(lambda x: np.sqrt(0.4 + 0.3 * x[:, 0] ** 2 + 0.3 * x[:, 1] ** 2), 8, normal),
        scattered(lambda x: np.ones(len(x)), 8, normal),
        (1_200, 1_200),
    )
    yield KnownPair(
        "common noise 12-D",
        scattered(lambda x: np.exp(0.35 * x[:, 0]) * 0.94, 12, normal, shown=3),
        scattered(lambda x: np.ones(len(x)), 12, normal, shown=3),
        (900, 900),
    )
    yield KnownPair("ARCH(2) 8-D", volatile((0.3, 0.25), 8, student), volatile((0.1,), 8, student), (1_000, 1_000))
    yield KnownPair("regimes 6-D", in_regimes(0.9, 6), in_regimes(0.5, 6), (800, 800))
    yield KnownPair("wild regimes 4-D", in_regimes(0.5, 4), in_regimes(0.95, 4, (0.6, 1.5)), (500, 1_000))
    corners = np.array([[0, 0], [4, 0], [0, 4], [4, 4], [2, 7]])
    even, uneven = np.ones(5), np.array([3.0, 1, 0.5, 1, 2])
    modes = parts(uneven, corners, np.full(5, 0.6), 5), parts(even, corners, np.full(5, 0.6), 5)
    yield KnownPair("60 against 4,000, modes 2-D", modes[0], modes[1], (60, 4_000))
    yield KnownPair("4,000 against 60, modes 2-D", modes[0], modes[1], (4_000, 60))
    yield KnownPair("80 against 3,000, curves 4-D", bent(0.8, 0.5, 4), bent(0.5, 0.6, 4), (80, 3_000))
    yield KnownPair("5,000 against 80, curves 3-D", bent(0.4, 0.7, 3), bent(0.65, 0.55, 3), (5_000, 80))
    yield KnownPair("curves 3-D", bent(0.65, 0.55, 3), bent(0.4, 0.65, 3), (250, 250))
    yield KnownPair("windows of 50 steps", series(0.7, 50), series(0.5, 50), (80, 80))
    yield KnownPair("windows of 40 steps", series(0.35, 40), series(0.5, 40), (200, 150))
    yield KnownPair("3,000 against 60, rings", ring(3, 0.3), ring(3, 0.4), (3_000, 60))
    far = np.random.default_rng(3).normal(size=(1, 12))
    yield KnownPair(
        "2.5 % more 3-D",
        contaminated(0.0001, parts([1], [[2.0, -2, 1.5]], [0.4]), 3),
        contaminated(0.025, parts([1], [[2.0, -2, 1.5]], [0.4]), 3),
        (800, 800),
    )
    yield KnownPair(
        "1.2 % more 12-D",
        contaminated(0.012, parts([1], 4 * far / np.linalg.norm(far), [0.5]), 12),
        contaminated(0.0005, parts([1], 4 * far / np.linalg.norm(far), [0.5]), 12),
        (1_500, 1_500),
    )
    yield KnownPair(
        "2 % more, inside, 6-D",
        contaminated(0.021, parts([1], [[0.8, -0.5, 0.3, 0, 1, -0.7]], [0.25]), 6),
        contaminated(0.001, parts([1], [[0.8, -0.5, 0.3, 0, 1, -0.7]], [0.25]), 6),
        (1_000, 1_000),
    )
    for name, share, cluster, rows in clusters():
        columns = cluster.sample(1, np.random.default_rng(0)).shape[1]
        normal = parts([1], np.zeros((1, columns)), [1.0])
        yield KnownPair(name, contaminated(share, cluster, columns), normal, (rows, rows))


def clusters() -> Iterator[tuple[str, float, Density, int]]:
    """Yield names, shares, clusters that only the numerator has, and rows."""
    yield "1.2 % far 15-D", 0.012, parts([1], np.full((1, 15), 1.5), [0.4]), 1_200
    yield "2 % on a line 4-D", 0.02, parts([1], [[3.0, -1.0, 1.0, 2.0]], np.array([[1.0, 0.1, 0.1, 0.1]])), 900
    yield "two of 1 % 7-D", 0.02, parts([1, 1], [[2.0] * 7, [-2.0] * 7], [0.3, 0.5]), 1_000
    yield "2 % with tails 5-D", 0.02, parts([1], [[0.0, 4, 0, -2, 0]], [0.2], 4), 700
    yield "2.5 % wide 6-D", 0.025, parts([1], np.zeros((1, 6)), [2.5]), 1_000
