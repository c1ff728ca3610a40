"""How a density ratio is fitted: the paper's form, or guided ratios chosen from the data."""

import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from vwkde._answers.functionals import AtSample, fall_of_log_loss
from vwkde._compute import parallel
from vwkde._compute.resources import Resources
from vwkde._coordinates.normal_scores import fit_whitened_scores
from vwkde._coordinates.whitening import Whitening, whiten
from vwkde._data.in_memory import Held
from vwkde._data.sample import Sample, make_sample
from vwkde._data.validation import Array
from vwkde._fit.averaging import Member, Pool
from vwkde._fit.bandwidth import Rule, select_bandwidth
from vwkde._fit.candidates import Coordinates, Space, choose, choose_directions
from vwkde._fit.guided_ratio import GuidedRatio, tilted_derivatives
from vwkde._fit.kernel_estimate import EstimatePair
from vwkde._fit.subspace import Projection, project_samples
from vwkde._models import guides
from vwkde._models.derivatives import DensityModel, Derivatives
from vwkde._models.derivatives.gaussian import GaussianDerivatives, fit_gaussian, gaussian_with
from vwkde._models.derivatives.kernel import fit_kernel
from vwkde._models.derivatives.mixture import fit_mixture
from vwkde._models.derivatives.network import fit_network
from vwkde._models.derivatives.select import select_derivatives
from vwkde._models.guides import no_guide
from vwkde._models.weights import Weight
from vwkde._models.weights.closed_form import GeometricMeanWeight
from vwkde._models.weights.expansion import fit_expansion, median_length_scale
from vwkde._models.weights.network import fit_weight_network
from vwkde._models.weights.residual import bias_terms, residual_bias
from vwkde._models.weights.streamed import fit_expansion_to_all
from vwkde._models.weights.uniform import UniformWeight
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]
Models = tuple[Derivatives, Derivatives]
Losses = tuple[dict[str, float], dict[str, float]]

_SIDES = ("numerator", "denominator")
_MOST_COLUMNS_FOR_MODES = 10
"""Columns up to which modes are sought in normal scores as well: a dear search, which hardly ever pays there."""
_FEW_BASIS = 500
"""Basis points of a weight that is one candidate among many."""
_FEW_ROWS = 200
"""Rows of each sample by which the scores of such a weight are chosen."""
_CLEARLY = 2.0
"""Standard errors by which a weight that nobody named must lower the log loss."""
_MEDIAN_ROWS = 1_000
"""Points of each sample whose pairwise distances give the length scale: the median is known to a percent."""


@dataclass(frozen=True)
class Fitted:
    """A fitted ratio with the samples it was fitted to, and the models of their derivatives.

    `losses` are the held-out score-matching losses of the models tried, where they were chosen from the data.
    """

    data: tuple[Array, Array]
    samples: tuple[Sample, Sample]
    pool: Pool
    derivatives: Models
    losses: Losses = ({}, {})

    def at_samples(self, pool: Pool | None = None) -> tuple[AtSample, AtSample]:
        """Return the log ratios at both samples as averages use them, by the whole pool or another one."""
        pool = pool or self.pool
        p, q = self.samples
        noise = pool.noise()
        by_all = all(member.ratio.guide.form in guides.BY_MOMENTS for member in pool.members)
        behind = (p.total / len(p), q.total / len(q)) if by_all else (1.0, 1.0)
        return (
            AtSample(pool.at_numerator(averages=True), p.weight, noise[0], behind[0]),
            AtSample(pool.at_denominator(averages=True), q.weight, noise[1], behind[1]),
        )

    def residual_bias(self, x: Floats) -> Floats:
        """Return B at points in the main member's coordinates, after guide and weight."""
        ratio = self.pool.main.ratio
        terms = bias_terms(*tilted_derivatives(self.derivatives, ratio.guide), x)
        return residual_bias(ratio.pair.weight, terms, x)


