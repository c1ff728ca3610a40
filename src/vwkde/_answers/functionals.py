"""Divergences as averages of the log ratio over the two samples.

Except KL, every divergence here is D = ∫ q·f(p/q), or a function of one such integral. It can be estimated in two ways:

- plugged in: the mean of 2·f(r)/(1+r) over both samples with equal weight;
- in one step, the variational bound: the mean of f′(r) over the numerator plus that of f(r) − r·f′(r) over the
  denominator.

Independent noise of variance s² in log r changes the one-step form by −½s²·E_q[r²f″] and the plugged-in form, to second
order, by ½s²·E_q[r²f″ + r(1−r)/(1+r)·(f′ − f/(1+r))]. Where r is near one the two are opposite, and their average,
which is used here, has neither error. Far from one a part of the second term remains: see docs/mathematics.md. Orders
above one have a form of their own, `_log_moment`.

The terms of the one-step form are also the influence functions, whose variances give the standard error. Everything is
written in u = log r.

Where the densities are nearly equal, the influence functions vanish, and a divergence is quadratic in the noise of u:
with k numbers estimated from n and m rows, its variance is k/2·(1/n + 1/m)² times f″(1)², while the mean variance of u
is k·(1/n + 1/m). That part is always added.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from vwkde._compute import parallel
from vwkde._data.sample import effective_rows, variance_of_mean
from vwkde._models.exponentials import chance_of, loss, loss_and_wrong

Floats = NDArray[np.float64]

_EXTREME = 300.0
"""Log ratio beyond which powers of the ratio may overflow."""
_NEAR_ONE = 1e-6
"""Orders closer to one than this stand for one: rounding would drown the difference of their integral from one."""


class AtSample(NamedTuple):
    """The log ratio at a sample's points, each left out of its own estimate, and the points' weights.

    `noise` is the variance of the log ratio at each point due to its estimation, as far as it is known. `behind` is the
    number of rows behind the estimate for each row here, if only some of its rows are in memory, or are used. Rows of
    one `group` are dependent, and all of them are `worth` as many independent ones: by default, as many as there are
    groups. If these are some rows of a sample, `numbers` are theirs.
    """

    log_ratio: Floats
    weight: Floats
    noise: Floats | float = 0.0
    behind: float = 1.0
    group: NDArray[np.intp] | None = None
    worth: float | None = None
    numbers: NDArray[np.intp] | None = None

    @property
    def rows(self) -> float:
        """The number of independent rows that the points are worth."""
        if self.group is None:
            return effective_rows(self.weight)
        if self.worth is not None:
            return self.worth
        return effective_rows(np.bincount(self.group, weights=self.weight).astype(np.float64))

    @property
    def represented(self) -> float:
        """How many rows each row here stands for, if these are some rows of a sample."""
        return 1.0 if self.numbers is None else self.behind

    @property
    def mean_noise(self) -> float:
        """The mean of the noise."""
        return self.mean(np.broadcast_to(self.noise, self.weight.shape))

    def mean(self, terms: Floats) -> float:
        """Return the weighted mean of one term per point."""
        return float(self.weight @ terms / self.weight.sum())

    def mean_of(self, function: Callable[[Floats], Floats]) -> float:
        """Return the weighted mean of a function of the log ratio."""
        return self.mean(parallel.elementwise(function, self.log_ratio))

    def variance_of_mean(self, terms: Floats) -> float:
        """Return the variance of that mean."""
        return variance_of_mean(terms, self.weight, self.group)

    def truncated(self, power: float = 0.5) -> "AtSample":
        """Return the same with ratios limited by a power of the number of rows, on both sides of one (Ionides 2008).

        An outlier that is left out of its own estimate can have any ratio, and alone determine a mean or a variance.
        """
        rows = len(self.log_ratio) if self.group is None else self.rows
        return self.bounded(power * np.log(rows * self.represented))

    def bounded(self, most: float) -> "AtSample":
        """Return the same with log ratios of at most this size."""
        return self._replace(log_ratio=np.clip(self.log_ratio, -most, most))


def _quadratic_variance(numerator: AtSample, denominator: AtSample) -> float:
    """Return the variance of KL that is left where the densities are equal: half the noise, over the rows."""
    per_row = sum(1 / sample.rows / sample.behind for sample in (numerator, denominator))
    return float(0.25 * (numerator.mean_noise + denominator.mean_noise) * per_row)


@dataclass(frozen=True)
class Integral:
    """∫ q·f(p/q) by its terms in u = log r, of ratios truncated at a power of the number of rows.

    `curvature` is f″(1), which says how it varies between nearly equal densities, relative to KL.
    """

    plugged_in: Callable[[Floats], Floats]
    on_numerator: Callable[[Floats], Floats]
    on_denominator: Callable[[Floats], Floats]
    curvature: float
    power: float = 0.5

    def estimate(self, numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
        """Return the integral and its standard error."""
        p, q = numerator.truncated(self.power), denominator.truncated(self.power)
        plugged_in = 0.5 * sum(sample.mean_of(self.plugged_in) for sample in (p, q))
        p_terms = parallel.elementwise(self.on_numerator, p.log_ratio)
        q_terms = parallel.elementwise(self.on_denominator, q.log_ratio)
        one_step = p.mean(p_terms) + q.mean(q_terms)
        variance = p.variance_of_mean(p_terms) + q.variance_of_mean(q_terms)
        variance += self.curvature**2 * _quadratic_variance(numerator, denominator)
        bounded = [sample.bounded(_EXTREME) for sample in (numerator, denominator)]
        whole = 0.5 * sum(sample.mean_of(self.plugged_in) for sample in bounded)
        variance += (whole - plugged_in) ** 2  # what truncation may hide
        return 0.5 * (plugged_in + one_step), float(np.sqrt(variance))


def _certainty(u: Floats) -> Floats:
    """Return log 2 + c·log c + (1 − c)·log(1 − c), where c = 1/(1 + exp(−u))."""
    losses, wrong = loss_and_wrong(u)
    return np.asarray(np.log(2) - losses - wrong * u)


_JENSEN_SHANNON = Integral(  # the mean of KL(p ‖ m) and KL(q ‖ m), m = (p + q)/2
    _certainty,
    lambda u: 0.5 * (np.log(2) - loss(u)),
    lambda u: 0.5 * (np.log(2) - loss(-u)),
    curvature=0.25,
    power=1.0,
)
_TOTAL_VARIATION = Integral(  # ½ ∫ |p − q|
    lambda u: np.abs(np.tanh(u / 2)),
    lambda u: 0.5 * np.sign(u),
    lambda u: -0.5 * np.sign(u),
    curvature=0.0,  # it has a corner there: see `total_variation`
    power=np.inf,  # bounded terms: nothing to truncate
)


def _affinity(order: float) -> Integral:
    """∫ p^order · q^(1−order).

    Its plugged-in form lacks a multiple of tanh(u/2), whose true mean over both samples is zero. So the estimate is one
    for the orders zero and one, as the integral is, whatever the level of the log ratio.
    """
    return Integral(
        lambda u: 2 * np.exp(order * u) * chance_of(-u) - (2 * order - 1) * np.tanh(u / 2),
        lambda u: order * np.exp((order - 1) * u),
        lambda u: (1 - order) * np.exp(order * u),
        curvature=order * (order - 1),
    )


def _log_moment(order: float, numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return log ∫ p^order · q^(1−order) for an order above one, and its standard error.

    It is the log of the mean of r^(order−1) over the numerator, and of that of r^order over the denominator. With r
    scaled so that its mean over the denominator is one, noise of variance s² in log r changes the first by
    ½(order−1)(order−2)·s² and the second by ½(order−1)·order·s². So up to order two, for which the first form is used
    alone, a mean of both has no error. It is no longer a mean above order two, where the first form stays.

    All depends on the tails of the ratio. A sample of n rows shows no ratio above n, so larger ones count as n: the
    estimate is too small if the tail is longer, but no single row determines it.
    """
    p, q = _with_mean_one(numerator.truncated(power=1.0), denominator.truncated(power=1.0))
    p_logs, q_logs = (order - 1) * p.log_ratio, order * q.log_ratio
    p_largest, q_largest = p_logs.max(), q_logs.max()  # for a high order the integral itself may overflow
    p_terms, q_terms = np.exp(p_logs - p_largest), np.exp(q_logs - q_largest)
    p_mean, q_mean = p.mean(p_terms), q.mean(q_terms)
    share = min(order / 2, 1.0)
    log_moment = share * (p_largest + np.log(p_mean)) + (1 - share) * (q_largest + np.log(q_mean))
    apart = np.exp(min(q_largest - p_largest, _EXTREME))
    variance = order**2 * p.variance_of_mean(p_terms) + (apart * (order - 1)) ** 2 * q.variance_of_mean(q_terms)
    variance = variance / p_mean**2 + (order * (order - 1)) ** 2 * _quadratic_variance(numerator, denominator)
    return float(log_moment), float(np.sqrt(variance))


