"""The estimator: its parameters, and how it is fitted."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from vwkde._compute.choice import ENGINE_NAMES, choose_resources
from vwkde._compute.devices import models_on
from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET
from vwkde._compute.resources import Resources
from vwkde._data.groups import refuse_groups
from vwkde._data.in_memory import Held, hold_all, hold_some
from vwkde._data.mixed_files import read_text_file
from vwkde._data.pairs import Pairs
from vwkde._data.reading import DATES, MANY_LEVELS, MISSING, Reading
from vwkde._data.sources import is_elsewhere
from vwkde._data.validation import refuse_booleans
from vwkde._display import html
from vwkde._display.waiting import shown_while_waiting
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
from vwkde.ratio._at_points import on_its_threads
from vwkde.ratio._card import ratio_card
from vwkde.ratio._weights import RatioWeights

_CHOSEN_WITH_THE_GUIDE = {"weighting": "variational", "derivatives": "auto", "target": "pooled"}
"""The only values that go with guide="auto", which fits the weight itself."""


class DensityRatio(RatioWeights, html.ShownWhenFitted, BaseEstimator):  # type: ignore[misc]
    """The ratio p₁/p₂ of two densities known by samples.

    Two kernel density estimates share a weight function that cancels the leading bias of their ratio. The samples are
    whitened first, so that the pooled within-class covariance is the identity; `bandwidth` and `length_scale` are in
    those units. Units and origin of the columns never change the answer. A rotation may change that of `guide="auto"`:
    columns mean something, and some of its candidates look at them one by one or in pairs.

    Parameters
    ----------
    guide : str, None, classifier or list, default="auto"
        A coarse log ratio that enters the weights. See the notes for the three forms.

        - "auto": chooses guide, bandwidth, weight and coordinates from the data.
        - None: the paper's form, without a guide.
        - "gaussian", "shared-gaussian" (with one covariance), "shrunk-gaussian", "student" (heavy tails), "independent"
          (linear mixtures of independent columns), "mixture", "paired-mixture" (both start from a common one),
          "shared-mixture" (the same clusters in both samples, in other proportions), "scatter" (the scatter of columns
          depends on those before), "lump" (a few rows, in clusters or far out, that one sample lacks): models of both
          densities.
        - "logistic", "waves" (sines along a few directions), "radial" (a curve of the distance from the centre),
          "additive", "boosting", "network" (two hidden layers), or any scikit-learn classifier: the log odds of a
          cross-fitted classifier.
        - a list of such names and classifiers: like "auto", with these guides alone to choose among.
    weighting : {"variational", "network", "closed-form", "uniform"}, default="variational"
        The weight function: the kernel expansion that minimises the bias, a network that does so, (p₁p₂)^(−½) of the
        fitted densities, or no weight, which is the plain kernel density estimate. With `guide="auto"` it must be
        "variational".
    derivatives : {"auto", "gaussian", "mixture", "kernel", "network"} or object, default="auto"
        The model of each density's score and Laplacian: one Gaussian per sample, a mixture of Gaussians, a kernel
        expansion around a Gaussian, or a network trained by score matching. "auto" takes the one of the first three
        that fits held-out rows best. An object needs a method `fit(x, weight)` that returns something with the methods
        `score` and `laplacian_over_density`; it gets whitened points. With `guide="auto"` it must be "auto".
    target : {"pooled", "posterior", "ratio", "kl"}, default="pooled"
        Where the weight makes the bias small: under the pooled density, the same weighted by P₁²P₂² or by (p₁/p₂)², or
        under the numerator. With `guide="auto"` it must be "pooled".
    bandwidth : {"auto", "scott", "silverman", "likelihood", "ise"} or float, default="auto"
        The kernel's width. "auto" chooses it together with the guide; with `guide=None` it maximises the leave-one-out
        likelihood on quarters of the samples.
    length_scale : "auto" or float, default="auto"
        The width of the expansion's basis functions. "auto" is the median distance between points.
    ridge : float, default=0.1
        The penalty on the expansion's coefficients.
    max_basis : int, default=3000
        Maximum number of the expansion's basis points, which are drawn from the samples.
    max_held : int, default=10000
        Maximum rows per sample kept in memory, for file or Dask input (see `fit`); they are drawn at random. Guide,
        bandwidth and coordinates are chosen by them, and divergences average over them. Kernel sums, the weight and
        moments use all rows.
    subspace : "auto" or bool, default="auto"
        Whether to look for a few directions that carry the ratio, and to leave the others out where held-out rows
        confirm the gain. "auto" does so with `guide="auto"` only.
    random_state : int, RandomState or None, default=0
        Seeds every random choice. The same call on the same data gives the same answer.
    memory_budget : int, default=2**28
        Bytes for temporary blocks. It changes memory use, not results.
    n_threads : int, optional
        Threads to use. By default, all that the machine and its environment allow.
    engine : {"auto", "numba", "numba-exact", "torch", "triton", "dask", "reference"}, default="auto"
        What computes kernel sums and weights: compiled loops on the CPU, torch on a device, fused kernels on a CUDA
        GPU, compiled loops on the workers of the current Dask client, or plain NumPy. "auto" depends on the device and
        on what is installed; passes over Dask arrays are always Dask tasks. It changes speed, not results: sums of
        many rows by "numba" may differ from those of the others by a part in 10⁶.
    device : str, optional
        Where to compute and to train networks: "cpu", "cuda" or another torch device. By default, the device of the
        tensors given to `fit`, and the CPU for other input.
    missing : {"refuse", "indicator"}, default="refuse"
        Missing values (NaN, None, null) raise an error, or they are information: "indicator" adds a 0/1 column for each
        column that has them, and fills in a value in the middle of the others.
    dates : {"refuse", "number", "drop"}, default="refuse"
        Columns of dates or times raise an error, become numbers (seconds since 1970), or are left out.

    Attributes
    ----------
    guide_ : str
        The guide with the largest share in averages, or "none".
    bandwidth_ : float
        The bandwidth that goes with it; infinite where the guide is used alone.
    weight_ : object
        The fitted weight function, in that guide's coordinates.
    held_rows_ : pair of arrays or None
        The numbers of the rows in memory, for file or Dask input; None where all rows are in memory.
    n_features_in_ : int
        The number of columns seen in `fit`, without those that were left out because they label rows.
    feature_names_in_ : array of str
        Their names. Set only if the columns have names.

    Notes
    -----
    The guide decides what is fitted:

    - `guide=None` is the paper's form [1]_: exactly the `weighting`, `derivatives` and `target` that are named.
    - A named guide or a classifier: kernel sums around that guide. The weight that is named is fitted to the bias that
      the guide leaves, and is kept only where it clearly lowers the held-out log loss. `diagnostics_["weighting"]` is
      the weight in use, `diagnostics_["weighting_tried"]` the one that was tried. A guide needs at least 20 rows of
      each sample; with fewer, the ratio is estimated without it and a warning is raised.
    - `guide="auto"` or a list: guide, bandwidth, weight and coordinates are those with the lowest held-out log loss;
      close candidates are averaged. The variational weight is one candidate among others. Coordinates are the whitened
      columns, their normal scores, a few directions, or a few of the columns. A classifier of the user gets the normal
      scores of the columns.

    Where kernel sums do not improve on a guide, it is used alone: without smoothing there is no bandwidth, no weight
    and no bias to cancel. Networks need `vwkde[torch]`.

    References
    ----------
    .. [1] S. Yoon, F. C. Park, G. Yun, I. Kim and Y.-K. Noh, "Variational Weighting for Kernel Density Ratios",
       NeurIPS 2023.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import isotropic
    >>> P, Q = isotropic(2).sample(300)
    >>> ratio = vwkde.DensityRatio().fit(P, Q)
    >>> ratio.log_ratio([[0.0, 0.0]]).shape
    (1,)

    The paper's form, with the weight that is named:

    >>> paper = vwkde.DensityRatio(guide=None, derivatives="gaussian").fit(P, Q)
    >>> paper.diagnostics_["weighting"]
    'variational'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "guide": [StrOptions({"auto", *GUIDES}), None, HasMethods(["fit", "predict_proba"]), list, tuple],
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
        "missing": [StrOptions(set(MISSING))],
        "dates": [StrOptions(set(DATES))],
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
        missing: Literal["refuse", "indicator"] = "refuse",
        dates: Literal["refuse", "number", "drop"] = "refuse",
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
        self.missing = missing
        self.dates = dates

    @shown_while_waiting
    def fit(
        self,
        numerator: Any,
        denominator: Any,
        *,
        numerator_weight: Any = None,
        denominator_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit the ratio of the density behind `numerator` to the density behind `denominator`.

        Rows that repeat others of their sample, exactly, with little noise or by interpolation, tell nothing new. They
        are found and become weights. Equal rows stay separate observations where the data are discrete.

        Parameters
        ----------
        numerator : array-like of shape (n, d) or (n,), path, or Dask array or DataFrame
            A sample of the density p₁: an array, tensor, table (pandas, Polars, Arrow) or CSV file. Data that do not
            fit in memory can be a `numpy.memmap`, the path of an NPY or Parquet file, or a Dask array or DataFrame; see
            `max_held`. Categories in tables become 0/1 columns, which `log_ratio` and others make of new rows too.
        denominator : array-like of shape (m, d) or (m,), path, or Dask array or DataFrame
            A sample of the density p₂, with the same columns.
        numerator_weight : array-like of shape (n,), optional
            Non-negative weights of the numerator's rows. Only their proportions matter.
        denominator_weight : array-like of shape (m,), optional
            Non-negative weights of the denominator's rows.
        groups : pair of array-like of shapes (n,) and (m,), optional
            Which rows belong together, such as those of a patient or of a time block: the labels of the numerator's
            rows and those of the denominator's, of any hashable type, at least 5 different ones each. None stands for a
            sample of independent rows. Rows of a group are left out and held out together, and standard errors count
            them as dependent. A label in both samples is held out of both at once. A sample with groups is not searched
            for repeated rows.

        Returns
        -------
        DensityRatio
            The estimator itself.

        Raises
        ------
        ValueError
            If a parameter is invalid, the samples cannot be used (missing values, different columns, fewer than two
            rows), or `guide="auto"` is combined with a `weighting`, `derivatives` or `target` other than the default.
        DisjointSupportError
            If the samples do not meet, so that the ratio is infinite or zero everywhere.

        Warns
        -----
        DegenerateDataWarning
            If columns carry no variation or label rows, the rows are too few for the columns or for the guide, rows
            nearly repeat others, or values are far beyond all others.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> from vwkde.datasets import isotropic
        >>> P, Q = isotropic(2).sample(200, 300)
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(P, Q, denominator_weight=np.ones(300))
        >>> ratio.guide_
        'gaussian'

        Ten visits of each of thirty patients, compared with independent rows:

        >>> patients = np.random.default_rng(0).normal(size=(30, 1, 2))
        >>> visits = (patients + 0.3 * np.random.default_rng(1).normal(size=(30, 10, 2))).reshape(300, 2)
        >>> ratio = vwkde.DensityRatio(guide="gaussian").fit(visits, Q, groups=(np.repeat(range(30), 10), None))
        >>> independent = vwkde.DensityRatio(guide="gaussian").fit(visits, Q)
        >>> ratio.divergence("kl").standard_error > independent.divergence("kl").standard_error
        True
        """
        return self._fit(numerator, denominator, numerator_weight, denominator_weight, groups)

    @on_its_threads
    def _fit(
        self,
        numerator: Any,
        denominator: Any,
        numerator_weight: Any = None,
        denominator_weight: Any = None,
        groups: Any = None,
        copies: tuple[int, int] = (1, 1),
        folds: Folds = (None, None),
        pairs: tuple[Pairs, Pairs] | None = None,
    ) -> Self:
        """Fit samples some of whose rows were made from others; see `Sample`."""
        resources = self._check_parameters(numerator, denominator)
        numerator, denominator = read_text_file(numerator), read_text_file(denominator)
        reading = Reading(self.missing, self.dates, MANY_LEVELS)
        seed = int(check_random_state(self.random_state).randint(2**31))
        weights = numerator_weight, denominator_weight
        elsewhere = resources.executor.spreads or is_elsewhere(numerator) or is_elsewhere(denominator)
        if elsewhere and all(fold is None for fold in folds):
            refuse_groups(groups, "fit", "for samples in files, on a Dask cluster or with engine='dask'")
            held = hold_some(numerator, denominator, weights, self.max_held, seed, resources, reading)
        else:
            held = hold_all(numerator, denominator, weights, groups, reading)
        problem = make_problem(held, Numerics(seed, held.dtype, resources), copies, folds, pairs)
        with models_on(resources.device if resources.engine.on_device else "cpu"):
            fitted = self._fit_problem(problem)
        self._keep(fitted, problem.held)  # an earlier fit stays until this one has succeeded
        return self

    def _check_parameters(self, numerator: Any, denominator: Any) -> Resources:
        """Raise if a parameter is invalid, and return where to compute with these samples."""
        refuse_booleans("DensityRatio", self.get_params(deep=False), self._parameter_constraints)
        self._validate_params()
        self._check_combination()
        return choose_resources(self.engine, self.device, (numerator, denominator), self.memory_budget)

    def _keep(self, fitted: Fitted, held: Held) -> None:
        """Set the attributes of a fit."""
        self._fitted, self._held = fitted, held
        ratio = fitted.average.main.ratio
        self.guide_, self.bandwidth_, self.weight_ = ratio.guide.name, ratio.bandwidth, ratio.weight
        self.held_rows_ = held.rows
        self._diagnostics = {}
        self.n_features_in_ = held.layout.count
        self.__dict__.pop("feature_names_in_", None)
        if held.layout.given:
            self.feature_names_in_ = np.asarray(held.layout.given, dtype=object)

    def _fit_problem(self, problem: Problem) -> Fitted:
        """Fit the form that the guide asks for."""
        settings = WeightSettings(
            self.weighting, self.derivatives, self.target, self.length_scale, self.ridge, self.max_basis
        )
        if self.guide is None:
            return fit_paper(problem, settings, self.bandwidth, self.subspace is True)
        if self._is_auto:
            choice = {"guides": self.guide} if isinstance(self.guide, list | tuple) else {}
            return fit_auto(problem, settings, self.bandwidth, self.subspace is not False, **choice)
        return fit_named(self.guide, problem, settings, self.bandwidth, self.subspace is True)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.guide, list | tuple) or (isinstance(self.guide, str) and self.guide == "auto")

    def _check_combination(self) -> None:
        """Refuse what is no guide, alone or in a list, and parameters of the weight that a choice would ignore."""
        if isinstance(self.guide, list | tuple):
            _check_guides(self.guide)
        elif self.guide is not None and not isinstance(self.guide, str) and not _is_classifier(self.guide):
            raise ValueError(
                f"The 'guide' parameter of DensityRatio must be a classifier that scikit-learn can clone, not a class. "
                f"Got {self.guide!r} instead; pass an instance of a class derived from sklearn.base.BaseEstimator."
            )
        if not self._is_auto:
            return
        for name, value in _CHOSEN_WITH_THE_GUIDE.items():
            given = getattr(self, name)
            if not (isinstance(given, str) and given == value):
                raise ValueError(
                    f"The {name!r} parameter of DensityRatio must be {value!r} with guide='auto' or a list. They "
                    f"choose guide, bandwidth and weight from the data. Got {given!r} instead; give guide=None for the "
                    f"paper's form, or name a guide."
                )

    def _card(self) -> str:
        """Return what a notebook shows, once fitted."""
        return ratio_card(self) if hasattr(self, "weight_") else ""


def _is_classifier(guide: Any) -> bool:
    """Return whether a guide is a classifier that can be cloned, which classes cannot."""
    return all(hasattr(guide, name) for name in ("fit", "predict_proba", "get_params")) and not isinstance(guide, type)


def _check_guides(guides: Sequence[Any]) -> None:
    """Refuse a list of guides that is empty or has something else in it."""
    classifiers = [g for g in guides if _is_classifier(g)]
    wrong = [g for g in guides if not (isinstance(g, str) and g in GUIDES) and not any(g is c for c in classifiers)]
    if wrong or not guides:
        raise ValueError(
            f"The 'guide' parameter of DensityRatio, if a list, must have at least one guide, each a name out of "
            f"{list(GUIDES)} or a classifier with the methods fit, predict_proba and get_params. Got "
            f"{wrong or guides!r} instead."
        )
