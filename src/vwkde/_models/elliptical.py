"""The dependence of X and Y by an elliptical copula: that of a Student t distribution, or of a normal one.

Ranks in every column are mapped to quantiles of the t distribution, so that the columns' own shapes do not matter, and
a scatter matrix with the same degrees of freedom is fitted to them. The log ratio of the joint density to the product
of its marginals then has a closed form, and so has its mean, the mutual information: it depends on the canonical
correlations of X and Y, and on the degrees of freedom, by which X and Y are far out at the same rows.

The plain information of a fitted matrix is too large, by about d_x·d_y/2n. Its expectation for a normal sample is known
from the Wishart distribution. So the value is unbiased even if the columns are too many for the ratio at any one row.
To judge a model by rows that it has not seen, only the largest canonical correlations are kept.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.special import digamma, gammaln, ndtri, polygamma, softmax, stdtrit

from vwkde._data.ranks import mean_ranks
from vwkde._data.validation import Array
from vwkde._models.log_loss import AtBoth, loss_terms
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FREEDOMS = (0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.7, 8.0, 16.0, 32.0, np.inf)
_FEWEST_ROWS = 50
_SPARE_ROWS = 10
"""Rows needed in addition to one for each column: with fewer, the unbiased value varies too much."""
_MOST_ROWS = 5_000
"""Rows by which the degrees of freedom are chosen."""
_RANKS_APART = 1.5
"""How thick a relation must be for ranks to show it: e^1.5/n, about twice as thick as normal scores are apart."""
_STEPS, _MORE_STEPS = 20, 4
"""Steps of the first scatter matrix, and of one that starts from a fit to nearly the same rows or a similar shape."""
_TEMPERATURE = 0.5
"""Share of the log likelihood that enters the shares: rows and pairs of the same rows are not independent."""
_BETWEEN = 8
"""Steps between numbers of degrees of freedom that were tried."""
_SMALLEST_SHARE = 0.01
_CLEARLY = 2.0
"""Standard errors by which a t copula must be better than the normal one."""
_LARGEST = 1 - 1e-13
"""The largest canonical correlation that rounding leaves distinct from one."""


@dataclass(frozen=True)
class Elliptical:
    """A scatter matrix of the columns of X, which are the first ones, and Y, and degrees of freedom."""

    scatter: Floats
    split: int
    freedom: float

    @lazy
    def canonical(self) -> tuple[Floats, Floats, Floats]:
        """The axes of X and of Y in which the scatter is white, and their canonical correlations."""
        parts = slice(self.split), slice(self.split, None)
        x, y = (_white_axes(self.scatter[part, part]) for part in parts)
        left, values, right = np.linalg.svd(x.T @ self.scatter[parts] @ y)
        return x @ left, y @ right.T, np.minimum(values, _LARGEST)

    def variates(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the canonical variates of X and of Y."""
        x, y = np.split(scores, [self.split], axis=1)
        return x @ self.canonical[0], y @ self.canonical[1]

    def information(self, rows: float) -> float:
        """Return the mutual information, without the bias of a scatter matrix of so many rows."""
        dx, dy = self.split, len(self.scatter) - self.split
        plain = -0.5 * np.log1p(-(self.canonical[2] ** 2)).sum()
        return float(plain - _excess(self._freedom_of_scatter(rows), dx, dy) + tail_information(self.freedom, dx, dy))

    def variance_without_dependence(self, rows: float) -> float:
        """Return the variance of the information if there is none."""
        dx, dy = sorted((self.split, len(self.scatter) - self.split))
        freedom, each = self._freedom_of_scatter(rows), np.arange(dx)
        return float(0.25 * (polygamma(1, (freedom - dy - each) / 2) - polygamma(1, (freedom - each) / 2)).sum())

    def _freedom_of_scatter(self, rows: float) -> float:
        """Return how many normal rows determine a scatter matrix as well: far rows of a t distribution count little."""
        if np.isinf(self.freedom):
            return rows
        d = len(self.scatter)
        return max(rows * (self.freedom + d) / (self.freedom + d + 2), d + 1.0)


def tail_information(freedom: float, dx: int, dy: int) -> float:
    """Return the information that uncorrelated X and Y have because both are far out at the same rows."""
    if np.isinf(freedom):
        return 0.0
    x, y, both = (_entropy(freedom, d) for d in (dx, dy, dx + dy))
    return x + y - both


def _entropy(freedom: float, d: int) -> float:
    """Return the entropy of a t distribution of unit scatter."""
    half = (freedom + d) / 2
    peak = gammaln(half) - gammaln(freedom / 2) - 0.5 * d * np.log(freedom * np.pi)
    return float(half * (digamma(half) - digamma(freedom / 2)) - peak)


def _excess(freedom: float, dx: int, dy: int) -> float:
    """Return by how much the information of a sample covariance exceeds the true one on average."""

    def log_volume(d: int) -> float:
        return float((digamma((freedom - np.arange(d)) / 2) - np.log(freedom / 2)).sum())

    return 0.5 * (log_volume(dx) + log_volume(dy) - log_volume(dx + dy))


