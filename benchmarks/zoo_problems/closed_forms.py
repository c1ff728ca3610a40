"""Problems that are a change of a density in closed form, possibly with odd marginals."""

from zoo_problems.changes import CHANGES, NEED_TWO_COLUMNS
from zoo_problems.columns import DRESSED, dressing_of, inner_columns, random_kind
from zoo_problems.cores import DensityPair
from zoo_problems.definition import Problem
from zoo_problems.densities import DENSITIES, Density, Floats, Random
from zoo_problems.marginals import MONOTONE, Map, centre_and_scale, odd_marginals
from zoo_problems.shapes import ATTEMPTS, PILOT, reference_rows
from zoo_problems.strengths import change_strength


def changed(seed: int, rows: tuple[int, int], columns: int, target: float, random: Random) -> Problem:
    """Return a change of a density in closed form."""
    latent, dressed = str(random.choice(list(DENSITIES))), random_kind(columns, ["plain", *DRESSED], random)
    marginal = str(random.choice(["own", "odd", "bounded"], p=[0.6, 0.25, 0.15]))
    inner = inner_columns(columns, dressed, random)
    base = DENSITIES[latent](inner, random)
    pilot = base.sample(PILOT, random)
    name, sides = _random_sides(base, pilot, target, rows[1], random) if target else ("none", (base, base))
    core = DensityPair(*sides, reference_rows(rows), (seed, 4))
    marginals = _marginals(marginal, pilot, random)
    dressing = dressing_of(dressed, marginals(pilot), columns, random)
    label = {"own": latent, "odd": "copula", "bounded": "bounded"}[marginal]
    order = random.permutation(columns)
    return Problem(
        seed, label, name, dressed, rows, columns, core, lambda x, random: dressing(marginals(x), random), order
    )


def _random_sides(
    base: Density, pilot: Floats, target: float, rows: int, random: Random
) -> tuple[str, tuple[Density, Density]]:
    """Return the name of a change, and P and Q. Changes whose tail is too heavy at any strength are drawn again."""
    names = [name for name in CHANGES if pilot.shape[1] > 1 or name not in NEED_TWO_COLUMNS]
    for _ in range(ATTEMPTS):
        name, swapped = str(random.choice(names)), random.uniform() < 0.5
        change = CHANGES[name](base, *centre_and_scale(pilot), random)
        strength = change_strength(base, change, swapped, target, rows, random)
        if strength:
            return name, ((base, change(strength)) if swapped else (change(strength), base))
    return "none", (base, base)


def _marginals(name: str, pilot: Floats, random: Random) -> Map:
    """Return a one-to-one map of the columns: none, odd marginals, or the unit cube."""
    if name == "own":
        return lambda x: x
    if name == "odd":
        return odd_marginals(pilot, random)
    centre, scale = centre_and_scale(pilot)
    return lambda x: MONOTONE["bounded"]((x - centre) / scale)
