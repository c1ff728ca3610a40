"""Products of the columns of a sample, two at a time."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def product_count(columns: int) -> int:
    """Return the number of products of two columns, squares included."""
    return columns * (columns + 1) // 2


def write_products(x: Floats, out: Floats) -> None:
    """Write the products of columns i ≤ j, in the order of `np.triu_indices`.

    They are written by whole slices: picking pairs of columns takes three times as long.
    """
    columns, start = x.shape[1], 0
    for i in range(columns):
        np.multiply(x[:, i, None], x[:, i:], out=out[:, start : start + columns - i])
        start += columns - i


def square_places(columns: int) -> NDArray[np.intp]:
    """Return where the squares are among the products."""
    first, second = np.triu_indices(columns)
    return np.flatnonzero(first == second)
