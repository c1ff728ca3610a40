"""The ratio without the interface of scikit-learn: its parameters, and how it is fitted.

Functions that answer a question fit it, and need not wait for scikit-learn to load. `DensityRatio` is the estimator.
"""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, Literal, Self

import numpy as np

from vwkde._compute.choice import choose_resources
from vwkde._compute.devices import models_on
from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET, blas_for
from vwkde._compute.resources import Resources
from vwkde._data.groups import refuse_groups
from vwkde._data.in_memory import Held, hold_all, hold_some
from vwkde._data.mixed_files import read_text_file
from vwkde._data.pairs import Pairs
from vwkde._data.reading import MANY_LEVELS, Reading
from vwkde._data.sources import is_elsewhere
from vwkde._display.waiting import shown_while_waiting
from vwkde._fit.fitted import Fitted, Folds, Problem, make_problem
from vwkde._fit.guided import fit_auto, fit_named
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.paper import fit_paper
from vwkde._models.guides import GUIDES
from vwkde._models.weights.problem import WeightSettings
from vwkde._runtime.keywords import refuse_unknown
from vwkde._runtime.random_states import random_state_of
from vwkde.catalogue import parameters_with
from vwkde.ratio._at_points import on_its_threads
from vwkde.ratio._weights import RatioWeights

_CHOSEN_WITH_THE_GUIDE = {"weighting": "variational", "derivatives": "auto", "target": "pooled"}
"""The only values that go with guide="auto", which fits the weight itself."""


class PlainRatio(RatioWeights):
    """The ratio p₁/p₂ of two densities known by samples; see `DensityRatio`."""

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
        reading = Reading(self.missing, self.dates, MANY_LEVELS, grouped=groups is not None)
        seed = int(random_state_of(self.random_state).randint(2**31))
        weights = numerator_weight, denominator_weight
        elsewhere = resources.executor.spreads or is_elsewhere(numerator) or is_elsewhere(denominator)
        if elsewhere and all(fold is None for fold in folds):
            refuse_groups(groups, "fit", "for samples in files, on a Dask cluster or with engine='dask'")
            held = hold_some(numerator, denominator, weights, self.max_held, seed, resources, reading)
        else:
            held = hold_all(numerator, denominator, weights, groups, reading)
        device = resources.device if resources.engine.on_device else "cpu"
        with models_on(device), blas_for(sum(rows.size for rows in held.data)):
            problem = make_problem(held, Numerics(seed, held.dtype, resources), copies, folds, pairs)
            fitted = self._fit_problem(problem)
        self._keep(fitted, problem.held)  # an earlier fit stays until this one has succeeded
        return self

    def _check_parameters(self, numerator: Any, denominator: Any) -> Resources:
        """Raise if a parameter is invalid, and return where to compute with these samples."""
        given = {name: getattr(self, name) for name, default in DEFAULTS.items() if getattr(self, name) is not default}
        if given:  # the defaults need no check
            from vwkde.ratio._constraints import check_constraints

            check_constraints(given)
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

    def _unfitted(self, **changes: Any) -> Self:
        """Return the same ratio without its fit, and with some other parameters."""
        return type(self)(**({name: getattr(self, name) for name in DEFAULTS} | changes))


PlainRatio.__init__.__qualname__ = "DensityRatio.__init__"  # the name in Python's own error about an unknown parameter

DEFAULTS = {name: each.default for name, each in signature(PlainRatio).parameters.items()}
"""The parameters of a ratio."""


def make_plain_ratio(method: str | None, parameters: dict[str, Any], owner: Callable[..., Any]) -> PlainRatio:
    """Return the ratio that a method names, with other parameters; `owner` was called with them, and errors name it."""
    refuse_unknown(parameters, DEFAULTS, owner)
    return PlainRatio(**parameters_with(method, parameters, owner.__name__))


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
