"""Has a table changed? `drift` compares it with a reference, and `DriftReference` keeps a reference in a file."""

from vwkde.monitoring._drift import drift
from vwkde.monitoring._parts import ColumnDrift, PairDrift, RowDrift
from vwkde.monitoring._reference import DriftReference
from vwkde.monitoring._result import DriftResult

__all__ = ["ColumnDrift", "DriftReference", "DriftResult", "PairDrift", "RowDrift", "drift"]
