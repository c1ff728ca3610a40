"""The size of a problem: rows, columns and divergence, drawn independently of its kind."""

import numpy as np

from zoo_problems.densities import Random

PILOT = 10_000
"""Rows that tell the scales of a base, and how strong a tilt is."""
ATTEMPTS = 50
"""Changes that are drawn before a problem is left without one."""
MOST_REFERENCE = 2_000_000
"""Rows that a truth comes from at most."""


def random_rows(random: Random) -> tuple[int, int]:
    """Return 30 to 20,000 rows, mostly 100 to 5,000; in a third of the problems up to 20 times fewer of one sample."""
    low, high = ((30, 100), (100, 5_000), (5_000, 20_000))[random.choice(3, p=[0.13, 0.82, 0.05])]
    many = int(np.exp(random.uniform(np.log(low), np.log(high))))
    unequal = random.uniform() < 1 / 3
    few = max(30, int(many / 20 ** random.uniform())) if unequal else many
    return (many, few) if random.uniform() < 0.5 else (few, many)


def random_columns(random: Random) -> int:
    """Return 1 to 60 columns, mostly 2 to 20."""
    low, high = ((1, 1), (2, 3), (4, 8), (9, 20), (21, 60))[random.choice(5, p=[0.08, 0.2, 0.3, 0.27, 0.15])]
    return int(random.integers(low, high + 1))


def random_target(random: Random) -> float:
    """Return the KL divergence to aim at: zero, tiny, or up to two nats."""
    low, high = ((0.0, 0.0), (1e-4, 0.01), (0.02, 2.2))[random.choice(3, p=[0.04, 0.06, 0.9])]
    return float(np.exp(random.uniform(np.log(low), np.log(high)))) if high else 0.0


def reference_rows(rows: tuple[int, int]) -> int:
    """Return how many rows the truth comes from: enough for an error of about a tenth of the floor."""
    return int(np.clip(400 * max(rows), 200_000, MOST_REFERENCE))
