"""Samples that overlap little or not at all, their weights, and tests on discrete data: items 4, 7, 11 and 12."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import integrate, stats

import vwkde
from scenarios.scenario import (
    NORMAL,
    Answer,
    Floats,
    Random,
    Scenario,
    divergence,
    gaussians,
    independent,
    kl,
    kl_of,
    p_value,
)

INFINITE = float("inf")
UNIT = stats.uniform()


def scenarios() -> Iterator[Scenario]:
    yield from discrete_tests()
    yield from infinite()
    yield from without_overlap()
    yield from weighted()


def discrete_tests() -> Iterator[Scenario]:
    def test(name: str, draw: Callable[[Random], Floats], reported: str = "") -> Scenario:
        def both(random: Random) -> tuple[Floats, Floats]:
            return draw(random), draw(random)

        return Scenario(name, 4, both, (0.0, 1.0), p_value, reported, measure="level", repetitions=40)

    yield test("level, binary, n = 15", lambda random: random.integers(0, 2, 15), "P(p ≤ 0.1) = 0.15")
    yield test("level, Poisson(1), 2 columns, n = 12", lambda random: random.poisson(1.0, (12, 2)))
    yield test("level, rare events, n = 25", lambda random: random.uniform(size=25) < 0.1)
    yield test("level, 5 grades, 3 columns, n = 20", lambda random: random.integers(1, 6, (20, 3)))
    yield test("level, normal, n = 15", lambda random: random.normal(size=15))


def infinite() -> Iterator[Scenario]:
    def pair(
        name: str, p: Any, q: Any, reported: str = "", columns: int = 1, kind: str = "kl", **rest: Any
    ) -> Scenario:
        draw = independent(p, q, columns, 500)
        return Scenario(name, 7, draw, INFINITE, divergence(kind, **rest), reported)

    wide, square = stats.uniform(0, 1.2), stats.uniform(-2, 4)
    yield pair("U(0, 1.2) against U(0, 1)", wide, UNIT, "0.65 [0.48, 0.81]")
    yield pair("N against U(−2, 2)", NORMAL, square, "no warning")
    yield pair("Student t1.5 against N", stats.t(1.5), NORMAL, "no warning")
    yield Scenario("5 % of P 30 σ away", 7, _strays(1, 0.05, 30.0), _strays_truth(1, 0.05, 30.0), kl(), "no warning")
    yield pair("exponential against U(0, 3), 2 columns", stats.expon(), stats.uniform(0, 3), columns=2)
    yield pair("U(0, 1.1) against U(0, 1), 2 columns", stats.uniform(0, 1.1), UNIT, columns=2)
    yield pair("reverse KL of U(0, 1) against U(0, 1.2)", UNIT, wide, kind="reverse-kl")
    yield pair("χ² of N(0, 2²) against N", stats.norm(scale=2), NORMAL, kind="chi2")
    yield pair("Rényi 2 of N(0, 2²) against N", stats.norm(scale=2), NORMAL, kind="renyi", order=2.0)
    yield Scenario("10 % of P 9 σ away, 3 columns", 7, _strays(3, 0.1, 9.0), _strays_truth(3, 0.1, 9.0), kl())

    harmless = {
        "harmless: N against N(0.5, 1)": (NORMAL, stats.norm(0.5), 1),
        "harmless: N against N(1, 1), 3 columns": (NORMAL, stats.norm(1.0), 3),
        "harmless: Student t5 half apart, 2 columns": (stats.t(5), stats.t(5, 0.5), 2),
        "harmless: U(0, 1) against U(−0.2, 1.2)": (UNIT, stats.uniform(-0.2, 1.4), 1),
        "harmless: Gamma(3) against Gamma(2), 2 columns": (stats.gamma(3), stats.gamma(2), 2),
    }
    for name, (p, q, columns) in harmless.items():
        yield Scenario(name, 7, independent(p, q, columns, 500), kl_of(p, q, columns), kl())


def _strays(columns: int, share: float, distance: float) -> Callable[[Random], tuple[Floats, Floats]]:
    def draw(random: Random) -> tuple[Floats, Floats]:
        p, q = random.normal(size=(2, 500, columns))
        p[random.uniform(size=500) < share, 0] += distance
        return p, q

    return draw


def _strays_truth(columns: int, share: float, distance: float) -> Callable[[], float]:
    """Return what integrates over the one column that differs."""
    del columns

    def term(x: float) -> float:
        log_ratio = np.logaddexp(np.log1p(-share), np.log(share) + distance * x - distance**2 / 2)
        density = (1 - share) * stats.norm.pdf(x) + share * stats.norm.pdf(x, distance)
        return density * log_ratio

    def truth() -> float:
        parts = (-9, 0), (0, distance / 2), (distance / 2, distance), (distance, distance + 9)
        return float(sum(integrate.quad(term, *part)[0] for part in parts))

    return truth


def without_overlap() -> Iterator[Scenario]:
    def pair(name: str, draw: Any, highest: float, reported: str = "", lowest: float = 0.0) -> Scenario:
        return Scenario(name, 11, draw, (lowest, highest), effective_share, reported, measure="number")

    def shifted(columns: int, by: float) -> Any:
        return independent(NORMAL, stats.norm(by), columns, 600)

    yield pair("effective share, N against N(50, 1), 4 columns", shifted(4, 50.0), 0.02, "598.7 of 600")
    yield pair("effective share, N against N(8, 1), 2 columns", shifted(2, 8.0), 0.02)
    yield pair("effective share, U(0, 1) against U(3, 4)", independent(UNIT, stats.uniform(3), 1, 400), 0.02)
    yield pair("effective share, Gaussians 6 apart, 3 columns", gaussians(3, 600, 6.0), 0.1)
    yield pair("effective share, Gaussians one apart", gaussians(3, 600, 1.0), 0.5, lowest=0.25)
    yield pair("effective share, P = Q, 3 columns", gaussians(3, 600, 0.0), 1.0, lowest=0.9)


def effective_share(p: Floats, q: Floats) -> Answer:
    """Return how many rows the weights are worth, as a share; the true one is 1/E_q[r²]."""
    weights = np.asarray(vwkde.DensityRatio().fit(p, q).importance_weights())
    return Answer(float(weights.sum() ** 2 / np.sum(weights**2) / len(weights)))


def weighted() -> Iterator[Scenario]:
    """Yield denominators with weights of their own, and how far the weighted mean is from the numerator's."""

    def pair(name: str, draw: Any, reported: str = "") -> Scenario:
        return Scenario(name, 12, draw, 0.0, mean_after_weighting, reported, measure="number")

    yield pair("mean after weighting, dw = exp(x/2)", _tilted(1, 0.5, 0.5), "−0.544 for −0.015")
    yield pair("mean after weighting, dw = exp(−x), 2 columns", _tilted(2, -1.0, 0.3))
    yield pair("mean after weighting, dw of two values", _selected)
    yield pair("mean after weighting, equal dw", _tilted(2, 0.0, 0.5))


def _tilted(columns: int, slope: float, target: float) -> Callable[[Random], tuple[Floats, Floats, Floats]]:
    def draw(random: Random) -> tuple[Floats, Floats, Floats]:
        p, q = random.normal(size=(2, 600, columns))
        return p + target, q, np.exp(slope * q[:, 0])

    return draw


def _selected(random: Random) -> tuple[Floats, Floats, Floats]:
    p, q = random.normal(size=(2, 600, 2))
    return p, q, (q[:, 0] > -0.5) * 1.0 + 0.1


def mean_after_weighting(p: Floats, q: Floats, own_weight: Floats) -> Answer:
    ratio = vwkde.DensityRatio().fit(p, q, denominator_weight=own_weight)
    weights = np.asarray(ratio.importance_weights())
    return Answer(float(np.average(q[:, 0], weights=weights) - p[:, 0].mean()))
