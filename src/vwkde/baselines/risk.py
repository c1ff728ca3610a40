"""The KL divergence as an integral of nearest-neighbour classification errors over all class priors.

From García-García, von Luxburg and Santos-Rodríguez, "Risk-based generalizations of f-divergences", ICML 2011.

Let the numerator p be one class, with prior π, and the denominator q the other; M = πp + (1−π)q is the density of both,
and η = πp/M the posterior of the first class. Under the square loss the risk of the best guess is π(1−π) when x is not
seen, and L(π) = ∫ η(1−η) M dx when it is. Their difference, the information of x about the class, is

    π(1−π) − L(π)  =  π(1−π) ∫ p (M − q)/M dx  =  π²(1−π) ∫ p (p−q)/M dx.

As a function of π, (p−q)/M is the derivative of log M, which goes from log q at π = 0 to log p at π = 1. Hence

    KL(p‖q)  =  ∫₀¹ ∫ p (p−q)/M dx dπ  =  ∫₀¹ g(π) dπ,        g(π) = (π(1−π) − L(π)) / (π²(1−π)).

This is an f-divergence as a weighted integral of risks (Österreicher and Vajda, 1993) with the square loss instead of
the zero–one loss. For most f the weight changes with the loss; for KL it is 1/(π²(1−π)) under both. With the zero–one
loss the difference is ∫ h(p/q) q dx, where h″ is π times a unit mass at t = (1−π)/π. The function of KL, f = t log t,
has f″ = 1/t, and |dt/dπ| = 1/π²; so weight · π · π² = 1/t = π/(1−π), which gives the same.

The square loss is used because it gives the risk of a one-nearest-neighbour classifier: a point and its neighbour with
the same posterior differ in class with probability 2η(1−η), so the error tends to R(π) = 2L(π) as the samples grow
(Cover and Hart, 1967). No density or posterior is estimated.

R(π) is the leave-one-out error when the rows are thinned until their classes have the prior π: all rows of one class
stay, and each row of the other stays with some probability. This way to obtain a prior is our choice, and nothing is
drawn: the error is the expectation over all draws. If c rows of p are nearer to x than the nearest of q, and rows of p
stay with probability a, the nearest that stays is of q with probability (1−a)ᶜ; the same holds with the classes
exchanged.

For small π the estimate of g divides noise by π². So the priors start at a least prior, by default 1/√(number of rows),
which tends to zero as the samples grow. Below it g is taken as constant; that is too small, since g decreases in π. As
no error is negative, no estimate exceeds 1 − log(least prior), which is the value for samples without overlap. In many
columns, where the neighbours are far and the error is not near its limit, the estimate depends on the least prior.

Rows at equal distances from x are taken in random order.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from vwkde.baselines.answer import Answer
from vwkde.baselines.nearest import Counts, Floats, Own, distance_blocks, other_rows

_NODES = 64
"""Quadrature nodes between the points where the error bends."""
_TAIL = 20.0
"""Log odds beyond the last bend at which the integral ends; the remainder is below 1e-6."""


@dataclass(frozen=True)
class _Queues:
    """How many rows of each class are nearer to a point than the nearest of the other, at all rows of one sample.

    `rows` are the numbers of rows of each class that can be neighbours.
    """

    numerator: Counts
    denominator: Counts
    rows: tuple[int, int]

    @property
    def bend(self) -> float:
        """The log odds of the prior that the classes have when no row is dropped."""
        return float(np.log(self.rows[0]) - np.log(self.rows[1]))

    def chance_of_denominator(self, log_odds: Floats) -> Floats:
        """Return the probability that the nearest row that stays is the denominator's, for each prior."""
        kept = np.exp(-np.abs(log_odds - self.bend))
        return np.where(
            log_odds < self.bend, _chance_all_drop(self.numerator, kept), 1 - _chance_all_drop(self.denominator, kept)
        )


def nngarcia(p: Floats, q: Floats, seed: int, *, least_prior: float | None = None) -> Answer:
    """Return the KL divergence by nearest-neighbour errors from the least prior to one.

    There is no log ratio: the error is a property of the samples as a whole.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Seed of the order of rows at equal distances; without such rows it has no effect.
    least_prior
        The smallest prior, between 0 and 1. The default is 1/√(rows of the smaller sample).

    Returns
    -------
    Answer
        The divergence and the least prior.
    """
    least = min(len(p), len(q)) ** -0.5 if least_prior is None else least_prior
    if not 0 < least < 1:
        raise ValueError(f"The 'least_prior' parameter must be between 0 and 1, or None. Got {least_prior!r} instead.")
    random = np.random.default_rng(seed)
    queues = _line_up(p, p, q, "numerator", random), _line_up(q, p, q, "denominator", random)
    lowest = float(logit(least))
    log_odds, weight = _quadrature(lowest, [queue.bend for queue in queues])
    prior = expit(log_odds)
    below = least * _integrand(queues, np.array([lowest]))[0]
    return Answer(
        kl=float(below + np.sum(weight * prior * expit(-log_odds) * _integrand(queues, log_odds))),
        chosen={"least_prior": float(least)},
    )


def _integrand(queues: tuple[_Queues, _Queues], log_odds: Floats) -> Floats:
    """Return g at these priors."""
    prior, rest = expit(log_odds), expit(-log_odds)
    at_numerator, at_denominator = (queue.chance_of_denominator(log_odds) for queue in queues)
    error = prior * at_numerator + rest * (1 - at_denominator)
    return (prior * rest - error / 2) / (prior**2 * rest)


def _quadrature(lowest: float, bends: list[float]) -> tuple[Floats, Floats]:
    """Return nodes and weights in log odds, starting at the lowest, for each interval between the bends."""
    edges = [lowest, *sorted(bend for bend in bends if bend > lowest)]
    edges.append(edges[-1] + _TAIL)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    starts, lengths = np.array(edges[:-1])[:, None], np.diff(edges)[:, None]
    return (starts + lengths * (nodes + 1) / 2).ravel(), (lengths * weights / 2).ravel()


def _line_up(x: Floats, p: Floats, q: Floats, own: Own, random: np.random.Generator) -> _Queues:
    blocks = [(_count_ahead(to_p, to_q), _count_ahead(to_q, to_p)) for _, to_p, to_q in distance_blocks(x, p, q, own)]
    of_p, of_q = (np.concatenate(side, axis=1) for side in zip(*blocks, strict=True))
    return _Queues(_shuffle_ties(of_p, random), _shuffle_ties(of_q, random), other_rows(p, q, own))


def _count_ahead(to_one: Floats, to_other: Floats) -> Counts:
    """Return how many rows of one class are nearer than the other's nearest, and how many of each are as near."""
    nearest = to_other.min(axis=1, keepdims=True)
    return np.stack(
        [np.count_nonzero(hit, axis=1) for hit in (to_one < nearest, to_one == nearest, to_other == nearest)]
    )


def _shuffle_ties(counts: Counts, random: np.random.Generator) -> Counts:
    """Add the equally near rows that come before all those of the other class in a random order."""
    nearer, tied, tied_others = counts
    first_other = 1 - random.random(len(nearer)) ** (1 / tied_others)
    return nearer + random.binomial(tied, first_other)


def _chance_all_drop(counts: Counts, kept: Floats) -> Floats:
    """Return the mean probability that none of these numbers of rows stays, if each row stays with `kept`."""
    values, frequency = np.unique(counts, return_counts=True)
    return (1 - kept)[:, None] ** values @ (frequency / len(counts))
