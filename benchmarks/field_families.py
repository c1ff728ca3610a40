"""Pairs of samples that look like the data of particular fields, with the ratio known exactly.

`families.py --fields` measures the default on them. Pairs with an even place in the list may be used for tuning; the
others are for reporting.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import special, stats
from scipy.special import logsumexp

from hard_families import Density, Floats, KnownPair, parts


def independent(*columns: stats.rv_continuous) -> Density:
    """Return independent columns, each with its own distribution, discrete or not."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        return np.column_stack([column.rvs(n, random_state=random) for column in columns]).astype(float)

    def log_density(x: Floats) -> Floats:
        parts = zip(columns, x.T, strict=True)
        return np.sum([c.logpmf(v) if hasattr(c.dist, "pmf") else c.logpdf(v) for c, v in parts], axis=0)

    return Density(sample, log_density)


def placed(base: Density, forward: Callable[[Floats], Floats], back: Callable[[Floats], Floats]) -> Density:
    """Return a density after a one-to-one map, whose volume change both densities of a pair share."""
    return Density(lambda n, random: forward(base.sample(n, random)), lambda x: base.log_density(back(x)))


def linear(base: Density, matrix: Floats) -> Density:
    """Return a density after a linear map that both densities of a pair share."""
    inverse = np.linalg.inv(matrix)
    return placed(base, lambda x: x @ matrix, lambda x: x @ inverse)


def gaussian(mean: Floats, covariance: Floats) -> Density:
    """Return a normal distribution."""
    normal = stats.multivariate_normal(mean, covariance)
    return Density(lambda n, random: np.atleast_2d(normal.rvs(n, random_state=random)).reshape(n, -1), normal.logpdf)


def shares(alpha: Floats) -> Density:
    """Return rows that add up to one."""
    alpha = np.asarray(alpha, dtype=float)
    constant = special.gammaln(alpha.sum()) - special.gammaln(alpha).sum()
    return Density(
        lambda n, random: random.dirichlet(alpha, n), lambda x: constant + ((alpha - 1) * np.log(x)).sum(axis=1)
    )


def on_sphere(direction: Floats, strength: float) -> Density:
    """Return unit vectors around a direction; pairs share the strength."""
    fisher = stats.vonmises_fisher(np.asarray(direction) / np.linalg.norm(direction), strength)
    return Density(lambda n, random: fisher.rvs(n, random_state=random), fisher.logpdf)


def words(chances: Floats, length: int) -> Density:
    """Return counts of words in texts of one length."""
    chances = np.asarray(chances) / np.sum(chances)
    return Density(
        lambda n, random: random.multinomial(length, chances, n).astype(float), lambda x: x @ np.log(chances)
    )


def classes(weights: Floats, chances: Floats) -> Density:
    """Return answers 0, 1, …: every row has a class, and every class its own chances of each answer."""
    weights, chances = np.asarray(weights) / np.sum(weights), np.asarray(chances)
    logs = np.log(chances)

    def sample(n: int, random: np.random.Generator) -> Floats:
        own = chances[random.choice(len(weights), n, p=weights)]
        return (random.random((n, own.shape[1], 1)) > own.cumsum(axis=2)).sum(axis=2).astype(float)

    def log_density(x: Floats) -> Floats:
        answers = x.astype(int)
        at = [
            np.log(w) + sum(table[j, answers[:, j]] for j in range(x.shape[1]))
            for w, table in zip(weights, logs, strict=True)
        ]
        return logsumexp(at, axis=0)

    return Density(sample, log_density)


def labelled(slopes: Floats, offset: float = 0.0) -> Density:
    """Return normal columns and a label 0 or 1 by logistic regression on them."""
    slopes = np.asarray(slopes)

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = random.normal(size=(n, len(slopes)))
        return np.column_stack([x, random.random(n) < special.expit(x @ slopes + offset)])

    def log_density(z: Floats) -> Floats:
        odds = z[:, :-1] @ slopes + offset
        return special.log_expit(np.where(z[:, -1] > 0.5, odds, -odds))

    return Density(sample, log_density)


def clipped(mean: float, low: float, high: float, columns: int) -> Density:
    """Return normal columns of a sensor that saturates."""
    normal = stats.norm(mean)

    def log_density(x: Floats) -> Floats:
        inside = normal.logpdf(x)
        return np.where(x <= low, normal.logcdf(low), np.where(x >= high, normal.logsf(high), inside)).sum(axis=1)

    return Density(lambda n, random: np.clip(random.normal(mean, 1, (n, columns)), low, high), log_density)


