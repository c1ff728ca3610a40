"""One-to-one maps of columns, which change no density ratio."""

from collections.abc import Callable

import numpy as np

from zoo_problems.densities import Floats, Random

Map = Callable[[Floats], Floats]

MONOTONE: dict[str, Map] = {
    "exponential": lambda z: np.logaddexp(0.0, 1.7 * z),
    "lognormal": lambda z: np.exp(np.clip(0.8 * z, -300, 300)),
    "bounded": lambda z: 0.5 + 0.5 * z / np.sqrt(1 + z**2),
    "U-shaped": lambda z: np.sin(0.25 * np.pi * (1 + z / np.sqrt(1 + z**2))) ** 2,
    "two modes": lambda z: z + 1.5 * np.tanh(4 * z),
    "heavy tails": lambda z: z + 0.3 * z**3,
    "narrow peak": lambda z: np.sign(z) * (np.sqrt(np.abs(z) + 0.01) - 0.1) + 0.2 * z,
}
"""Strictly increasing maps of a column of about zero mean and unit variance."""


def odd_marginals(pilot: Floats, random: Random, share: float = 1.0) -> Map:
    """Return a map that gives columns strange distributions, each with this chance; `pilot` tells their scales."""
    centre, scale = centre_and_scale(pilot)
    names = [random.choice(list(MONOTONE)) if random.uniform() < share else None for _ in centre]
    return lambda x: np.column_stack(
        [MONOTONE[name](z) if name else raw for name, z, raw in zip(names, ((x - centre) / scale).T, x.T, strict=True)]
    )


def centre_and_scale(pilot: Floats) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of columns, with outliers pulled in; constant columns have scale 1."""
    inner = np.clip(pilot, *np.quantile(pilot, [0.01, 0.99], axis=0))
    scale = inner.std(axis=0)
    return inner.mean(axis=0), np.where(scale > 0, scale, 1.0)
