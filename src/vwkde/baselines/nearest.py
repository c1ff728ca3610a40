"""Nearest-neighbour estimators of the KL divergence: with fixed k, and with k that adapts to the data.

Both are from Wang, Kulkarni and Verdú, "Divergence estimation for multidimensional densities via k-nearest-neighbor
distances", IEEE Transactions on Information Theory 55(5), 2009.

A ball around x that just reaches its l-th neighbour among n rows of p, at distance ρ, measures the density of p there;
one that reaches the k-th neighbour among m rows of q, at distance ν, measures that of q. In d columns the volumes of
the balls are in the ratio ρᵈ to νᵈ, so

    log p(x)/q(x)  ≈  d (log ν − log ρ) + ψ(l) − ψ(k) + log m − log n,

with the digamma function ψ, which makes each side unbiased if its density is constant over the ball. A row of a sample
is not among its own neighbours: at the numerator's rows n is one less than the number of rows, at the denominator's
rows m is. The KL divergence is the mean over the numerator's rows.

`nn` uses l = k everywhere, so that ψ drops out. The two balls then differ in size, and their biases do not cancel.
`nnwang` uses one radius for both, the larger of the two nearest distances; l and k count the rows within it, and ρ and
ν are the distances to the farthest of them.

Rows at distance zero give no volume. If the k-th neighbour is at distance zero, the ball grows to the nearest row at a
positive distance; l and k count all rows in it, including those at distance zero. So equal rows, within a sample or
between the two, give a finite answer.
"""

from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import digamma
from sklearn.neighbors import NearestNeighbors

from vwkde._compute import parallel
from vwkde.baselines.answer import Answer

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]
Own = Literal["numerator", "denominator"] | None
"""The sample that the queries are rows of, so that each is left out of its neighbours; None for new points."""

_MEMORY_BUDGET = 2**27
"""Bytes for blocks of distances and what is computed from them."""


class Balls(NamedTuple):
    """One ball around each query: its radius, and the number of a sample's rows inside it."""

    radius: Floats
    inside: Counts


def nn(p: Floats, q: Floats, seed: int, *, k: int = 1) -> Answer:
    """Return the KL divergence by the distances to the k-th neighbour in each sample.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Not used: the method is not random.
    k
        The number of neighbours.

    Returns
    -------
    Answer
        The divergence and its log ratio.

    Raises
    ------
    ValueError
        If all rows of a sample are equal, or it has too few rows for k.
    """
    del seed
    check_samples(p, q)
    check_k(k, p, q)
    return make_answer(partial(_log_ratio_by_count, p=p, q=q, k=int(k)), p, q)


def nnwang(p: Floats, q: Floats, seed: int) -> Answer:
    """Return the KL divergence by balls of one radius in both samples, the larger of the two nearest distances.

    The nearest distances are the nearest positive ones; rows at distance zero are counted.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Not used: the method is not random.

    Returns
    -------
    Answer
        The divergence and its log ratio.

    Raises
    ------
    ValueError
        If all rows of a sample are equal.
    """
    del seed
    check_samples(p, q)
    return make_answer(partial(_log_ratio_by_radius, p=p, q=q), p, q)


def make_answer(log_ratio: Callable[[Floats, Own], Floats], p: Floats, q: Floats) -> Answer:
    """Return the answer from a log ratio, with each row left out of its own neighbours."""
    at_numerator = log_ratio(p, "numerator")
    return Answer(
        kl=float(at_numerator.mean()),
        at_numerator=at_numerator,
        at_denominator=log_ratio(q, "denominator"),
        log_ratio=lambda x: log_ratio(x, None),
    )


def check_samples(p: Floats, q: Floats) -> None:
    """Refuse a sample whose rows are all equal: none of its distances is positive."""
    for sample, name in ((p, "numerator"), (q, "denominator")):
        if (sample == sample[0]).all():
            raise ValueError(f"The rows of the {name} are all equal, so it has no density. Give rows that differ.")


def check_k(k: int, p: Floats, q: Floats) -> None:
    """Refuse a k that is larger than the number of rows when one is left out."""
    most = min(len(p), len(q)) - 1
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= most:
        raise ValueError(
            f"The 'k' parameter must be an integer from 1 to {most}, one less than the rows of the smaller sample. "
            f"Got {k!r} instead."
        )


