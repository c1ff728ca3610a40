"""How much sets of columns say about each other: mutual information."""

from vwkde.information._conditional import conditional_mutual_information
from vwkde.information._mutual import mutual_information

__all__ = ["conditional_mutual_information", "mutual_information"]
