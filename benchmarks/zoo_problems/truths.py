"""The true divergences of a problem and the floors of their errors, from references of the log ratio.

The floor is the scatter of an estimator that knows the ratio to first order: for D = ∫ q·f(p/q) it is
√(Var_p f′(r)/n + Var_q(f(r) − r·f′(r))/m). It vanishes where P = Q. There, the scatter of an estimator with a single
unknown number is left, f″(1)·(1/n + 1/m)/√2, and is added in squares.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from zoo_problems.cores import Reference
from zoo_problems.densities import Floats


class Truth(NamedTuple):
    """A divergence, the floor of its error for the problem's rows, and the standard error of the value itself."""

    value: float
    floor: float
    error: float


@dataclass(frozen=True)
class Integral:
    """∫ q·f(p/q), by the functions of u = log r whose means over P and over Q add up to it; these are its influence.

    `curvature` is f″(1).
    """

    on_p: Callable[[Floats], Floats]
    on_q: Callable[[Floats], Floats]
    curvature: float

    def value(self, reference: Reference) -> float:
        """Return the integral."""
        u, p, q = reference
        return float(self.on_p(u) @ p + self.on_q(u) @ q)

    def variance(self, reference: Reference, rows: tuple[int, int]) -> float:
        """Return the square of the floor."""
        u, p, q = reference
        first_order = _variance(self.on_p(u), p) / rows[0] + _variance(self.on_q(u), q) / rows[1]
        return first_order + 0.5 * (self.curvature * (1 / rows[0] + 1 / rows[1])) ** 2


def _variance(terms: Floats, weight: Floats) -> float:
    return float((terms - terms @ weight) ** 2 @ weight)


def _affinity(order: float) -> Integral:
    """∫ p^order · q^(1−order)."""
    return Integral(
        lambda u: order * np.exp((order - 1) * u), lambda u: (1 - order) * np.exp(order * u), order * (order - 1)
    )


class _TotalVariation(Integral):
    """½ ∫ |p − q|. Where the densities are equal, the sign of p − q is a coin's."""

    def variance(self, reference: Reference, rows: tuple[int, int]) -> float:
        """Return the square of the floor."""
        signs = np.sign(reference.log_ratio)
        p, q = (1 - float(signs @ weight) ** 2 for weight in (reference.p_weight, reference.q_weight))
        return 0.25 * (p / rows[0] + q / rows[1])


INTEGRALS = {
    "kl": Integral(lambda u: u, lambda u: 1 - np.exp(u), 1.0),
    "reverse-kl": Integral(lambda u: 1 - np.exp(-u), lambda u: -u, 1.0),
    "jensen-shannon": Integral(
        lambda u: 0.5 * (np.log(2) + log_expit(u)), lambda u: 0.5 * (np.log(2) + log_expit(-u)), 0.25
    ),
    "chi2": Integral(lambda u: 2 * np.exp(u) - 1, lambda u: -np.exp(2 * u), 2.0),
    "total-variation": _TotalVariation(lambda u: 0.5 * np.sign(u), lambda u: -0.5 * np.sign(u), 0.0),
    "hellinger": _affinity(0.5),
    "renyi": _affinity(0.5),
}
KINDS = tuple(INTEGRALS)
RENYI_ORDER = 0.5


def truth(kind: str, references: list[Reference], rows: tuple[int, int]) -> Truth:
    """Return a divergence with its floor and its error."""
    integral = INTEGRALS[kind]
    values = np.array([integral.value(reference) for reference in references])
    floor = np.sqrt(np.mean([integral.variance(reference, rows) for reference in references]))
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return Truth(*(float(number) for number in of_integral(kind, values.mean(), floor, error)))


def of_integral(kind: str, value: float, floor: float, error: float) -> tuple[float, float, float]:
    """Return the divergence that a function of the integral is, with its floor and error."""
    if kind == "hellinger":  # √(1 − affinity), whose slope is endless at zero: there the root of the floor is left
        squared = max(0.0, 1 - value)
        root = np.sqrt(squared)
        return root, np.sqrt(squared + floor) - root, np.sqrt(squared + error) - root
    if kind == "renyi":
        slope = 1 / (value * (1 - RENYI_ORDER))
        return np.log(value) / (RENYI_ORDER - 1), slope * floor, slope * error
    return value, floor, error
