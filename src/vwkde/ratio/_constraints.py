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


class _Names(StrOptions):  # type: ignore[misc]
    """Names out of which a parameter is one, in the same order in every message."""

    def __str__(self) -> str:
        """Return the words of a message."""
        return f"one of {', '.join(map(repr, sorted(self.options)))}"


_CONSTRAINTS: dict[str, list[Any]] = {
    "guide": [_Names({"auto", *GUIDES}), None, HasMethods(["fit", "predict_proba"]), list, tuple],
    "weighting": [_Names(set(WEIGHTS))],
    "derivatives": [_Names({"auto", *DERIVATIVES}), HasMethods(["fit"])],
    "target": [_Names(set(TARGETS))],
    "bandwidth": [_Names({"auto", *RULES}), Interval(Real, 1e-6, 1e6, closed="both")],
    "length_scale": [_Names({"auto"}), Interval(Real, 1e-6, 1e6, closed="both")],
    "ridge": [Interval(Real, 0, None, closed="neither")],
    "max_basis": [Interval(Integral, 1, None, closed="left")],
    "max_held": [Interval(Integral, 100, None, closed="left")],
    "subspace": [_Names({"auto"}), "boolean"],
    "random_state": ["random_state"],
    "memory_budget": [Interval(Integral, 1, None, closed="left")],
    "n_threads": [Interval(Integral, 1, None, closed="left"), None],
    "engine": [_Names(set(ENGINE_NAMES))],
    "device": [str, None],
    "missing": [_Names(set(MISSING))],
    "dates": [_Names(set(DATES))],
}


def check_constraints(parameters: Mapping[str, Any]) -> None:
    """Raise if a parameter is invalid."""
    refuse_booleans("DensityRatio", parameters, _CONSTRAINTS)
    validate_parameter_constraints(_CONSTRAINTS, parameters, "DensityRatio")
