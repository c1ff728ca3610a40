"""How much sets of columns say about each other: mutual information, and a test of independence."""

from vwkde.information._conditional import conditional_mutual_information
from vwkde.information._independence import IndependenceResult, independence_test
from vwkde.information._mutual import mutual_information
from vwkde.information._several import (
    InformationMatrix,
    LaggedInformation,
    mutual_information_by_lag,
    mutual_information_matrix,
)

__all__ = [
    "IndependenceResult",
    "InformationMatrix",
    "LaggedInformation",
    "conditional_mutual_information",
    "independence_test",
    "mutual_information",
    "mutual_information_by_lag",
    "mutual_information_matrix",
]
