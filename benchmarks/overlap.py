"""How often KL is called open above: for pairs where it is infinite or unknowable, and for pairs where it is finite.

Run with `python benchmarks/overlap.py [--repetitions 40] [--rows 100 300 1000] [--seed 5000]`. The thresholds of
`_answers/support.py` were chosen on other pairs.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import vwkde

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

LIMIT = 0.015
"""The share of rows outside from which an estimate is open above."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 300, 1_000])
    parser.add_argument("--seed", type=int, default=5_000)
    options = parser.parse_args()
    sizes = [(rows, rows) for rows in options.rows] + [(100, 1_000), (1_000, 100)]
    for title, pairs in (("KL infinite or unknowable", HARMFUL), ("KL finite", HARMLESS)):
        table = Table("pair", *(f"{p}, {q}" for p, q in sizes), title=f"{title}: called open above")
        rates = {name: [rate(*pair, size, options) for size in sizes] for name, pair in pairs.items()}
        for name, row in rates.items():
            table.add_row(name, *(f"{each:.0%}" for each in row))
        table.add_row("mean", *(f"{each:.1%}" for each in np.mean(list(rates.values()), axis=0)))
        Console().print(table)


def rate(p: Draw, q: Draw, size: tuple[int, int], options: argparse.Namespace) -> float:
    """Return the share of repetitions with more rows outside than the limit."""
    outside = []
    for repetition in range(options.repetitions):
        random = np.random.default_rng(options.seed + repetition)
        ratio = vwkde.DensityRatio(guide=None, weighting="uniform", bandwidth=1.0)
        ratio.fit(p(random, size[0]).astype(float), q(random, size[1]).astype(float))
        outside.append(ratio.diagnostics_["outside_fraction"][0] > LIMIT)
    return float(np.mean(outside))


def ball(random: np.random.Generator, n: int, inner: float = 0.0) -> Floats:
    """Draw from the unit ball in three dimensions, or from a shell."""
    directions = random.normal(size=(n, 3))
    radius = np.cbrt(inner**3 + (1 - inner**3) * random.random((n, 1)))
    return radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def kept(draw: Draw, keep: Callable[[Floats], NDArray[np.bool_]]) -> Draw:
    """Return a sample of which only some rows are kept."""

    def sample(random: np.random.Generator, n: int) -> Floats:
        rows = draw(random, 20 * n)
        return rows[keep(rows)][:n]

    return sample


def normal(columns: int, mean: float = 0.0, scale: float = 1.0) -> Draw:
    return lambda r, n: r.normal(mean, scale, (n, columns))


HARMFUL: dict[str, tuple[Draw, Draw]] = {
    "uniform, 15 % wider": (lambda r, n: r.uniform(0, 1.15, (n, 1)), lambda r, n: r.uniform(0, 1, (n, 1))),
    "uniform, shifted, 4 columns": (lambda r, n: r.uniform(0.2, 1.2, (n, 4)), lambda r, n: r.uniform(0, 1, (n, 4))),
    "triangular, 30 % wider": (
        lambda r, n: r.triangular(-1.3, 0, 1.3, (n, 1)),
        lambda r, n: r.triangular(-1, 0, 1, (n, 1)),
    ),
    "gamma, cut at its 90 % quantile": (
        lambda r, n: r.gamma(3, 1, (n, 1)),
        kept(lambda r, n: r.gamma(3, 1, (n, 1)), lambda x: x[:, 0] < 5.32),
    ),
    "normal, cut along a diagonal": (normal(2), kept(normal(2), lambda x: x.sum(axis=1) < 1.5)),
    "logistic, no row within ±0.7": (
        lambda r, n: r.logistic(size=(n, 1)),
        kept(lambda r, n: r.logistic(size=(n, 1)), lambda x: np.abs(x[:, 0]) > 0.7),
    ),
    "ball, shell": (ball, lambda r, n: ball(r, n, inner=0.7)),
    "Cauchy, logistic": (lambda r, n: r.standard_cauchy((n, 1)), lambda r, n: r.logistic(size=(n, 1))),
    "4 % of rows 40 away": (
        lambda r, n: r.exponential(size=(n, 2)) + 40 * (r.random((n, 1)) < 0.04),
        lambda r, n: r.exponential(size=(n, 2)),
    ),
    "one of twenty columns cut": (normal(20), kept(normal(20), lambda x: np.abs(x[:, 7]) < 1.4)),
    "more integers": (lambda r, n: r.integers(0, 24, (n, 1)), lambda r, n: r.integers(0, 20, (n, 1))),
}
HARMLESS: dict[str, tuple[Draw, Draw]] = {
    "equal, 3 columns": (normal(3), normal(3)),
    "normal, shift 1.7": (normal(1, 1.7), normal(1)),
    "normal, shift 1.7 in 8 columns": (normal(8, 1.7 / np.sqrt(8)), normal(8)),
    "normal, 1.4 times wider, 2 columns": (normal(2, 0, 1.4), normal(2)),
    "Gumbel, shift 1.5": (lambda r, n: r.gumbel(1.5, 1, (n, 1)), lambda r, n: r.gumbel(0, 1, (n, 1))),
    "χ² of 6 and 4": (lambda r, n: r.chisquare(6, (n, 1)), lambda r, n: r.chisquare(4, (n, 1))),
    "Weibull": (lambda r, n: r.weibull(1.5, (n, 2)), lambda r, n: r.weibull(1.2, (n, 2))),
    "t₃, wider": (lambda r, n: 1.5 * r.standard_t(3, (n, 2)), lambda r, n: r.standard_t(3, (n, 2))),
    "negative binomial": (
        lambda r, n: r.negative_binomial(4, 0.4, (n, 2)),
        lambda r, n: r.negative_binomial(3, 0.4, (n, 2)),
    ),
    "four modes": (
        lambda r, n: 4 * r.integers(0, 2, (n, 2)) + r.normal(0.6, 1, (n, 2)),
        lambda r, n: 4 * r.integers(0, 2, (n, 2)) + r.normal(0, 1, (n, 2)),
    ),
    "lognormal, correlated": (
        lambda r, n: np.exp(r.normal(size=(n, 4)) @ (0.5 * np.eye(4) + 0.2) + 0.3),
        lambda r, n: np.exp(r.normal(size=(n, 4)) @ (0.5 * np.eye(4) + 0.2)),
    ),
    "rounded to halves": (
        lambda r, n: np.round(2 * r.normal(0.8, 1, (n, 2))) / 2,
        lambda r, n: np.round(2 * r.normal(size=(n, 2))) / 2,
    ),
    "a part of the other": (kept(normal(3), lambda x: x[:, 0] > 0.5), normal(3)),
    "beta (3, 3) in a uniform": (lambda r, n: r.beta(3, 3, (n, 2)), lambda r, n: r.random((n, 2))),
    "shell in a ball": (lambda r, n: ball(r, n, inner=0.7), ball),
}

if __name__ == "__main__":
    main()
