"""Level, power and time of the two-sample test, beside energy and MMD tests with as many permutations, and hyppo.

Run with `python benchmarks/two_sample.py [--repetitions 200] [--only NAME …]`. hyppo is left out if it is not
installed.
"""

import argparse
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial.distance import cdist, pdist

import vwkde

PERMUTATIONS = 199
_FIRST_SEED = 30_000
"""No choice was made with these seeds."""

Floats = np.ndarray
Random = np.random.Generator
Test = Callable[[Floats, Floats, int], float]


class Difference(NamedTuple):
    """A name, the rows of each sample, and what draws them."""

    name: str
    rows: int
    draw: Callable[[int, Random], tuple[Floats, Floats]]


def differences() -> list[Difference]:
    """Return equal samples, and samples that differ in one way each."""
    return [
        *(Difference(f"20-D, shift {by}", rows, _shifted(by)) for rows, by in ((100, 0.0), (100, 0.7), (500, 0.4))),
        Difference("5-D, spread 1.3", 200, _spread),
        Difference("3-D, correlation 0.5", 100, _correlated),
        Difference("2-D, ring", 100, _ring),
        Difference("2-D, t, equal", 100, lambda n, random: tuple(random.standard_t(2, size=(2, n, 2)))),
    ]


def _shifted(by: float) -> Callable[[int, Random], tuple[Floats, Floats]]:
    def draw(rows: int, random: Random) -> tuple[Floats, Floats]:
        p, q = random.normal(size=(2, rows, 20))
        q[:, 0] += by
        return p, q

    return draw


def _spread(rows: int, random: Random) -> tuple[Floats, Floats]:
    p, q = random.normal(size=(2, rows, 5))
    q[:, 0] *= 1.3
    return p, q


def _correlated(rows: int, random: Random) -> tuple[Floats, Floats]:
    p, q = random.normal(size=(2, rows, 3))
    q[:, 1] = 0.5 * q[:, 0] + np.sqrt(0.75) * q[:, 1]
    return p, q


def _ring(rows: int, random: Random) -> tuple[Floats, Floats]:
    """Return a normal sample, and a ring of the same mean and covariance."""
    p, q = random.normal(size=(2, rows, 2))
    radius = np.linalg.norm(q, axis=1, keepdims=True)
    return p, q / radius * (np.sqrt(1.96) + 0.2 * random.normal(size=(rows, 1)))


def by_vwkde(p: Floats, q: Floats, seed: int) -> float:
    return vwkde.two_sample_test(p, q, n_permutations=PERMUTATIONS, random_state=seed).p_value


def by_energy(p: Floats, q: Floats, seed: int) -> float:
    pooled = np.concatenate([p, q])
    return _quadratic_form_test(-cdist(pooled, pooled), len(p), np.random.default_rng(seed))


def by_mmd(p: Floats, q: Floats, seed: int) -> float:
    pooled = np.concatenate([p, q])
    width = np.median(pdist(pooled[:: max(1, len(pooled) // 500)]))
    kernel = np.exp(-0.5 * (cdist(pooled, pooled) / width) ** 2)
    return _quadratic_form_test(kernel, len(p), np.random.default_rng(seed))


def by_hyppo(name: str) -> Test:
    def test(p: Floats, q: Floats, seed: int) -> float:
        made = getattr(import_module("hyppo.ksample"), name)()
        return float(made.test(p, q, reps=PERMUTATIONS, workers=1, auto=False, random_state=seed)[1])

    return test


def _quadratic_form_test(kernel: Floats, rows: int, random: Random) -> float:
    """Return the p-value of cᵀKc under permutations of the labels."""
    n = len(kernel)
    contrast = np.full((n, PERMUTATIONS + 1), -1 / (n - rows))
    contrast[:rows, 0] = 1 / rows
    for column in range(1, PERMUTATIONS + 1):
        contrast[random.permutation(n)[:rows], column] = 1 / rows
    forms = np.einsum("ij,ij->j", contrast, kernel @ contrast)
    return float(np.mean(forms >= forms[0]))


def tests() -> dict[str, Test]:
    """Return the tests whose packages are installed."""
    found: dict[str, Test] = {"vwkde": by_vwkde, "energy": by_energy, "MMD": by_mmd}
    if find_spec("hyppo") is not None:
        found |= {f"hyppo {name}": by_hyppo(name) for name in ("Energy", "MMD")}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    asked = tests()
    table = Table(title=f"Share of p ≤ 0.05, {options.repetitions} repetitions (seconds for one test)")
    for column in ("difference", "rows", *asked):
        table.add_column(column, justify="left" if column == "difference" else "right")
    for number, difference in enumerate(differences()):
        if options.only is not None and not any(word in difference.name for word in options.only):
            continue
        cells = _measured(difference, _FIRST_SEED + 1_000 * number, options.repetitions, asked)
        table.add_row(difference.name, str(difference.rows), *cells)
    Console(width=130).print(table)


def _measured(difference: Difference, start: int, repetitions: int, asked: dict[str, Test]) -> list[str]:
    found = {name: np.zeros(2) for name in asked}
    for seed in range(start, start + repetitions):
        p, q = difference.draw(difference.rows, np.random.default_rng(seed))
        for name, test in asked.items():
            begin = perf_counter()
            finding = test(p, q, seed) <= 0.05
            found[name] += finding, perf_counter() - begin
    return [f"{share / repetitions:.3f} ({seconds / repetitions:.2g})" for share, seconds in found.values()]


if __name__ == "__main__":
    main()
