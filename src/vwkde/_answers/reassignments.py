"""The contrasts of two samples: in fact, and as they would be if both came from one distribution.

Groups of rows that are alike in size change places: a permutation test, exact if the labels of the samples are random.
If the groups of one sample are larger, labels are not random: a permuted sample of few large and many small groups
varies otherwise than either one does. Then each group stays where it is, and the sign of its contribution to the
difference is random, as in the wild bootstrap of Cameron, Gelbach and Miller (Review of Economics and Statistics,
2008): the larger the number of groups, the closer to its level is the test.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_ALIKE = 1.25
"""Ratio of the mean sizes of the groups of both samples up to which groups change places."""
_BY_CHANCE = 1.0
"""Difference of these means, in its standard deviations under random labels, up to which they do, too."""


class Reassignments(Protocol):
    """Contrasts of rows, as columns: the first one is the one in fact."""

    @property
    def count(self) -> int:
        """The number of columns."""

    def at(self, rows: Ints) -> "Reassignments":
        """Return those of some of the rows."""

    def contrast(self, columns: slice = slice(None)) -> Floats:
        """Return some of the contrasts; each sums to zero."""


@dataclass(frozen=True)
class Permuted:
    """Which rows are in the first sample, as columns: in fact and in permutations."""

    labels: Bools

    @property
    def count(self) -> int:
        """The number of columns."""
        return self.labels.shape[1]

    def at(self, rows: Ints) -> "Permuted":
        """Return those of some of the rows."""
        return Permuted(self.labels[rows])

    def contrast(self, columns: slice = slice(None)) -> Floats:
        """Return 1/n for the rows of the first sample and −1/m for others; thinned rows may leave one sample empty."""
        labels = self.labels[:, columns]
        n = labels.sum(axis=0)
        return np.where(labels, 1 / np.maximum(n, 1), -1 / np.maximum(len(labels) - n, 1))


@dataclass(frozen=True)
class Flipped:
    """Which rows are in the first sample, the group of each, and random signs of the groups, as columns.

    In fact all signs are one. Contributions are measured from a common centre, in which each sample counts by its
    number of groups. They are closer to it than to the truth, for which `larger` makes up: a factor for each row.
    """

    first: Bools
    group: Ints
    signs: NDArray[np.int8]
    centre: Floats
    larger: Floats

    @classmethod
    def of_groups(cls, first: Bools, group: Ints, count: int, random: np.random.Generator) -> "Flipped":
        """Draw the signs of groups that are numbered from zero."""
        groups = [effective_groups(group[side]) for side in (first, ~first)]
        signs = 2 * random.integers(0, 2, size=(group.max() + 1, count + 1), dtype=np.int8) - 1
        signs[:, 0] = 1
        centre = np.where(first, groups[0] / first.sum(), groups[1] / (~first).sum())
        larger = np.where(first, *(np.sqrt(each / (each - 1)) for each in groups))
        return cls(first, group, signs, centre, larger)

    @property
    def count(self) -> int:
        """The number of columns."""
        return self.signs.shape[1]

    def at(self, rows: Ints) -> "Flipped":
        """Return those of some of the rows."""
        return Flipped(self.first[rows], self.group[rows], self.signs, self.centre[rows], self.larger[rows])

    def contrast(self, columns: slice = slice(None)) -> Floats:
        """Return 1/n for the rows of the first sample and −1/m for others, times the signs, less what is the centre's.

        The sum of such a contrast over features is that over their distances from the centre.
        """
        weight = Permuted(self.first[:, None]).contrast()
        factor = np.where(np.arange(self.count) > 0, self.larger[:, None], 1.0)[:, columns]
        signed = weight * factor * self.signs[self.group, columns]
        return signed - (self.centre / self.centre.sum())[:, None] * signed.sum(axis=0)


def reassigned(first: Bools, group: Ints, count: int, random: np.random.Generator) -> Reassignments:
    """Return the labels in fact, and as many random ones, as suits the sizes of the groups."""
    if are_alike(first, group):
        return Permuted(permuted_labels(first, group, count, random))
    return Flipped.of_groups(first, _by_first_row(group), count, random)


def permuted_labels(first: Bools, group: Ints, count: int, random: np.random.Generator) -> Bools:
    """Return which rows are in the first sample: in fact, and in random permutations of the groups, as columns."""
    place = _by_first_row(group)
    of_groups = np.empty(place.max() + 1, dtype=bool)
    of_groups[place] = first
    return np.column_stack([of_groups, *(random.permutation(of_groups) for _ in range(count))])[place]


def are_alike(first: Bools, group: Ints) -> bool:
    """Return whether the groups of both samples are similar in size, or differ no more than by chance.

    Groups are in one sample only.
    """
    sizes = [np.unique(group[side], return_counts=True)[1].astype(np.float64) for side in (first, ~first)]
    means = [each.mean() for each in sizes]
    deviation = np.std(np.concatenate(sizes), ddof=1) * np.sqrt(sum(1 / len(each) for each in sizes))
    return bool(max(means) <= _ALIKE * min(means) or abs(means[0] - means[1]) <= _BY_CHANCE * deviation)


def effective_groups(group: Ints) -> float:
    """Return the number of groups of equal sizes whose means vary as much as those of a sample's groups."""
    sizes = np.unique(group, return_counts=True)[1]
    return float(sizes.sum() ** 2 / np.sum(sizes.astype(np.float64) ** 2))


def _by_first_row(group: Ints) -> Ints:
    """Return groups numbered by their first rows, not by labels."""
    _, start, place = np.unique(group, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(start))[place.ravel()])
