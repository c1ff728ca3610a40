"""What marks good images have where, and how much stronger those of another image are.

Each kind of mark has a mean and a spread in every cell, from good images, smoothed over neighbouring cells. Parts that
are aligned thereby have marks of their own, such as edges, at their places; on a texture all places are alike. The
largest standardised strength of a kind in a copy of an image is compared with those that good images have. The score of
an image is the mean of the few rarest.

In addition, the marks around each place are weighed together, as made-up defects say; see `weighing`.

Good images are judged by means, spreads, tails and weights of the others, in folds. Tails that know an image make it
look common, and there are many tails: of few good images, too many new ones would then be rejected.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde._compute.parallel import run
from vwkde.inspection.model.made_up_marks import MOST_PLACES, MadeUpMarks
from vwkde.inspection.model.marks import MARKS
from vwkde.inspection.model.tails import Tail, fit_tail
from vwkde.inspection.model.weighing import Weighing, fit_weighing, parents, pooled

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Halves = NDArray[np.float16]

_NEIGHBOURHOOD = 0.015
"""Standard deviation of the smoothing over cells, as a share of a side: parts are hardly aligned better."""
_LEAST_WIDTH = 0.8
"""Minimum of that standard deviation, in cells."""
_LEAST_SPREAD = 0.1
"""Minimum spread in a cell, as a share of that in all cells: where all good images agree, noise must not count."""
_FLAT = 1e-4
"""Added to spreads, for kinds that are the same in all cells of all good images."""
RAREST = 3
"""Number of kinds and copies that make up a score: a mark seldom shows in a single one."""
_FOLDS = 5
_ALL_PLACES = 50_000
"""About how many places of all good images are told from places of made-up defects."""


@dataclass(frozen=True, eq=False)
class MarkComparison:
    """The marks of an image against those of good ones: the score, and the strongest excess in every cell, in nats.

    `weighed` is how strongly the marks around each cell of the largest copy speak for a defect.
    """

    score: float
    excess: Singles
    weighed: Singles


@dataclass(frozen=True, eq=False)
class KnownMarks:
    """Mean and spread of every kind of mark in every cell, (kinds, cells), and the tails of maxima, (copies, kinds).

    `weighing` is how the marks around a place are weighed together.
    """

    image_shape: tuple[int, ...]
    mean: Singles
    spread: Singles
    tail: Tail
    weighing: Weighing

    def compare(self, marks: NDArray[np.floating]) -> MarkComparison:
        """Return how the marks of an image, (kinds, cells), compare with those of good images."""
        return self.judge(_standardised(marks, self.mean, self.spread))

    def judge(self, standardised: NDArray[np.floating]) -> MarkComparison:
        """Return the comparison for standardised marks."""
        copies = MARKS.cells(self.image_shape)
        rarity = self.tail(_maxima(standardised, copies))
        excess = np.empty(standardised.shape[1], dtype=np.float32)
        for number, cells in enumerate(copies):
            excess[cells] = self.tail[number, :, None](standardised[:, cells]).max(axis=0)
        weighed = self.weighing(standardised, self.image_shape)
        return MarkComparison(float(np.sort(rarity, axis=None)[-RAREST:].mean()), excess, weighed)


def learn_marks(
    marks: Sequence[Halves], made_up: Sequence[MadeUpMarks], image_shape: tuple[int, ...], seed: int
) -> tuple[KnownMarks, list[MarkComparison]]:
    """Return what good images have, and how each of them compares with the others.

    `made_up` are the marks of made-up defects on each of them.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(marks))
    folds = [order[start::_FOLDS] for start in range(min(_FOLDS, len(marks)))]
    parts = run(lambda fold: _sums([marks[image] for image in fold]), folds)
    totals = np.sum(parts, axis=0)
    standardised: dict[int, Halves] = {}  # half the memory, and precise enough
    places: dict[int, tuple[Singles, Singles]] = {}
    few = min(MOST_PLACES, -(-_ALL_PLACES // len(marks)))
    for fold, part in zip(folds, parts, strict=True):
        known = _moments(totals - part, len(marks) - len(fold), image_shape)
        standardised |= {int(image): _standardised(marks[image], *known).astype(np.float16) for image in fold}
        for image in map(int, fold):
            cells = parents(random.integers(MARKS.cells(image_shape)[0].stop, size=few), image_shape)
            places[image] = pooled(standardised[image][:, cells]), _of_defects(made_up[image], *known, few)
    copies = MARKS.cells(image_shape)
    maxima = np.array([_maxima(standardised[image], copies) for image in range(len(marks))])
    moments = _moments(totals, len(marks), image_shape)
    learnt = KnownMarks(image_shape, *moments, fit_tail(maxima), _weighing(places, ()))
    compared: dict[int, MarkComparison] = {}
    for fold in folds:
        tail = fit_tail(np.delete(maxima, fold, axis=0))
        of_others = replace(learnt, tail=tail, weighing=_weighing(places, fold.tolist()))
        compared |= {int(image): of_others.judge(standardised[image]) for image in fold}
    return learnt, [compared[image] for image in range(len(marks))]


def _of_defects(made_up: MadeUpMarks, mean: Singles, spread: Singles, most: int) -> Singles:
    """Return the responses at some places of made-up defects, (responses, copies, places)."""
    cells = made_up.cells[:, :most]
    return pooled(_standardised(made_up.marks[..., :most], mean[:, cells], spread[:, cells]))


def _weighing(places: Mapping[int, tuple[Singles, Singles]], without: Collection[int]) -> Weighing:
    """Return how to weigh marks, as the places of all images but some say."""
    good, defective = zip(*(places[image] for image in sorted(places) if image not in without), strict=True)
    return fit_weighing(good, defective)


def _sums(marks: Sequence[Halves]) -> Floats:
    """Return the sums of marks and of their squares, (2, kinds, cells)."""
    total = np.zeros((2, *marks[0].shape))
    for image in marks:
        values = image.astype(np.float64)
        total += values, values**2
    return total


def _moments(sums: Floats, count: int, image_shape: tuple[int, ...]) -> tuple[Singles, Singles]:
    """Return mean and spread of every kind in every cell, smoothed."""
    first, second = sums / count
    mean, spread = np.empty(first.shape, np.float32), np.empty(first.shape, np.float32)
    for cells, grid in zip(MARKS.cells(image_shape), MARKS.grids(image_shape), strict=True):
        widths = (0.0, *(max(_NEIGHBOURHOOD * side, _LEAST_WIDTH) for side in grid))
        whole = second[:, cells].mean(axis=1) - first[:, cells].mean(axis=1) ** 2
        smooth, square = (
            ndimage.gaussian_filter(values[:, cells].reshape(-1, *grid), widths, mode="nearest", truncate=3.0)
            for values in (first, second)
        )
        variance = np.maximum(square - smooth**2, 0) + _LEAST_SPREAD**2 * np.maximum(whole, 0)[:, None, None]
        mean[:, cells] = smooth.reshape(len(smooth), -1)
        spread[:, cells] = np.sqrt(variance).reshape(len(smooth), -1) + _FLAT
    return mean, spread


def _standardised(marks: NDArray[np.floating], mean: Singles, spread: Singles) -> Singles:
    return np.asarray((marks - mean) / spread, dtype=np.float32)


def _maxima(standardised: NDArray[np.floating], copies: Sequence[slice]) -> NDArray[np.floating]:
    """Return the largest value of each kind in each copy, (copies, kinds)."""
    return np.stack([standardised[:, cells].max(axis=1) for cells in copies])
