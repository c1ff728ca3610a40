"""The one fitted object: a density ratio, from which everything else follows."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from vwkde._blocks import DEFAULT_MEMORY_BUDGET
from vwkde._validation import check_pair, check_sample, check_weight
from vwkde.bandwidth import RULES, Rule, select_bandwidth
from vwkde.derivatives.gaussian import fit_gaussian
from vwkde.estimates import EstimatePair
from vwkde.functionals import KINDS, AtSample, check_divergence
from vwkde.geometry import fit_whitening
from vwkde.overlap import describe_overlap, warn_if_negative, warn_if_poor
from vwkde.posterior import posterior
from vwkde.results import Estimate
from vwkde.samples import Sample, make_sample
from vwkde.weights import Weight
from vwkde.weights.closed_form import GeometricMeanWeight
from vwkde.weights.expansion import fit_expansion, median_length_scale
from vwkde.weights.residual import bias_terms, residual_bias
from vwkde.weights.uniform import UniformWeight

Floats = NDArray[np.float64]

_MEDIAN_ROWS = 1_000
"""Points of each sample whose pairwise distances give the length scale: the median is known to a percent."""

_FARTHEST = 1e9
"""Points farther out than this many standard deviations count as if they were there, and overflow nothing."""
_LARGEST_LOG = float(np.log(np.finfo(np.float64).max))


class DensityRatio(BaseEstimator):  # type: ignore[misc]
    """The ratio of two densities known by samples: kernel estimates that share a bias-cancelling weight.

    Everything happens in coordinates where the pooled within-class covariance is the identity, so any affine copy of
    the data gives the same answer; `bandwidth` and `length_scale` are in those units.

    Parameters
    ----------
    guide : "auto" or None
        A coarse log ratio that enters the weights. None is the paper's form, and what "auto" resolves to.
    weighting : "variational", "closed-form" or "uniform"
        The weight function: the kernel expansion that minimises the bias, (p₁p₂)^(−½) of the fitted densities, or none,
        which is the plain kernel density estimate.
    derivatives : "auto" or "gaussian"
        The model of each density's score and Laplacian. "auto" resolves to one Gaussian per sample.
    target : "pooled", "posterior", "ratio" or "kl"
        Where the bias matters: under the pooled density, or weighted by P₁²P₂², by (p₁/p₂)², or under the numerator.
    bandwidth : "auto", "scott", "silverman", "likelihood", "ise" or a positive number
        The kernel's width. "auto" is the leave-one-out likelihood on quarters of the samples.
    length_scale : "auto" or a positive number
        The width of the expansion's basis functions. "auto" is the median distance between points.
    ridge : float
        The penalty on the expansion's coefficients.
    max_basis : int
        The most basis points the expansion may have; they are drawn from the samples.
    random_state : int, RandomState or None
        Seeds every random choice. The same call on the same data gives the same answer.
    memory_budget : int
        Bytes that temporary blocks may take. It changes memory, not results.
    n_threads : int or None
        Threads to use; by default all that the machine and its environment allow.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth in use.
    weight_ : object
        The fitted weight function, in whitened coordinates.
    diagnostics_ : dict
        What was chosen, and the mean squared bias before and after weighting.
    n_features_in_, feature_names_in_
        The columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(0, 1, (500, 3)), rng.normal(0.5, 1, (500, 3))
    >>> ratio = vwkde.DensityRatio().fit(P, Q)
    >>> ratio.log_ratio(np.zeros((1, 3))).shape
    (1,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "guide": [StrOptions({"auto"}), None],
        "weighting": [StrOptions({"variational", "closed-form", "uniform"})],
        "derivatives": [StrOptions({"auto", "gaussian"})],
        "target": [StrOptions({"pooled", "posterior", "ratio", "kl"})],
        "bandwidth": [StrOptions({"auto", *RULES}), Interval(Real, 1e-6, 1e6, closed="both")],
        "length_scale": [StrOptions({"auto"}), Interval(Real, 1e-6, 1e6, closed="both")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "max_basis": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "memory_budget": [Interval(Integral, 1, None, closed="left")],
        "n_threads": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        guide: Literal["auto"] | None = "auto",
        weighting: Literal["variational", "closed-form", "uniform"] = "variational",
        derivatives: Literal["auto", "gaussian"] = "auto",
        target: Literal["pooled", "posterior", "ratio", "kl"] = "pooled",
        bandwidth: float | str = "auto",
        length_scale: float | str = "auto",
        ridge: float = 0.1,
        max_basis: int = 3_000,
        random_state: Any = 0,
        memory_budget: int = DEFAULT_MEMORY_BUDGET,
        n_threads: int | None = None,
    ) -> None:
        self.guide = guide
        self.weighting = weighting
        self.derivatives = derivatives
        self.target = target
        self.bandwidth = bandwidth
        self.length_scale = length_scale
        self.ridge = ridge
        self.max_basis = max_basis
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_threads = n_threads

    def fit(
        self, numerator: Any, denominator: Any, *, numerator_weight: Any = None, denominator_weight: Any = None
    ) -> Self:
        """Fit the ratio of the density behind `numerator` to the one behind `denominator`."""
        self._validate_params()
        p, q, names = check_pair(numerator, denominator)
        p_weight = check_weight(numerator_weight, len(p), "numerator_weight")
        q_weight = check_weight(denominator_weight, len(q), "denominator_weight")
        self._whitening = fit_whitening(p, q, (p_weight, q_weight), names)
        self.n_features_in_ = p.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        samples = make_sample(self._whitening(p), p_weight), make_sample(self._whitening(q), q_weight)
        self._derivatives = (
            fit_gaussian(samples[0].points, samples[0].weight, "numerator"),
            fit_gaussian(samples[1].points, samples[1].weight, "denominator"),
        )
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        self.bandwidth_ = self._choose_bandwidth(samples)
        uniform = EstimatePair(
            *samples, UniformWeight(), self.bandwidth_, np.result_type(p, q), self.memory_budget, self.n_threads
        )
        self.weight_ = self._fit_weight(uniform)
        self._estimates = replace(uniform, weight=self.weight_)
        self._diagnostics: dict[str, Any] = {}
        return self

    def log_ratio(self, x: Any) -> Floats:
        """Return log p₁/p₂ at new points."""
        points = self._whitened(x)
        return self._estimates.at(points).log_ratio

    def ratio(self, x: Any) -> Floats:
        """Return p₁/p₂ at new points; where no float is large enough, the largest one."""
        return np.exp(np.minimum(self.log_ratio(x), _LARGEST_LOG))

    def posterior(self, x: Any, prior: float = 0.5) -> Floats:
        """Return the probability that a point comes from the numerator, given that class's prior probability."""
        return posterior(self.log_ratio(x), prior)

    def log_weight(self, x: Any) -> Floats:
        """Return log α at points, up to a constant."""
        points = self._whitened(x)
        return self.weight_.log_weight(points)

    def residual_bias(self, x: Any) -> Floats:
        """Return B at points: the log ratio's bias is bandwidth_²·B to leading order, by the fitted derivatives."""
        points = self._whitened(x)
        return residual_bias(self.weight_, bias_terms(*self._derivatives, points), points)

    def divergence(self, kind: str = "kl", order: float | None = None) -> Estimate:
        """Return a divergence between the two densities, with its standard error.

        `kind` is one of "kl", "reverse-kl", "jensen-shannon", "renyi", "hellinger" (the distance, between 0 and 1) and
        "total-variation"; `order`, between 0 and 1, belongs to "renyi". A negative estimate is returned as it is: it
        means a divergence too small to tell from zero.
        """
        check_is_fitted(self, "weight_")
        options = check_divergence(kind, order)
        pair = self._estimates
        warn_if_poor(self.diagnostics_["unsupported_fraction"], kind)
        value, error = KINDS[kind](
            AtSample(pair.at_numerator.log_ratio, pair.numerator.weight),
            AtSample(pair.at_denominator.log_ratio, pair.denominator.weight),
            **options,
        )
        warn_if_negative(value, error, self.diagnostics_["weighting"])
        unit = "" if kind in ("hellinger", "total-variation") else "nats"
        return Estimate(value, error, kind=kind, unit=unit, diagnostics=self.diagnostics_)

    def importance_weights(self) -> Floats:
        """Return p₁/p₂ at the denominator's rows, with mean one: weights under which it stands for the numerator.

        For covariate shift: fit with the target sample as numerator and the training sample as denominator, and pass
        the weights on as `sample_weight`. Ratios above √n, n being the number of rows, count as √n, lest one row decide
        everything.
        """
        log_ratio = self.denominator_log_ratio_
        log_ratio = np.minimum(log_ratio, 0.5 * np.log(len(log_ratio)))
        ratio = np.exp(log_ratio - log_ratio.max())
        return ratio / ratio.mean()

    @property
    def numerator_log_ratio_(self) -> Floats:
        """Leave-one-out log ratio at the numerator's rows."""
        check_is_fitted(self, "weight_")
        pair = self._estimates
        return pair.numerator.in_given_order(pair.at_numerator.log_ratio)

    @property
    def denominator_log_ratio_(self) -> Floats:
        """Leave-one-out log ratio at the denominator's rows."""
        check_is_fitted(self, "weight_")
        pair = self._estimates
        return pair.denominator.in_given_order(pair.at_denominator.log_ratio)

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """What was chosen, the mean squared bias before and after weighting, and how well the samples overlap.

        Pairs of numbers are for numerator and denominator; see `vwkde.overlap` for what they mean.
        """
        check_is_fitted(self, "weight_")
        if not self._diagnostics:
            self._diagnostics = self._describe()
        return dict(self._diagnostics)

    def _describe(self) -> dict[str, Any]:
        p, q = self._estimates.numerator, self._estimates.denominator
        x = np.concatenate([p.points, q.points])
        terms = bias_terms(*self._derivatives, x)
        balanced = np.concatenate([p.weight / len(p), q.weight / len(q)])
        after = residual_bias(self.weight_, terms, x)
        return {
            "weighting": "uniform" if isinstance(self.weight_, UniformWeight) else self.weighting,
            "derivatives": "gaussian",
            "bandwidth": self.bandwidth_,
            "squared_bias_before": float(np.average(terms.unweighted**2, weights=balanced)),
            "squared_bias_after": float(np.average(after**2, weights=balanced)),
            **describe_overlap(self._estimates),
            "rows": [len(p), len(q)],
            "columns": self.n_features_in_,
        }

    def _whitened(self, x: Any) -> Floats:
        check_is_fitted(self, "weight_")
        names = tuple(getattr(self, "feature_names_in_", ())) or None
        points, _ = check_sample(x, "points", like=(self.n_features_in_, names, "numerator"))
        return np.clip(self._whitening(points), -_FARTHEST, _FARTHEST)

    def _choose_bandwidth(self, samples: tuple[Sample, Sample]) -> float:
        """Return the mean of the two samples' bandwidths, or the one that was asked for."""
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        rule, part = ("likelihood", 0.25) if self.bandwidth == "auto" else (self.bandwidth, 1.0)
        return float(
            np.mean(
                [
                    select_bandwidth(
                        sample.points,
                        cast(Rule, rule),
                        part=part,
                        weight=sample.weight,
                        random_state=self._seed,
                        memory_budget=self.memory_budget,
                        n_threads=self.n_threads,
                    )
                    for sample in samples
                ]
            )
        )

    def _fit_weight(self, uniform: EstimatePair) -> Weight:
        if self.weighting == "uniform" or any(density.degenerate for density in self._derivatives):
            return UniformWeight()
        if self.weighting == "closed-form":
            return GeometricMeanWeight(*self._derivatives)
        x, importance = self._objective(uniform)
        random = np.random.default_rng(self._seed)
        samples = uniform.numerator, uniform.denominator
        length_scale = self.length_scale
        if isinstance(length_scale, str):
            length_scale = median_length_scale(*(sample.choose(_MEDIAN_ROWS, random) for sample in samples))
        pooled = np.concatenate([sample.points for sample in samples])
        chosen = random.choice(len(pooled), min(len(pooled), self.max_basis), replace=False)
        return fit_expansion(
            x,
            bias_terms(*self._derivatives, x),
            importance,
            pooled[np.sort(chosen)],
            float(length_scale),
            self.ridge,
            self.memory_budget,
            self.n_threads,
        )

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
