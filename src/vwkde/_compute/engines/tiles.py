"""The shape in which the CPU engine hands points to its inner loops: tiles that stay in the cache."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 64
COLUMNS = 512
"""A tile of 64 × 512 doubles fills a quarter of a 1 MiB L2 cache."""


def tiled(rows: NDArray[Any], width: int, padding: float) -> NDArray[Any]:
    """Return (tiles, columns of `rows`, width): `width` rows to a tile, transposed."""
    count = -(-len(rows) // width)
    padded = np.full((count * width, rows.shape[1]), padding, rows.dtype)
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(count, width, rows.shape[1]).transpose(0, 2, 1))
