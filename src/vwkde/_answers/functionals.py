"""Divergences as averages of the log ratio over the two samples.

Except KL, every divergence here is D = ∫ q·f(p/q), or a function of one such integral. It can be estimated in two ways:

- plugged in: the mean of 2·f(r)/(1+r) over both samples with equal weight. Noise in r makes it too large;
- in one step, the variational bound: the mean of f′(r) over the numerator plus that of f(r) − r·f′(r) over the
  denominator. Noise in r makes it too small, by the same amount to second order.

Their average has neither error. The terms of the one-step form are also the influence functions, whose variances give
the standard error. Everything is written in u = log r.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from vwkde._data.sample import effective_rows, variance_of_mean

Floats = NDArray[np.float64]


class AtSample(NamedTuple):
    """The log ratio at a sample's points, each left out of its own estimate, and the points' weights.

    `noise` is the variance of the log ratio at each point due to its estimation, as far as it is known. `behind` is the
    number of rows behind the estimate for each row here, if only some of its rows are in memory. Rows of one `group`
    are dependent.
    """

    log_ratio: Floats
    weight: Floats
    noise: Floats | float = 0.0
    behind: float = 1.0
    group: NDArray[np.intp] | None = None

    def mean(self, terms: Floats) -> float:
        """Return the weighted mean of one term per point."""
        return float(np.average(terms, weights=self.weight))

    def variance_of_mean(self, terms: Floats) -> float:
        """Return the variance of that mean."""
        return variance_of_mean(terms, self.weight, self.group)

    def truncated(self, power: float = 0.5) -> "AtSample":
        """Return the same with ratios limited by a power of the number of rows, on both sides of one (Ionides 2008).

        An outlier that is left out of its own estimate can have any ratio, and alone determine a mean or a variance.
        """
        most = power * np.log(len(self.log_ratio))
        return self._replace(log_ratio=np.clip(self.log_ratio, -most, most))


@dataclass(frozen=True)
class Integral:
    """∫ q·f(p/q) by its terms in u = log r, of ratios truncated at a power of the number of rows."""

    plugged_in: Callable[[Floats], Floats]
    on_numerator: Callable[[Floats], Floats]
    on_denominator: Callable[[Floats], Floats]
    power: float = 0.5

    def estimate(self, numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
        """Return the integral and its standard error."""
        p, q = numerator.truncated(self.power), denominator.truncated(self.power)
        plugged_in = 0.5 * sum(sample.mean(self.plugged_in(sample.log_ratio)) for sample in (p, q))
        p_terms, q_terms = self.on_numerator(p.log_ratio), self.on_denominator(q.log_ratio)
        one_step = p.mean(p_terms) + q.mean(q_terms)
        return 0.5 * (plugged_in + one_step), float(np.sqrt(p.variance_of_mean(p_terms) + q.variance_of_mean(q_terms)))


_JENSEN_SHANNON = Integral(  # the mean of KL(p ‖ m) and KL(q ‖ m), m = (p + q)/2
    lambda u: np.log(2) + expit(u) * log_expit(u) + expit(-u) * log_expit(-u),
    lambda u: 0.5 * (np.log(2) + log_expit(u)),
    lambda u: 0.5 * (np.log(2) + log_expit(-u)),
    power=1.0,
)
_TOTAL_VARIATION = Integral(  # ½ ∫ |p − q|
    lambda u: np.abs(np.tanh(u / 2)),
    lambda u: 0.5 * np.sign(u),
    lambda u: -0.5 * np.sign(u),
    power=np.inf,  # bounded terms: nothing to truncate
)


def _affinity(order: float) -> Integral:
    """∫ p^order · q^(1−order)."""
    return Integral(
        lambda u: 2 * np.exp(order * u) * expit(-u),
        lambda u: order * np.exp((order - 1) * u),
        lambda u: (1 - order) * np.exp(order * u),
    )


def _log_moment(order: float, numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return log ∫ p^order · q^(1−order) for an order above one, and its standard error.

    It depends on the tails of the ratio. A sample of n rows shows no ratio above n, so larger ones count as n: the
    estimate may be too small, but no single row determines it.
    """
    p, q = numerator.truncated(power=1.0), denominator.truncated(power=1.0)
    p_logs, q_logs = (order - 1) * p.log_ratio, order * q.log_ratio
    largest = max(p_logs.max(), q_logs.max())  # for a high order the integral itself may overflow
    p_terms, q_terms = np.exp(p_logs - largest), np.exp(q_logs - largest)
    variance = order**2 * p.variance_of_mean(p_terms) + (order - 1) ** 2 * q.variance_of_mean(q_terms)
    mean = max(p.mean(p_terms), np.finfo(np.float64).tiny)
    return float(largest + np.log(mean)), float(np.sqrt(variance) / mean)


