"""Level and power of the two-sample test, compared with energy and MMD tests with as many permutations.

Run with `python benchmarks/two_sample.py [--repetitions 200]`.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial.distance import cdist, pdist

import vwkde

PERMUTATIONS = 199


def quadratic_form_test(kernel: np.ndarray, rows: int, random: np.random.Generator) -> float:
    """Return the p-value of cᵀKc under permutations of the labels."""
    n = len(kernel)
    contrast = np.full((n, PERMUTATIONS + 1), -1 / (n - rows))
    contrast[:rows, 0] = 1 / rows
    for column in range(1, PERMUTATIONS + 1):
        contrast[random.permutation(n)[:rows], column] = 1 / rows
    forms = np.einsum("ij,ij->j", contrast, kernel @ contrast)
    return float(np.mean(forms >= forms[0]))


def p_values(p: np.ndarray, q: np.ndarray, seed: int) -> dict[str, float]:
    pooled = np.concatenate([p, q])
    distance = cdist(pooled, pooled)
    random = np.random.default_rng(seed)
    width = np.median(pdist(pooled[:: max(1, len(pooled) // 500)]))
    return {
        "vwkde": vwkde.two_sample_test(p, q, n_permutations=PERMUTATIONS, random_state=seed).p_value,
        "energy": quadratic_form_test(-distance, len(p), random),
        "MMD": quadratic_form_test(np.exp(-0.5 * (distance / width) ** 2), len(p), random),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    options = parser.parse_args()
    table = Table(title=f"Share of p ≤ 0.05, 20-D unit Gaussians, {options.repetitions} repetitions")
    for column in ("rows", "mean difference", "vwkde", "energy", "MMD"):
        table.add_column(column, justify="right")
    for rows, difference in ((100, 0.0), (100, 0.5), (100, 0.7), (500, 0.25), (500, 0.4)):
        results = []
        for seed in range(options.repetitions):
            random = np.random.default_rng(seed)
            p, q = random.normal(size=(2, rows, 20))
            q[:, 0] += difference
            results.append(p_values(p, q, seed))
        shares = (np.mean([values[name] <= 0.05 for values in results]) for name in results[0])
        table.add_row(str(rows), str(difference), *(f"{share:.3f}" for share in shares))
    Console().print(table)


if __name__ == "__main__":
    main()
