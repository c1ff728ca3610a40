"""KL divergence of the paper's estimator and of plain KDE on the paper's settings: mean and scatter over repetitions.

Run with `python benchmarks/accuracy.py [--repetitions 30] [--rows 1000] [--seed 0]`.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import special_ortho_group

import vwkde
from vwkde import datasets
from vwkde.datasets import GaussianPair

Copy = Callable[[np.ndarray], np.ndarray]


def settings() -> Iterator[tuple[str, GaussianPair, Copy, dict[str, Any]]]:
    for dimension in (10, 20):
        yield from copies(f"Iso {dimension}-D", datasets.isotropic(dimension))
    for dimension in (10, 20):
        yield from copies(f"NH {dimension}-D", datasets.heteroscedastic(dimension))
    for bandwidth in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        yield f"1-D, h = {bandwidth}", datasets.one_dimensional(), np.asarray, {"bandwidth": bandwidth}
    yield "1-D, h chosen", datasets.one_dimensional(), np.asarray, {}


def copies(name: str, pair: GaussianPair) -> Iterator[tuple[str, GaussianPair, Copy, dict[str, Any]]]:
    """Yield the setting itself, and a rotated and badly scaled copy of the same data, whose divergence is the same."""
    dimension = len(pair.numerator.mean)
    turn = special_ortho_group.rvs(dimension, random_state=0)
    scale = np.geomspace(1e-3, 1e3, dimension)
    yield name, pair, np.asarray, {}
    yield "  rotated, badly scaled", pair, lambda x: (x @ turn) * scale + 100, {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", vwkde.BiasWarning)  # plain KDE is here to show its bias
    table = Table(
        title=f"KL divergence, {options.rows:,} rows per sample, {options.repetitions} repetitions: mean ± scatter"
    )
    for column in ("setting", "truth", "kde", "vwkde", "vwkde error", "mean standard error"):
        table.add_column(column, justify="left" if column == "setting" else "right")
    for name, pair, copy, parameters in settings():
        values: dict[str, list[vwkde.Estimate]] = {"kde": [], "vwkde-mb": []}
        for repetition in range(options.repetitions):
            sample = pair.sample(options.rows, random_state=options.seed + repetition)
            for method, estimates in values.items():
                estimates.append(vwkde.kl_divergence(*map(copy, sample), method=method, **parameters))
        kde, weighted = (np.array([e.value for e in estimates]) for estimates in values.values())
        error = weighted.mean() / pair.kl - 1
        noise = weighted.std(ddof=1) / np.sqrt(len(weighted)) / pair.kl
        table.add_row(
            name,
            f"{pair.kl:.3f}",
            f"{kde.mean():.3f} ± {kde.std(ddof=1):.3f}",
            f"{weighted.mean():.3f} ± {weighted.std(ddof=1):.3f}",
            f"{error:+.1%} ± {noise:.1%}",
            f"{np.mean([e.standard_error for e in values['vwkde-mb']]):.3f}",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
