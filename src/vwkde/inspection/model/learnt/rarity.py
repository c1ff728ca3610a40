"""How rare values on the copies of an image are among those of good images, and how this becomes a map.

Each copy has its own table: the values that given shares of all places of good images exceed, if each good image is
judged by the others. Minus the log of the share that exceeds a value is its rarity, in nats: linear between the entries
of a table, and beyond the last one by the slope of the last. A copy on which good images vary thereby counts less.

A copy that shows a defect must not be outvoted by the noise of the others, so rarities of copies are joined by the mean
of their fourth powers: nearly the largest. Texture, single marks, weighed marks and the odds of trained networks are
then joined by a mean, which is high where all differ at the same place; by chance they seldom do.

What is shown leaves out patches where they only blur; see `outlining`. Then marks alone are shown, sharp as they are.

Else, with texture, what is shown is the larger of this and of its surroundings. The peak of the map itself tells images
apart best, but a long scratch is a row of peaks, and the inside of a large defect is often calmer than its edge. Where
the map is high, its surroundings are lower: so a thin crack stays thin.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.features.patches import GridOnCopies
from vwkde.inspection.model.filters.interpolation import enlarged, interpolation
from vwkde.inspection.model.filters.pyramid import PYRAMID
from vwkde.inspection.model.marks.strengths import MARKS

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
Evidence = tuple[Values, ...]
"""The log ratios of the patches of all copies of an image, the excess of its marks in the cells of all copies, and, in
the cells of the largest copy, its weighed marks and, if there are any, the log odds of trained networks."""

_EXCEEDING = np.array([0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003])
"""Shares of places of good images that exceed the entries of a table."""
LEVELS = np.concatenate([[0.0], -np.log(_EXCEEDING)])
"""Rarities of the entries of a table, in nats; values up to the first entry are not rare at all."""
_FEWEST = 30
"""Least number of places that exceed an entry, if it is to be known; later entries continue the line."""
_LEAST = 1e-6
"""Least distance of entries, relative to the largest and at least to one, for values that are all alike."""
POWER = 4
"""Power of the mean over copies."""
COUNTS = 1.0, 1.0, 1.0, 2.0
"""How much texture, single marks, weighed marks and trained networks count in the mean."""
_STRONG = 10.0
"""Rarities beyond this, in nats, count by their logarithm: otherwise only the core of a strong defect would show."""
_AROUND = 1 / 32
"""Standard deviation of the Gaussian that averages the squares of the surroundings, as a share of the shorter side."""
RAISED = 1.15
"""Factor of the surroundings before the larger one is taken: a row of peaks becomes one region."""
AROUND_CUT = 3.0
"""Standard deviations after which that Gaussian is cut off."""
_HIGHEST = 0.01
"""Share of the places of a map whose mean counts in the score of an image."""
SPARED = 4
"""Surroundings are averaged at every fourth pixel of the map, from the third on; they are smooth between."""
FIRST_SPARED = 0.625
"""Distance of the centre of the third pixel from the edge, in steps of four pixels."""


@dataclass(frozen=True, eq=False)
class Rarities:
    """The tables of all copies, (copies, levels): those of `patches`, those of marks, and those of the largest copy.

    The latter are that of weighed marks and, if there are any, that of trained networks. `patches_shown` is whether
    patches count in what is shown; if not, surroundings do not, either.
    """

    image_shape: tuple[int, ...]
    tables: Floats
    patches: GridOnCopies = PYRAMID
    patches_shown: bool = True

    def maps(self, evidence: Evidence) -> tuple[Floats, Floats]:
        """Return how rare each place is in good images, in nats, and what is shown of this.

        Both have the size at which images are measured.
        """
        parts = self.of_parts(evidence)
        joint = averaged(parts)
        if not self.patches_shown:
            return joint, averaged(parts, 1)
        return joint, with_surroundings(joint) if self.patches.surroundings else joint

    def of_parts(self, evidence: Evidence) -> list[Floats]:
        """Return how rare each place is by each part of the evidence; that of trained networks may be missing."""
        places = places_of(self.image_shape, self.patches, len(evidence) - 2)
        parts = zip(evidence, places, self.parts()[: len(evidence)], strict=True)
        patches, cells, *largest = (_powers(*each) for each in parts)
        grid = MARKS.grids(self.image_shape)[0]
        spread = (
            self.patches.spread(patches, self.image_shape),
            MARKS.spread(cells, self.image_shape),
            *(enlarged(powers.reshape(grid), self.image_shape) for powers in largest),
        )
        return [np.sqrt(np.sqrt(powers)) for powers in spread]

    def parts(self) -> tuple[Floats, ...]:
        """Return the tables of patches, those of marks, and each one of the largest copy."""
        first = len(self.patches.places(self.image_shape))
        last = first + len(MARKS.cells(self.image_shape))
        return self.tables[:first], self.tables[first:last], *(table[None] for table in self.tables[last:])


def averaged(parts: Sequence[Floats], first: int = 0) -> Floats:
    """Return the mean of the rarities by each part of the evidence, from the first that counts."""
    return np.asarray(np.average(parts[first:], axis=0, weights=COUNTS[first : len(parts)]))


def mean_of_highest(joint: Floats) -> float:
    """Return the mean of the highest values of a map."""
    count = highest(joint.size)
    return float(np.partition(joint, -count, axis=None)[-count:].mean())


def highest(places: int) -> int:
    """Return how many of the places of a map are the highest."""
    return max(1, round(_HIGHEST * places))


def with_surroundings(values: Floats) -> Floats:
    """Return the larger of a map and of the raised root mean square of its surroundings."""
    some = np.square(values[SPARED // 2 :: SPARED, SPARED // 2 :: SPARED])
    around = ndimage.gaussian_filter(some, around_width(values.shape), truncate=AROUND_CUT)
    along_rows, along_columns = (
        interpolation(side, count, SPARED, FIRST_SPARED) for side, count in zip(values.shape, some.shape, strict=True)
    )
    return np.maximum(values, RAISED * np.sqrt(along_rows @ around @ along_columns.T))


def around_width(shape: tuple[int, ...]) -> float:
    """Return the standard deviation of the surroundings in a map of this shape, in steps of `SPARED` pixels."""
    return _AROUND * min(shape) / SPARED


def _powers(values: Values, places: Sequence[slice], tables: Floats) -> Floats:
    """Return the powers of the rarities of all places, copy by copy."""
    copies = enumerate(zip(places, tables, strict=True))
    return np.concatenate([counted(values[place], table, copy) ** POWER for copy, (place, table) in copies])


def counted(values: Values, table: Floats, copy: int) -> Floats:
    """Return the rarity of values on a copy, whose number starts at the largest, as it counts in a map."""
    rarity = np.zeros(values.shape)
    for entry, bend in zip(table, bends(table), strict=True):
        rarity += bend * np.maximum(values - entry, 0)
    return np.asarray(strong(copy) * np.arcsinh(np.maximum(rarity, 0) / strong(copy)))


def strong(copy: int) -> float:
    """Return the rarity beyond which the logarithm counts: less on small copies, where a defect spreads far."""
    return float(_STRONG / 2**copy)


def bends(table: Floats) -> Floats:
    """Return by how much the slope of the rarity changes at each entry; beyond the last it stays as it is."""
    slopes = np.diff(LEVELS) / np.diff(table)
    return np.diff(slopes, prepend=0.0, append=slopes[-1])


def fit_rarities(images: Sequence[Evidence], image_shape: tuple[int, ...], patches: GridOnCopies = PYRAMID) -> Rarities:
    """Return the tables of good images, each compared with others."""
    tables = []
    for part, places in enumerate(places_of(image_shape, patches, len(images[0]) - 2)):
        tables += [_table(np.concatenate([image[part][place] for image in images])) for place in places]
    return Rarities(image_shape, np.array(tables), patches)


def places_of(
    image_shape: tuple[int, ...], patches: GridOnCopies = PYRAMID, on_largest: int = 1
) -> tuple[list[slice], ...]:
    """Return where the values of each copy are: among those of patches, of marks, and of each part of evidence that
    has values on the largest copy only."""
    cells = MARKS.cells(image_shape)
    return patches.places(image_shape), cells, *[cells[:1]] * on_largest


def _table(values: Values) -> Floats:
    """Return the entries for all levels; those that too few values exceed continue the line of the last two."""
    known = max(2, int(np.count_nonzero(_EXCEEDING * len(values) >= _FEWEST)))
    entries = np.quantile(values.astype(np.float64), 1 - _EXCEEDING[:known])
    entries = np.maximum.accumulate(entries) + _LEAST * max(1.0, np.abs(entries).max()) * np.arange(known)
    below = _on_line(LEVELS[1:3], entries[:2], LEVELS[:1])
    above = _on_line(LEVELS[known - 1 : known + 1], entries[-2:], LEVELS[known + 1 :])
    return np.concatenate([below, entries, above])


def _on_line(levels: Floats, entries: Floats, wanted: Floats) -> Floats:
    """Return the entries for the wanted levels on the line through two others."""
    return np.asarray(entries[0] + (wanted - levels[0]) * (entries[1] - entries[0]) / (levels[1] - levels[0]))
