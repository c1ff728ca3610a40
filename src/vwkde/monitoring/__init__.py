"""Has a table changed: `drift` compares a current table with a reference, `DriftReference` keeps a reference in a file."""

from vwkde.monitoring._drift import drift
from vwkde.monitoring._result import ColumnDrift, DriftResult, PairDrift, RowDrift

__all__ = ["ColumnDrift", "DriftResult", "PairDrift", "RowDrift", "drift"]
