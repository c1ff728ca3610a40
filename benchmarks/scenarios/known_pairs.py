"""Pairs with a known KL divergence: items 1, 5, 6, 8 and 10."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import log_expit

import vwkde
from families import Family, mixture, rotated
from scenarios.scenario import NORMAL, Answer, Floats, Random, Scenario, divergence, gaussians, independent, kl, kl_of
from vwkde.datasets import heteroscedastic


def scenarios() -> Iterator[Scenario]:
    yield from noise_credit()
    yield from tail_of_the_ratio()
    yield from optimism()
    yield from noisy_ratios()
    yield from tiny_samples()
    yield from small_divergences()


def known(name: str, item: int, p: Any, q: Any, columns: int, rows: int, **rest: Any) -> Scenario:
    return Scenario(name, item, independent(p, q, columns, rows), kl_of(p, q, columns), kl(), **rest)


def apart(name: str, item: int, columns: int, rows: int, distance: float, **rest: Any) -> Scenario:
    return Scenario(name, item, gaussians(columns, rows, distance), distance**2 / 2, kl(), **rest)


def noise_credit() -> Iterator[Scenario]:
    yield apart("Gaussians one apart, 100-D, n = 300", 1, 100, 300, 1.0, reported="credited loss −5.19")
    yield apart("Gaussians one apart, 50-D, n = 300", 1, 50, 300, 1.0, reported="RMSE 0.42")
    yield apart("P = Q, 50-D, n = 300", 1, 50, 300, 0.0, reported="RMSE 0.31")
    yield apart("Gaussians one apart, 10-D, n = 20", 1, 10, 20, 1.0, reported="RMSE 1.74")
    cauchy, moved = stats.cauchy(), stats.cauchy(1.0)
    yield known("Cauchy, one apart, 5 columns, n = 300", 1, cauchy, moved, 5, 300, reported="RMSE 0.52")
    yield known("Cauchy, P = Q, 5 columns, n = 300", 1, cauchy, cauchy, 5, 300)
    pair = rotated(30)
    yield Scenario(
        "rotated 30-D, n = 1,000",
        1,
        lambda random: (pair.numerator.sample(1_000, random), pair.denominator.sample(1_000, random)),
        pair.kl,
        kl(),
        reported="RMSE 0.03, must stay",
    )
    yield known("logistic, half apart, 40-D, n = 250", 1, stats.logistic(), stats.logistic(0.3), 40, 250)
    yield known("Student t3, wider, 8-D, n = 250", 1, stats.t(3), stats.t(3, scale=1.3), 8, 250)
    yield known("Gaussians of two widths, 30-D, n = 200", 1, NORMAL, stats.norm(scale=1.2), 30, 200)
    yield apart("Gaussians two apart, 15-D, n = 40", 1, 15, 40, 2.0)


def tail_of_the_ratio() -> Iterator[Scenario]:
    laplace = stats.laplace()
    yield known("Laplace two apart, 3-D, n = 1,000", 5, laplace, stats.laplace(2.0), 3, 1_000, reported="covers 27 %")
    yield known("Laplace four apart, 1-D, n = 500", 5, laplace, stats.laplace(4.0), 1, 500)
    yield known("exponential, wider by 1.7, 2-D, n = 800", 5, stats.expon(scale=1.7), stats.expon(), 2, 800)
    yield known("Gaussians two apart, 1-D, n = 500", 5, NORMAL, stats.norm(2.0), 1, 500)
    yield known("Student t4 two apart, 2-D, n = 800", 5, stats.t(4), stats.t(4, 2.0), 2, 800)


def optimism() -> Iterator[Scenario]:
    exponential, gamma, lognormal = stats.expon(), stats.gamma(1.5), stats.lognorm(1.0)
    yield known("exponential, P = Q, 3-D, n = 300", 6, exponential, exponential, 3, 300, reported="mean +0.144")
    yield apart("Gaussians 1.5 apart, 200-D, n = 300", 6, 200, 300, 1.5, reported="1.91 for 1.125", slow=True)
    yield apart("P = Q, 3-D, n = 20", 6, 3, 20, 0.0, reported="mean +0.13")
    yield loss("own less fresh loss, mixtures 20-D, n = 500", mixture("", 18), 500, reported="0.486 − 0.508")
    yield loss("own less fresh loss, mixtures 10-D, n = 300", mixture("", 8), 300)
    yield loss("own less fresh loss, Gaussians 10-D, n = 300", _family(heteroscedastic(10)), 300)
    yield known("Gamma, P = Q, 4-D, n = 200", 6, gamma, gamma, 4, 200)
    yield known("lognormal, P = Q, 2-D, n = 300", 6, lognormal, lognormal, 2, 300)
    yield known("uniform, P = Q, 2-D, n = 30", 6, stats.uniform(), stats.uniform(), 2, 30)
    yield apart("Gaussians one apart, 120-D, n = 200", 6, 120, 200, 1.0, slow=True)


def _family(pair: Any) -> Family:
    return Family("", pair.numerator.sample, pair.denominator.sample, pair.log_ratio)


def loss(name: str, family: Family, rows: int, reported: str = "") -> Scenario:
    """Compare the log loss at the fitted rows, each left out, with that at fresh rows: the difference must be none."""

    def draw(random: Random) -> tuple[Floats, ...]:
        sizes = rows, 5_000
        return tuple(sample(n, random) for n in sizes for sample in (family.numerator, family.denominator))

    def ask(p: Floats, q: Floats, fresh_p: Floats, fresh_q: Floats) -> Answer:
        ratio = vwkde.DensityRatio().fit(p, q)
        own = _log_loss(ratio.numerator_log_ratio_, ratio.denominator_log_ratio_)
        return Answer(own - _log_loss(ratio.log_ratio(fresh_p), ratio.log_ratio(fresh_q)))

    return Scenario(name, 6, draw, 0.0, ask, reported, measure="number")


def _log_loss(at_p: Floats, at_q: Floats) -> float:
    return float(-0.5 * (log_expit(at_p).mean() + log_expit(-at_q).mean()))


def noisy_ratios() -> Iterator[Scenario]:
    yield Scenario("χ² of a ratio with noise 0.5", 8, _noisy, np.e - 1, _chi2, "2.11 for 1.72", repetitions=5)
    one = gaussians(3, 500, 1.0)
    yield Scenario("χ² of Gaussians one apart, 3-D, n = 500", 8, one, np.e - 1, divergence("chi2"))
    yield Scenario("Hellinger of Gaussians, 3-D, n = 500", 8, one, np.sqrt(-np.expm1(-1 / 8)), divergence("hellinger"))
    yield Scenario("tied rows, 6-D, n = 300", 8, _tied, 0.4 * np.log(7 / 3), kl(), "RuntimeWarning 0/0")


def _noisy(random: Random) -> tuple[Floats, Floats]:
    """Draw the log ratio of unit Gaussians one apart at rows of both, with noise."""
    noise = random.normal(scale=0.5, size=(2, 2_000))
    return tuple(random.normal(side, 1.0, 2_000) + noise for side, noise in zip((0.5, -0.5), noise, strict=True))


def _chi2(at_p: Floats, at_q: Floats) -> Answer:
    from vwkde._answers.functionals import KINDS, AtSample  # no public function takes ratios that are known

    value, error = KINDS["chi2"](*(AtSample(u, np.ones(len(u)), np.full(len(u), 0.25)) for u in (at_p, at_q)))
    return Answer(value, value - 1.96 * error, value + 1.96 * error)


def _tied(random: Random) -> tuple[Floats, Floats]:
    """Draw six columns of zeros and ones, so that many rows are equal; only the first column differs."""
    p, q = random.choice(2, (2, 300, 6)).astype(float)
    p[:, 0], q[:, 0] = random.uniform(size=(2, 300)) < [[0.7], [0.3]]
    return p, q


def tiny_samples() -> Iterator[Scenario]:
    reports = {10: "covers 25–45 %", 20: "", 50: ""}
    for rows, reported in reports.items():
        for columns in (1, 3):
            name = f"Gaussians one apart, {columns}-D, n = {rows}"
            yield apart(name, 8, columns, rows, 1.0, reported=reported)
    yield known("exponential, wider by 2, 1-D, n = 15", 8, stats.expon(), stats.expon(scale=2), 1, 15)
    yield known("logistic, one apart, 2-D, n = 25", 8, stats.logistic(), stats.logistic(1.0), 2, 25)
    yield apart("P = Q, 2-D, n = 12", 8, 2, 12, 0.0)


def small_divergences() -> Iterator[Scenario]:
    near = stats.norm(0.05)
    yield known("N(0.05, 1) against N(0, 1), 3-D, n = 500", 10, near, NORMAL, 3, 500, reported="covers 32 of 50")
    yield known("N(0.1, 1) against N(0, 1), 3-D, n = 500", 10, stats.norm(0.1), NORMAL, 3, 500)
    yield known("N(0, 1.05²) against N(0, 1), 2-D, n = 600", 10, stats.norm(scale=1.05), NORMAL, 2, 600)
    yield known("Gamma(2.1) against Gamma(2), 4-D, n = 400", 10, stats.gamma(2.1), stats.gamma(2), 4, 400)
    yield known("P = Q, uniform, 5-D, n = 300", 10, stats.uniform(), stats.uniform(), 5, 300)
    yield known("Student t5, 0.04 apart, 1-D, n = 1,000", 10, stats.t(5, 0.04), stats.t(5), 1, 1_000)
