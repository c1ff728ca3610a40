"""Nearest neighbours in a metric learnt at every point, such that the leading bias of their log ratio vanishes.

From Noh, Sugiyama, Liu, du Plessis, Park and Lee, "Bias reduction and metric learning for nearest-neighbor estimation
of Kullback–Leibler divergence", AISTATS 2014 and Neural Computation 30(7), 2018.

A ball of radius r around x measures the mean density in it, which differs from p(x) by r²/(2(d+2)) · ∇²p(x). So the
log ratio from the distances ρ in n rows of p and ν in m rows of q,

    log p(x)/q(x)  ≈  d (log ν − log ρ) + log m − log n,

has the leading bias (ρ² ∇²p/p − ν² ∇²q/q) / (2(d+2)), where the squared radii are on average in the ratio
(n p)^(−2/d) to (m q)^(−2/d). Any positive definite matrix A(x) may replace the identity in the distances,
√((x−y)ᵀA(x−y)); its volume cancels between the samples. The bias is then proportional to

    trace(A⁻¹ B),        B(x) = (n p)^(−2/d) · ∇∇ᵀp/p − (m q)^(−2/d) · ∇∇ᵀq/q.

Let B have the eigenvalues λᵢ, d₊ of them positive and d₋ negative, and give A the same eigenvectors, with eigenvalues
d₊ λᵢ where λᵢ is positive and −d₋ λᵢ where it is negative. Then trace(A⁻¹B) = Σ₊ 1/d₊ − Σ₋ 1/d₋ = 0 (the metric of Noh,
Zhang and Lee, "Generative local metric learning for nearest neighbor classification", NIPS 2010). If all have one sign
no metric makes the trace vanish; this one makes it smallest among those of equal volume.

Directions in which B is nearly zero would hardly count in that metric, and in many columns most of B's eigenvalues are
nearly zero or noise; the ball would leave the region where the expansion holds. So a ridge γ is added to the size of
all eigenvalues, and d₊ and d₋ become effective numbers of directions, as in a ridge regression:

    d± |λᵢ|  →  d±(γ) (|λᵢ| + γ),        d±(γ) = Σ± |λⱼ|/(|λⱼ| + γ).

The trace is still zero. Without a ridge this is the published metric; with a large one A has only two eigenvalues, one
for the directions in which λᵢ is positive and one for the others.

B is computed from one Gaussian per sample, fitted by its mean and covariance. It only needs to be roughly right: the
estimate converges with any metric as the samples grow. In one column all metrics give the same result.

Rows at distance zero are treated as in `vwkde.baselines.nearest`: if the k-th neighbour is at distance zero, the ball
grows to the nearest row at a positive distance, and the rows in it are counted.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf

from vwkde._compute import parallel
from vwkde._compute.compile import compiled
from vwkde._models.gaussian import GaussianModel
from vwkde.baselines.answer import Answer
from vwkde.baselines.nearest import Balls, Counts, Own, check_k, check_samples, compare_balls, make_answer, other_rows

Floats = NDArray[np.float64]

_THINNEST = 1e-9
"""Smallest variance of a direction, relative to the largest; smaller ones are raised to it."""
_LEAST_SIDE = 0.01
"""Smallest share of the effective directions for either sign, so that neither side shrinks without limit."""
_MEMORY_BUDGET = 2**26
"""Bytes for the metrics of one block of queries."""


@dataclass(frozen=True)
class _LocalMetric:
    """A(x), from one Gaussian per sample."""

    densities: tuple[GaussianModel, GaussianModel]
    rows: tuple[int, int]
    ridge: float

    def roots(self, x: Floats) -> Floats:
        """Return T with A = TᵀT, of shape (n, d, d); the rows of each T are in order of falling length."""
        values, vectors = np.linalg.eigh(self._bias(x))
        metric = _balance(values, self.ridge)
        order = np.argsort(-metric, axis=1)
        stretched = np.sqrt(metric)[:, :, None] * vectors.transpose(0, 2, 1)
        return np.ascontiguousarray(np.take_along_axis(stretched, order[:, :, None], axis=1))

    def _bias(self, x: Floats) -> Floats:
        """Return B, up to a factor at each point."""
        log_rows = [
            np.log(rows) + density.log_density(x) for rows, density in zip(self.rows, self.densities, strict=True)
        ]
        least = np.minimum(*log_rows)
        p, q = (
            np.exp(-2 / x.shape[1] * (log - least))[:, None, None] * _hessian_over_density(density, x)
            for log, density in zip(log_rows, self.densities, strict=True)
        )
        return np.asarray(p - q)


def nng(p: Floats, q: Floats, seed: int, *, k: int = 1, ridge: float = 10.0) -> Answer:
    """Return the KL divergence by the distances to the k-th neighbour in each sample, in a metric of each point.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Not used: the method is not random.
    k
        The number of neighbours.
    ridge
        The ridge in units of the mean size of B's eigenvalues at the point. The default is stable in many columns;
        0.001 is close to the published metric.

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
    if not 0 < ridge < np.inf:
        raise ValueError(f"The 'ridge' parameter must be a positive number. Got {ridge!r} instead.")
    p, q = np.ascontiguousarray(p), np.ascontiguousarray(q)
    metric = _LocalMetric((_fit_gaussian(p), _fit_gaussian(q)), (len(p), len(q)), ridge)
    return make_answer(partial(_log_ratio, p=p, q=q, k=int(k), metric=metric), p, q)