def _white_axes(scatter: Floats) -> Floats:
    values, vectors = np.linalg.eigh(scatter)
    return np.asarray(vectors / np.sqrt(np.maximum(values, values[-1] * len(values) * np.finfo(np.float64).eps)))


@dataclass(frozen=True)
class Rows:
    """Uniform ranks of the columns of X and Y, the fold of each row, and the pairs that stand for independence.

    `worth` is the number of independent rows that they are worth.
    """

    ranks: Floats
    split: int
    fold: Ints
    pairs: tuple[Ints, Ints]
    worth: float

    @lazy
    def resolved(self) -> bool:
        """Whether X and Y differ by more than ranks next to each other do, in every direction.

        Normal scores are about 2.5/n apart in the middle. A thinner relation leaves the ranks equal, however thin.
        """
        largest = _fit(self.ranks, self.split, np.inf).canonical[2][0]
        return bool(-0.5 * np.log1p(-(largest**2)) < self.finest)

    @property
    def finest(self) -> float:
        """The largest information that ranks can show in one direction."""
        return float(np.log(self.worth) - _RANKS_APART)

    def some(self, most: int, random: np.random.Generator) -> "Rows":
        """Return some rows, drawn at random, and the pairs that are left."""
        if len(self.ranks) <= most:
            return self
        kept = np.sort(random.permutation(len(self.ranks))[:most])
        place = np.full(len(self.ranks), -1)
        place[kept] = np.arange(most)
        first, second = (place[each] for each in self.pairs)
        both = (first >= 0) & (second >= 0)
        worth = self.worth * most / len(self.ranks)
        return Rows(self.ranks[kept], self.split, self.fold[kept], (first[both], second[both]), worth)


@dataclass(frozen=True)
class ByCopula:
    """What elliptical copulas say: the value, the log ratios at rows and at pairs of rows, and what is in doubt.

    `spread` is the disagreement of the degrees of freedom that share the answer.
    """

    value: float
    log_ratios: AtBoth
    variance: float
    spread: float
    freedom: float


def by_copula(rows: Rows, random: np.random.Generator) -> ByCopula | None:
    """Return what elliptical copulas say, or None if there are too few rows, or too few to resolve the relation."""
    if rows.worth < max(_FEWEST_ROWS, rows.ranks.shape[1] + _SPARE_ROWS) or not rows.resolved:
        return None
    shares, used = _shares(rows.some(_MOST_ROWS, random))
    fits = {freedom: _cross_fitted(rows, freedom) for freedom in shares}
    values = {freedom: whole.information(rows.worth) for freedom, (whole, _) in fits.items()}
    of_used = np.array([shares[freedom] for freedom in used])
    value = float(np.average([values[freedom] for freedom in used], weights=of_used))
    at_rows, at_pairs = (np.average([fits[f][1][side] for f in used], axis=0, weights=of_used) for side in (0, 1))
    main = fits[max(used, key=lambda freedom: shares[freedom])][0]
    return ByCopula(
        value,
        (at_rows, at_pairs),
        main.variance_without_dependence(rows.worth),
        float(np.sqrt(np.average([(values[f] - value) ** 2 for f in shares], weights=list(shares.values())))),
        main.freedom,
    )


def uniform_ranks(values: Array) -> Floats:
    """Return the ranks in every column, between zero and one; equal values share theirs.

    Columns without variation are left out, and so are those with the same ranks as another, or the opposite ones.
    """
    ranks = (mean_ranks(values) - 0.5) / len(values)
    upright = np.where(ranks[0] > 0.5, 1 - ranks, ranks)
    _, first = np.unique(np.round(upright, 12), axis=1, return_index=True)
    kept = np.sort(first)
    return np.asarray(ranks[:, kept[np.ptp(ranks[:, kept], axis=0) > 0]])


def _shares(rows: Rows) -> tuple[dict[float, float], list[float]]:
    """Return shares of degrees of freedom, which fall exponentially with the log loss, and those to use.

    The normal copula is used alone, unless another one is clearly better.
    """
    terms = [loss_terms(_cross_fitted(rows, freedom)[1]) for freedom in _FREEDOMS]
    losses = np.array([_mean(each) for each in terms])
    shares = np.append(*_shares_of(losses, _TEMPERATURE * 2 * rows.worth))
    kept = {f: float(share) for f, share in zip(_FREEDOMS, shares, strict=True) if share > _SMALLEST_SHARE}
    falls = [before - after for before, after in zip(terms[-1], terms[int(np.argmin(losses[:-1]))], strict=True)]
    error = 0.5 * np.sqrt(sum(fall.var() for fall in falls) / rows.worth)
    if (falls[0].mean() + falls[1].mean()) / 2 > _CLEARLY * error:
        return kept, [freedom for freedom in kept if np.isfinite(freedom)]
    return kept | {np.inf: float(shares[-1])}, [np.inf]


