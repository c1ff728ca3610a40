"""What marks good images have where, and how much stronger those of another image are.

Each kind of mark has a mean and a spread in every cell, from good images, smoothed over neighbouring cells. Parts that
are aligned thereby have marks of their own, such as edges, at their places; on a texture all places are alike. How far
the standardised strength of a kind in a copy is beyond the largest ones of good images says how rare it is.

In addition, the marks around each place are weighed together, as made-up defects say; see `weighing`.

Good images are judged by means, spreads, tails and weights of the others, in folds. Tails that know an image make it
look common, and there are many tails: of few good images, too many new ones would then be rejected. And a good image
that is judged by four fifths of the others looks rarer than a new one, which all of them judge: then fewer defects are
found than could be. So means, spreads and tails leave out one image at a time, as long as there are not too many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde._compute.parallel import run
from vwkde.inspection.model.marks.made_up import MOST_PLACES, MadeUpMarks
from vwkde.inspection.model.marks.strengths import MARKS
from vwkde.inspection.model.marks.weighing import Weighing, fit_weighing, parents, pooled
from vwkde.inspection.model.tails import Tail, fit_tail

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Halves = NDArray[np.float16]
Places = NDArray[np.intp]
T = TypeVar("T")

_NEIGHBOURHOOD = 0.015
"""Standard deviation of the smoothing over cells, as a share of a side: parts are hardly aligned better."""
_LEAST_WIDTH = 0.8
"""Minimum of that standard deviation, in cells."""
_LEAST_SPREAD = 0.1
"""Minimum spread in a cell, as a share of that in all cells: where all good images agree, noise must not count."""
_FLAT = 1e-4
"""Added to spreads, for kinds that are the same in all cells of all good images."""
_FOLDS = 100
"""Maximum number of folds for means, spreads and tails; of up to so many good images, each is a fold."""
_WEIGHED_FOLDS = 5
"""Maximum number of folds for weights, which take longer to learn."""
_ALL_PLACES = 50_000
"""About how many places of all good images are told from places of made-up defects."""


@dataclass(frozen=True, eq=False)
class MarkComparison:
    """The marks of an image against those of good ones: the strongest excess in every cell, in nats.

    `weighed` is how strongly the marks around each cell of the largest copy speak for a defect.
    """

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
        excess = np.empty(standardised.shape[1], dtype=np.float32)
        for number, cells in enumerate(MARKS.cells(self.image_shape)):
            excess[cells] = self.tail[number, :, None](standardised[:, cells]).max(axis=0)
        return MarkComparison(excess, self.weighing(standardised, self.image_shape))


def learn_marks(
    marks: Sequence[Halves],
    made_up: Sequence[MadeUpMarks],
    image_shape: tuple[int, ...],
    seed: int,
    drawings: Mapping[int, Halves] = MappingProxyType({}),
) -> tuple[KnownMarks, list[MarkComparison], dict[int, MarkComparison]]:
    """Return what good images have, and how each of them and each of the drawings compares with the others.

    `made_up` are the marks of made-up defects on each good image, and `drawings` those of some of these images with
    further defects, by the numbers of the images.
    """
    random = np.random.default_rng(seed)
    order, copies = random.permutation(len(marks)), MARKS.cells(image_shape)
    weighed_folds, folds = (_folds(order, most) for most in (_WEIGHED_FOLDS, _FOLDS))
    few = min(MOST_PLACES, -(-_ALL_PLACES // len(marks)))
    some = random.integers(copies[0].stop, size=(len(marks), few))
    totals = np.sum(run(lambda fold: _sums([marks[image] for image in fold]), weighed_folds), axis=0)

    def judged_by_others(fold: Places) -> list[_Judged]:
        known = _moments(totals - _sums([marks[image] for image in fold]), len(marks) - len(fold), image_shape)
        standardised = [_standardised(marks[image], *known).astype(np.float16) for image in fold]
        cells = [parents(some[image], image_shape) for image in fold]
        drawn = [
            _standardised(drawings[image], *known).astype(np.float16) if image in drawings else None for image in fold
        ]
        return [
            _Judged(values, pooled(values[:, here]), _of_defects(made_up[image], *known, few), drawing)
            for image, values, here, drawing in zip(fold, standardised, cells, drawn, strict=True)
        ]

    judged = _in_order(folds, run(judged_by_others, folds))
    maxima = np.array([_maxima(image.standardised, copies) for image in judged])
    weighing = _in_order(weighed_folds, [[_weighing(judged, fold)] * len(fold) for fold in weighed_folds])
    learnt = KnownMarks(image_shape, *_moments(totals, len(marks), image_shape), fit_tail(maxima), _weighing(judged))

    def compared(fold: Places) -> list[tuple[MarkComparison, MarkComparison | None]]:
        tail = fit_tail(np.delete(maxima, fold, axis=0))
        known = [(replace(learnt, tail=tail, weighing=weighing[image]), judged[image]) for image in fold]
        return [
            (each.judge(own.standardised), None if own.drawn is None else each.judge(own.drawn)) for each, own in known
        ]

    good, drawn = zip(*_in_order(folds, run(compared, folds)), strict=True)
    return learnt, list(good), {image: each for image, each in enumerate(drawn) if each is not None}


@dataclass(frozen=True, eq=False)
class _Judged:
    """A good image by the means and spreads of others: its marks, and responses at places of it and of defects.

    `drawn` are the marks of a drawing on it, if there is one.
    """

    standardised: Halves  # half the memory, and precise enough
    good: Singles
    defective: Singles
    drawn: Halves | None


def _folds(order: Places, most: int) -> list[Places]:
    """Return images, given by their numbers, in at most so many folds."""
    return [order[start::most] for start in range(min(most, len(order)))]


def _in_order(folds: Sequence[Places], parts: Sequence[Sequence[T]]) -> list[T]:
    """Return what belongs to each image in the order of images, given what belongs to those of each fold."""
    of_image = dict(zip(np.concatenate(folds).tolist(), chain.from_iterable(parts), strict=True))
    return [of_image[image] for image in range(len(of_image))]


def _of_defects(made_up: MadeUpMarks, mean: Singles, spread: Singles, most: int) -> Singles:
    """Return the responses at some places of made-up defects, (responses, copies, places)."""
    cells = made_up.cells[:, :most]
    return pooled(_standardised(made_up.marks[..., :most], mean[:, cells], spread[:, cells]))


def _weighing(judged: Sequence[_Judged], without: Places | None = None) -> Weighing:
    """Return how to weigh marks, as the places of all images but some say."""
    left_out = set() if without is None else set(without.tolist())
    others = [image for number, image in enumerate(judged) if number not in left_out]
    return fit_weighing([image.good for image in others], [image.defective for image in others])


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