def _fit_gaussian(x: Floats) -> GaussianModel:
    """Fit the mean and the covariance, which is shrunk towards a round one if there are few rows for the columns."""
    mean = x.mean(axis=0)
    covariance = np.atleast_2d(np.cov(x, rowvar=False))
    if len(x) - 1 < 2 * x.shape[1]:
        covariance, _ = ledoit_wolf(x)
    values, vectors = np.linalg.eigh(covariance)
    precision = (vectors / np.maximum(values, _THINNEST * values[-1])) @ vectors.T
    log_peak = 0.5 * (np.linalg.slogdet(precision)[1] - len(mean) * np.log(2 * np.pi))
    return GaussianModel(mean, precision, float(log_peak))


def _hessian_over_density(density: GaussianModel, x: Floats) -> Floats:
    """Return ∇∇ᵀp / p, of shape (n, d, d)."""
    score = density.score(x)
    return score[:, :, None] * score[:, None, :] - density.precision


def _balance(values: Floats, ridge: float) -> Floats:
    """Return the metric's eigenvalues, which make the trace vanish unless one side is too small."""
    size = np.abs(values)
    mean = size.mean(axis=1, keepdims=True)
    raised = size + np.where(mean > 0, ridge * mean, 1)
    share = size / raised
    least = _LEAST_SIDE * share.sum(axis=1, keepdims=True)
    positive, negative = (
        np.maximum(np.where(side, share, 0).sum(axis=1, keepdims=True), least) for side in (values > 0, values <= 0)
    )
    return np.where(mean > 0, np.where(values > 0, positive, negative) * raised, 1)


def _log_ratio(x: Floats, own: Own, *, p: Floats, q: Floats, k: int, metric: _LocalMetric) -> Floats:
    x = np.ascontiguousarray(x, dtype=np.float64)
    in_p, in_q = (Balls(np.empty(len(x)), np.full(len(x), k)) for _ in range(2))
    sides = (p, in_p, own == "numerator"), (q, in_q, own == "denominator")

    def work(rows: slice) -> None:
        roots = metric.roots(x[rows])
        for sample, balls, is_own in sides:
            first = rows.start if is_own else len(sample)
            _reach(x[rows], roots, sample, k, first, balls.radius[rows], balls.inside[rows])

    size = parallel.block_rows(8 * x.shape[1] ** 2 * x.itemsize, _MEMORY_BUDGET)
    parallel.run(work, parallel.split(len(x), min(size, 1 + len(x) // parallel.thread_count())))
    return compare_balls(in_p, in_q, other_rows(p, q, own), p.shape[1])


@compiled("reassoc", "contract", "nsz")
def _reach(x: Floats, roots: Floats, sample: Floats, k: int, first: int, radius: Floats, inside: Counts) -> None:
    """Fill in the balls that reach the k-th neighbour, or the nearest at a positive distance, each in its own metric.

    Row first + i of the sample is query i itself and is skipped. A row is abandoned as soon as a part of its squared
    distance reaches the k-th smallest so far.
    """
    columns = x.shape[1]
    nearest = np.empty(k)
    difference = np.empty(columns)
    for i in range(x.shape[0]):
        nearest[:] = np.inf
        equal = 0
        for j in range(sample.shape[0]):
            if j == first + i:
                continue
            for c in range(columns):
                difference[c] = sample[j, c] - x[i, c]
            squared = 0.0
            for r in range(columns):
                part = 0.0
                for c in range(columns):
                    part += roots[i, r, c] * difference[c]
                squared += part * part
                if squared >= nearest[k - 1]:
                    break
            if squared == 0.0:
                equal += 1
            elif squared < nearest[k - 1]:
                place = k - 1
                while place > 0 and nearest[place - 1] > squared:
                    nearest[place] = nearest[place - 1]
                    place -= 1
                nearest[place] = squared
        radius[i] = np.sqrt(nearest[max(k - equal, 1) - 1])
        inside[i] = max(k, equal + 1)
