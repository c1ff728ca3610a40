"""The estimator that knows the ratio: what an efficient one can attain."""

from types import SimpleNamespace

import numpy as np

from zoo_problems.cores import Sample
from zoo_problems.densities import Floats
from zoo_problems.truths import INTEGRALS, of_integral

_NORMAL = 1.96


class Oracle:
    """Divergences in one step from the true ratio, whose scatter is the floor, and the true weights."""

    def __init__(self, drawn: Sample) -> None:
        self._p, self._q = drawn.p.log_ratio, drawn.q.log_ratio

    def divergence(self, kind: str, order: float | None = None) -> SimpleNamespace:
        """Return the value and the interval; the order of "renyi" is that of the zoo."""
        del order
        integral = INTEGRALS[kind]
        terms = integral.on_p(self._p), integral.on_q(self._q)
        second_order = 0.5 * (integral.curvature * (1 / len(self._p) + 1 / len(self._q))) ** 2
        scatter = np.sqrt(sum(part.var() / len(part) for part in terms) + second_order)
        value, scatter, _ = of_integral(kind, sum(part.mean() for part in terms), scatter, 0.0)
        return SimpleNamespace(value=value, interval=(value - _NORMAL * scatter, value + _NORMAL * scatter))

    def importance_weights(self) -> Floats:
        """Return the true ratio at the rows of Q."""
        return np.exp(self._q)