def _shares_of(losses: Floats, rows: float) -> tuple[Floats, float]:
    """Return the shares of the finite degrees of freedom, and that of the normal copula, given their losses.

    Between the numbers that were tried, the loss is a smooth curve; its share goes to the two numbers next to it.
    """
    tried = np.log(_FREEDOMS[:-1])
    fine = np.linspace(tried[0], tried[-1], _BETWEEN * (len(tried) - 1) + 1)
    curve = CubicSpline(tried, losses[:-1])(fine)
    shares = softmax(-rows * np.append(curve, losses[-1]) - np.log(np.append(np.full(len(fine), _BETWEEN), 1.0)))
    hats = np.array([np.interp(fine, tried, each) for each in np.eye(len(tried))])
    return hats @ shares[:-1], float(shares[-1])


def _mean(terms: AtBoth) -> float:
    """Return the mean of loss terms, with equal weight for rows and pairs."""
    return float((terms[0].mean() + terms[1].mean()) / 2)


def _scores(ranks: Floats, freedom: float) -> Floats:
    return np.asarray(ndtri(ranks) if np.isinf(freedom) else stdtrit(freedom, ranks))


def _fit(ranks: Floats, split: int, freedom: float) -> Elliptical:
    scores = _scores(ranks, freedom)
    start = np.corrcoef(ndtri(ranks).T)
    return Elliptical(_scatter(scores, freedom, start, _STEPS), split, freedom)


def _scatter(scores: Floats, freedom: float, start: Floats, steps: int) -> Floats:
    """Return the most likely scatter of scores around zero."""
    if np.isinf(freedom):
        return np.asarray(scores.T @ scores / len(scores))
    scatter, d = start, scores.shape[1]
    for _ in range(steps):
        axes = _white_axes(scatter)
        pull = (freedom + d) / (freedom + ((scores @ axes) ** 2).sum(axis=1))
        scatter = (scores.T * pull) @ scores / len(scores)
    return scatter


def _cross_fitted(rows: Rows, freedom: float) -> tuple[Elliptical, AtBoth]:
    """Return the fit to all rows, and log ratios at rows and pairs by fits without their fold.

    They have as many canonical correlations as give the smallest loss.
    """
    whole, scores = _fit(rows.ranks, rows.split, freedom), _scores(rows.ranks, freedom)
    a, b = (np.empty((len(scores), d)) for d in (rows.split, scores.shape[1] - rows.split))
    correlations = np.empty((len(scores), min(a.shape[1], b.shape[1])))
    for fold in np.unique(rows.fold):
        out = rows.fold == fold
        scatter = _scatter(scores[~out], freedom, whole.scatter, _MORE_STEPS)
        model = Elliptical(scatter, rows.split, freedom)
        a[out], b[out] = model.variates(scores[out])
        correlations[out] = model.canonical[2]
    own = np.arange(len(scores))
    counts = _counts(correlations.shape[1])
    at_rows, at_pairs = (
        _log_ratios((a[first], b[second]), correlations[first], freedom, counts)
        for first, second in ((own, own), rows.pairs)
    )
    best = min(range(len(counts)), key=lambda k: _mean(loss_terms((at_rows[k], at_pairs[k]))))
    return whole, (at_rows[best], at_pairs[best])


def _counts(most: int) -> list[int]:
    """Return numbers of canonical correlations to try: none, all, and powers of two."""
    return [0, *(2**k for k in range(most.bit_length()) if 2**k < most), most]


def _log_ratios(variates: tuple[Floats, Floats], rho: Floats, freedom: float, counts: list[int]) -> list[Floats]:
    """Return the log ratio at each point with so many of the largest canonical correlations."""
    a, b = variates
    k = rho.shape[1]
    x, y = (a**2).sum(axis=1), (b**2).sum(axis=1)
    u, v = a[:, :k], b[:, :k]
    moved = (rho**2 * (u**2 + v**2) - 2 * rho * u * v) / (1 - rho**2)
    volumes = -0.5 * np.log1p(-(rho**2))
    none = np.zeros((len(a), 1))
    moved, volumes = (np.concatenate([none, np.cumsum(each, axis=1)], axis=1)[:, counts] for each in (moved, volumes))
    return list((volumes + _shape_terms(x, y, x[:, None] + y[:, None] + moved, freedom, (a.shape[1], b.shape[1]))).T)


def _shape_terms(x: Floats, y: Floats, both: Floats, freedom: float, columns: tuple[int, int]) -> Floats:
    """Return the log ratio of the densities of unit scatter at these squared distances."""
    if np.isinf(freedom):
        return np.asarray(-0.5 * (both - (x + y)[:, None]))
    dx, dy = columns
    marginal = _log_density(x, freedom, dx) + _log_density(y, freedom, dy)
    return np.asarray(_log_density(both, freedom, dx + dy) - marginal[:, None])


def _log_density(distances: Floats, freedom: float, d: int) -> Floats:
    peak = gammaln((freedom + d) / 2) - gammaln(freedom / 2) - 0.5 * d * np.log(freedom * np.pi)
    return np.asarray(peak - (freedom + d) / 2 * np.log1p(np.maximum(distances, 0.0) / freedom))
