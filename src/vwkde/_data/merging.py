"""Rows of a sample that become the weight of others, and the way back from these to the rows that were given."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Merging:
    """The rows that are kept, and the share of each given row in each of them, of shape (given, kept)."""

    kept: Ints
    shares: csr_array

    def weight(self, weight: Floats) -> Floats:
        """Return the weights of the kept rows: those of all given rows, added up; their mean is one."""
        merged = np.asarray(self.shares.T @ weight)
        return merged / merged.mean()

    def expand(self, values: Floats) -> Floats:
        """Return one value per given row from one value per kept row."""
        return np.asarray(self.shares @ values)

    def spread(self, weight: Floats, own: Floats) -> Floats:
        """Return weights of the given rows, in proportion to their own, that add up to those of the kept rows."""
        behind = np.asarray(self.shares.T @ own)
        return own * self.expand(np.divide(weight, behind, out=np.zeros_like(weight), where=behind > 0))

    @property
    def target(self) -> Ints:
        """The kept row in which each given row has its largest share, by its number among them."""
        return np.asarray(self.shares.argmax(axis=1), dtype=np.intp).ravel()

    def then(self, following: "Merging | None") -> "Merging":
        """Return this followed by a merging of the kept rows."""
        if following is None:
            return self
        return Merging(self.kept[following.kept], csr_array(self.shares @ following.shares))


def merge_into(kept: Ints, target: Ints) -> Merging:
    """Return the merging in which each given row counts in full for the kept row with the number `target`."""
    rows = len(target)
    return Merging(kept, csr_array((np.ones(rows), (np.arange(rows), target)), shape=(rows, len(kept))))
