"""Intervals of measures: images are drawn anew, since pixels and detections of one image are not independent."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.pixels import PixelTally

_DRAWS_PER_REPETITION = 10
"""Draws of images that may be tried for each that can be used."""


def bootstrap_interval(
    statistic: Callable[..., float],
    *per_image: Any,
    repetitions: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a measure under draws of as many images, with repetition, as there are.

    `statistic` is any measure of images; each of `per_image` has one entry per image: an array, a
    sequence, or a `PixelTally`. Draws for which the measure has no value, as when all images are good, are drawn again.
    """
    lengths = {len(values) for values in per_image}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"All arguments must have one entry per image. Got lengths {sorted(lengths)} instead.")
    if not 0 < level < 1 or repetitions < 1:
        raise ValueError(f"Got level {level} and {repetitions} repetitions; needed: 0 < level < 1, repetitions ≥ 1.")
    statistic(*per_image)
    (count,) = lengths
    rng = np.random.default_rng(seed)
    values: list[float] = []
    for _ in range(_DRAWS_PER_REPETITION * repetitions):
        images = rng.integers(count, size=count)
        with suppress(UndefinedMeasureError):
            values.append(float(statistic(*(_take(entries, images) for entries in per_image))))
        if len(values) == repetitions:
            low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
    raise UndefinedMeasureError("Too few draws of images hold both good and defective ones; give more of both.")


def _take(entries: Any, images: NDArray[np.intp]) -> Any:
    if isinstance(entries, np.ndarray):
        return entries[images]
    if isinstance(entries, PixelTally):
        return entries.take(images)
    return [entries[image] for image in images]