@dataclass(frozen=True)
class Fitting:
    """What was asked for, by the names of `DensityRatio`'s parameters."""

    guide: Any
    weighting: str
    derivatives: Any
    target: str
    bandwidth: float | str
    length_scale: float | str
    ridge: float
    max_basis: int
    subspace: bool | str
    resources: Resources
    seed: int
    dtype: np.dtype[Any]

    @property
    def is_paper(self) -> bool:
        """Whether there is no guide: none was asked for, or a part of the paper's form was."""
        return self.guide is None or (self._is_auto and self._is_weight_named)

    @property
    def _is_weight_named(self) -> bool:
        """Whether a part of the weight was asked for: its form, its derivatives or where the bias matters."""
        return not _is(self.derivatives, "auto") or (self.weighting, self.target) != ("variational", "pooled")

    def fit(
        self,
        held: Held,
        copies: tuple[int, int],
        folds: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None],
    ) -> Fitted:
        """Fit two samples, some of whose rows may have been made of others; see `Sample`."""
        data, weights = held.data, held.weights
        whitening = whiten(held.clouds, held.names)
        parts = zip(data, weights, copies, folds, held.rests(whitening), strict=True)
        p, q = (make_sample(whitening(x), weight, count, fold, rest) for x, weight, count, fold, rest in parts)
        gaussians = _fit_gaussians(p, q)
        degenerate = any(model.degenerate for model in gaussians)
        if self.is_paper:
            return self._fit_paper(data, (p, q), whitening, gaussians if degenerate else None)
        names = () if degenerate else guides.worth_trying(min(p.effective_rows, q.effective_rows))
        if not (self._is_auto or names or degenerate):
            warnings.warn(
                f"Rows are too few for a guide: it takes {guides.FEWEST_ROWS} of each sample. The ratio is estimated "
                f"without one. Give more rows, or guide=None.",
                DegenerateDataWarning,
                stacklevel=4,
            )
        models, losses = self._choose_scores(p, q, gaussians) if self._is_auto and names else (gaussians, ({}, {}))
        pool = self._guided((p, q), data, weights, whitening, names, models)
        if not self._is_auto and not degenerate:
            return Fitted(data, (p, q), *self._with_weight(pool))
        pair = pool.main.ratio.pair
        if pair.numerator is not p:
            models, losses = _fit_gaussians(pair.numerator, pair.denominator), ({}, {})
        return Fitted(data, (p, q), pool, models, losses)

    def pair(self, numerator: Sample, denominator: Sample, bandwidth: float) -> EstimatePair:
        """Return the plain kernel estimates of two samples."""
        return EstimatePair(numerator, denominator, UniformWeight(), bandwidth, self.dtype, self.resources)

    def rule_bandwidth(self, samples: tuple[Sample, Sample], rule: Rule, part: float) -> float:
        """Return the mean of the two samples' bandwidths, found on the rows held and narrowed as all rows allow."""
        found = [
            select_bandwidth(
                s.points,
                rule,
                part=part,
                weight=s.weight,
                random_state=self.seed,
                resources=self.resources,
                dtype=self.dtype,
            )
            * (len(s) / s.total) ** (1 / (s.points.shape[1] + 4))
            for s in samples
        ]
        return float(np.mean(found))

    @property
    def _is_auto(self) -> bool:
        return _is(self.guide, "auto")

    def _fit_paper(
        self,
        data: tuple[Array, Array],
        samples: tuple[Sample, Sample],
        coordinates: Coordinates,
        degenerate: Models | None,
    ) -> Fitted:
        """Fit the paper's form; degenerate samples keep their Gaussian models, and get no weights."""
        if self.subspace is True and degenerate is None:
            directions = choose_directions(*samples, self.seed, self.pair, self.resources)
            if directions is not None:
                samples, coordinates = project_samples(samples, directions), Projection(coordinates, directions)
        models, losses = (degenerate, ({}, {})) if degenerate else self._fit_models(*samples)
        uniform = self.pair(*samples, self._choose_bandwidth(samples))
        weight = UniformWeight() if degenerate else self._fit_weight(uniform, models, models)
        ratio = GuidedRatio(replace(uniform, weight=weight), no_guide(*samples))
        space = "subspace" if isinstance(coordinates, Projection) else "whitened"
        return Fitted(data, samples, Pool((Member(coordinates, space, ratio),)), models, losses)

    def _guided(
        self,
        samples: tuple[Sample, Sample],
        data: tuple[Array, Array],
        weights: tuple[Floats, Floats],
        whitening: Whitening,
        names: tuple[str, ...],
        models: Models,
    ) -> Pool:
        bandwidth = None if self.bandwidth == "auto" else self._choose_bandwidth(samples)
        tried = (None, *names) if self._is_auto else (self.guide if names else None,)
        weigh = partial(self._small_weight, models) if self._is_auto and names else None
        spaces: list[tuple[Space, Coordinates]] = [(Space("whitened", *samples, tried, False, weigh), whitening)]
        if self._is_auto and names:
            spaces.append(_normal_scores(samples, data, weights, tried))
        project = self.subspace is True or (self.subspace == "auto" and self._is_auto)
        return choose(spaces, bandwidth, self.seed, self.pair, self.resources, project and bool(names))

    def _with_weight(self, pool: Pool) -> tuple[Pool, Models, Losses]:
        """Fit the weight function to the bias that the guide leaves, where there are kernel sums to weigh.

        Unless a part of it was named, it is kept only where it clearly lowers the log loss: with a wide kernel the
        leading term of the bias, which is what it cancels, may be far from the whole.
        """
        main = pool.main
        pair, guide = main.ratio.pair, main.ratio.guide
        if np.isinf(pair.bandwidth) or self.weighting == "uniform":
            return pool, _fit_gaussians(pair.numerator, pair.denominator), ({}, {})
        models, losses = self._fit_models(pair.numerator, pair.denominator)
        pair = replace(pair, weight=self._fit_weight(pair, models, tilted_derivatives(models, guide)))
        weighted = GuidedRatio(pair, guide, main.ratio.most)
        if self._is_weight_named or _is_clear_gain(main.ratio, weighted):
            pool = Pool((Member(main.coordinates, main.space, weighted),))
        return pool, models, losses

    def _choose_scores(self, p: Sample, q: Sample, gaussians: Models) -> tuple[Models, Losses]:
        """Return the models that serve best by some rows of each sample; a Gaussian then is that of all rows."""
        random = np.random.default_rng(self.seed)
        few_p, few_q = (sample.thinned(_FEW_ROWS, random) for sample in (p, q))
        models, losses = self._fit_models(few_p, few_q, quiet=True)  # some rows may lack what all have
        one, other = (
            gaussian if isinstance(model, GaussianDerivatives) else model
            for model, gaussian in zip(models, gaussians, strict=True)
        )
        return (one, other), losses

    def _fit_models(self, p: Sample, q: Sample, quiet: bool = False) -> tuple[Models, Losses]:
        """Return the models of the two densities' derivatives, and the losses by which they were chosen."""
        if self.weighting == "uniform" and _is(self.derivatives, "auto"):
            return _fit_gaussians(p, q), ({}, {})  # nothing but diagnostics depends on them

        def work(side: str) -> tuple[Derivatives, dict[str, float]]:
            return self._fit_model(p if side == "numerator" else q, None if quiet else side)

        # many small steps in Python: on few rows two threads would only wait for one another
        with parallel.at_most(1 if quiet else None):
            (one, its_losses), (other, other_losses) = parallel.run(work, _SIDES, "derivatives")
        return (one, other), (its_losses, other_losses)

    def _fit_model(self, sample: Sample, side: str | None) -> tuple[Derivatives, dict[str, float]]:
        if not isinstance(self.derivatives, str):
            # a copy for each side: `fit` may return the object itself
            return deepcopy(self.derivatives).fit(sample.points, sample.weight), {}
        if self.derivatives == "auto":
            model, losses = select_derivatives(sample.points, sample.weight, side, self.seed)
            all_rows = sample.rest is not None and isinstance(model, GaussianDerivatives)
            return (_fit_gaussian(sample, None) if all_rows else model), losses
        if self.derivatives == "gaussian":
            return _fit_gaussian(sample, side), {}
        if self.derivatives == "mixture":
            return fit_mixture(sample.points, sample.weight, side, self.seed), {}
        if self.derivatives == "kernel":
            return fit_kernel(sample.points, sample.weight, side, self.seed), {}
        return fit_network(sample.points, sample.weight, side, self.seed, self.resources.device), {}

    def _choose_bandwidth(self, samples: tuple[Sample, Sample]) -> float:
        """Return the bandwidth that was asked for, by its number or its rule."""
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        rule, part = ("likelihood", 0.25) if self.bandwidth == "auto" else (self.bandwidth, 1.0)
        return self.rule_bandwidth(samples, cast(Rule, rule), part)

    def _fit_weight(self, uniform: EstimatePair, models: Models, tilted: tuple[Derivatives, Derivatives]) -> Weight:
        if self.weighting == "uniform":
            return UniformWeight()
        if self.weighting == "closed-form":
            return GeometricMeanWeight(*_with_log_densities(models))
        samples = uniform.numerator, uniform.denominator
        if self.weighting == "network":
            x, importance = self._objective(uniform)
            terms = bias_terms(*tilted, x)
            return fit_weight_network(x, terms, importance, self.seed, self.resources.device)
        random = np.random.default_rng(self.seed)
        length_scale = self._choose_length_scale(samples, random)
        basis = self._draw_basis(samples, random)
        if self.target in ("pooled", "kl") and any(sample.rest for sample in samples):
            sides = samples[:1] if self.target == "kl" else samples
            return fit_expansion_to_all(sides, tilted, basis, length_scale, self.ridge, self.resources)
        x, importance = self._objective(uniform)
        terms = bias_terms(*tilted, x)
        return fit_expansion(x, terms, importance, basis, length_scale, self.ridge, self.resources)

    def _choose_length_scale(self, samples: tuple[Sample, Sample], random: np.random.Generator) -> float:
        if not isinstance(self.length_scale, str):
            return float(self.length_scale)
        return median_length_scale(*(sample.thinned(_MEDIAN_ROWS, random).points for sample in samples))

    def _draw_basis(self, samples: tuple[Sample, Sample], random: np.random.Generator) -> Floats:
        """Return points of both samples, drawn at random: as many as there may be."""
        points = np.concatenate([sample.points for sample in samples])
        return points[np.sort(random.choice(len(points), min(len(points), self.max_basis), replace=False))]

    def _small_weight(self, models: Models, p: Sample, q: Sample) -> Weight:
        """Return the paper's weight by these scores, of few basis points: what it takes to see whether it serves."""
        few = replace(self, max_basis=min(self.max_basis, _FEW_BASIS))
        return few._fit_weight(self.pair(p, q, np.inf), models, models)

    def _objective(self, uniform: EstimatePair) -> tuple[Floats, Floats]:
        """Return the points at which the bias counts, and how much, with mean one.

        Both samples count alike, whatever their sizes. Where the target needs the ratio itself, the plain kernel
        estimate stands in for it.
        """
        p, q = uniform.numerator, uniform.denominator
        if self.target == "kl":
            return p.points, p.weight
        importance = np.concatenate([p.weight / len(p), q.weight / len(q)])
        if self.target in ("posterior", "ratio"):
            log_ratio = np.concatenate([uniform.at_numerator.log_ratio, uniform.at_denominator.log_ratio])
            log_root = log_ratio if self.target == "ratio" else log_expit(log_ratio) + log_expit(-log_ratio)
            importance *= np.exp(2 * (log_root - log_root.max()))
        return np.concatenate([p.points, q.points]), importance / importance.mean()


