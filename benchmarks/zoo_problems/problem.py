"""A random two-sample problem from a seed: what it is made of, its samples, its log ratios, its truths."""

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from zoo_problems.changes import CHANGES, NEED_TWO_COLUMNS
from zoo_problems.columns import ADDING, COARSE, DRESSED, Dressing
from zoo_problems.cores import Core, DensityPair, Reference, Rows, Sample, TableRows, Tilted
from zoo_problems.densities import DENSITIES, Density, Floats, Random
from zoo_problems.marginals import MONOTONE, centre_and_scale, odd_marginals
from zoo_problems.samplers import SAMPLERS, random_table
from zoo_problems.strengths import change_strength, tilt_strength
from zoo_problems.tilts import TILTS, random_tilt
from zoo_problems.truths import KINDS, Truth, truth

_PILOT = 10_000
"""Rows that tell the scales of a base, and how strong a tilt is."""
_ATTEMPTS = 50
"""Changes that are drawn before a problem is left without one."""


@dataclass(frozen=True)
class Problem:
    """Two densities with a known ratio, and the numbers of rows to draw from them.

    `base`, `change` and `columns_kind` say what the problem is made of, in words.
    """

    seed: int
    base: str
    change: str
    columns_kind: str
    rows: tuple[int, int]
    columns: int
    core: Core = field(repr=False)
    dressing: Dressing = field(repr=False)
    order: Floats = field(repr=False)

    def draw(self, repetition: int = 0, fresh: int = 0) -> Sample:
        """Return the samples of a repetition with their log ratios, and `fresh` more rows of each density."""
        drawn = self.core.sample(self.rows, fresh, np.random.default_rng([self.seed, 1, repetition]))
        random = np.random.default_rng([self.seed, 5, repetition])
        return Sample(*(Rows(self.dressing(rows.x, random)[:, self.order], rows.log_ratio) for rows in drawn))

    def sample(self, repetition: int = 0) -> tuple[Floats, Floats]:
        """Return the two samples of a repetition, without anything that tells the answer."""
        drawn = self.draw(repetition)
        return drawn.p.x, drawn.q.x

    @cached_property
    def references(self) -> list[Reference]:
        """Log ratios of many rows, from which the truths come."""
        return self.core.references()

    def truth(self, kind: str = "kl") -> Truth:
        """Return a divergence of P from Q with the floor of its error."""
        return truth(kind, self.references, self.rows)

    def describe(self) -> dict[str, Any]:
        """Return what the problem is, with all its truths, ready for JSON."""
        names = ("seed", "base", "change", "columns_kind", "rows", "columns")
        truths = {kind: list(self.truth(kind)) for kind in KINDS}
        return {name: getattr(self, name) for name in names} | {"truths": truths}


@lru_cache(maxsize=4)
def problem(seed: int) -> Problem:
    """Return the problem of a seed.

    Parameters
    ----------
    seed : int
        Not negative. Seeds below 10,000 are for tuning, the others for reporting.

    Returns
    -------
    Problem
        The same for the same seed.
    """
    shape, parts = np.random.default_rng([seed, 2]), np.random.default_rng([seed, 3])
    rows, columns, target = random_rows(shape), random_columns(shape), random_target(shape)
    make = _tilted if shape.uniform() < _TILTED else _changed
    return make(seed, rows, columns, target, parts)


_TILTED = 0.6
"""Share of problems that are a tilt of a base; the others are a change of a density in closed form."""


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
    return int(np.clip(400 * max(rows), 200_000, 2_000_000))


def _changed(seed: int, rows: tuple[int, int], columns: int, target: float, random: Random) -> Problem:
    """Return a change of a density in closed form, possibly with odd marginals."""
    latent, dressed = str(random.choice(list(DENSITIES))), _random_kind(columns, ["plain", *DRESSED], random)
    marginal = str(random.choice(["own", "odd", "bounded"], p=[0.6, 0.25, 0.15]))
    inner = _inner_columns(columns, dressed, random)
    base = DENSITIES[latent](inner, random)
    pilot = base.sample(_PILOT, random)
    name, sides = _random_sides(base, pilot, target, rows[1], random) if target else ("none", (base, base))
    core = DensityPair(*sides, reference_rows(rows), (seed, 4))
    marginals = _marginals(marginal, pilot, random)
    dressing = _dressing(dressed, marginals(pilot), columns, random)
    label = {"own": latent, "odd": "copula", "bounded": "bounded"}[marginal]
    return Problem(
        seed,
        label,
        name,
        dressed,
        rows,
        columns,
        core,
        lambda x, random: dressing(marginals(x), random),
        random.permutation(columns),
    )


