"""The one fitted object: a density ratio, from which everything else follows."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from vwkde import guides
from vwkde._blocks import DEFAULT_MEMORY_BUDGET
from vwkde._progress import track
from vwkde._validation import Array, check_pair, check_sample, check_weight, like_input
from vwkde.bandwidth import RULES, Rule, select_bandwidth
from vwkde.derivatives import Derivatives
from vwkde.derivatives.gaussian import GaussianDerivatives, fit_gaussian
from vwkde.estimates import EstimatePair
from vwkde.exceptions import DegenerateDataWarning
from vwkde.functionals import KINDS, AtSample, check_divergence, check_interval
from vwkde.geometry import fit_whitening
from vwkde.guided import GuidedRatio, TiltedDerivatives
from vwkde.guides import CrossFitted, no_guide
from vwkde.normal_scores import fit_whitened_scores
from vwkde.overlap import describe_overlap, warn_if_negative, warn_if_poor
from vwkde.pool import Member, Pool
from vwkde.posterior import posterior
from vwkde.results import Estimate
from vwkde.samples import Sample, make_sample
from vwkde.selection import MOST_ROWS, Space, choose
from vwkde.weights import Weight
from vwkde.weights.closed_form import GeometricMeanWeight
from vwkde.weights.expansion import fit_expansion, median_length_scale
from vwkde.weights.residual import bias_terms, residual_bias
from vwkde.weights.uniform import UniformWeight

Floats = NDArray[np.float64]

_MEDIAN_ROWS = 1_000
"""Points of each sample whose pairwise distances give the length scale: the median is known to a percent."""

_BIAS_ROWS = 500
"""Points of each sample at which the bias that is left is looked at."""
_SUBSAMPLES = 30
_WEIGHT_NAMES = ("numerator_weight", "denominator_weight")
_LARGEST_LOG = float(np.log(np.finfo(np.float64).max))


class DensityRatio(BaseEstimator):  # type: ignore[misc]
    """The ratio of two densities known by samples: kernel estimates that share a bias-cancelling weight.

    Everything happens in coordinates where the pooled within-class covariance is the identity, so any affine copy of
    the data gives the same answer; `bandwidth` and `length_scale` are in those units.

    Parameters
    ----------
    guide : "auto", None, "gaussian", "shrunk-gaussian", "logistic", "mixture", "boosting" or a classifier
        A coarse log ratio that enters the weights: a model of both densities, a classifier's log odds, or None, which
        is the paper's form. "auto" chooses guide, bandwidth and coordinates from the data; where the weighting, the
        derivatives or the target is named, it is None.
    weighting : "variational", "closed-form" or "uniform"
        The weight function: the kernel expansion that minimises the bias, (p₁p₂)^(−½) of the fitted densities, or none,
        which is the plain kernel density estimate.
    derivatives : "auto" or "gaussian"
        The model of each density's score and Laplacian. "auto" resolves to one Gaussian per sample.
    target : "pooled", "posterior", "ratio" or "kl"
        Where the bias matters: under the pooled density, or weighted by P₁²P₂², by (p₁/p₂)², or under the numerator.
    bandwidth : "auto", "scott", "silverman", "likelihood", "ise" or a positive number
        The kernel's width. "auto" is chosen together with the guide; without one it is the leave-one-out likelihood on
        quarters of the samples.
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
    guide_ : str
        The guide that has the largest share in averages, or "none".
    bandwidth_ : float
        Its bandwidth; infinite where the guide stands alone.
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
        "guide": [StrOptions({"auto", *guides.NAMES}), None, HasMethods(["fit", "predict_proba"])],
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
        guide: Any = "auto",
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
        return self._fit(numerator, denominator, numerator_weight, denominator_weight)

    def _fit(
        self,
        numerator: Any,
        denominator: Any,
        numerator_weight: Any = None,
        denominator_weight: Any = None,
        copies: tuple[int, int] = (1, 1),
        folds: tuple[NDArray[np.intp] | None, NDArray[np.intp] | None] = (None, None),
    ) -> Self:
        """Fit samples some of whose rows were made of others; see `Sample`."""
        self._validate_params()
        p, q, names = check_pair(numerator, denominator)
        p_weight = check_weight(numerator_weight, len(p), "numerator_weight")
        q_weight = check_weight(denominator_weight, len(q), "denominator_weight")
        self._whitening = fit_whitening(p, q, (p_weight, q_weight), names)
        self.n_features_in_ = p.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        self._dtype = np.result_type(p, q)
        self._data = p, q
        self._samples = samples = (
            make_sample(self._whitening(p), p_weight, copies[0], folds[0]),
            make_sample(self._whitening(q), q_weight, copies[1], folds[1]),
        )
        self._derivatives = _fit_derivatives(*samples)
        guide = self._resolved_guide()
        if guide is None:
            self._pool = self._fit_paper(*samples)
        else:
            self._pool = self._fit_guided(guide, samples, (p, q), (p_weight, q_weight))
        ratio = self._pool.main.ratio
        if ratio.pair.numerator is not samples[0]:  # the answer lies in other coordinates
            self._derivatives = _fit_derivatives(ratio.pair.numerator, ratio.pair.denominator)
        self.guide_, self.bandwidth_, self.weight_ = ratio.guide.name, ratio.pair.bandwidth, ratio.pair.weight
        self._diagnostics: dict[str, Any] = {}
        return self

    def log_ratio(self, x: Any) -> Floats:
        """Return log p₁/p₂ at new points."""
        return like_input(self._log_ratio(x), x)

    def ratio(self, x: Any) -> Floats:
        """Return p₁/p₂ at new points; where no float is large enough, the largest one."""
        return like_input(np.exp(np.minimum(self._log_ratio(x), _LARGEST_LOG)), x)

    def posterior(self, x: Any, prior: float = 0.5) -> Floats:
        """Return the probability that a point comes from the numerator, given that class's prior probability."""
        return like_input(posterior(self._log_ratio(x), prior), x)

    def log_weight(self, x: Any) -> Floats:
        """Return log α at points, up to a constant: the weight that both estimates share, beside the guide's."""
        points = self._points(x)
        return like_input(self.weight_.log_weight(self._pool.main.place(points)), x)

    def residual_bias(self, x: Any) -> Floats:
        """Return B at points: the kernel sums bias the log ratio by bandwidth_²·B to leading order.

        It goes by the fitted derivatives, and with a guide it is what the guide and the weight leave.
        """
        points = self._points(x)
        return like_input(self._residual_bias(self._pool.main.place(points)), x)

    def divergence(
        self,
        kind: str = "kl",
        order: float | None = None,
        *,
        interval: Literal["influence", "subsample"] = "influence",
        confidence_level: float = 0.95,
    ) -> Estimate:
        """Return a divergence between the two densities, with its errors.

        `kind` is one of "kl", "reverse-kl", "jensen-shannon", "renyi", "hellinger" (the distance, between 0 and 1),
        "chi2" and "total-variation"; `order`, positive and not 1, belongs to "renyi". A negative estimate is returned
        as it is: it means a divergence too small to tell from zero.

        The standard error comes from influence functions, at no cost, or from fits to subsamples, at that of thirty
        smaller fits; `confidence_level` is that of the estimate's interval.
        """
        check_is_fitted(self, "weight_")
        options = check_divergence(kind, order)
        check_interval(interval, confidence_level)
        warn_if_poor(self.diagnostics_["unsupported_fraction"], kind)
        compute = partial(KINDS[kind], **options)
        value, error = compute(*self._log_ratios(self._pool))
        if interval == "subsample":
            error = self._subsample_error(lambda ratio: compute(*ratio._log_ratios(ratio._pool))[0])
        warn_if_negative(value, error, self.diagnostics_["weighting"])
        return Estimate(
            value,
            error,
            kind,
            "" if kind in ("hellinger", "total-variation") else "nats",
            self._systematic_error(compute),
            confidence_level,
            self.diagnostics_,
        )

    def _log_ratios(self, pool: Pool) -> tuple[AtSample, AtSample]:
        p, q = self._samples
        return AtSample(pool.at_numerator(True), p.weight), AtSample(pool.at_denominator(True), q.weight)

    def _systematic_error(self, compute: Callable[[AtSample, AtSample], tuple[float, float]]) -> float:
        """Return the spread of the divergence over the pool's members, or what B would change about it."""
        if self._resolved_guide() is None:
            return self._bias_effect(compute)
        members = [member for member in self._pool.members if member.average]
        values = np.array([compute(*self._log_ratios(Pool((replace(m, average=1.0),))))[0] for m in members])
        shares = [member.average for member in members]
        return float(np.sqrt(np.average((values - np.average(values, weights=shares)) ** 2, weights=shares)))

    def _bias_effect(self, compute: Callable[[AtSample, AtSample], tuple[float, float]]) -> float:
        """Return by how much a divergence changes when bandwidth²·B is taken off the log ratios, at some points."""
        ratio = self._pool.main.ratio
        sides = ((ratio.at_numerator, self._samples[0]), (ratio.at_denominator, self._samples[1]))
        random = np.random.default_rng(self._seed)
        before, after = [], []
        for log_ratio, sample in sides:
            some = np.sort(random.permutation(len(sample))[:_BIAS_ROWS])
            bias = self.bandwidth_**2 * self._residual_bias(sample.points[some])
            before.append(AtSample(log_ratio[some], sample.weight[some]))
            after.append(AtSample(log_ratio[some] - bias, sample.weight[some]))
        return abs(compute(*before)[0] - compute(*after)[0])

    def _subsample_error(self, compute: Callable[["DensityRatio"], float]) -> float:
        """Return the scatter over fits to subsamples of half the rows, scaled to all of them (Politis and Romano)."""
        random = np.random.default_rng(self._seed)
        values = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateDataWarning)
            for _ in track(range(_SUBSAMPLES), "subsamples", _SUBSAMPLES):
                chosen = [np.sort(random.permutation(len(x))[: max(2, len(x) // 2)]) for x in self._data]
                fitted = clone(self).fit(
                    *(x[rows] for x, rows in zip(self._data, chosen, strict=True)),
                    **{
                        name: sample.in_given_order(sample.weight)[rows]
                        for name, sample, rows in zip(_WEIGHT_NAMES, self._samples, chosen, strict=True)
                    },
                )
                values.append(compute(fitted))
        return float(np.std(values, ddof=1))

    def importance_weights(self) -> Floats:
        """Return p₁/p₂ at the denominator's rows, with mean one: weights under which it stands for the numerator.

        For covariate shift: fit with the target sample as numerator and the training sample as denominator, and pass
        the weights on as `sample_weight`. Ratios above √n, n being the number of rows, count as √n, lest one row decide
        everything.
        """
        check_is_fitted(self, "weight_")
        log_ratio = self._samples[1].in_given_order(self._pool.at_denominator(averages=False))
        log_ratio = np.minimum(log_ratio, 0.5 * np.log(len(log_ratio)))
        ratio = np.exp(log_ratio - log_ratio.max())
        return ratio / ratio.mean()

    @property
    def numerator_log_ratio_(self) -> Floats:
        """Leave-one-out log ratio at the numerator's rows, as divergences average it."""
        check_is_fitted(self, "weight_")
        return self._samples[0].in_given_order(self._pool.at_numerator(averages=True))

    @property
    def denominator_log_ratio_(self) -> Floats:
        """Leave-one-out log ratio at the denominator's rows, as divergences average it."""
        check_is_fitted(self, "weight_")
        return self._samples[1].in_given_order(self._pool.at_denominator(averages=True))

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
        main = self._pool.main
        p, q = main.ratio.pair.numerator, main.ratio.pair.denominator
        random = np.random.default_rng(self._seed)
        few = [s.subset(np.sort(random.permutation(len(s))[:_BIAS_ROWS])) for s in (p, q)]
        balanced = np.concatenate([s.weight / len(s) for s in few])
        x = np.concatenate([s.points for s in few])
        before = bias_terms(*self._derivatives, x).unweighted
        alone = np.isinf(self.bandwidth_)
        after = None if alone else float(np.average(self._residual_bias(x) ** 2, weights=balanced))
        return {
            "guide": self.guide_,
            "coordinates": main.space,
            "weighting": "uniform" if isinstance(self.weight_, UniformWeight) else self.weighting,
            "derivatives": "gaussian",
            "bandwidth": None if alone else self.bandwidth_,
            "squared_bias_before": float(np.average(before**2, weights=balanced)),
            "squared_bias_after": after,
            **describe_overlap(self._support()),
            "rows": [len(p), len(q)],
            "columns": self.n_features_in_,
        }

    def _support(self) -> EstimatePair:
        """Return the kernel estimates by which overlap is judged: those in use, or plain ones beside a guide."""
        pair = self._pool.main.ratio.pair
        if self._resolved_guide() is None:
            return pair
        random = np.random.default_rng(self._seed)
        p, q = (s.subset(np.sort(random.permutation(len(s))[:MOST_ROWS])) for s in self._samples)
        return self._pair(p, q, self._rule_bandwidth((p, q), "likelihood", 0.25))

    def _residual_bias(self, x: Floats) -> Floats:
        tilted = self._tilted_derivatives(self._pool.main.ratio.guide)
        return residual_bias(self.weight_, bias_terms(*tilted, x), x)

    def _tilted_derivatives(self, guide: CrossFitted) -> tuple[Derivatives, Derivatives]:
        """Return the derivatives of the two tilted densities; without a guide they are the densities themselves."""
        if not guide.models:
            return self._derivatives
        return TiltedDerivatives(self._derivatives[0], guide, 0.5), TiltedDerivatives(self._derivatives[1], guide, -0.5)

    def _log_ratio(self, x: Any) -> Floats:
        points = self._points(x)
        return self._pool.log_ratio(points)

    def _points(self, x: Any) -> Array:
        check_is_fitted(self, "weight_")
        names = tuple(getattr(self, "feature_names_in_", ())) or None
        return check_sample(x, "points", like=(self.n_features_in_, names, "numerator"))[0]

    def _resolved_guide(self) -> Any:
        """Return the guide asked for; "auto" gives way to the paper's form where a part of that is asked for."""
        named = (self.weighting, self.derivatives, self.target) != ("variational", "auto", "pooled")
        return None if self.guide is None or (self._is_auto and named) else self.guide

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.guide, str) and self.guide == "auto"

    def _pair(self, numerator: Sample, denominator: Sample, bandwidth: float) -> EstimatePair:
        return EstimatePair(
            numerator, denominator, UniformWeight(), bandwidth, self._dtype, self.memory_budget, self.n_threads
        )

    def _fit_paper(self, numerator: Sample, denominator: Sample) -> Pool:
        uniform = self._pair(numerator, denominator, self._choose_bandwidth((numerator, denominator)))
        pair = replace(uniform, weight=self._fit_weight(uniform, self._derivatives))
        return Pool((Member(self._whitening, "whitened", GuidedRatio(pair, no_guide(numerator, denominator))),))

    def _fit_guided(
        self, guide: Any, samples: tuple[Sample, Sample], data: tuple[Array, Array], weights: tuple[Floats, Floats]
    ) -> Pool:
        rows = min(sample.effective_rows for sample in samples)
        degenerate = any(density.degenerate for density in self._derivatives)
        names = () if degenerate else guides.worth_trying(rows)
        bandwidth = None if self.bandwidth == "auto" else self._choose_bandwidth(samples)
        tried = (None, *names) if self._is_auto else (guide if names else None,)
        spaces: list[tuple[Space, Callable[[Array], Floats]]] = [
            (Space("whitened", *samples, tried, False), self._whitening)
        ]
        if self._is_auto and names:
            spaces.append(self._normal_scores(samples, data, weights, tried))
        pool = choose(
            spaces, bandwidth, self._seed, self._pair, memory_budget=self.memory_budget, n_threads=self.n_threads
        )
        return pool if self._is_auto else self._with_weight(pool)

    def _with_weight(self, pool: Pool) -> Pool:
        """Fit the weight function to the bias that the guide leaves, where there are kernel sums to weigh."""
        main = pool.main
        pair, guide = main.ratio.pair, main.ratio.guide
        if np.isinf(pair.bandwidth):
            return pool
        pair = replace(pair, weight=self._fit_weight(pair, self._tilted_derivatives(guide)))
        return Pool((replace(main, ratio=GuidedRatio(pair, guide, main.ratio.most)),))

    def _normal_scores(
        self,
        samples: tuple[Sample, Sample],
        data: tuple[Array, Array],
        weights: tuple[Floats, Floats],
        tried: tuple[Any, ...],
    ) -> tuple[Space, Callable[[Array], Floats]]:
        """Return the samples with every column mapped to normal scores, then whitened; rows stay in their order."""
        coordinates = fit_whitened_scores(*data, weights)
        mapped = [replace(s, points=coordinates(x)[s.rows]) for s, x in zip(samples, data, strict=True)]
        smooth = tuple(name for name in tried if name != "boosting")  # boosting does not see the map
        return Space("normal scores", mapped[0], mapped[1], smooth, True), coordinates

    def _choose_bandwidth(self, samples: tuple[Sample, Sample]) -> float:
        """Return the bandwidth that was asked for, by its number or its rule."""
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        rule, part = ("likelihood", 0.25) if self.bandwidth == "auto" else (self.bandwidth, 1.0)
        return self._rule_bandwidth(samples, cast(Rule, rule), part)

    def _rule_bandwidth(self, samples: tuple[Sample, Sample], rule: Rule, part: float) -> float:
        """Return the mean of the two samples' bandwidths."""
        resources = {"memory_budget": self.memory_budget, "n_threads": self.n_threads}
        found = [
            select_bandwidth(s.points, rule, part=part, weight=s.weight, random_state=self._seed, **resources)
            for s in samples
        ]
        return float(np.mean(found))

    def _fit_weight(self, uniform: EstimatePair, derivatives: tuple[Derivatives, Derivatives]) -> Weight:
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
            bias_terms(*derivatives, x),
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


def _fit_derivatives(numerator: Sample, denominator: Sample) -> tuple[GaussianDerivatives, GaussianDerivatives]:
    return (
        fit_gaussian(numerator.points, numerator.weight, "numerator"),
        fit_gaussian(denominator.points, denominator.weight, "denominator"),
    )