def with_blanks(base: Density, share: float, blank: float) -> Density:
    """Return independent columns, the last of which is a fixed number, "not measured", in a share of the rows."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = base.sample(n, random)
        x[random.random(n) < share, -1] = blank
        return x

    def log_density(x: Floats) -> Floats:
        is_blank = x[:, -1] == blank
        rest = stats.norm.logpdf(np.where(is_blank, 0, x[:, -1]))
        filled = x.copy()
        filled[is_blank, -1] = 0
        others = base.log_density(filled) - stats.norm.logpdf(filled[:, -1])
        return others + np.where(is_blank, np.log(share), np.log1p(-share) + rest)

    return Density(sample, log_density)


def regression(mean: Callable[[Floats], Floats], scale: Callable[[Floats], Floats], columns: int) -> Density:
    """Return uniform columns and an outcome, normal around a curve."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        x = random.uniform(-2, 2, (n, columns))
        return np.column_stack([x, mean(x) + scale(x) * random.normal(size=n)])

    def log_density(z: Floats) -> Floats:
        x = z[:, :-1]
        return stats.norm.logpdf(z[:, -1], mean(x), scale(x))

    return Density(sample, log_density)


def accepted(
    base: Callable[[int, np.random.Generator], Floats], factor: Callable[[Floats], Floats], most: float
) -> Density:
    """Return rows of a base accepted with a chance; the factor's mean over the base is one."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        rows = base(int(3 * most * n) + 100, random)
        return rows[random.random(len(rows)) * most < factor(rows)][:n]

    return Density(sample, lambda x: np.log(factor(x)))


def clayton(theta: float) -> Density:
    """Return two uniform columns that depend on each other in the lower corner."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        u, v = random.random((2, n))
        return np.column_stack([u, (u**-theta * (v ** (-theta / (1 + theta)) - 1) + 1) ** (-1 / theta)])

    def log_density(x: Floats) -> Floats:
        u, v = x.T
        return np.log1p(theta) - (1 + theta) * np.log(u * v) - (2 + 1 / theta) * np.log(u**-theta + v**-theta - 1)

    return Density(sample, log_density)


def steps_of(noise: stats.rv_continuous, memory: float, columns: int, drift: float = 0.0) -> Density:
    """Return windows of an autoregressive series."""

    def sample(n: int, random: np.random.Generator) -> Floats:
        z = noise.rvs((n, columns), random_state=random) + drift
        for at in range(1, columns):
            z[:, at] += memory * z[:, at - 1]
        return z

    def log_density(z: Floats) -> Floats:
        return noise.logpdf(z - drift - memory * np.pad(z, ((0, 0), (1, 0)))[:, :-1]).sum(axis=1)

    return Density(sample, log_density)


