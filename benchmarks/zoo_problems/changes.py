"""Changes of a density that keep its closed form, each growing with a strength from 0 (none) to 1."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import expm
from scipy.stats import random_correlation

from zoo_problems.densities import Affine, Density, Floats, Mixture, Random

Change = Callable[[float], Density]
"""The changed density at a strength."""

_PILOT = 4_000


def shift(base: Density, centre: Floats, scale: Floats, random: Random) -> Change:
    """Move the density by up to three standard deviations, along one column or all."""
    move = 3.0 * scale * _direction(len(centre), random)
    return lambda strength: Affine(base, np.eye(len(centre)), strength * move)


def rescale(base: Density, centre: Floats, scale: Floats, random: Random) -> Change:
    """Stretch some columns and shrink others about the centre, by up to a factor of four."""
    del scale
    some = _some(len(centre), random)
    logs = np.where(some, np.log(4.0) * random.choice([-1.0, 1.0], len(centre)), 0.0)

    def changed(strength: float) -> Density:
        factor = np.exp(strength * logs)
        return Affine(base, np.diag(factor), centre - factor * centre)

    return changed


def rotation(base: Density, centre: Floats, scale: Floats, random: Random) -> Change:
    """Turn the density about its centre, in units of the columns' scales."""
    columns = len(centre)
    generator = np.triu(random.normal(size=(columns, columns)), 1)
    generator = (np.pi / 2) * (generator - generator.T) / max(1.0, np.linalg.norm(generator, 2))

    def changed(strength: float) -> Density:
        turn = scale[:, None] * expm(strength * generator) / scale
        return Affine(base, turn, centre - turn @ centre)

    return changed


def contamination(base: Density, centre: Floats, scale: Floats, random: Random) -> Change:
    """Replace a share of up to one half by a smaller copy of the density, one to three standard deviations away."""
    columns, factor = len(centre), random.uniform(0.5, 0.9)
    move = random.uniform(1.0, 3.0) * scale * _direction(columns, random)
    strange = Affine(base, factor * np.eye(columns), (1 - factor) * centre + move)
    return lambda strength: Mixture((base, strange), (1 - 0.5 * strength, 0.5 * strength))


def dependence(base: Density, centre: Floats, scale: Floats, random: Random) -> Change:
    """Change the correlations; centre and scales stay."""
    columns = len(centre)
    x = (base.sample(_PILOT, random) - centre) / scale
    now = np.corrcoef(x, rowvar=False)
    spectrum = random.dirichlet(np.ones(columns))
    aim = random_correlation.rvs(columns * spectrum / spectrum.sum(), random_state=random)
    inverse = np.linalg.inv(np.linalg.cholesky(now))

    def changed(strength: float) -> Density:
        matrix = np.linalg.cholesky((1 - strength) * now + strength * (0.98 * aim + 0.02 * np.eye(columns))) @ inverse
        matrix = scale[:, None] * matrix / scale
        return Affine(base, matrix, centre - matrix @ centre)

    return changed


def _direction(columns: int, random: Random) -> Floats:
    """Return a random unit vector along one column, a few or all."""
    vector = np.where(_some(columns, random), random.normal(size=columns), 0.0)
    return vector / np.linalg.norm(vector)


def _some(columns: int, random: Random) -> Floats:
    """Return which columns take part: one, a few or all."""
    count = random.choice([1, min(3, columns), columns])
    return np.isin(np.arange(columns), random.choice(columns, count, replace=False))


CHANGES: dict[str, Callable[[Density, Floats, Floats, Random], Change]] = {
    "shift": shift,
    "scale": rescale,
    "rotation": rotation,
    "contamination": contamination,
    "dependence": dependence,
}
"""Changes by name: functions of the base, its centre and scales, and a random generator."""

NEED_TWO_COLUMNS = {"rotation", "dependence"}
