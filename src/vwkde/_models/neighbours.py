"""The log ratio of a joint density to the product of its marginals, by nearest neighbours.

A. Kraskov, H. Stögbauer and P. Grassberger, "Estimating mutual information", Physical Review E 69, 2004. A box around
(x, y) that reaches its k-th neighbour among n rows measures all three densities: with a rows of X and b rows of Y
closer than that neighbour,

    log p(x, y) / p(x)p(y)  ≈  ψ(k) + ψ(n + 1) − ψ(a + 1) − ψ(b + 1).

Its noise is large but known, ψ′(k) − ψ′(a + 1) − ψ′(b + 1), and averages out. Its bias is small, since the box adapts
to the density and most of the bias is the same in all three. If several rows are equally far, as in discrete data, all
of them count, and rows at that distance count in a and b as well:

    ψ(rows in the box) + ψ(n) − ψ(a) − ψ(b)

(after W. Gao, S. Kannan, S. Oh and P. Viswanath, "Estimating mutual information for discrete-continuous mixtures",
NeurIPS 2017). A row is never its own neighbour, nor are the two rows of which a pair is made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import digamma, expit, polygamma, softmax

from vwkde._data.pairs import Pairs, places
from vwkde._data.sample import Sample
from vwkde._models.log_loss import log_loss

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MOST_COLUMNS, _FEW_COLUMNS = 6, 4
"""Columns of X and Y together up to which boxes with a few rows are small enough."""
_FEWEST_ROWS = 50
COUNTS = (3, 6, 12)
_STRETCHES = (0.25, 1.0, 4.0)
_TEMPERATURE = 0.1
"""Share of the log likelihood that enters the shares: less than among fitted candidates, since the noise is larger."""
_SLACK = 1e-10
"""Relative difference between distances that count as equal."""


@dataclass(frozen=True)
class Neighbours:
    """How to count: up to the k-th neighbour, with X counting `stretch` times as much as Y in distances."""

    k: int
    stretch: float = 1.0

    def fit(self, joint: Sample) -> "NeighbourRatio":
        """Return the log ratio by the rows of a sample of X and Y."""
        pairs = joint.made_of
        scale = np.where(np.arange(joint.points.shape[1]) < pairs.split, self.stretch, 1.0)
        blocks = joint.points * scale, *np.split(joint.points * scale, [pairs.split], axis=1)
        trees = tuple(KDTree(block) for block in blocks)
        return NeighbourRatio((trees[0], trees[1], trees[2]), pairs, self.k, scale)


@dataclass(frozen=True)
class NeighbourRatio:
    """The log ratio by rows of X and Y; the trees are of both, of X and of Y, in coordinates times `scale`."""

    trees: tuple[KDTree, KDTree, KDTree]
    pairs: Pairs
    k: int
    scale: Floats

    def at(self, sample: Sample) -> tuple[Floats, Floats]:
        """Return the log ratio and its variance at a sample of pairs, without the rows that each is made of."""
        pairs = sample.made_of
        first, second = (places(rows, self.pairs.first) for rows in (pairs.first, pairs.second))
        own = np.stack([first, np.where(second == first, -1, second)], axis=1)
        return self._log_ratio(sample.points * self.scale, own)

    def _log_ratio(self, x: Floats, own: Ints) -> tuple[Floats, Floats]:
        """Return the log ratio and its variance at points, without their own rows; −1 stands for none."""
        radius, next_radius = self._radii(x, own)
        inside = np.full(len(x), self.k)
        several = np.flatnonzero(next_radius <= radius * (1 + _SLACK))
        inside[several] = _count(self.trees[0], x[several], radius[several] * (1 + _SLACK), own[several])
        tied = (inside > self.k) | (radius == 0)
        radius = radius * np.where(tied, 1 + _SLACK, 1 - _SLACK)
        blocks = zip(self.trees[1:], np.split(x, [self.pairs.split], axis=1), strict=True)
        a, b = (_count(tree, block, radius, own) for tree, block in blocks)
        others, more = self.trees[0].n - (own >= 0).sum(axis=1), np.where(tied, 0, 1)
        inside, all_rows, a, b = np.where(tied, inside, self.k), others + more, a + more, b + more
        noise = polygamma(1, inside) - polygamma(1, a) - polygamma(1, b)
        return digamma(inside) + digamma(all_rows) - digamma(a) - digamma(b), np.maximum(noise, 0.0)

    def _radii(self, x: Floats, own: Ints) -> Floats:
        """Return the distances to the k-th neighbour and to the next one, (2, n)."""
        distance, row = self.trees[0].query(x, self.k + 1 + own.shape[1], p=np.inf)
        distance[(row[:, :, None] == own[:, None, :]).any(axis=2)] = np.inf
        return np.sort(distance, axis=1)[:, self.k - 1 : self.k + 1].T


def _count(tree: KDTree, x: Floats, radius: Floats, own: Ints) -> Ints:
    """Return how many rows of the tree are within the radius of each point, its own rows not counted."""
    if x.shape[1] == 1:
        count = _count_on_line(np.sort(tree.data[:, 0]), x[:, 0], radius)
    else:
        count = np.asarray(tree.query_ball_point(x, radius, p=np.inf, return_length=True))
    for row in own.T:
        count -= (row >= 0) & (np.abs(x - tree.data[row]).max(axis=1) <= radius)
    return count


def _count_on_line(values: Floats, x: Floats, radius: Floats) -> Ints:
    """Return how many of the values, which are sorted, are within the radius of each number: much faster than a tree.

    Differences are compared with the radius, as a tree compares them: sums x ± radius would round otherwise.
    """
    first = _bisect(len(values), lambda place: x - values[place] <= radius, len(x))
    return _bisect(len(values), lambda place: values[place] - x > radius, len(x)) - first


def _bisect(count: int, holds: Callable[[Ints], NDArray[np.bool_]], queries: int) -> Ints:
    """Return for each query the first of so many places from which on a condition holds; their number if nowhere."""
    low, high = np.zeros(queries, dtype=np.intp), np.full(queries, count)
    for _ in range(count.bit_length()):
        middle = (low + high) // 2
        above = holds(np.minimum(middle, count - 1)) | (low == high)
        low, high = np.where(above, low, middle + 1), np.where(above, middle, high)
    return low


class ByNeighbours(NamedTuple):
    """Log ratios at rows of X and Y, and how much larger they are with half as many neighbours.

    `spread` is the scatter of their mean over coordinates and stretches, with the smallest number of neighbours.
    `around_curve` says whether they are neighbours around a curve, from which the rows scatter; the spread is then
    also that over numbers of neighbours and between fits of the curve.
    """

    log_ratio: Floats
    rise: Floats
    spread: float = 0.0
    around_curve: bool = False


def by_neighbours(spaces: list[tuple[Sample, Sample]]) -> ByNeighbours | None:
    """Return the mean of several counts, with shares that decrease exponentially with the log loss without its noise.

    The spaces are the same samples in different coordinates. There is none in many columns or with few rows.
    """
    joint = spaces[0][0]
    if joint.points.shape[1] > MOST_COLUMNS or len(joint) < _FEWEST_ROWS:
        return None
    stretches = _STRETCHES if joint.points.shape[1] <= _FEW_COLUMNS else (1.0,)
    found = [
        _judged(Neighbours(k, stretch).fit(samples[0]), samples)
        for k in COUNTS
        for samples in spaces
        for stretch in stretches
    ]
    shape = len(COUNTS), len(spaces) * len(stretches)
    share = softmax([-_TEMPERATURE * 2 * len(joint) * loss for loss, _ in found]).reshape(shape)
    values = np.reshape([value for _, value in found], (*shape, len(joint)))
    rise = (values[0] - values[1]) * share.sum(axis=0)[:, None]
    spread = float(np.std(values[0].mean(axis=1), ddof=1)) if shape[1] > 1 else 0.0
    return ByNeighbours(np.einsum("ks,ksn->n", share, values), rise.sum(axis=0), spread)


def _judged(ratio: NeighbourRatio, samples: tuple[Sample, Sample]) -> tuple[float, Floats]:
    """Return the log loss, minus to second order the part that noise causes, and the log ratio at the joint sample."""
    (at_p, p_noise), (at_q, q_noise) = (ratio.at(sample) for sample in samples)
    by_noise = [np.mean(expit(u) * expit(-u) * noise) for u, noise in ((at_p, p_noise), (at_q, q_noise))]
    return log_loss((at_p, at_q), samples) - 0.25 * float(sum(by_noise)), at_p
