"""Many images, read one at a time: those that cannot be used are skipped, and the reasons are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.images import read_image_like
from vwkde.inspection.data.layouts import Item

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Failure:
    """An image that could not be used, and why."""

    name: str
    reason: str


class Pictures:
    """The names and pixels of image files, in order.

    Only images of one shape are yielded: the given shape or, by default, that of the first image that can be read. If
    they need not be `alike`, images of every shape are. With `colour`, files with colours are read with them.
    """

    def __init__(
        self, items: Sequence[Item], shape: tuple[int, ...] | None = None, *, alike: bool = True, colour: bool = False
    ) -> None:
        self.items, self._alike, self._colour = items, alike, colour
        self.failures: list[Failure] = []
        """The images skipped so far, with the reasons."""
        self._shape, self._example = shape, "the good ones"

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.items)

    def __iter__(self) -> Iterator[tuple[str, Singles]]:
        """Yield the name and the pixels of each image."""
        for item, image in self.labelled():
            yield item.name, image

    def labelled(self) -> Iterator[tuple[Item, Singles]]:
        """Yield what is known of each image, and its pixels."""
        for item in self.items:
            try:
                image = read_image_like(item.path, self._shape, self._example, self._colour)
                if self._alike and self._shape is None:
                    self._shape, self._example = image.shape[:2], item.name
            except ImageError as error:
                self.failures.append(Failure(item.name, str(error)))
                continue
            yield item, image
