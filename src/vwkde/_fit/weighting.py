"""The weight of a pair of kernel estimates: where its bias counts, and the fit that makes it small there."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from vwkde._data.sample import Sample
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.kernel_pair import KernelPair, make_pair
from vwkde._models.derivatives import NO_LOSSES, Losses, Models, fit_derivatives, fit_gaussians
from vwkde._models.weights import WEIGHTS
from vwkde._models.weights.problem import WeightProblem, WeightSettings
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.uniform import UniformWeight

Floats = NDArray[np.float64]

TARGETS = ("pooled", "posterior", "ratio", "kl")
"""Where the bias counts: under the pooled density, weighted by P₁²P₂² or by (p₁/p₂)², or under the numerator."""
_BY_SAMPLES_ALONE = ("pooled", "kl")
"""Targets that need no ratio, so that rows that are not in memory can count as well."""
_MANY_ROWS, _ROWS_PER_BASIS = 20_000, 40
"""Rows of each sample that tell where the bias counts: so many, or so many for each basis point. More change the weight
less than other basis points would, which are drawn at random."""


def fit_weight(
    samples: tuple[Sample, Sample],
    bandwidth: float,
    models: Models,
    tilted: Models,
    settings: WeightSettings,
    numerics: Numerics,
) -> Weight:
    """Fit the weight of two samples; see `WeightProblem` for the models.

    The bandwidth is that of the plain kernel estimates that replace the ratio, for targets that need one. If there are
    many times more rows than basis points, the bias counts at a random part of them.
    """
    kind = WEIGHTS[settings.kind]
    points, importance = np.empty((0, samples[0].points.shape[1])), np.empty(0)
    streamed = _streamed(samples, settings.target)
    if kind.minimises_bias and not (streamed and kind.passes_over_rows):
        plain = make_pair(_enough(samples, settings, numerics.seed), UniformWeight(), bandwidth, numerics)
        points, importance = _objective(plain, settings.target)
    return kind.fit(
        WeightProblem(
            samples, models, tilted, points, importance, streamed, settings, numerics.seed, numerics.resources
        )
    )


def fit_models(samples: tuple[Sample, Sample], settings: WeightSettings, numerics: Numerics) -> tuple[Models, Losses]:
    """Fit the derivatives that the weight needs; a uniform one needs none and gets the cheapest."""
    if settings.kind == "uniform" and isinstance(settings.derivatives, str) and settings.derivatives == "auto":
        return fit_gaussians(samples), NO_LOSSES
    return fit_derivatives(settings.derivatives, samples, numerics.seed, numerics.resources.device)


def _streamed(samples: tuple[Sample, Sample], target: str) -> tuple[Sample, ...]:
    """Return the samples whose rows all count, in memory or not; none if all rows are in memory."""
    if target not in _BY_SAMPLES_ALONE or not any(sample.rest for sample in samples):
        return ()
    return samples[:1] if target == "kl" else samples


def _enough(samples: tuple[Sample, Sample], settings: WeightSettings, seed: int) -> tuple[Sample, Sample]:
    """Return as many rows of the samples as the weight needs."""
    most, random = rows_that_tell(settings.max_basis), np.random.default_rng(seed)
    p, q = (each if each.rest else each.thinned(most, random) for each in samples)
    return p, q


def rows_that_tell(basis: int) -> int:
    """Return how many rows of each sample a weight with so many basis points is fitted to, at most."""
    return max(_MANY_ROWS, _ROWS_PER_BASIS * basis)


def _objective(plain: KernelPair, target: str) -> tuple[Floats, Floats]:
    """Return the points at which the bias counts, and the importance of each, with mean one.

    Both samples count equally, whatever their sizes. If the target needs the ratio itself, the plain kernel estimate
    replaces it.
    """
    p, q = plain.samples
    if target == "kl":
        return p.points, p.weight
    importance = np.concatenate([p.weight / len(p), q.weight / len(q)])
    if target not in _BY_SAMPLES_ALONE:
        log_ratio = np.concatenate(plain.log_ratios)
        log_root = log_ratio if target == "ratio" else log_expit(log_ratio) + log_expit(-log_ratio)
        importance *= np.exp(2 * (log_root - log_root.max()))
    return np.concatenate([p.points, q.points]), importance / importance.mean()