def chi2(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return ∫ (p − q)²/q and its standard error."""
    log_moment, error = _log_moment(2.0, numerator, denominator)
    return float(np.expm1(log_moment)), float(np.exp(log_moment) * error)


def kl(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return ∫ p·log(p/q), the mean log ratio over the numerator as the paper has it, and its standard error.

    All rows of the denominator contribute the variance of the ratio, minus the noise that its estimation adds: if the
    densities are equal, there is only noise. It is only roughly known, so at least half of the variance stays.
    """
    ratio = np.exp(denominator.truncated().log_ratio)
    noise = denominator.mean(ratio**2 * denominator.noise) / effective_rows(denominator.weight)
    variance = numerator.variance_of_mean(numerator.log_ratio)
    scatter = denominator.variance_of_mean(ratio)
    variance += max(0.5 * scatter, scatter - noise) / denominator.behind
    return numerator.mean(numerator.log_ratio), float(np.sqrt(variance))


def reverse_kl(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return ∫ q·log(q/p) and its standard error."""
    return kl(*(sample._replace(log_ratio=-sample.log_ratio) for sample in (denominator, numerator)))


def hellinger(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return the Hellinger distance √(1 − ∫√(p·q)) and its standard error; zero where the integral exceeds one."""
    affinity, error = _affinity(0.5).estimate(numerator, denominator)
    distance = np.sqrt(max(1 - affinity, 0.0))
    return float(distance), float(np.sqrt(distance**2 + error) - distance)


def renyi(numerator: AtSample, denominator: AtSample, order: float) -> tuple[float, float]:
    """Return log ∫ p^order·q^(1−order) / (order − 1) and its standard error."""
    if order > 1:
        log_moment, error = _log_moment(order, numerator, denominator)
        return log_moment / (order - 1), error / (order - 1)
    affinity, error = _affinity(order).estimate(numerator, denominator)
    affinity = max(affinity, np.finfo(np.float64).tiny)
    return float(np.log(affinity) / (order - 1)), float(error / affinity / (1 - order))


KINDS: dict[str, Callable[..., tuple[float, float]]] = {
    "kl": kl,
    "reverse-kl": reverse_kl,
    "jensen-shannon": _JENSEN_SHANNON.estimate,
    "renyi": renyi,
    "hellinger": hellinger,
    "chi2": chi2,
    "total-variation": _TOTAL_VARIATION.estimate,
}
"""The divergences by name. Each takes the log ratios at both samples and returns (value, standard error)."""


def unit_of(kind: str) -> str:
    """Return the unit of a divergence; kinds that are not logarithms have none."""
    return "" if kind in ("hellinger", "chi2", "total-variation") else "nats"


def check_divergence(kind: str, order: float | None) -> dict[str, float]:
    """Return the options that go with a kind of divergence, or raise."""
    if kind not in KINDS:
        raise ValueError(f"The 'kind' parameter of divergence must be one of {list(KINDS)}. Got {kind!r} instead.")
    if kind != "renyi":
        if order is not None:
            raise ValueError(
                f"The 'order' parameter belongs to kind='renyi'. Got order={order!r} with {kind!r} instead."
            )
        return {}
    if order is None or not 0 < order < np.inf or order == 1:
        raise ValueError(
            f"The 'order' parameter of kind='renyi' must be a positive number other than 1, for which kind='kl' is the "
            f"limit. Got {order!r} instead."
        )
    return {"order": order}


def check_interval(interval: str, confidence_level: float) -> None:
    """Raise if the interval or its level is not supported."""
    if interval not in ("influence", "subsample"):
        raise ValueError(
            f"The 'interval' parameter of divergence must be 'influence' or 'subsample'. Got {interval!r} instead."
        )
    if not 0 < confidence_level < 1:
        raise ValueError(
            f"The 'confidence_level' parameter of divergence must lie between 0 and 1. Got {confidence_level!r} "
            f"instead."
        )
