"""What columns look like in life.

Coarse columns lose information, so they come before the tilt, which is a function of them. Warps, copies and columns of
noise change no density ratio, so they come last.
"""

from collections.abc import Callable

import numpy as np

from zoo_problems.densities import Floats, Random
from zoo_problems.marginals import centre_and_scale, odd_marginals

Coarsening = Callable[[Floats], Floats]
Dressing = Callable[[Floats, Random], Floats]


def rounded(pilot: Floats, random: Random) -> Coarsening:
    """Round columns to steps of a tenth of their standard deviation, a third of it, or all."""
    centre, scale = centre_and_scale(pilot)
    step = scale * random.choice([1 / 3, 1.0, 0.1], size=len(centre))
    return lambda x: step * np.rint((x - centre) / step)


def counts(pilot: Floats, random: Random) -> Coarsening:
    """Turn columns into counts from zero, of means between one and about thirty."""
    centre, scale = centre_and_scale(pilot)
    level, spread = random.uniform(0, 3.5, size=len(centre)), random.uniform(0.3, 0.9, size=len(centre))
    return lambda x: np.floor(np.exp(np.clip(level + spread * (x - centre) / scale, None, 12)))


def zeros(pilot: Floats, random: Random) -> Coarsening:
    """Turn columns into amounts: zero below a quantile, and skewed above."""
    _, scale = centre_and_scale(pilot)
    least = np.array([np.quantile(np.unique(column), random.uniform(0.2, 0.9)) for column in pilot.T])
    return lambda x: np.expm1(np.clip((x - least) / scale, 0, 12))


def categories(pilot: Floats, random: Random) -> Coarsening:
    """Turn groups of two to six columns into one category each, one-hot; single columns become flags."""
    centre, scale = centre_and_scale(pilot)
    groups, at = [], 0
    while at < len(centre):
        size = min(int(random.integers(2, 7)), len(centre) - at)
        groups.append(slice(at, at + size))
        at += size
    uneven = random.normal(size=len(centre))

    def coarsen(x: Floats) -> Floats:
        z, result = (x - centre) / scale + uneven, np.zeros_like(x)
        for group in groups:
            part = z[:, group]
            result[:, group] = part > 0 if part.shape[1] == 1 else np.eye(part.shape[1])[part.argmax(axis=1)]
        return result

    return coarsen


def mixed(pilot: Floats, random: Random) -> Coarsening:
    """Leave each column as it is, or coarsen it in one of the ways."""
    ways = [lambda x: x, *(way(pilot, random) for way in (rounded, counts, zeros, categories))]
    chosen = random.integers(len(ways), size=pilot.shape[1])

    def coarsen(x: Floats) -> Floats:
        versions = [way(x) for way in ways]
        return np.column_stack([versions[way][:, column] for column, way in enumerate(chosen)])

    return coarsen


def warped(pilot: Floats, total: int, random: Random) -> Dressing:
    """Map columns one to one, and change their units."""
    del total
    units = 10.0 ** random.integers(-3, 4, size=pilot.shape[1])
    marginals = odd_marginals(pilot, random, 0.6)
    return lambda x, _: units * marginals(x)


def copies(pilot: Floats, total: int, random: Random) -> Dressing:
    """Add copies of columns, some of them with a little noise."""
    _, scale = centre_and_scale(pilot)
    chosen = random.integers(pilot.shape[1], size=total - pilot.shape[1])
    width = scale[chosen] * random.choice([0.0, 0.01, 0.1], size=len(chosen))
    return lambda x, random: np.column_stack([x, x[:, chosen] + width * random.normal(size=(len(x), len(chosen)))])


def noise(pilot: Floats, total: int, random: Random) -> Dressing:
    """Add columns that tell nothing: Gaussian, uniform, of heavy tails, or flags."""
    kinds = random.integers(4, size=total - pilot.shape[1])

    def dress(x: Floats, random: Random) -> Floats:
        size = (len(x), len(kinds))
        drawn = [random.normal(size=size), random.uniform(size=size), random.standard_t(3, size=size)]
        drawn.append((random.uniform(size=size) < 0.3).astype(float))
        return np.column_stack([x, np.choose(kinds, drawn)])

    return dress


COARSE: dict[str, Callable[[Floats, Random], Coarsening]] = {
    each.__name__: each for each in (rounded, counts, zeros, categories, mixed)
}
"""Ways to lose information: functions of rows that tell the scales, and a random generator."""

DRESSED: dict[str, Callable[[Floats, int, Random], Dressing]] = {
    each.__name__: each for each in (warped, copies, noise)
}
"""Ways that change no ratio: functions of rows, the number of columns to reach, and a random generator."""

ADDING = {"copies", "noise"}
"""Those that add columns."""


def random_kind(columns: int, kinds: list[str], random: Random) -> str:
    """Return what the columns look like; a single column has no room for copies and noise."""
    return str(random.choice([kind for kind in kinds if columns > 1 or kind not in ADDING]))


def inner_columns(columns: int, kind: str, random: Random) -> int:
    """Return how many columns there are before copies or noise are added."""
    return int(random.integers(1, columns)) if kind in ADDING else columns


def dressing_of(kind: str, pilot: Floats, columns: int, random: Random) -> Dressing:
    """Return what is done to the columns last: nothing, for those that are plain or coarse already."""
    if kind not in DRESSED:
        return lambda x, _: x
    return DRESSED[kind](pilot, columns, random)
