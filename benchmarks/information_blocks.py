"""Coverage of intervals of mutual information where rows remember each other, with blocks and without.

Run with `python benchmarks/information_blocks.py [--repetitions 200]`. X and its noise are sticky truth values, which
stay with some probability and are drawn anew otherwise, so that the truth is that of independent rows.
"""

import argparse
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import entropy

import vwkde

_FIRST_SEED = 40_000
"""No choice was made with these seeds."""
_WRONG = 0.2
"""Share of rows in which Y is not X."""


def sticky(random: np.random.Generator, rows: int, share: float, stay: float) -> np.ndarray:
    drawn = np.where(random.random(rows) > stay, np.arange(rows), 0)
    return (random.random(rows) < share)[np.maximum.accumulate(drawn)]


def covered(rows: int, stay: float, blocks: str | None, repetitions: int) -> float:
    truth, found = np.log(2) - entropy([_WRONG, 1 - _WRONG]), 0
    for seed in range(_FIRST_SEED, _FIRST_SEED + repetitions):
        random = np.random.default_rng(seed)
        x = sticky(random, rows, 0.5, stay)
        low, high = vwkde.mutual_information(x, x ^ sticky(random, rows, _WRONG, stay), blocks=blocks).interval
        found += low <= truth <= high
    return found / repetitions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(title=f"Coverage of 95 % intervals, {options.repetitions} repetitions")
    for column in ("rows", "memory, in rows", "blocks", "none"):
        table.add_column(column, justify="right")
    for rows, stay in ((500, 0.0), (500, 0.8), (1_000, 0.9), (2_000, 0.9)):
        shares = (covered(rows, stay, blocks, options.repetitions) for blocks in ("auto", None))
        table.add_row(f"{rows:,}", f"{(1 + stay) / (1 - stay):.0f}", *(f"{share:.3f}" for share in shares))
    Console().print(table)


if __name__ == "__main__":
    main()
