"""Tilts: functions t of the observed columns. Rows of a base that are accepted with chance ∝ exp t(x) have
log p/q = t − log E exp t against the base, whatever the base is."""

from collections.abc import Callable

import numpy as np

from zoo_problems.densities import Floats, Random
from zoo_problems.marginals import centre_and_scale

Tilt = Callable[[Floats], Floats]


def linear(z: Floats, random: Random) -> Tilt:
    return _projection(z, random)


def quadratic(z: Floats, random: Random) -> Tilt:
    """Return a sum of signed squares of a few directions."""
    parts = [(random.choice([-1.0, 1.0]), _projection(z, random)) for _ in range(random.integers(1, 4))]
    return lambda z: np.sum([sign * part(z) ** 2 for sign, part in parts], axis=0)


def tanh(z: Floats, random: Random) -> Tilt:
    part, steepness, place = _projection(z, random), random.uniform(1, 4), random.normal()
    return lambda z: np.tanh(steepness * (part(z) - place))


def sine(z: Floats, random: Random) -> Tilt:
    part, frequency, phase = _projection(z, random), random.uniform(1, 5), random.uniform(0, 2 * np.pi)
    return lambda z: np.sin(frequency * part(z) + phase)


def steps(z: Floats, random: Random) -> Tilt:
    """Return a sum of jumps, each of one column at a quantile of its own."""
    columns = random.choice(z.shape[1], random.integers(1, 5))
    places = [np.quantile(z[:, column], random.uniform(0.1, 0.9)) for column in columns]
    heights = random.normal(size=len(columns))
    jumps = list(zip(heights, columns, places, strict=True))
    return lambda z: np.sum([height * (z[:, column] > place) for height, column, place in jumps], axis=0)


def interactions(z: Floats, random: Random) -> Tilt:
    """Return a sum of products of pairs of columns."""
    pairs = random.integers(z.shape[1], size=(random.integers(1, 4), 2))
    weights = random.normal(size=len(pairs))
    return lambda z: np.clip(z[:, pairs[:, 0]], -4, 4) * np.clip(z[:, pairs[:, 1]], -4, 4) @ weights


def radial(z: Floats, random: Random) -> Tilt:
    """Return a function of the distance from the centre: monotone, or a shell."""
    columns = _few_or_all(z, random)
    shell = random.uniform() < 0.5
    middle = np.median(np.linalg.norm(z[:, columns], axis=1))

    def tilt(z: Floats) -> Floats:
        radius = np.linalg.norm(z[:, columns], axis=1)
        return -np.abs(radius - middle) if shell else radius

    return tilt


def sparse(z: Floats, random: Random) -> Tilt:
    """Return a curve of one column alone."""
    column, place = int(random.integers(z.shape[1])), random.normal()
    return lambda z: z[:, column] + 2 * np.tanh(3 * (z[:, column] - place))


def _few_or_all(z: Floats, random: Random) -> Floats:
    columns = z.shape[1]
    count = columns if random.uniform() < 0.5 else min(columns, int(random.integers(1, 5)))
    return random.choice(columns, count, replace=False)


def _projection(z: Floats, random: Random) -> Tilt:
    """Return a direction in a few columns or in all, of unit scale."""
    columns = _few_or_all(z, random)
    weights = random.normal(size=len(columns))
    centre, scale = centre_and_scale(z[:, columns] @ weights[:, None])
    return lambda z: (z[:, columns] @ weights - centre[0]) / scale[0]


TILTS: dict[str, Callable[[Floats, Random], Tilt]] = {
    each.__name__: each for each in (linear, quadratic, tanh, sine, steps, interactions, radial, sparse)
}
"""Tilts by name: functions of standardised rows of the base and a random generator."""

_OUTER = 0.005
"""Share of the base's rows, on each side, beyond which a tilt is constant: acceptance needs a bound."""

_ROUNDING = 1e-9
"""Range of a tilt of standardised columns below which it is rounding."""


def random_tilt(name: str, pilot: Floats, random: Random) -> Tilt:
    """Return a tilt with values from −½ to ½ on the rows of a base, of which `pilot` are some; 0 if it is constant."""
    centre, scale = centre_and_scale(pilot)
    z = (pilot - centre) / scale
    tilt = TILTS[name](z, random)
    low, high = np.quantile(tilt(z), [_OUTER, 1 - _OUTER])
    width = high - low
    if width < _ROUNDING:  # squares of one column with opposite signs, for example
        return lambda x: np.zeros(len(x))
    return lambda x: (np.clip(tilt((x - centre) / scale), low, high) - low) / width - 0.5
