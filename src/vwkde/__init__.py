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

__version__ = VERSION

__all__ = [
    "BiasWarning",
    "DegenerateDataWarning",
    "DensityRatio",
    "DisjointSupportError",
    "DivergenceDisplay",
    "DriftReference",
    "DriftResult",
    "Estimate",
    "IndependenceResult",
    "InformationMatrix",
    "LaggedInformation",
    "LogRatioDisplay",
    "OverlapDisplay",
    "OverlapWarning",
    "RatioClassifier",
    "TwoSampleResult",
    "conditional_mutual_information",
    "divergence",
    "drift",
    "independence_test",
    "kl_divergence",
    "log_density_ratio",
    "methods",
    "mutual_information",
    "mutual_information_by_lag",
    "mutual_information_matrix",
    "two_sample_test",
]

__getattr__, _ = lazy_names(
    __name__,
    {
        "BiasWarning": "exceptions",
        "DegenerateDataWarning": "exceptions",
        "DensityRatio": "ratio",
        "DisjointSupportError": "exceptions",
        "DivergenceDisplay": "displays",
        "DriftReference": "monitoring",
        "DriftResult": "monitoring",
        "Estimate": "results",
        "IndependenceResult": "information",
        "InformationMatrix": "information",
        "LaggedInformation": "information",
        "LogRatioDisplay": "displays",
        "OverlapDisplay": "displays",
        "OverlapWarning": "exceptions",
        "RatioClassifier": "classifier",
        "TwoSampleResult": "two_sample",
        "conditional_mutual_information": "information",
        "divergence": "divergences",
        "drift": "monitoring",
        "independence_test": "information",
        "kl_divergence": "divergences",
        "log_density_ratio": "divergences",
        "methods": "catalogue",
        "mutual_information": "information",
        "mutual_information_by_lag": "information",
        "mutual_information_matrix": "information",
        "two_sample_test": "two_sample",
    },
)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
