"""Pairs of samples that differ in a relation: a distance, an angle, a step, a heap of values, or one group of rows.

No mean and no correlation of the columns changes by much. `families.py --relations` measures the default on them. Pairs
of the first five kinds were used while derived columns were made; the outcome of a subgroup, the link in one category
and the response of women while parts of the rows were, the sensor while equal values were, and the dead module while
the guide "tree" was. On the others nothing was tuned.
"""

from collections.abc import Iterator

import numpy as np
from scipy import special, stats

from hard_families import Density, Floats, KnownPair


def heaped(share: float) -> Density:
    """Return ages, of which a share is rounded to multiples of five, beside two columns of noise."""
    values = np.arange(-60.0, 181)
    chance = stats.norm.cdf(values + 0.5, 45, 14) - stats.norm.cdf(values - 0.5, 45, 14)
    fives = np.bincount((5 * np.round(values / 5)).astype(int) + 60, weights=chance, minlength=len(values))
    log_chance = np.log(np.maximum((1 - share) * chance + share * fives, np.finfo(float).tiny))

    def sample(n: int, random: np.random.Generator) -> Floats:
        age = np.round(random.normal(45, 14, n))
        age = np.where(random.random(n) < share, 5 * np.round(age / 5), age)
        return np.column_stack([age, random.normal(size=(n, 2))])

    return Density(sample, lambda x: log_chance[x[:, 0].astype(int) + 60])


def phases(coupling: float, columns: int) -> Density:
    """Return the phases of oscillators in a row, each near that of the one before; every phase is uniform."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        first = random.uniform(-np.pi, np.pi, (n, 1))
        turns = np.cumsum(np.column_stack([first, random.vonmises(0, coupling, (n, columns - 1))]), axis=1)
        return (turns + np.pi) % (2 * np.pi) - np.pi

    def log_density(x: Floats) -> Floats:
        return (coupling * np.cos(np.diff(x, axis=1)) - np.log(special.i0(coupling))).sum(axis=1)

    return Density(sample, log_density)


def walks(share: float, small: float, steps: int) -> Density:
    """Return walks whose steps are small, but for a share of large ones."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        scale = np.where(random.random((n, steps)) < share, 3.0, small)
        return np.cumsum(scale * random.normal(size=(n, steps)), axis=1)

    def log_density(x: Floats) -> Floats:
        z = np.diff(x, axis=1, prepend=0)
        large = np.log(share) + stats.norm.logpdf(z, scale=3.0)
        return np.logaddexp(large, np.log1p(-share) + stats.norm.logpdf(z, scale=small)).sum(axis=1)

    return Density(sample, log_density)


def levels(repulsion: int, scale: float, count: int) -> Density:
    """Return the eigenvalues of random matrices in any order: symmetric ones (repulsion 1) or Hermitian ones (2)."""
    half = repulsion / 2
    constant = special.gammaln(1 + half * np.arange(1, count + 1)).sum() - count * special.gammaln(1 + half)

    def sample(n: int, random: np.random.Generator) -> Floats:
        h = random.normal(size=(n, count, count)) + (repulsion - 1) * 1j * random.normal(size=(n, count, count))
        return random.permuted(np.linalg.eigvalsh((h + h.conj().swapaxes(1, 2)) / 2), axis=1) / scale

    def log_density(x: Floats) -> Floats:
        y, pairs = scale * x, np.triu_indices(count, 1)
        apart = np.log(np.abs(y[:, pairs[0]] - y[:, pairs[1]])).sum(axis=1)
        return repulsion * apart + stats.norm.logpdf(y).sum(axis=1) - constant + count * np.log(scale)

    return Density(sample, log_density)


def states(forward: float, steps: int) -> Density:
    """Return chains of three states, as codes, that go round in one direction more often than in the other."""
    moves = np.array([np.roll([0.4, forward, 0.6 - forward], shift) for shift in range(3)])

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = random.integers(0, 3, (n, steps))
        for at in range(1, steps):
            x[:, at] = (random.random((n, 1)) > moves[x[:, at - 1]].cumsum(axis=1)).sum(axis=1)
        return x.astype(float)

    def log_density(x: Floats) -> Floats:
        codes = x.astype(int)
        return np.log(moves[codes[:, :-1], codes[:, 1:]]).sum(axis=1)

    return Density(sample, log_density)


