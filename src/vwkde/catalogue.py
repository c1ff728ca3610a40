"""The estimators that `method=` names, each with its reference."""

from typing import Any

_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "vwkde-mb": (
        "Variationally weighted kernel density ratio, Gaussian scores (Yoon, Park, Yun, Kim and Noh, NeurIPS 2023)",
        {"guide": None, "weighting": "variational", "derivatives": "gaussian"},
    ),
    "vwkde-mf": (
        "Variationally weighted kernel density ratio, scores and weight by networks (the same paper, NeurIPS 2023)",
        {"guide": None, "weighting": "network", "derivatives": "network", "subspace": True},
    ),
    "kde": (
        "Ratio of two plain kernel density estimates, leave-one-out (Rosenblatt 1956, Parzen 1962)",
        {"guide": None, "weighting": "uniform", "bandwidth": "likelihood"},
    ),
}


def methods() -> dict[str, str]:
    """Return the names that `method=` accepts, each with one line and its reference."""
    return {name: description for name, (description, _) in _METHODS.items()}


def parameters_of(method: str | None) -> dict[str, Any]:
    """Return the parameters of `DensityRatio` that a method stands for; none for the default."""
    if method is None:
        return {}
    if method not in _METHODS:
        raise ValueError(f"The 'method' parameter must be one of {list(_METHODS)}. Got {method!r} instead.")
    return _METHODS[method][1]
