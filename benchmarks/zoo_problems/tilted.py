"""Problems that are a tilt of a base, whose columns may be coarse."""

from dataclasses import replace

import numpy as np

from zoo_problems.columns import COARSE, DRESSED, Coarsening, dressing_of, inner_columns, random_kind
from zoo_problems.cores import Core, TableRows, Tilted
from zoo_problems.definition import Problem
from zoo_problems.densities import Floats, Random
from zoo_problems.samplers import SAMPLERS, Sampler, random_table
from zoo_problems.shapes import ATTEMPTS, PILOT, reference_rows
from zoo_problems.strengths import tilt_strength
from zoo_problems.tilts import TILTS, Tilt, random_tilt

_TABLE_ROWS = "table rows"
_LEAST_TABLE = 400
"""Rows of a table that are enough to draw samples from without putting rows back."""


def tilted(seed: int, rows: tuple[int, int], columns: int, target: float, random: Random) -> Problem:
    """Return a tilt of a base."""
    name = str(random.choice([*SAMPLERS, _TABLE_ROWS]))
    kind = random_kind(columns, ["plain", *COARSE, *DRESSED], random)
    base, pilot = _base(name, kind, inner_columns(columns, kind, random), random)
    share = random.choice([1.0, 0.0, 0.5], p=[0.6, 0.2, 0.2])  # of the tilt: to P; the rest goes, inverted, to Q
    if base is None:
        rows = (min(rows[0], len(pilot) // 2), min(rows[1], len(pilot) // 2))
    change, tilt, strength = _strong_tilt(pilot, (share, share - 1), target, rows[1], random)
    powers = (share * strength, (share - 1) * strength)
    core: Core
    if base is None:
        core, rows = _within_table(TableRows(pilot, tilt, powers), rows)
    else:
        core = Tilted(base, tilt, powers, reference_rows(rows), (seed, 4))
    dressing = dressing_of(kind, pilot, columns, random)
    return Problem(seed, name, change, kind, rows, columns, core, dressing, random.permutation(columns))


def _base(name: str, kind: str, columns: int, random: Random) -> tuple[Sampler | None, Floats]:
    """Return a base with its columns made coarse, if they are to be, and rows of it; a table has no sampler."""
    base = None if name == _TABLE_ROWS else SAMPLERS[name](columns, random)
    pilot = random_table(columns, random, _LEAST_TABLE) if base is None else base(PILOT, random)
    if kind not in COARSE:
        return base, pilot
    coarsen = COARSE[kind](pilot, random)
    return base and _then(base, coarsen), coarsen(pilot)


def _then(base: Sampler, coarsen: Coarsening) -> Sampler:
    return lambda rows, random: coarsen(base(rows, random))


def _strong_tilt(
    pilot: Floats, shares: tuple[float, float], target: float, rows: int, random: Random
) -> tuple[str, Tilt, float]:
    """Return the name of a tilt, the tilt and its strength. Those whose tail is too heavy are drawn again."""
    for _ in range(ATTEMPTS if target else 0):
        name = str(random.choice(list(TILTS)))
        tilt = random_tilt(name, pilot, random)
        values = tilt(pilot)
        strength = tilt_strength(values, shares, target, rows) if np.ptp(values) else 0.0
        if strength:
            return f"tilt: {name}", tilt, strength
    return "none", lambda x: np.zeros(len(x)), 0.0


def _within_table(core: TableRows, rows: tuple[int, int]) -> tuple[TableRows, tuple[int, int]]:
    """Return a tilt weak enough for samples of 30 rows, and no more rows than there will be of either sample."""
    while min(core.most_rows()) < 30:
        core = replace(core, powers=(0.8 * core.powers[0], 0.8 * core.powers[1]))
    n, m = (min(pair) for pair in zip(rows, core.most_rows(), strict=True))
    return core, (n, m)
