"""Synthetic surfaces as a data set in files, to try inspection on."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vwkde._runtime.progress import track
from vwkde.inspection import SURFACES, make_surfaces
from vwkde.inspection.runs.folder import write_picture

_FIT, _TEST, _DEFECTIVE = 40, 20, 18
"""Number of images of each surface: good ones to fit on, good ones to test, and defective ones."""
_SIZE = 256


def write_surfaces(folder: Path, seed: int = 0) -> None:
    """Write every kind of synthetic surface below a folder, each in the layout of MVTec's data sets."""
    for kind in track(SURFACES, "making surfaces", len(SURFACES)):
        for path, picture in _pictures(folder / kind, kind, seed):
            write_picture(path, picture)


def _pictures(folder: Path, kind: str, seed: int) -> Iterator[tuple[Path, "np.typing.NDArray[np.uint8]"]]:
    made = make_surfaces(kind, _FIT + _TEST, _DEFECTIVE, _SIZE, seed)
    for place, (image, mask, defect) in enumerate(zip(made.images, made.masks, made.defects, strict=True)):
        name = f"{place:03}"
        pixels = np.rint(255 * image).astype(np.uint8)
        if defect is None:
            yield folder / ("train" if place < _FIT else "test") / "good" / f"{name}.png", pixels
        else:
            yield folder / "test" / defect / f"{name}.png", pixels
            yield folder / "ground_truth" / defect / f"{name}_mask.png", np.where(mask, 255, 0).astype(np.uint8)
