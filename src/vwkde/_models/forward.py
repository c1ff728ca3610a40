"""Least squares of a column on others, to which more are added one at a time, as long as one clearly counts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FARTHEST = 4.0
"""Standard deviations of what is left beyond which a row's error counts as this many."""
_NEW = 1e-2
"""Share of a column's squares that the others must leave for it to say something new."""


class Forward:
    """What a regression has left of a column and of those that may enter.

    Errors are those of each row, so that a scatter that differs between rows does not make a column count.
    """

    def __init__(self, y: Floats, used: Floats, others: Floats, weight: Floats) -> None:
        root = np.sqrt(weight)[:, None]
        basis, _ = np.linalg.qr(used * root)
        y, others = y * root[:, 0], others * root
        self._squares = (others**2).sum(axis=0)
        self._left = y - basis @ (basis.T @ y)
        self._others = others - basis @ (basis.T @ others)

    def standard_errors(self) -> Floats:
        """Return by how many standard errors each of the other columns counts."""
        spread = _FARTHEST * np.sqrt(np.mean(self._left**2))
        squares = self._others**2
        error = np.sqrt(squares.T @ np.clip(self._left, -spread, spread) ** 2)
        new = squares.sum(axis=0) > _NEW * self._squares
        slope = np.abs(self._others.T @ self._left)
        return np.divide(slope, error, out=np.zeros_like(slope), where=new & (error > 0))

    def add(self, entering: int) -> None:
        """Take one of the other columns into the regression."""
        direction = self._others[:, entering] / np.linalg.norm(self._others[:, entering])
        self._left = self._left - direction * (direction @ self._left)
        self._others = self._others - np.outer(direction, direction @ self._others)


def counting(regressions: Sequence[Forward], least: float, most: int) -> Ints:
    """Return the columns that count in one of some regressions, by at least so many standard errors, in all of them."""
    entered: list[int] = []
    while len(entered) < most:
        by = np.max([regression.standard_errors() for regression in regressions], axis=0)
        if by.max(initial=0.0) < least:
            break
        entered.append(int(by.argmax()))
        for regression in regressions:
            regression.add(entered[-1])
    return np.array(sorted(entered), dtype=np.intp)
