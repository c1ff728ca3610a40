"""How often the 95 % interval of KL contains the truth, over repetitions.

Run with `python benchmarks/intervals.py [--repetitions 200] [--only NAME …]`.
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table

import vwkde
from vwkde.datasets import Gaussian, GaussianPair, heteroscedastic, isotropic, mean_difference, one_dimensional


def settings() -> Iterator[tuple[str, GaussianPair, int]]:
    two = GaussianPair(
        Gaussian(np.zeros(2), np.eye(2)), Gaussian(np.array([0.5, 0.5]), np.array([[1.2, 0.4], [0.4, 0.8]]))
    )
    five = GaussianPair(
        Gaussian(np.zeros(5), np.eye(5)), Gaussian(0.3 * np.ones(5), np.diag([0.6, 0.8, 1.0, 1.3, 1.6]))
    )
    yield "1-D", one_dimensional(), 1_000
    yield from ((f"2-D, {rows} rows", two, rows) for rows in (500, 1_000))
    yield from ((f"5-D, {rows} rows", five, rows) for rows in (500, 1_000))
    yield "P = Q, 3-D", mean_difference(3, 0.0), 1_000
    yield "Iso 20-D", isotropic(20), 1_000
    yield "NH 20-D", heteroscedastic(20), 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(title=f"95 % intervals of KL, {options.repetitions} repetitions")
    for column in ("setting", "truth", "mean", "scatter", "median standard error", "covers"):
        table.add_column(column, justify="left" if column == "setting" else "right")
    for name, pair, rows in settings():
        if options.only is None or any(word in name for word in options.only):
            table.add_row(name, *measure(pair, rows, options.repetitions))
    Console().print(table)


def measure(pair: GaussianPair, rows: int, repetitions: int) -> list[str]:
    estimates = [vwkde.kl_divergence(*pair.sample(rows, random_state=1_000 + seed)) for seed in range(repetitions)]
    values = np.array([estimate.value for estimate in estimates])
    covers = np.mean([e.interval[0] <= pair.kl <= e.interval[1] for e in estimates])
    error = np.median([e.standard_error for e in estimates])
    return [f"{number:.4f}" for number in (pair.kl, values.mean(), values.std(), error)] + [f"{covers:.1%}"]


if __name__ == "__main__":
    main()
