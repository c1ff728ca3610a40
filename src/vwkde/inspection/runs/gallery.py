"""Small pictures of the most interesting images, as many as fit on a page; collected during a run."""

import io
from dataclasses import dataclass
from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde._runtime.extras import require
from vwkde.inspection.runs.records import ImageRecord

Mask = NDArray[np.bool_]

MOST_REJECTED = 100
"""Maximum number of pictures of rejected images, highest scores first."""
MOST_PASSED = 12
"""Maximum number of pictures of images that pass, highest scores first."""
MOST_MISSED = 30
"""Maximum number of pictures of defective images that pass, lowest scores first."""
_SIDE = 224
"""Longer side of a picture, in pixels."""
_QUALITY = 70
_OUTLINE = (70, 200, 255)
"""Colour of the outline of known defects."""


@dataclass(frozen=True)
class Pair:
    """Small pictures of an image and of its map, as JPEG."""

    image: bytes
    overlay: bytes


class Gallery:
    """Pictures of the worst images so far, and of defective ones that passed."""

    def __init__(self) -> None:
        self._rejected, self._passed, self._missed = _Top(MOST_REJECTED), _Top(MOST_PASSED), _Top(MOST_MISSED)

    def add(
        self,
        record: ImageRecord,
        image: NDArray[np.float32],
        overlay: NDArray[np.uint8],
        mask: Mask | None = None,
    ) -> None:
        """Add the pictures of an image if its score qualifies; the outline of its mask is drawn on the map."""
        tops = [(self._rejected if record.rejected else self._passed, record.score)]
        if record.is_missed:
            tops.append((self._missed, -record.score))
        wanted = [(top, value) for top, value in tops if top.takes(value)]
        if wanted:
            gray = np.rint(255 * image).astype(np.uint8)
            pair = Pair(small_picture(gray), small_picture(overlay, mask))
            for top, value in wanted:
                top.add(value, record.image, pair)

    @property
    def pictures(self) -> dict[str, Pair]:
        """The pictures, by image name."""
        tops = (self._rejected, self._passed, self._missed)
        return {name: pair for top in tops for _, _, name, pair in top.kept}


class _Top:
    """The entries with the highest values, up to a maximum number."""

    def __init__(self, most: int) -> None:
        self.kept: list[tuple[float, int, str, Pair]] = []
        self._most, self._seen = most, 0

    def takes(self, value: float) -> bool:
        return len(self.kept) < self._most or value > self.kept[0][0]

    def add(self, value: float, name: str, pair: Pair) -> None:
        self._seen += 1
        (heappush if len(self.kept) < self._most else heappushpop)(self.kept, (value, -self._seen, name, pair))


def small_picture(pixels: NDArray[np.uint8], mask: Mask | None = None) -> bytes:
    """Return a picture as JPEG, reduced if it is large, with the outline of a mask drawn on it."""
    require("PIL", "Inspection needs Pillow", "inspect")
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(pixels))
    picture.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    if mask is not None and mask.any():
        small = np.asarray(Image.fromarray(mask).resize(picture.size, Image.Resampling.NEAREST))
        drawn = np.array(picture.convert("RGB"))
        drawn[ndimage.binary_dilation(small, iterations=3) & ~ndimage.binary_dilation(small)] = _OUTLINE
        picture = Image.fromarray(drawn)
    file = io.BytesIO()
    picture.save(file, format="JPEG", quality=_QUALITY, subsampling=0)
    return file.getvalue()
