"""Maps of scores with known defects."""

import numpy as np

from vwkde.inspection.metrics.pixels import PixelTally, count_pixels


def disc(shape, row, column, radius):
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def some_images(seed=0, count=6, shape=(60, 80)):
    """Yield maps and masks; every third has no defect."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        mask = disc(shape, 20, 20, 3 + index) | disc(shape, 45, 60, 1) if index % 3 else np.zeros(shape, bool)
        yield rng.standard_normal(shape) + 1.2 * mask, mask


def tally_of(*images):
    return PixelTally.of(count_pixels(*image) for image in images)