def matched(kept: float, columns: int) -> Density:
    """Return normal rows, of which those whose first two columns are apart are kept with some chance only."""
    close = 2 * stats.norm.cdf(0.6 / np.sqrt(2)) - 1
    constant = np.log(close + kept * (1 - close))

    def weight(x: Floats) -> Floats:
        return np.where(np.abs(x[:, 0] - x[:, 1]) < 0.6, 1.0, kept)

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = random.normal(size=(int(3 * n / np.exp(constant)), columns))
        return x[random.random(len(x)) < weight(x)][:n]

    return Density(sample, lambda x: np.log(weight(x)) - constant)


def momenta(height: float) -> Density:
    """Return two momenta; rows whose mass is near 2 are more frequent by a factor of up to 1 + height."""

    def bump(mass: Floats) -> Floats:
        return 1 + height * np.exp(-0.5 * ((mass - 2.0) / 0.2) ** 2)

    energy = stats.gamma.ppf((np.arange(200) + 0.5) / 200, 3, scale=0.5)
    cosine = (np.arange(200) + 0.5) / 100 - 1
    total = np.mean([bump(np.sqrt(2 * e * energy[:, None] * (1 - cosine))).mean() for e in energy])

    def mass_of(x: Floats) -> Floats:
        a, b = x[:, :3], x[:, 3:]
        square = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) - (a * b).sum(axis=1)
        return np.sqrt(np.maximum(2 * square, 0))

    def sample(n: int, random: np.random.Generator) -> Floats:
        count = int(2 * n * (1 + height) / total) + 100
        directions = random.normal(size=(count, 2, 3))
        directions /= np.linalg.norm(directions, axis=2, keepdims=True)
        x = (directions * random.gamma(3, 0.5, (count, 2, 1))).reshape(count, 6)
        return x[random.random(count) * (1 + height) < bump(mass_of(x))][:n]

    return Density(sample, lambda x: np.log(bump(mass_of(x)) / total))


def subgroup(shift: float) -> Density:
    """Return an outcome beside attributes; in a twentieth of the rows, given by three of these, it is shifted."""

    def mean(x: Floats) -> Floats:
        return 0.5 * x[:, 3] + shift * ((x[:, 0] == 2) & (x[:, 1] == 1) & (x[:, 2] > 0.2))

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = np.column_stack([random.integers(0, 4, n), random.integers(0, 2, n), random.normal(size=(n, 3))])
        return np.column_stack([x, mean(x) + random.normal(size=n)])

    return Density(sample, lambda x: stats.norm.logpdf(x[:, 5] - mean(x)))


def linked(slope: float, width: float) -> Density:
    """Return four columns beside a category; in one of its five levels the last column follows the first one."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        code = random.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
        x, noise = random.normal(size=(n, 3)), random.normal(size=n)
        return np.column_stack([code, x, np.where(code == 2, slope * x[:, 0] + width * noise, noise)])

    def log_density(z: Floats) -> Floats:
        there = stats.norm.logpdf(z[:, 4], slope * z[:, 1], width)
        return np.where(z[:, 0] == 2, there, stats.norm.logpdf(z[:, 4]))

    return Density(sample, log_density)


def responses(slope: float) -> Density:
    """Return ages, sexes, incomes, doses and responses; women over sixty respond to the dose by a slope."""

    def mean(x: Floats) -> Floats:
        return slope * np.where((x[:, 0] > 60) & (x[:, 1] == 1), x[:, 3] - 2, 0)

    def sample(n: int, random: np.random.Generator) -> Floats:
        person = np.column_stack([random.integers(18, 90, n), random.integers(0, 2, n), random.lognormal(10, 0.6, n)])
        x = np.column_stack([person, random.gamma(2, 1, n)])
        return np.column_stack([x, mean(x) + random.normal(size=n)])

    return Density(sample, lambda x: stats.norm.logpdf(x[:, 4] - mean(x)))


def machines(correlation: float) -> Density:
    """Return eight machines with temperatures, pressures and three readings; two readings of a hot one may be tied."""

    def hot(x: Floats) -> Floats:
        return (x[:, 0] == 5) & (x[:, 1] > 65)

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = np.column_stack([random.integers(0, 8, n), random.normal(60, 8, n), random.gamma(9, 0.4, n)])
        readings = random.normal(size=(n, 3))
        tied = correlation * readings[:, 0] + np.sqrt(1 - correlation**2) * readings[:, 2]
        readings[:, 2] = np.where(hot(x), tied, readings[:, 2])
        return np.column_stack([x, readings])

    def log_density(x: Floats) -> Floats:
        rest = np.sqrt(1 - correlation**2)
        there = stats.norm.logpdf(x[:, 5], correlation * x[:, 3], rest)
        return np.where(hot(x), there, stats.norm.logpdf(x[:, 5]))

    return Density(sample, log_density)


def customers(factor: float) -> Density:
    """Return customers by region, channel, age and amounts; the young of one region online are more, by a factor."""
    young = stats.norm.cdf(30, 42, 12) - stats.norm.cdf(24, 42, 12)
    constant = np.log1p((factor - 1) * young / 8)

    def weight(x: Floats) -> Floats:
        among = (x[:, 0] == 1) & (x[:, 1] == 1) & (x[:, 2] > 24) & (x[:, 2] < 30)
        return np.where(among, factor, 1.0)

    def sample(n: int, random: np.random.Generator) -> Floats:
        count = int(1.5 * n * factor)
        x = np.column_stack([random.integers(0, 4, count), random.integers(0, 2, count), random.normal(42, 12, count)])
        x = np.column_stack([x, random.lognormal(3, 1, (count, 2)), random.poisson(2, count)])
        return x[random.random(count) * factor < weight(x)][:n]

    return Density(sample, lambda x: np.log(weight(x)) - constant)


def sticking(share: float, columns: int) -> Density:
    """Return windows of readings of a sensor that repeats its last value in a share of the steps."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = random.normal(size=(n, columns))
        for at in range(1, columns):
            new = 0.6 * x[:, at - 1] + 0.8 * x[:, at]
            x[:, at] = np.where(random.random(n) < share, x[:, at - 1], new)
        return 20 + 3 * x

    def log_density(x: Floats) -> Floats:
        repeats = (np.diff(x, axis=1) == 0).sum(axis=1)
        return repeats * np.log(share) + (columns - 1 - repeats) * np.log1p(-share)

    return Density(sample, log_density)


