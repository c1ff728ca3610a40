"""How much sets of columns say about each other: mutual information."""

from vwkde.information._mutual import mutual_information

__all__ = ["mutual_information"]
