"""Intervals of measures: images are resampled, because pixels and detections of one image are not independent."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.pixels import PixelTally

_DRAWS_PER_REPETITION = 10
"""Maximum number of draws per usable draw."""


def bootstrap_interval(
    statistic: Callable[..., float],
    *per_image: Any,
    repetitions: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a measure when images are resampled with replacement.

    `statistic` is any measure of images. Each of `per_image` has one entry per image: an array, a sequence, or a
    `PixelTally`. Draws for which the measure is undefined, for example because all images are good, are repeated.
    """
    lengths = {len(values) for values in per_image}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"All arguments must have one entry per image. Got lengths {sorted(lengths)} instead.")
    if not 0 < level < 1 or repetitions < 1:
        raise ValueError(f"Needed: 0 < level < 1 and repetitions ≥ 1. Got {level} and {repetitions} instead.")
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
    raise UndefinedMeasureError("Too few draws of images contain both good and defective ones; give more of both.")


def _take(entries: Any, images: NDArray[np.intp]) -> Any:
    if isinstance(entries, np.ndarray):
        return entries[images]
    if isinstance(entries, PixelTally):
        return entries.take(images)
    return [entries[image] for image in images]
