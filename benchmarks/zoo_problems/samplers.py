"""Bases that can be drawn but need no density: what a tilt starts from."""

from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn import datasets

from zoo_problems.densities import DENSITIES, Floats, Random
from zoo_problems.marginals import odd_marginals

Sampler = Callable[[int, Random], Floats]
"""Rows from their number and a random generator."""

_PILOT = 4_000


def of_density(name: str) -> Callable[[int, Random], Sampler]:
    def base(columns: int, random: Random) -> Sampler:
        return DENSITIES[name](columns, random).sample

    return base


def copula(columns: int, random: Random) -> Sampler:
    """Return a density with odd marginals."""
    density = DENSITIES[random.choice(["Gaussian", "Student t", "mixture"])](columns, random)
    marginals = odd_marginals(density.sample(_PILOT, random), random)
    return lambda rows, random: marginals(density.sample(rows, random))


def ring(columns: int, random: Random) -> Sampler:
    """Return circles in the first two columns, with noise, and Gaussian columns."""
    radii, width = np.arange(1, 1 + random.integers(1, 4)), random.uniform(0.03, 0.25)

    def sample(rows: int, random: Random) -> Floats:
        angle, radius = random.uniform(0, 2 * np.pi, rows), random.choice(radii, rows)
        x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + width * random.normal(size=(rows, 2))
        return _with_gaussian_columns(x, columns, random)

    return sample


def curve(columns: int, random: Random) -> Sampler:
    """Return a curve through up to six columns, with noise, and Gaussian columns."""
    bent = min(columns, int(random.integers(2, 7)))
    frequency, phase = random.uniform(0.5, 2.5, bent), random.uniform(0, 2 * np.pi, bent)
    width = random.uniform(0.03, 0.3)

    def sample(rows: int, random: Random) -> Floats:
        along = random.uniform(-np.pi, np.pi, rows)
        x = np.sin(np.outer(along, frequency) + phase) + width * random.normal(size=(rows, bent))
        x[:, 0] += along
        return _with_gaussian_columns(x, columns, random)

    return sample


def bounded(columns: int, random: Random) -> Sampler:
    """Return a cube, a ball or proportions (which, up to one that is left out, add up to one)."""
    shape = random.choice(["cube", "ball", "proportions"])
    corners = random.uniform(0.5, 3.0, size=(2, columns))
    concentration = random.uniform(0.5, 4.0, size=columns + 1)

    def sample(rows: int, random: Random) -> Floats:
        if shape == "cube":
            return random.beta(*corners, size=(rows, columns))
        if shape == "proportions":
            return random.dirichlet(concentration, rows)[:, :columns]
        x = random.normal(size=(rows, columns))
        radius = random.uniform(size=(rows, 1)) ** (1 / columns)
        return radius * x / np.linalg.norm(x, axis=1, keepdims=True)

    return sample


def piecewise(columns: int, random: Random) -> Sampler:
    """Return a density that is constant on the cells of a grid over up to three columns; the rest is uniform."""
    gridded = min(columns, int(random.integers(1, 4)))
    sides = random.integers(2, 6, size=gridded)
    edges = [np.append(0.0, np.cumsum(random.dirichlet(np.full(side, 2.0)))) for side in sides]
    shares = random.dirichlet(np.full(np.prod(sides), 1.0))

    def sample(rows: int, random: Random) -> Floats:
        x = random.uniform(size=(rows, columns))
        cells = np.unravel_index(random.choice(len(shares), rows, p=shares), tuple(sides))
        for column, (cell, edge) in enumerate(zip(cells, edges, strict=True)):
            x[:, column] = edge[cell] + x[:, column] * (edge[cell + 1] - edge[cell])
        return x

    return sample


def smoothed_table(columns: int, random: Random) -> Sampler:
    """Return a real table with a kernel at every row; columns of integers are rounded again."""
    table = random_table(columns, random)
    rows, scale = len(table), table.std(axis=0)
    width = scale * (4 / ((columns + 2) * rows)) ** (1 / (columns + 4))  # Silverman's
    whole = np.all(table == np.rint(table), axis=0)

    def sample(rows: int, random: Random) -> Floats:
        x = table[random.integers(len(table), size=rows)] + width * random.normal(size=(rows, columns))
        return np.where(whole, np.rint(x), x)

    return sample


def random_table(columns: int, random: Random, least: int = 0) -> Floats:
    """Return some columns of a table of scikit-learn that has as many, and at least so many rows."""
    able = [name for name, x in tables().items() if x.shape[1] >= columns and len(x) >= least]
    table = tables()[able[random.integers(len(able))]]
    return table[:, random.choice(table.shape[1], columns, replace=False)]


@cache
def tables() -> dict[str, Floats]:
    """Return the tables that come with scikit-learn, without constant columns."""
    loaded = {
        "iris": datasets.load_iris().data,
        "wine": datasets.load_wine().data,
        "breast cancer": datasets.load_breast_cancer().data,
        "diabetes": datasets.load_diabetes(scaled=False).data,
        "digits": datasets.load_digits().data,
    }
    return {name: np.asarray(x[:, x.std(axis=0) > 0], dtype=float) for name, x in loaded.items()}


def _with_gaussian_columns(x: Floats, columns: int, random: Random) -> Floats:
    more = max(0, columns - x.shape[1])
    return np.column_stack([x[:, :columns], random.normal(size=(len(x), more))])


SAMPLERS: dict[str, Callable[[int, Random], Sampler]] = {
    **{name: of_density(name) for name in DENSITIES},
    "copula": copula,
    "ring": ring,
    "curve": curve,
    "bounded": bounded,
    "piecewise": piecewise,
    "table": smoothed_table,
}
"""Samplers by name: functions of the number of columns and a random generator."""
