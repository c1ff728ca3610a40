"""Density ratios, posteriors and divergences from samples, with the leading bias removed.

The names below load on first use, so that `import vwkde` does not wait for scikit-learn and Numba.
"""

from typing import TYPE_CHECKING

from vwkde._runtime.exports import lazy_names
from vwkde._runtime.versions import VERSION

if TYPE_CHECKING:
    from vwkde.catalogue import methods
    from vwkde.classifier import RatioClassifier
    from vwkde.displays import DivergenceDisplay, LogRatioDisplay, OverlapDisplay
    from vwkde.divergences import divergence, kl_divergence, log_density_ratio
    from vwkde.exceptions import BiasWarning, DegenerateDataWarning, DisjointSupportError, OverlapWarning
    from vwkde.importance import BalanceTable, ImportanceWeights
    from vwkde.information import (
        IndependenceResult,
        InformationMatrix,
        LaggedInformation,
        conditional_mutual_information,
        independence_test,
        mutual_information,
        mutual_information_by_lag,
        mutual_information_matrix,
    )
    from vwkde.monitoring import DriftReference, DriftResult, drift
    from vwkde.ratio import DensityRatio
    from vwkde.results import Estimate
    from vwkde.two_sample import TwoSampleResult, two_sample_test
    from vwkde.weighting import ReweightedEstimator, importance_weights, weighted_scorer

__version__ = VERSION

__all__ = [
    "BalanceTable",
    "BiasWarning",
    "DegenerateDataWarning",
    "DensityRatio",
    "DisjointSupportError",
    "DivergenceDisplay",
    "DriftReference",
    "DriftResult",
    "Estimate",
    "ImportanceWeights",
    "IndependenceResult",
    "InformationMatrix",
    "LaggedInformation",
    "LogRatioDisplay",
    "OverlapDisplay",
    "OverlapWarning",
    "RatioClassifier",
    "ReweightedEstimator",
    "TwoSampleResult",
    "conditional_mutual_information",
    "divergence",
    "drift",
    "importance_weights",
    "independence_test",
    "kl_divergence",
    "log_density_ratio",
    "methods",
    "mutual_information",
    "mutual_information_by_lag",
    "mutual_information_matrix",
    "two_sample_test",
    "weighted_scorer",
]

__getattr__, _ = lazy_names(
    __name__,
    {
        "BalanceTable": "importance",
        "BiasWarning": "exceptions",
        "DegenerateDataWarning": "exceptions",
        "DensityRatio": "ratio",
        "DisjointSupportError": "exceptions",
        "DivergenceDisplay": "displays",
        "DriftReference": "monitoring",
        "DriftResult": "monitoring",
        "Estimate": "results",
        "ImportanceWeights": "importance",
        "IndependenceResult": "information",
        "InformationMatrix": "information",
        "LaggedInformation": "information",
        "LogRatioDisplay": "displays",
        "OverlapDisplay": "displays",
        "OverlapWarning": "exceptions",
        "RatioClassifier": "classifier",
        "ReweightedEstimator": "weighting",
        "TwoSampleResult": "two_sample",
        "conditional_mutual_information": "information",
        "divergence": "divergences",
        "drift": "monitoring",
        "importance_weights": "weighting",
        "independence_test": "information",
        "kl_divergence": "divergences",
        "log_density_ratio": "divergences",
        "methods": "catalogue",
        "mutual_information": "information",
        "mutual_information_by_lag": "information",
        "mutual_information_matrix": "information",
        "two_sample_test": "two_sample",
        "weighted_scorer": "weighting",
    },
)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
