"""What the parameters of a ratio may be, in the words of scikit-learn."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, validate_parameter_constraints

from vwkde._compute.choice import ENGINE_NAMES
from vwkde._data.reading import DATES, MISSING
from vwkde._data.validation import refuse_booleans
from vwkde._fit.bandwidth import RULES
from vwkde._fit.weighting import TARGETS
from vwkde._models.derivatives import DERIVATIVES
from vwkde._models.guides import GUIDES
from vwkde._models.weights import WEIGHTS

_CONSTRAINTS: dict[str, list[Any]] = {
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


def check_constraints(parameters: Mapping[str, Any]) -> None:
    """Raise if a parameter is invalid."""
    refuse_booleans("DensityRatio", parameters, _CONSTRAINTS)
    validate_parameter_constraints(_CONSTRAINTS, parameters, "DensityRatio")
