"""The one fitted object: a density ratio, from which everything else follows."""

import warnings
from collections.abc import Callable
from functools import partial, wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from vwkde._answers.at_samples import at_samples
from vwkde._answers.diagnostics import describe_fit
from vwkde._answers.functionals import KINDS, check_divergence, check_interval, unit_of
from vwkde._answers.overlap import warn_if_negative, warn_if_poor
from vwkde._answers.posterior import posterior
from vwkde._answers.uncertainty import Compute, scatter_over_halves, systematic_error
from vwkde._compute.choice import ENGINE_NAMES, choose_resources
from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET, at_most
from vwkde._data.in_memory import hold_all, hold_some
from vwkde._data.sources import is_elsewhere, read_all
from vwkde._data.validation import Array, check_sample, like_input
from vwkde._display import html, svg
from vwkde._fit.bandwidth import RULES
from vwkde._fit.fitted import Fitted, Folds, Problem, make_problem
from vwkde._fit.guided import fit_auto, fit_named
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.paper import fit_paper
from vwkde._fit.weighting import TARGETS
from vwkde._models.derivatives import DERIVATIVES
from vwkde._models.guides import GUIDES
from vwkde._models.weights import WEIGHTS
from vwkde._models.weights.problem import WeightSettings
from vwkde.results import Estimate, shown

__all__ = ["DensityRatio"]

Floats = NDArray[np.float64]