def other_rows(p: Floats, q: Floats, own: Own) -> tuple[int, int]:
    """Return how many rows of the numerator and of the denominator can be neighbours."""
    return len(p) - (own == "numerator"), len(q) - (own == "denominator")


def compare_balls(in_p: Balls, in_q: Balls, rows: tuple[int, int], columns: int) -> Floats:
    """Return the log ratio from balls in the two samples."""
    volumes = columns * (np.log(in_q.radius) - np.log(in_p.radius))
    return volumes + digamma(in_p.inside) - digamma(in_q.inside) + np.log(rows[1]) - np.log(rows[0])


def distance_blocks(x: Floats, p: Floats, q: Floats, own: Own) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield the distances from the queries to each sample, in blocks of queries.

    They are computed from differences, so that equal rows are at distance exactly zero. The distance of a query to
    itself is infinite.
    """
    for rows in parallel.split(len(x), _block_rows(len(p) + len(q))):
        to_p, to_q = cdist(x[rows], p), cdist(x[rows], q)
        if own is not None:
            to_own = to_p if own == "numerator" else to_q
            to_own[np.arange(len(to_own)), np.arange(rows.start, rows.stop)] = np.inf
        yield rows, to_p, to_q


def _block_rows(columns: int) -> int:
    return parallel.block_rows(4 * columns * np.dtype(np.float64).itemsize, _MEMORY_BUDGET)


def _log_ratio_by_count(x: Floats, own: Own, *, p: Floats, q: Floats, k: int) -> Floats:
    in_p = _balls_of(x, p, k, own == "numerator")
    in_q = _balls_of(x, q, k, own == "denominator")
    return compare_balls(in_p, in_q, other_rows(p, q, own), p.shape[1])


def _balls_of(x: Floats, sample: Floats, k: int, own: bool) -> Balls:
    """Return the balls that reach the k-th neighbour, or the nearest at a positive distance."""
    radius = _distance_to_neighbour(x, sample, k, own)
    count = np.full(len(x), k)
    zero = np.flatnonzero(radius == 0)
    for rows in parallel.split(len(zero), _block_rows(len(sample))):
        distance = cdist(x[zero[rows]], sample)
        radius[zero[rows]] = reach = _nearest_positive(distance)
        count[zero[rows]] = np.count_nonzero(distance <= reach[:, None], axis=1) - own
    return Balls(radius, count)


def _distance_to_neighbour(x: Floats, sample: Floats, k: int, own: bool) -> Floats:
    """Return the distance to the k-th neighbour.

    The search rounds in many columns, less near the origin, so only its neighbours are used and not its distances.
    """
    centre = sample.mean(axis=0)
    search = NearestNeighbors(n_neighbors=k).fit(sample - centre)
    with parallel.openmp():
        neighbour = search.kneighbors(None if own else x - centre, return_distance=False)[:, -1]
    return np.linalg.norm(x - sample[neighbour], axis=1)


def _log_ratio_by_radius(x: Floats, own: Own, *, p: Floats, q: Floats) -> Floats:
    result = np.empty(len(x))
    for rows, to_p, to_q in distance_blocks(x, p, q, own):
        radius = np.maximum(_nearest_positive(to_p), _nearest_positive(to_q))
        balls = _balls_within(to_p, radius), _balls_within(to_q, radius)
        result[rows] = compare_balls(*balls, other_rows(p, q, own), p.shape[1])
    return result


def _balls_within(distance: Floats, radius: Floats) -> Balls:
    """Return the balls that reach the farthest row within the radius."""
    inside = distance <= radius[:, None]
    return Balls(np.where(inside, distance, 0).max(axis=1), np.count_nonzero(inside, axis=1))


def _nearest_positive(distance: Floats) -> Floats:
    nearest = np.asarray(distance.min(axis=1))
    zero = nearest == 0
    if zero.any():
        nearest[zero] = np.where(distance[zero] > 0, distance[zero], np.inf).min(axis=1)
    return nearest