def _with_mean_one(p: AtSample, q: AtSample) -> tuple[AtSample, AtSample]:
    """Return ratios scaled so that their mean over the denominator is one, as that of the true ratio is."""
    log_mean = float(logsumexp(q.log_ratio, b=q.weight / q.weight.sum()))
    scaled = [each._replace(log_ratio=each.log_ratio - log_mean).truncated(power=1.0) for each in (p, q)]
    return scaled[0], scaled[1]


def chi2(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return ∫ (p − q)²/q and its standard error."""
    log_moment, error = _log_moment(2.0, numerator, denominator)
    return float(np.expm1(log_moment)), float(np.exp(log_moment) * error)


def kl(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return ∫ p·log(p/q), the mean log ratio over the numerator as the paper has it, and its standard error.

    All rows of the denominator contribute the variance of the ratio, minus the noise that its estimation adds: if the
    densities are equal, there is only noise. It is only roughly known, so at least half of the variance stays. A few
    rows of the denominator hardly show the tail of the ratio, but those of the numerator do: Var_q(r) = E_p[r] − 1.
    """
    ratio = parallel.elementwise(np.exp, denominator.truncated().log_ratio)
    rows = denominator.rows
    noise = denominator.mean(ratio**2 * denominator.noise) / rows
    scatter = denominator.variance_of_mean(ratio)
    largest = np.log(rows * denominator.represented)
    tail = (numerator.mean_of(lambda u: np.exp(np.minimum(u, largest))) - 1) / rows
    variance = numerator.variance_of_mean(numerator.log_ratio)
    variance += max(0.5 * scatter, scatter - noise, tail) / denominator.behind
    variance += _quadratic_variance(numerator, denominator)
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
    """Return log ∫ p^order·q^(1−order) / (order − 1) and its standard error; KL is its limit at order one."""
    if abs(order - 1) < _NEAR_ONE:
        return kl(numerator, denominator)
    if order > 1:
        log_moment, error = _log_moment(order, numerator, denominator)
        return log_moment / (order - 1), error / (order - 1)
    affinity, error = _affinity(order).estimate(numerator, denominator)
    affinity = max(affinity, np.finfo(np.float64).tiny)
    return float(np.log(affinity) / (order - 1)), float(error / affinity / (1 - order))


def total_variation(numerator: AtSample, denominator: AtSample) -> tuple[float, float]:
    """Return ½ ∫ |p − q| and its standard error, which is at least what noise alone makes of equal densities."""
    value, error = _TOTAL_VARIATION.estimate(numerator, denominator)
    noise = [
        sample.mean(np.sqrt(np.broadcast_to(sample.noise, sample.weight.shape))) for sample in (numerator, denominator)
    ]
    return value, max(error, float(np.mean(noise) / np.sqrt(2 * np.pi)))


KINDS: dict[str, Callable[..., tuple[float, float]]] = {
    "kl": kl,
    "reverse-kl": reverse_kl,
    "jensen-shannon": _JENSEN_SHANNON.estimate,
    "renyi": renyi,
    "hellinger": hellinger,
    "chi2": chi2,
    "total-variation": total_variation,
}
"""The divergences by name. Each takes the log ratios at both samples and returns (value, standard error)."""