_LARGEST_LOG = float(np.log(np.finfo(np.float64).max))


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _on_its_threads(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a method of `DensityRatio` use at most its `n_threads`."""

    @wraps(method)
    def limited(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with at_most(arguments[0].n_threads):  # type: ignore[attr-defined]
            return method(*arguments, **named)

    return limited


class DensityRatio(html.ShownWhenFitted, BaseEstimator):  # type: ignore[misc]
    """The ratio of two densities known by samples: kernel estimates that share a bias-cancelling weight.

    Everything happens in coordinates where the pooled within-class covariance is the identity; `bandwidth` and
    `length_scale` are in those units. Units and origin of the columns never change the answer. A rotation does only
    where a guide of single columns ("additive", "boosting"), or a map of them to normal scores, is clearly better.

    Parameters
    ----------
    guide : "auto", None, "gaussian", "shrunk-gaussian", "logistic", "mixture", "additive", "boosting" or a classifier
        A coarse log ratio that enters the weights: a model of both densities, a classifier's log odds, or None, which
        is the paper's form. "auto" chooses guide, bandwidth and coordinates from the data; where the weighting, the
        derivatives or the target is named, it is None.
    weighting : "variational", "network", "closed-form" or "uniform"
        The weight function: the kernel expansion that minimises the bias, a network that does, (p₁p₂)^(−½) of the
        fitted densities, or none, which is the plain kernel density estimate.
    derivatives : "auto", "gaussian", "mixture", "kernel", "network" or an object
        The model of each density's score and Laplacian: one Gaussian per sample, a mixture of them, a kernel expansion
        around one, or a network trained by score matching. "auto" takes what fits rows held out best, the network
        aside. An object is anything whose `fit(x, weight)` returns something with the methods `score` and
        `laplacian_over_density`; it sees whitened points. Networks need `vwkde[torch]`.
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
    max_held : int
        Of samples that live elsewhere (see `fit`), the most rows of each that are held in memory, drawn at random. By
        them guide, bandwidth and coordinates are chosen, and over them divergences average; kernel sums, the weight and
        moments are those of all rows.
    subspace : "auto", True or False
        Whether to look for a few directions that carry the ratio, and to leave the others out where rows held out
        confirm that it gains. "auto" does so where the guide is chosen from the data.
    random_state : int, RandomState or None
        Seeds every random choice. The same call on the same data gives the same answer.
    memory_budget : int
        Bytes that temporary blocks may take. It changes memory, not results.
    n_threads : int or None
        Threads to use; by default all that the machine and its environment allow.
    engine : "auto", "numba", "torch", "triton", "dask" or "reference"
        What forms kernel sums and weights: compiled loops on the CPU, torch on a device, fused kernels on a CUDA GPU,
        compiled loops on the workers of the Dask client in use, or plain NumPy. "auto" goes by the device and by what
        is installed; passes over Dask arrays are always Dask's tasks. It changes speed, not results.
    device : str or None
        Where to compute, and where networks are trained: "cpu", "cuda" or another device that torch knows. By default
        it is where the tensors given to `fit` live, and the CPU for everything else.

    Attributes
    ----------
    guide_ : str
        The guide that has the largest share in averages, or "none".
    bandwidth_ : float
        Its bandwidth; infinite where the guide stands alone.
    weight_ : object
        The fitted weight function, in the coordinates of that guide.
    diagnostics_ : dict
        What was chosen, the mean squared bias before and after weighting, and how well the samples overlap.
    held_rows_ : pair of arrays or None
        Of samples that live elsewhere, the numbers of the rows held; None where all are.
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
        "guide": [StrOptions({"auto", *GUIDES}), None, HasMethods(["fit", "predict_proba"])],
        "weighting": [StrOptions(set(WEIGHTS))],
        "derivatives": [StrOptions({"auto", *DERIVATIVES}), HasMethods(["fit"])],
        "target": [StrOptions(set(TARGETS))],
        "bandwidth": [StrOptions({"auto", *RULES}), Interval(Real, 1e-6, 1e6, closed="both")],
        "length_scale": [StrOptions({"auto"}), Interval(Real, 1e-6, 1e6, closed="both")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "max_basis": [Interval(Integral, 1, None, closed="left")],
        "max_held": [Interval(Integral, 100, None, closed="left")],
        "subspace": [StrOptions({"auto"}), "boolean"],
        "random_state": ["random_state"],
        "memory_budget": [Interval(Integral, 1, None, closed="left")],
        "n_threads": [Interval(Integral, 1, None, closed="left"), None],
        "engine": [StrOptions(set(ENGINE_NAMES))],
        "device": [str, None],
    }

    def __init__(
        self,
        *,
        guide: Any = "auto",
        weighting: str = "variational",
        derivatives: Any = "auto",
        target: str = "pooled",
        bandwidth: float | str = "auto",
        length_scale: float | str = "auto",
        ridge: float = 0.1,
        max_basis: int = 3_000,
        max_held: int = 10_000,
        subspace: bool | Literal["auto"] = "auto",
        random_state: Any = 0,
        memory_budget: int = DEFAULT_MEMORY_BUDGET,
        n_threads: int | None = None,
        engine: str = "auto",
        device: str | None = None,
    ) -> None:
        self.guide = guide
        self.weighting = weighting
        self.derivatives = derivatives
        self.target = target
        self.bandwidth = bandwidth
        self.length_scale = length_scale
        self.ridge = ridge
        self.max_basis = max_basis
        self.max_held = max_held
        self.subspace = subspace
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.n_threads = n_threads
        self.engine = engine
        self.device = device

    def fit(
        self, numerator: Any, denominator: Any, *, numerator_weight: Any = None, denominator_weight: Any = None
    ) -> Self:
        """Fit the ratio of the density behind `numerator` to the one behind `denominator`.

        Samples are arrays (n, d) or (n,), DataFrames or tensors; or they live elsewhere and are never held whole:
        a `numpy.memmap`, the path of an NPY or Parquet file, a Dask array or DataFrame.
        """
        return self._fit(numerator, denominator, numerator_weight, denominator_weight)

    @_on_its_threads
    def _fit(
        self,
        numerator: Any,
        denominator: Any,
        numerator_weight: Any = None,
        denominator_weight: Any = None,
        copies: tuple[int, int] = (1, 1),
        folds: Folds = (None, None),
    ) -> Self:
        """Fit samples some of whose rows were made of others; see `Sample`."""
        self._validate_params()
        self._check_combination()
        resources = choose_resources(self.engine, self.device, (numerator, denominator), self.memory_budget)
        seed = int(check_random_state(self.random_state).randint(2**31))
        weights = numerator_weight, denominator_weight
        elsewhere = resources.executor.spreads or is_elsewhere(numerator) or is_elsewhere(denominator)
        if elsewhere and all(fold is None for fold in folds):
            held = hold_some(numerator, denominator, weights, self.max_held, seed, resources)
        else:
            held = hold_all(numerator, denominator, weights)
        fitted = self._fit_problem(make_problem(held, Numerics(seed, held.dtype, resources), copies, folds))
        # nothing of an earlier fit is touched before this one has succeeded
        self._fitted, self._data = fitted, held.data
        ratio = fitted.average.main.ratio
        self.guide_, self.bandwidth_, self.weight_ = ratio.guide.name, ratio.bandwidth, ratio.weight
        self.held_rows_ = held.rows
        self._diagnostics: dict[str, Any] = {}
        self.n_features_in_ = held.data[0].shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if held.names:
            self.feature_names_in_ = np.asarray(held.names, dtype=object)
        return self

    def _fit_problem(self, problem: Problem) -> Fitted:
        """Fit the form that the guide asks for."""
        settings = WeightSettings(
            self.weighting, self.derivatives, self.target, self.length_scale, self.ridge, self.max_basis
        )
        if self.guide is None:
            return fit_paper(problem, settings, self.bandwidth, self.subspace is True)
        if self._is_auto:
            return fit_auto(problem, settings, self.bandwidth, self.subspace is not False)
        return fit_named(self.guide, problem, settings, self.bandwidth, self.subspace is True)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.guide, str) and self.guide == "auto"

    def _check_combination(self) -> None:
        """Refuse parts of the weight that guide="auto" would have to choose against."""
        if not self._is_auto:
            return
        for name, value in {"weighting": "variational", "derivatives": "auto", "target": "pooled"}.items():
            given = getattr(self, name)
            if not (isinstance(given, str) and given == value):
                raise ValueError(
                    f"The {name!r} parameter of DensityRatio must be {value!r} with guide='auto', which chooses guide, "
                    f"bandwidth and weight from the data. Got {given!r} instead; give guide=None for the paper's form, "
                    f"or name a guide."
                )

    def log_ratio(self, x: Any) -> Floats:
        """Return log p₁/p₂ at new points."""
        return like_input(self._log_ratio(x), x)

    def ratio(self, x: Any) -> Floats:
        """Return p₁/p₂ at new points; where no float is large enough, the largest one."""
        return like_input(np.exp(np.minimum(self._log_ratio(x), _LARGEST_LOG)), x)

    def posterior(self, x: Any, prior: float = 0.5) -> Floats:
        """Return the probability that a point comes from the numerator, given that class's prior probability."""
        return like_input(posterior(self._log_ratio(x), prior), x)

    @_on_its_threads
    def log_weight(self, x: Any) -> Floats:
        """Return log α at points, up to a constant: the weight that both estimates share, beside the guide's."""
        points = self._points(x)
        return like_input(self.weight_.log_weight(self._fitted.average.main.place(points)), x)

    @_on_its_threads
    def residual_bias(self, x: Any) -> Floats:
        """Return B at points: the kernel sums bias the log ratio by bandwidth_²·B to leading order.

        It goes by the fitted derivatives, and with a guide it is what the guide and the weight leave.
        """
        points = self._points(x)
        return like_input(self._fitted.residual_bias(self._fitted.average.main.place(points)), x)

    @_on_its_threads
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
        value, error = compute(*at_samples(self._fitted))
        if interval == "subsample":
            error = self._scatter_over_halves(compute)
        warn_if_negative(value, error, self.diagnostics_["weighting"])
        systematic = systematic_error(self._fitted, compute, error)
        return Estimate(value, error, kind, unit_of(kind), systematic, confidence_level, self.diagnostics_)

    def _scatter_over_halves(self, compute: Compute) -> float:
        def on_halves(p: Array, q: Array, p_weight: Floats, q_weight: Floats) -> float:
            half = clone(self).set_params(engine=resources.name, device=resources.device)
            half.fit(p, q, numerator_weight=p_weight, denominator_weight=q_weight)
            return compute(*at_samples(half._fitted))[0]

        if self._fitted.has_rest:
            raise ValueError(
                "interval='subsample' needs samples held in memory. Use interval='influence', which costs nothing here."
            )
        resources = self._fitted.numerics.resources
        weights = [sample.in_given_order(sample.weight) for sample in self._fitted.samples]
        return scatter_over_halves(self._data, on_halves, self._fitted.numerics.seed, *weights)

    @_on_its_threads
    def importance_weights(self) -> Floats:
        """Return p₁/p₂ at the denominator's rows, with mean one: weights under which it stands for the numerator.

        For covariate shift: fit with the target sample as numerator and the training sample as denominator, and pass
        the weights on as `sample_weight`. Ratios above √n, n being the number of rows, count as √n, lest one row decide
        everything.
        """
        check_is_fitted(self, "weight_")
        if self._fitted.has_rest:
            raise ValueError(
                "Importance weights of all rows need samples held in memory. Call ratio(rows) on the rows you need."
            )
        log_ratio = self._fitted.samples[1].in_given_order(self._fitted.average.at_samples(averages=False)[1])
        log_ratio = np.minimum(log_ratio, 0.5 * np.log(len(log_ratio)))
        ratio = np.exp(log_ratio - log_ratio.max())
        return ratio / ratio.mean()

    @property
    @_on_its_threads
    def numerator_log_ratio_(self) -> Floats:
        """Leave-one-out log ratio at the numerator's rows, as divergences average it: at those held, in their order."""
        check_is_fitted(self, "weight_")
        return self._fitted.samples[0].in_given_order(self._fitted.average.at_samples(averages=True)[0])

    @property
    @_on_its_threads
    def denominator_log_ratio_(self) -> Floats:
        """Leave-one-out log ratio at the denominator's rows, likewise."""
        check_is_fitted(self, "weight_")
        return self._fitted.samples[1].in_given_order(self._fitted.average.at_samples(averages=True)[1])

    @property
    @_on_its_threads
    def diagnostics_(self) -> dict[str, Any]:
        """What was chosen, the mean squared bias before and after weighting, and how well the samples overlap.

        The bias is that of the kernel's smoothing: zero where the guide stands alone and nothing is smoothed.
        Pairs of numbers are for numerator and denominator; see `vwkde.overlap` for what they mean.
        """
        check_is_fitted(self, "weight_")
        if not self._diagnostics:
            self._diagnostics = describe_fit(self._fitted, self.weighting, self.n_features_in_)
        return dict(self._diagnostics)

    def _card(self) -> str:
        """Return what a notebook shows once there is something to tell: the KL divergence, and all log ratios."""
        if not hasattr(self, "weight_"):
            return ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kl = self.divergence("kl")
        (rows, others), columns = self.diagnostics_["rows"], self.n_features_in_
        samples = {
            f"numerator ({rows:,} rows)": self.numerator_log_ratio_,
            f"denominator ({others:,} rows)": self.denominator_log_ratio_,
        }
        return html.card(
            f"log ratio of {rows:,} rows to {others:,}, {columns} column{'s' if columns > 1 else ''}",
            *(html.note(str(warning.message)) for warning in caught),
            svg.histograms(samples),
            "log p₁/p₂ at the rows, in nats, each row left out",
            f"KL divergence {kl.value:.4g} nats, 95 % interval {kl.interval[0]:.4g} to {kl.interval[1]:.4g}",
            svg.interval(kl.value, *kl.interval),
            details={name: shown(value) for name, value in self.diagnostics_.items()},
        )

    @_on_its_threads
    def _log_ratio(self, x: Any) -> Floats:
        points = self._points(x)
        return self._fitted.average.log_ratio(points)

    def _points(self, x: Any) -> Array:
        check_is_fitted(self, "weight_")
        names = tuple(getattr(self, "feature_names_in_", ())) or None
        like = self.n_features_in_, names, "numerator"
        return check_sample(read_all(x, "points", like) if is_elsewhere(x) else x, "points", like)[0]
