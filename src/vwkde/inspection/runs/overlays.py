"""The pictures of a run: each image in gray, coloured where its map is high, and their file names."""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.runs.output import OVERLAYS

_STRONGEST = 0.65
"""Opacity of the map's colours."""
_LONGEST_NAME = 200
"""Maximum length of the name of a picture, in bytes."""


def draw_overlay(image: NDArray[np.float32], inspection: Inspection) -> NDArray[np.uint8]:
    """Return the image in gray, coloured where its map is high; see `Inspection.coloured_from`."""
    colours = map_colours(inspection.log_ratio, inspection.coloured_from)
    opacity = _STRONGEST * (colours[..., 3:] / 255)
    mixed = (1 - opacity) * (255 * image[..., None]) + opacity * colours[..., :3]
    return np.rint(np.clip(mixed, 0, 255)).astype(np.uint8)


class OverlayNames:
    """The path of each image's picture below the folder: named like the image, and unique."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._taken: set[str] = set()
        self._paths: dict[str, str] = {}
        for name in names:
            self.of(name)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths so far."""
        return tuple(self._paths.values())

    def __contains__(self, name: str) -> bool:
        """Return whether the image has a path already."""
        return name in self._paths

    def of(self, name: str) -> str:
        """Return the path of an image's picture."""
        if name not in self._paths:
            path = PurePosixPath("".join(each if each.isprintable() else "_" for each in name))
            digest = path.with_name(sha256(os.fsencode(name)).hexdigest())
            choices = (path.with_suffix(""), path) if len(path.name.encode()) <= _LONGEST_NAME else ()
            stem = next((str(each) for each in choices if str(each).casefold() not in self._taken), str(digest))
            self._taken.add(stem.casefold())
            self._paths[name] = f"{OVERLAYS}/{stem}.png"
        return self._paths[name]