def _is(value: Any, name: str) -> bool:
    return isinstance(value, str) and value == name


def _is_clear_gain(before: GuidedRatio, after: GuidedRatio) -> bool:
    """Tell whether the log loss at the samples clearly falls."""
    then, now = ((ratio.at_numerator, ratio.at_denominator) for ratio in (before, after))
    fall, error = fall_of_log_loss(then, now, (before.pair.numerator, before.pair.denominator))
    return fall > _CLEARLY * error


def _with_log_densities(models: Models) -> tuple[DensityModel, DensityModel]:
    """Return the models, which must know their log densities."""
    if not all(hasattr(model, "log_density") for model in models):
        raise ValueError(
            "The closed-form weight needs derivatives with a log density: 'gaussian', 'mixture', 'kernel', or an "
            "object whose models have the method log_density."
        )
    return cast("tuple[DensityModel, DensityModel]", models)


def _fit_gaussians(p: Sample, q: Sample) -> tuple[GaussianDerivatives, GaussianDerivatives]:
    return _fit_gaussian(p, _SIDES[0]), _fit_gaussian(q, _SIDES[1])


def _fit_gaussian(sample: Sample, name: str | None) -> GaussianDerivatives:
    """Return the Gaussian of all rows, held or not."""
    if sample.rest is None:
        return fit_gaussian(sample.points, sample.weight, name)
    weight, mean, scatter = sample.weighted_moments
    return gaussian_with(mean, scatter / (weight - 1), name)


def _normal_scores(
    samples: tuple[Sample, Sample], data: tuple[Array, Array], weights: tuple[Floats, Floats], tried: tuple[Any, ...]
) -> tuple[Space, Coordinates]:
    """Return the samples with every column mapped to normal scores, then whitened; rows stay in their order."""
    coordinates = fit_whitened_scores(*data, weights)
    mapped = [
        replace(s, points=coordinates(x)[s.rows], rest=s.rest and replace(s.rest, coordinates=coordinates))
        for s, x in zip(samples, data, strict=True)
    ]
    skipped = {"additive", "boosting"}  # these hardly see the map
    if mapped[0].points.shape[1] > _MOST_COLUMNS_FOR_MODES:
        skipped.add("mixture")
    smooth = tuple(name for name in tried if name not in skipped)
    return Space("normal scores", mapped[0], mapped[1], smooth, True), coordinates