def tracks(left: float) -> Density:
    """Return momenta, two angles, distances and hits of tracks; a share of those through one module is left."""
    share = 1.2 / 5 * 1.6 / (2 * np.pi)

    def weight(x: Floats) -> Floats:
        through = (abs(x[:, 1] - 1.0) < 0.6) & (abs(x[:, 2] - 1.3) < 0.8)
        return np.where(through, left, 1.0)

    def sample(n: int, random: np.random.Generator) -> Floats:
        angles = random.uniform([-2.5, -np.pi], [2.5, np.pi], (2 * n, 2))
        x = np.column_stack([np.log1p(random.exponential(2, 2 * n)), angles, 0.1 * random.standard_t(4, 2 * n)])
        x = np.column_stack([x, random.poisson(9, 2 * n)])
        return x[random.random(2 * n) < weight(x)][:n]

    return Density(sample, lambda x: np.log(weight(x)) - np.log1p((left - 1) * share))


def relation_pairs() -> Iterator[KnownPair]:
    """Yield the pairs."""
    yield KnownPair("heaped ages 3-D", heaped(0.5), heaped(0.15), (800, 800))
    yield KnownPair("phases 5-D", phases(1.2, 5), phases(0.6, 5), (1_000, 1_000))
    yield KnownPair("jumps of walks 15-D", walks(0.04, 0.9, 15), walks(0.1, 0.8, 15), (1_000, 1_000))
    yield KnownPair("levels that repel 4-D", levels(2, 1.32, 4), levels(1, 1.0, 4), (2_000, 2_000))
    yield KnownPair("chains of states 10-D", states(0.36, 10), states(0.24, 10), (1_500, 1_500))
    yield KnownPair("matched columns 8-D", matched(0.2, 8), matched(1.0, 8), (1_000, 1_000))
    yield KnownPair("mass of two particles 6-D", momenta(4.0), momenta(0.0), (3_000, 3_000))
    yield KnownPair("outcome of a subgroup 6-D", subgroup(1.7), subgroup(0.0), (2_000, 2_000))
    yield KnownPair("link in one category 5-D", linked(0.8, 0.6), linked(0.0, 1.0), (1_500, 1_500))
    yield KnownPair("response of women over sixty 5-D", responses(0.8), responses(0.0), (2_000, 2_000))
    yield KnownPair("readings of a hot machine 6-D", machines(-0.95), machines(0.0), (2_500, 2_500))
    yield KnownPair("sensor that sticks 8-D", sticking(0.18, 8), sticking(0.08, 8), (1_000, 1_000))
    yield KnownPair("tracks and a dead module 5-D", tracks(1.0), tracks(0.08), (5_000, 5_000))
    yield KnownPair("young customers online 6-D", customers(8.0), customers(1.0), (2_500, 2_500))
