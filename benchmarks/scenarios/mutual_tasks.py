"""Tasks with a known mutual information: the forty of a public benchmark, a grid up to 6 nats, and others to tune on.

The forty are those of P. Czyż, F. Grabowski, J. E. Vogt, N. Beerenwinkel and A. Marx, "Beyond Normal: On the Evaluation
of Mutual Information Estimators", NeurIPS 2023. Maps of X alone and of Y alone do not change the information, so most
truths are those of normal and t distributions.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]
Random = np.random.Generator
Draw = Callable[[int, Random], tuple[Floats, Floats]]
Map = Callable[[Floats], Floats]


class Task(NamedTuple):
    """A name, what draws rows of X and Y, and the true information."""

    name: str
    draw: Draw
    truth: float


def forty() -> Iterator[Task]:
    """Yield the tasks of the benchmark."""
    base = pairs(1, 1, 0.75)
    yield base._replace(name="normal 1 × 1")
    yield mapped("normal CDF of normal 1 × 1", base, special.ndtr)
    yield uniform(0.1)
    yield uniform(0.75)
    yield mapped("bimodal 1 × 1", base, bimodal((0.3, 0.7), (0, 5)), bimodal((0.5, 0.5), (-1, 3)))
    yield mapped("wiggly 1 × 1", base, *_WIGGLY)
    yield mapped("half-cube of normal 1 × 1", base, half_cube)
    yield student(1, 1)
    yield mapped("asinh of t 1 × 1", student(1, 1), np.arcsinh)
    yield mapped("Swiss roll 2 × 1", base, swiss_roll, special.ndtr)
    yield from (dense(columns, 0.5) for columns in (2, 3, 5, 25, 50))
    yield from (pairs(columns, 2, 0.8) for columns in (2, 3, 5, 25))
    yield from (student(*shape) for shape in ((2, 1), (2, 2), (3, 2), (3, 3), (5, 2), (5, 3)))
    for columns in (3, 5, 25):
        two = pairs(columns, 2, 0.8)
        bounded = mapped("", two, special.ndtr)
        yield mapped(f"normal CDF of {two.name}", two, special.ndtr)
        yield mapped(f"half-cube of {two.name}", two, half_cube)
        yield spiral(f"spiral of {two.name}", two, columns)
        yield spiral(f"spiral of normal CDF of {two.name}", bounded, columns)
    for shape in ((2, 1), (3, 2), (5, 2)):
        yield mapped(f"asinh of {student(*shape).name}", student(*shape), np.arcsinh)


def others() -> Iterator[Task]:
    """Yield similar tasks with other numbers, for choices that must not be made on the forty."""
    yield pairs(1, 1, 0.6)
    yield from (uniform(width) for width in (0.05, 0.2, 1.0))
    yield mapped("bimodal 1 × 1", pairs(1, 1, 0.9), bimodal((0.6, 0.4), (0, 6)), bimodal((0.2, 0.8), (-1, 2)))
    yield mapped("Swiss roll 2 × 1", pairs(1, 1, 0.6), swiss_roll)
    yield from (dense(columns, 0.3) for columns in (4, 10, 40))
    yield from (pairs(*shape, 0.6) for shape in ((4, 1), (10, 5), (40, 10)))
    yield from (student(*shape) for shape in ((1, 2), (4, 1.5), (8, 3)))
    for columns, speed in ((3, 0.5), (4, 1.5), (10, 1.0)):
        yield spiral(f"spiral {columns} × {columns}", pairs(columns, 2, 0.7), columns, speed)
    yield from (pairs(columns, 0, 0.0) for columns in (3, 10))


def labels() -> Iterator[Task]:
    """Yield tasks of columns and a label, whose regions are bands, rings or hyperbolas."""
    yield regions("bands of a label", 1, lambda x: np.sin(6 * x[:, 0]), (0.0,), 0.1)
    yield regions("rings of four labels", 2, lambda x: np.linalg.norm(x, axis=1), (0.7, 1.2, 1.8), 0.1)
    yield regions("five levels of a product", 2, lambda x: x.prod(axis=1), (-1.5, -0.5, 0.5, 1.5), 0.5)


def regions(name: str, columns: int, curve: Callable[[Floats], Floats], edges: tuple[float, ...], noise: float) -> Task:
    """Return normal columns, and the number of edges that a curve of them with noise exceeds."""

    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        x = random.normal(size=(rows, columns))
        label = np.searchsorted(edges, curve(x) + noise * random.normal(size=rows))
        return x, label[:, None].astype(float)

    x = np.random.default_rng(0).normal(size=(500_000, columns))
    below = stats.norm.cdf((np.array(edges) - curve(x)[:, None]) / noise)
    chance = np.diff(below, prepend=0.0, append=1.0)
    truth = special.entr(chance.mean(axis=0)).sum() - special.entr(chance).sum(axis=1).mean()
    return Task(name, draw, float(truth))


def grid() -> Iterator[Task]:
    """Yield relations of one column with one column, and of five with five, up to 6 nats."""
    for nats in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        normal = pairs(1, 1, float(np.sqrt(-np.expm1(-2 * nats))))
        yield normal._replace(name=f"normal 1 × 1, {nats} nats")
        yield mapped(f"uniform 1 × 1, {nats} nats", normal, special.ndtr)
        yield uniform(_width(nats))._replace(name=f"uniform noise, {nats} nats")
        yield pairs(5, 5, float(np.sqrt(-np.expm1(-2 * nats / 5))))._replace(name=f"normal 5 × 5, {nats} nats")


def _width(nats: float) -> float:
    """Return the width of uniform noise with this information: w − log 2w = nats, or 1/4w = nats above a half."""
    return 1 / (4 * nats) if nats <= 0.5 else float(-special.lambertw(-np.exp(-nats) / 2).real)


def normal(name: str, covariance: Floats, split: int) -> Task:
    root = np.linalg.cholesky(covariance)

    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        x, y = np.split(random.normal(size=(rows, len(root))) @ root.T, [split], axis=1)
        return x, y

    return Task(name, draw, _of_normal(covariance, split))


def _of_normal(covariance: Floats, split: int) -> float:
    blocks = covariance[:split, :split], covariance[split:, split:], covariance
    x, y, both = (np.linalg.slogdet(block)[1] for block in blocks)
    return float(0.5 * (x + y - both))


def dense(columns: int, correlation: float) -> Task:
    covariance = np.full((2 * columns, 2 * columns), correlation) + (1 - correlation) * np.eye(2 * columns)
    return normal(f"normal {columns} × {columns}, all correlated", covariance, columns)


def pairs(columns: int, correlated: int, correlation: float) -> Task:
    covariance = np.eye(2 * columns)
    first = np.arange(correlated)
    covariance[first, columns + first] = covariance[columns + first, first] = correlation
    return normal(f"normal {columns} × {columns}, {correlated} pairs", covariance, columns)


def student(columns: int, freedom: float) -> Task:
    """Return uncorrelated columns of a joint t distribution."""

    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        scale = np.sqrt(random.chisquare(freedom, size=(rows, 1)) / freedom)
        x, y = np.split(random.normal(size=(rows, 2 * columns)) / scale, 2, axis=1)
        return x, y

    marginal, both = (
        stats.multivariate_t(np.zeros(d), np.eye(d), df=freedom).entropy() for d in (columns, 2 * columns)
    )
    return Task(f"t {columns} × {columns}, {freedom:g} degrees of freedom", draw, float(2 * marginal - both))


def uniform(width: float) -> Task:
    """Return a uniform x, and y = x plus uniform noise between −width and width."""

    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        x = random.uniform(size=(rows, 1))
        return x, x + random.uniform(-width, width, size=(rows, 1))

    return Task(f"uniform noise {width:g}", draw, 0.25 / width if width > 0.5 else width - np.log(2 * width))


def mapped(name: str, task: Task, of_x: Map, of_y: Map | None = None) -> Task:
    """Return the task with X and Y mapped, each by itself."""

    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        x, y = task.draw(rows, random)
        return of_x(x), (of_y or of_x)(y)

    return Task(name, draw, task.truth)


def spiral(name: str, task: Task, columns: int, speed: float = 1.0) -> Task:
    """Return the task with two columns of X and two of Y turned by an angle that grows with the squared radius."""
    return mapped(name, task, _turned(0, 1, speed / columns), _turned(1, 2, speed / columns))


def _turned(i: int, j: int, speed: float) -> Map:
    def turn(x: Floats) -> Floats:
        angle, result = speed * (x**2).sum(axis=1), x.copy()
        result[:, i] = np.cos(angle) * x[:, i] - np.sin(angle) * x[:, j]
        result[:, j] = np.sin(angle) * x[:, i] + np.cos(angle) * x[:, j]
        return result

    return turn


def half_cube(x: Floats) -> Floats:
    return x * np.sqrt(np.abs(x))


def swiss_roll(x: Floats) -> Floats:
    angle = 1.5 * np.pi * (1 + 2 * special.ndtr(x))
    return np.concatenate([angle * np.cos(angle), angle * np.sin(angle)], axis=1) / 21


def bimodal(shares: tuple[float, float], means: tuple[float, float]) -> Map:
    """Return the map of a normal variable to a mixture of two."""
    grid = np.linspace(-15, 15, 20_001)
    share = sum(part * special.ndtr(grid - mean) for part, mean in zip(shares, means, strict=True))
    return lambda x: np.interp(special.ndtr(x), share, grid)


_WIGGLY: tuple[Map, Map] = (
    lambda x: x + 0.4 * np.sin(x) + 0.2 * np.sin(1.7 * x + 1) + 0.03 * np.sin(3.3 * x - 2.5),
    lambda x: x - 0.4 * np.sin(0.4 * x) + 0.17 * np.sin(1.3 * x + 3.5) + 0.02 * np.sin(4.3 * x - 2.5),
)