def _random_sides(base: Density, pilot: Floats, target: float, rows: int, random: Random) -> Any:
    """Return the name of a change, and P and Q. Changes whose tail is too heavy at any strength are drawn again."""
    names = [name for name in CHANGES if pilot.shape[1] > 1 or name not in NEED_TWO_COLUMNS]
    for _ in range(_ATTEMPTS):
        name, swapped = str(random.choice(names)), random.uniform() < 0.5
        change = CHANGES[name](base, *centre_and_scale(pilot), random)
        strength = change_strength(base, change, swapped, target, rows, random)
        if strength:
            return name, ((base, change(strength)) if swapped else (change(strength), base))
    return "none", (base, base)


def _marginals(name: str, pilot: Floats, random: Random) -> Any:
    """Return a one-to-one map of the columns: none, odd marginals, or the unit cube."""
    if name == "own":
        return lambda x: x
    if name == "odd":
        return odd_marginals(pilot, random)
    centre, scale = centre_and_scale(pilot)
    return lambda x: MONOTONE["bounded"]((x - centre) / scale)


def _tilted(seed: int, rows: tuple[int, int], columns: int, target: float, random: Random) -> Problem:
    """Return a tilt of a base, whose columns may be coarse."""
    name, kind = (
        str(random.choice([*SAMPLERS, _TABLE_ROWS])),
        _random_kind(columns, ["plain", *COARSE, *DRESSED], random),
    )
    inner = _inner_columns(columns, kind, random)
    base = None if name == _TABLE_ROWS else SAMPLERS[name](inner, random)
    pilot = base(_PILOT, random) if base else random_table(inner, random, _LEAST_TABLE)
    if not base:
        rows = (min(rows[0], len(pilot) // 2), min(rows[1], len(pilot) // 2))
    if kind in COARSE:
        coarsen = COARSE[kind](pilot, random)
        base, pilot = base and _then(base, coarsen), coarsen(pilot)
    share = random.choice([1.0, 0.0, 0.5], p=[0.6, 0.2, 0.2])
    change, tilt, strength = _strong_tilt(pilot, (share, share - 1), target, rows[1], random)
    powers = (share * strength, (share - 1) * strength)
    core: Core = TableRows(pilot, tilt, powers)
    if base:
        core = Tilted(base, tilt, powers, reference_rows(rows), (seed, 4))
    else:
        core, rows = _within_table(core, rows)
    dressing = _dressing(kind if kind in DRESSED else "plain", pilot, columns, random)
    return Problem(seed, name, change, kind, rows, columns, core, dressing, random.permutation(columns))


def _strong_tilt(pilot: Floats, shares: tuple[float, float], target: float, rows: int, random: Random) -> Any:
    """Return the name of a tilt, the tilt and its strength. Those whose tail is too heavy are drawn again."""
    for _ in range(_ATTEMPTS if target else 0):
        name = str(random.choice(list(TILTS)))
        tilt = random_tilt(name, pilot, random)
        values = tilt(pilot)
        strength = tilt_strength(values, shares, target, rows) if np.ptp(values) else 0.0
        if strength:
            return f"tilt: {name}", tilt, strength
    return "none", lambda x: np.zeros(len(x)), 0.0


_TABLE_ROWS = "table rows"
_LEAST_TABLE = 400
"""Rows of a table that are enough to draw samples from without putting rows back."""


def _within_table(core: TableRows, rows: tuple[int, int]) -> tuple[TableRows, tuple[int, int]]:
    """Return a tilt weak enough for samples of 30 rows, and no more rows than there will be of either sample."""
    while min(core.most_rows()) < 30:
        core = replace(core, powers=(0.8 * core.powers[0], 0.8 * core.powers[1]))
    n, m = (min(pair) for pair in zip(rows, core.most_rows(), strict=True))
    return core, (n, m)


def _then(base: Any, coarsen: Any) -> Any:
    return lambda rows, random: coarsen(base(rows, random))


def _random_kind(columns: int, kinds: list[str], random: Random) -> str:
    """Return what the columns look like; a single column has no room for copies and noise."""
    return str(random.choice([kind for kind in kinds if columns > 1 or kind not in ADDING]))


def _inner_columns(columns: int, kind: str, random: Random) -> int:
    """Return how many columns there are before copies or noise are added."""
    return int(random.integers(1, columns)) if kind in ADDING else columns


def _dressing(kind: str, pilot: Floats, columns: int, random: Random) -> Dressing:
    if kind == "plain":
        return lambda x, _: x
    return DRESSED[kind](pilot, columns, random)