def field_pairs() -> Iterator[KnownPair]:
    """Yield the pairs."""
    fixed = np.random.default_rng(17)
    normal = stats.norm()
    uniform = accepted(lambda n, random: random.random((n, 2)), lambda x: np.ones(len(x)), 1)
    yield KnownPair(
        "rock: shares of 6 minerals", shares([8, 5, 3, 2, 1, 1]), shares([6, 5, 4, 2, 1.5, 0.8]), (600, 600)
    )
    mean = fixed.normal(size=8)
    yield KnownPair(
        "embeddings on a sphere 8-D", on_sphere(mean, 6), on_sphere(mean + fixed.normal(size=8), 6), (800, 800)
    )
    yield KnownPair(
        "wind: direction and speed",
        independent(stats.vonmises(1.5, loc=3.0), stats.weibull_min(2, scale=5)),
        independent(stats.vonmises(1.0, loc=2.0), stats.weibull_min(1.7, scale=5)),
        (1_000, 500),
    )
    incomes = np.array([[1, 0.5, 0.3], [0.5, 1, 0.4], [0.3, 0.4, 1]])
    yield KnownPair(
        "incomes, log-normal 3-D",
        placed(gaussian(np.array([0.3, 0.1, 0]), incomes), np.exp, np.log),
        placed(gaussian(np.zeros(3), 1.2 * incomes), np.exp, np.log),
        (700, 1_400),
    )
    shapes = np.array([0.7, 1, 1.5, 2, 3, 5])
    yield KnownPair(
        "waiting times, gamma 6-D",
        independent(*(stats.gamma(a) for a in shapes)),
        independent(*(stats.gamma(a * 1.15) for a in shapes)),
        (800, 800),
    )
    rates = np.array([0.2, 0.5, 1, 1, 2, 2, 4, 4, 8, 12])
    yield KnownPair(
        "counts, Poisson 10-D",
        independent(*(stats.poisson(r) for r in rates)),
        independent(*(stats.poisson(r * f) for r, f in zip(rates, fixed.uniform(0.8, 1.25, 10), strict=True))),
        (1_000, 1_000),
    )
    topics = fixed.gamma(0.5, size=40) + 0.05
    yield KnownPair(
        "texts: 20 words of 40",
        words(topics, 20),
        words(topics * np.exp(0.4 * fixed.normal(size=40)), 20),
        (1_000, 1_000),
    )
    answers = fixed.dirichlet(np.full(5, 1.0), (3, 10))
    yield KnownPair(
        "survey: 10 answers of 5 levels", classes([2, 1, 1], answers), classes([1, 1, 2], answers), (600, 900)
    )
    symptoms = fixed.uniform(0.1, 0.9, (2, 18))
    yield KnownPair(
        "symptoms, 18 yes or no",
        classes([1, 1], np.stack([1 - symptoms, symptoms], axis=2)),
        classes([0.7, 0.3], np.stack([1 - symptoms, symptoms], axis=2)),
        (500, 500),
    )
    yield KnownPair("series AR(1) 20-D", steps_of(normal, 0.6, 20), steps_of(normal, 0.45, 20), (800, 800))
    heavy = stats.t(3)
    yield KnownPair("series with heavy noise 12-D", steps_of(heavy, 0.5, 12), steps_of(heavy, 0.3, 12), (1_000, 1_000))
    yield KnownPair(
        "walks with drift 25-D", steps_of(normal, 1.0, 25, drift=0.1), steps_of(normal, 1.0, 25), (600, 600)
    )
    background = stats.expon(scale=0.5), stats.norm(), stats.uniform(), stats.gamma(2)
    signal = stats.norm(0.9, 0.04), stats.norm(0.7, 0.8), stats.beta(2, 1), stats.gamma(3)
    falling, peak = independent(*background), independent(*signal)

    def with_peak(share: float) -> Density:
        def sample(n: int, random: np.random.Generator) -> Floats:
            return np.where((random.random(n) < share)[:, None], peak.sample(n, random), falling.sample(n, random))

        def log_density(x: Floats) -> Floats:
            return np.logaddexp(np.log(share) + peak.log_density(x), np.log1p(-share) + falling.log_density(x))

        return Density(sample, log_density)

    yield KnownPair("mass peak of 5 %", with_peak(0.05), falling, (4_000, 4_000))
    box = stats.beta(2, 2), stats.beta(1, 1.5), stats.uniform()
    yield KnownPair("hard edges 3-D", independent(*box), independent(*[stats.uniform()] * 3), (900, 900))
    yield KnownPair(
        "half-normal and exponential",
        independent(*[stats.halfnorm(scale=1.2)] * 2),
        independent(*[stats.expon()] * 2),
        (400, 400),
    )
    yield KnownPair(
        "response curve 2-D + outcome",
        regression(lambda x: np.sin(2 * x[:, 0]) + 0.3 * x[:, 1], lambda x: 0.3 + 0.1 * x[:, 0] ** 2, 2),
        regression(lambda x: np.sin(2 * x[:, 0] - 0.4) + 0.3 * x[:, 1], lambda x: 0.3 + 0.1 * x[:, 0] ** 2, 2),
        (1_000, 1_000),
    )
    slopes = fixed.normal(size=8)
    yield KnownPair("labels that drift 8-D", labelled(slopes), labelled(0.4 * slopes, 0.3), (1_500, 1_500))
    yield KnownPair("saturating sensors 4-D", clipped(0.3, -1.0, 1.2, 4), clipped(0.0, -1.0, 1.2, 4), (700, 700))
    white = parts([1], np.zeros((1, 5)), [1.0])
    moved = parts([1], [[0.4, 0, 0, 0, 0]], [1.0])
    yield KnownPair(
        "not measured is −999, 5-D", with_blanks(moved, 0.25, -999.0), with_blanks(white, 0.12, -999.0), (800, 800)
    )
    mixing = fixed.normal(size=(10, 10))
    sources = [stats.laplace()] * 10
    yield KnownPair(
        "mixed sources, Laplace 10-D",
        linear(independent(*sources), mixing),
        linear(independent(stats.laplace(scale=1.8), stats.laplace(0.8), *sources[2:]), mixing),
        (1_000, 1_000),
    )
    yield KnownPair(
        "shifts of Laplace columns 15-D",
        independent(*[stats.laplace(0.2)] * 15),
        independent(*[stats.laplace()] * 15),
        (700, 700),
    )
    yield KnownPair("returns joint in the corner", clayton(1.5), clayton(0.7), (1_000, 1_000))
    factor = np.outer(np.ones(20), np.ones(20)) * 0.4 + 0.6 * np.eye(20)
    market, calm = stats.multivariate_t(np.zeros(20), 1.3 * factor, 4), stats.multivariate_t(np.zeros(20), factor, 4)
    yield KnownPair(
        "returns, heavy 20-D",
        Density(lambda n, random: market.rvs(n, random_state=random), market.logpdf),
        Density(lambda n, random: calm.rvs(n, random_state=random), calm.logpdf),
        (1_000, 1_000),
    )
    genes = np.zeros(60)
    genes[[3, 11, 29, 40, 51]] = 0.8
    yield KnownPair("gene activity 60-D", gaussian(genes, np.eye(60)), gaussian(np.zeros(60), np.eye(60)), (250, 250))
    alleles = fixed.uniform(0.1, 0.5, 40)
    yield KnownPair(
        "genotypes 40-D",
        independent(*(stats.binom(2, a) for a in alleles)),
        independent(*(stats.binom(2, a) for a in np.clip(alleles + 0.05 * fixed.normal(size=40), 0.05, 0.6))),
        (800, 800),
    )
    yield KnownPair(
        "a narrow core 3-D",
        parts([0.9, 0.1], np.zeros((2, 3)), [1.0, 0.15]),
        parts([1], np.zeros((1, 3)), [1.0]),
        (1_000, 1_000),
    )

    def board(x: Floats) -> Floats:
        return np.where((np.floor(4 * x).sum(axis=1) % 2) == 0, 1.6, 0.4)

    yield KnownPair(
        "checkerboard", accepted(lambda n, random: random.random((n, 2)), board, 1.6), uniform, (1_500, 1_500)
    )

    def comb(x: Floats) -> Floats:
        return 1 + 0.7 * np.sin(2 * np.pi * 8 * x[:, 0])

    yield KnownPair(
        "comb of 8 teeth", accepted(lambda n, random: random.random((n, 2)), comb, 1.7), uniform, (2_000, 2_000)
    )

    def parity(x: Floats) -> Floats:
        return 1 + 0.8 * np.sign(x[:, 0] * x[:, 1] * x[:, 2])

    plain = Density(lambda n, random: random.normal(size=(n, 6)), lambda x: np.zeros(len(x)))
    yield KnownPair(
        "parity of three signs 6-D",
        accepted(lambda n, random: random.normal(size=(n, 6)), parity, 1.8),
        plain,
        (3_000, 3_000),
    )
    yield KnownPair(
        "few new, many old 5-D", gaussian(np.full(5, 0.4), np.eye(5)), gaussian(np.zeros(5), np.eye(5)), (120, 8_000)
    )

    def sky(x: Floats) -> Floats:
        return 1 + 0.6 * x[:, 2]

    def directions(n: int, random: np.random.Generator) -> Floats:
        x = random.normal(size=(n, 3))
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    everywhere = Density(directions, lambda x: np.zeros(len(x)))
    yield KnownPair("sky, more from above", accepted(directions, sky, 1.6), everywhere, (800, 2_000))
    yield KnownPair(
        "age, visits and blood values",
        independent(stats.binom(90, 0.55), stats.nbinom(2, 0.4), stats.lognorm(0.5), stats.norm(0.2)),
        independent(stats.binom(90, 0.5), stats.nbinom(2, 0.5), stats.lognorm(0.5), stats.norm()),
        (500, 1_500),
    )
    yield KnownPair(
        "energies, power laws",
        independent(stats.pareto(2.0), stats.pareto(3.0)),
        independent(stats.pareto(2.4), stats.pareto(2.5)),
        (1_000, 1_000),
    )
    spots = fixed.normal(scale=3, size=(12, 2))
    yield KnownPair(
        "neurons: twelve spots 2-D",
        parts(fixed.uniform(0.5, 2, 12), spots, np.full(12, 0.4)),
        parts(np.ones(12), spots, np.full(12, 0.4)),
        (1_000, 1_000),
    )
    cells = fixed.normal(scale=2, size=(6, 10))
    yield KnownPair(
        "cells: six types 10-D",
        parts([4, 2, 2, 1, 1, 0.5], cells, np.full(6, 0.9)),
        parts([2, 2, 2, 2, 1, 1], cells, np.full(6, 0.9)),
        (2_000, 2_000),
    )
