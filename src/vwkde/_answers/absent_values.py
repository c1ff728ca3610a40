"""Values of a column that one sample takes again and again, and the other one never: levels that are not there.

A column may be discrete in one sample or in both: rounded, a code, or an amount that is often zero. Distances do not
show that one of its values does not occur in the other sample. Two signs do. Between two values that are frequent in a
sample there is nothing, although the other one has many rows there. Or a value is frequent, among values that the
sample without it takes only once each.

By chance, too, a sample may lack a value. So the other one must have so many rows there that of as many, in proportion
to the sizes, hardly ever none would have come.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_EXPECTED = 20.0
"""Rows that a sample should have, by those of the other one, where it has none: none come with a chance of 2e-9."""
_FREQUENT = 15
"""Rows of the values on both sides of a gap."""
_REPEATED, _REPEATED_HERE = 5, 3.0
"""Rows of a value that is taken again and again, and those that the sample without it should have of it."""
_AROUND = 10
"""Values on each side of it that the sample without it takes only once each."""


def at_absent_values(own: Floats, other: Floats) -> Booleans:
    """Mark the other sample's rows with values that the own sample never takes, as far as its rows show."""
    values, counts = np.unique(own, return_counts=True)
    after = np.searchsorted(values, other)
    absent = values[np.minimum(after, len(values) - 1)] != other
    per_row = len(other) / len(own)
    return _in_gaps(counts, after, absent, per_row) | _at_atoms(counts, after, other, absent, per_row)


def _in_gaps(counts: NDArray[np.intp], after: NDArray[np.intp], absent: Booleans, per_row: float) -> Booleans:
    """Mark rows between two neighbouring own values that are frequent, if there are enough in the same gap."""
    inside = absent & (after > 0) & (after < len(counts))
    right = np.clip(after, 1, len(counts) - 1) if len(counts) > 1 else np.zeros_like(after)
    inside &= np.minimum(counts[right - 1], counts[right]) >= _FREQUENT
    in_gap = np.bincount(after[inside], minlength=len(counts) + 1)
    return np.asarray(inside & (in_gap[after] >= _EXPECTED * per_row))


def _at_atoms(
    counts: NDArray[np.intp], after: NDArray[np.intp], other: Floats, absent: Booleans, per_row: float
) -> Booleans:
    """Mark rows whose values are frequent where own values are all different, if there are enough of such rows."""
    _, place, times = np.unique(other, return_inverse=True, return_counts=True)
    tied = np.concatenate([[0], np.cumsum(counts > 1)])
    low, high = np.maximum(after - _AROUND, 0), np.minimum(after + _AROUND, len(counts))
    different = (tied[high] == tied[low]) & (high - low >= _AROUND)
    repeated = times[place.ravel()] >= max(_REPEATED, _REPEATED_HERE * per_row)
    atoms = absent & different & repeated
    return atoms if np.count_nonzero(atoms) >= _EXPECTED * per_row else np.zeros(len(other), dtype=bool)
