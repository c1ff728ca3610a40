"""Two tables as columns for tests and pictures, and as numbers for the ratio."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._data.validation import check_pair
from vwkde.monitoring._columns import Column

Floats = NDArray[np.float64]


class Tables(NamedTuple):
    """Both tables, reference first: the columns that are used, the same as numbers, and the columns left out."""

    columns: list[Column]
    encoded: tuple[Floats, Floats]
    left_out: tuple[str, ...]


def read_pair(reference: Any, current: Any) -> Tables:
    """Return two tables with the same columns."""
    x, y, names, left_out = check_pair(reference, current)
    names = names or tuple(str(place) for place in range(x.shape[1]))
    x, y = x.astype(np.float64), y.astype(np.float64)
    columns = [Column(name, x[:, place], y[:, place]) for place, name in enumerate(names)]
    return Tables(columns, (x, y), left_out)
