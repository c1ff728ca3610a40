"""Kinds of dependence with a known information, in one and two dimensions, discrete and conditional ones among them.

Truths of normal and t distributions are closed forms; those of y = f(x) + noise are the entropy of Y, by integration,
minus that of the noise.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import integrate, special, stats

from scenarios.mutual_tasks import Floats, Random, Task, normal, pairs, student, uniform

_POINTS = 4_001
"""Points of the grids that entropies are integrated on."""


class Kind(NamedTuple):
    """A name, what draws X, Y and what is known, the true information, and whether X has labels."""

    name: str
    draw: Callable[[int, Random], tuple[Floats, Floats, Floats | None]]
    truth: float
    labels: bool = False


def kinds() -> Iterator[Kind]:
    """Yield all kinds."""
    yield from map(_plain, (*_one_dimensional(), *_two_dimensional()))
    yield from _with_labels()
    yield from _conditional()


def _plain(task: Task) -> Kind:
    return Kind(task.name, lambda rows, random: (*task.draw(rows, random), None), task.truth)


def _one_dimensional() -> Iterator[Task]:
    yield pairs(1, 1, 0.95)._replace(name="normal 1 × 1, 0.95")
    yield pairs(1, 1, 0.6)._replace(name="normal 1 × 1, 0.6")
    yield pairs(1, 0, 0.0)._replace(name="independent 1 × 1")
    yield _noisy(
        "sine 1 × 1", lambda random, n: random.uniform(size=(n, 1)), lambda x: np.sin(4 * np.pi * x[:, 0]), 0.3
    )
    yield _noisy("quadratic 1 × 1", lambda random, n: random.normal(size=(n, 1)), lambda x: x[:, 0] ** 2, 0.5)
    yield student(1, 1)
    yield uniform(0.2)


def _two_dimensional() -> Iterator[Task]:
    yield pairs(2, 2, 0.8)
    yield pairs(2, 0, 0.0)._replace(name="independent 2 × 2")
    yield normal("sum 2 × 1", np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2.5]]), 2)
    yield _noisy(
        "wave 2 × 1",
        lambda random, n: random.uniform(size=(n, 2)),
        lambda x: np.sin(2 * np.pi * x[:, 0]) * np.cos(2 * np.pi * x[:, 1]),
        0.3,
    )
    yield _noisy(
        "radius 2 × 1", lambda random, n: random.normal(size=(n, 2)), lambda x: np.hypot(x[:, 0], x[:, 1]), 0.2
    )
    yield student(2, 2)


def _noisy(
    name: str, draw_x: Callable[[Random, int], Floats], function: Callable[[Floats], Floats], noise: float
) -> Task:
    """Return y = f(x) plus normal noise; the entropy of Y is that of a smoothed histogram of very many f(x)."""
    centres = np.sort(function(draw_x(np.random.default_rng(0), 2_000_000)))
    grid = np.linspace(centres[0] - 8 * noise, centres[-1] + 8 * noise, _POINTS)
    counts, edges = np.histogram(centres, bins=_POINTS, range=(grid[0], grid[-1]))
    middles = (edges[1:] + edges[:-1]) / 2
    density = stats.norm.pdf((grid[:, None] - middles) / noise) @ counts / len(centres) / noise

    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        x = draw_x(random, rows)
        return x, (function(x) + noise * random.normal(size=rows))[:, None]

    return Task(name, draw, _entropy(density, grid) - float(stats.norm(scale=noise).entropy()))


def _entropy(density: Floats, grid: Floats) -> float:
    return float(integrate.simpson(special.entr(density), x=grid))


def _with_labels() -> Iterator[Kind]:
    yield _labelled("3 labels, 1 column", np.array([[0.0], [1.0], [3.0]]))
    yield _labelled("2 labels, 2 columns", np.array([[0.0, 0.0], [1.0, 1.0]]))
    yield _labelled("5 labels, independent", np.zeros((5, 1)))


def _labelled(name: str, means: Floats) -> Kind:
    """Return labels, and a normal distribution around the mean of each."""

    def draw(rows: int, random: Random) -> tuple[Floats, Floats, None]:
        label = random.integers(len(means), size=rows)
        return label[:, None], means[label] + random.normal(size=(rows, means.shape[1])), None

    label, y, _ = draw(1_000_000, np.random.default_rng(0))
    logs = -0.5 * ((y[:, None] - means) ** 2).sum(axis=2)
    own = np.take_along_axis(logs, label, axis=1)[:, 0]
    return Kind(name, draw, float(np.mean(own - np.log(np.exp(logs).mean(axis=1)))), labels=True)


def _conditional() -> Iterator[Kind]:
    yield Kind("common cause | 1", _common_cause(1), 0.0)
    yield Kind("common cause | 2", _common_cause(2), 0.0)
    yield Kind("sum | 1", _sum(1), 0.5 * np.log(2))
    yield Kind("sum | 2", _sum(2), 0.5 * np.log(2))
    yield Kind("product | 1", _product, _of_product())
    yield Kind("sine | 1", _sine, _noisy_sine().truth)
    yield Kind("2 × 2 | 1", _blocks, -np.log(1 - 0.8**2))


def _common_cause(columns: int) -> Callable[[int, Random], tuple[Floats, Floats, Floats]]:
    def draw(rows: int, random: Random) -> tuple[Floats, Floats, Floats]:
        z = random.normal(size=(rows, columns))
        x, y = z.sum(axis=1) + random.normal(size=(2, rows))
        return x[:, None], y[:, None], z

    return draw


def _sum(columns: int) -> Callable[[int, Random], tuple[Floats, Floats, Floats]]:
    def draw(rows: int, random: Random) -> tuple[Floats, Floats, Floats]:
        z = random.normal(size=(rows, columns))
        x = random.normal(size=(rows, 1))
        return x, x + z.sum(axis=1, keepdims=True) + random.normal(size=(rows, 1)), z

    return draw


def _product(rows: int, random: Random) -> tuple[Floats, Floats, Floats]:
    x, z, noise = random.normal(size=(3, rows, 1))
    return x, x * z + 0.5 * noise, z


def _of_product() -> float:
    """Return the mean over z of ½ log(1 + z²/σ²)."""
    return float(integrate.quad(lambda z: 0.5 * np.log1p(4 * z**2) * stats.norm.pdf(z), -10, 10)[0])


def _noisy_sine() -> Task:
    return _noisy("", lambda random, n: random.normal(size=(n, 1)), lambda x: np.sin(3 * x[:, 0]), 0.3)


def _sine(rows: int, random: Random) -> tuple[Floats, Floats, Floats]:
    x, z, noise = random.normal(size=(3, rows, 1))
    return x, np.sin(3 * x) + 0.3 * noise + z, z


def _blocks(rows: int, random: Random) -> tuple[Floats, Floats, Floats]:
    z = random.normal(size=(rows, 1))
    x = random.normal(size=(rows, 2))
    y = 0.8 * x + 0.6 * random.normal(size=(rows, 2))
    return x + z, y - z, z
