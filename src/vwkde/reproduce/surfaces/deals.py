"""The images of DAGM's classes in each repetition: images to fit, images to test, and images with unseen defects.

A random half of a class's good images is used to fit, the other half to test; all defective images are used to test.
Unseen defects are the digit 3 on a random 15 % of the good test images, compared with the rest of these. The paper says
"superimposing"; here the digit is tested both added to the surface, as white strokes, and pasted over it, as a black
square with the digit in white.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.images import read_image
from vwkde.inspection.data.layouts import Item, Layout
from vwkde.inspection.data.recognise import recognise_all
from vwkde.inspection.model.features.patches import PAPER_GRID
from vwkde.reproduce.core.digits import SIDE, read_digits
from vwkde.reproduce.core.figure import Scale, SurfaceImages

Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

SPOILT = 0.15
"""Share of the good test images that get a digit."""
_CLASSES = 6
"""Number of classes in the paper: the first ones of DAGM."""
_QUICK_IMAGES = 24
"""Images of each kind in a quick run."""
_FEWEST_GOOD, _FEWEST_DEFECTIVE = 8, 2
_DIGEST = 10
"""Characters of a digest of the images."""


@dataclass(frozen=True)
class Digit:
    """A digit on an image: which picture of a file, the corner of its square, and whether it is pasted or added."""

    file: Path | None
    number: int
    top: int
    left: int
    pasted: bool

    def put_on(self, image: Singles) -> Singles:
        """Return the image with the digit."""
        picture = read_digits(self.file)[self.number]
        spoilt = image.copy()
        below = spoilt[self._place]
        spoilt[self._place] = picture if self.pasted else np.minimum(below + picture, 1)
        return spoilt

    def mask(self, shape: tuple[int, int]) -> Mask:
        """Return the square of the digit."""
        mask = np.zeros(shape, dtype=bool)
        mask[self._place] = True
        return mask

    @property
    def _place(self) -> tuple[slice, slice]:
        return slice(self.top, self.top + SIDE), slice(self.left, self.left + SIDE)


@dataclass(frozen=True)
class Shot:
    """An image of a run: a file, possibly with a digit on it."""

    item: Item
    digit: Digit | None = None

    def pixels(self) -> Singles:
        """Return the image."""
        image = read_image(self.item.path, PAPER_GRID.size)
        return image if self.digit is None else self.digit.put_on(image)

    def mask(self, shape: tuple[int, int]) -> Mask | None:
        """Return where the defect is, if there is one."""
        if self.digit is not None:
            return self.digit.mask(shape)
        return None if self.item.mask is None else self.item.mask.draw(shape)


@dataclass(frozen=True)
class Deal:
    """The images of a class in one repetition: to fit, good ones to test, and the defective ones by kind."""

    shape: tuple[int, int]
    seed: int
    fit: tuple[Shot, ...]
    good: tuple[Shot, ...]
    defective: tuple[Shot, ...]
    added: tuple[Shot, ...]
    pasted: tuple[Shot, ...]
    seen: tuple[Shot, ...] = ()
    """Defective images that a method with labels learns from; it is not tested on them."""

    def with_labels(self) -> "Deal":
        """Return the deal for a method that uses labels: it learns from every other defective image."""
        return replace(self, seen=self.defective[::2], defective=self.defective[1::2])


def choose_surfaces(
    folder: Path, classes: list[str] | None, images: int | None, digits: Path | None, quick: bool
) -> SurfaceImages:
    """Return the images of a run: the classes by name or number, by default the first six in the folder."""
    layouts = recognise_all(folder)
    read_digits(digits)
    names = list(layouts)[:_CLASSES] if classes is None else [_class_named(each, folder, layouts) for each in classes]
    return SurfaceImages(folder, tuple(names), images or (_QUICK_IMAGES if quick else None), digits)


def _class_named(wanted: str, folder: Path, layouts: dict[str, Layout]) -> str:
    for name in layouts:
        if name.lower() in (wanted.lower(), f"class{wanted}"):
            return name
    raise ValueError(f"{folder}: there is no class {wanted!r}. Choose among: {', '.join(layouts)}.")


@lru_cache(maxsize=8)
def layout_of(folder: Path, name: str) -> Layout:
    """Return the images of a class."""
    return recognise_all(folder)[name]


def deal(surfaces: SurfaceImages, name: str, seed: int) -> Deal:
    """Deal the images of a class for one repetition."""
    good, defective = _good_items(surfaces, name), _defective_items(surfaces, name)
    if len(good) < _FEWEST_GOOD or len(defective) < _FEWEST_DEFECTIVE:
        raise ValueError(
            f"{surfaces.folder}: {name} has {len(good)} good images and {len(defective)} defective ones with a mask. "
            f"At least {_FEWEST_GOOD} and {_FEWEST_DEFECTIVE} are needed."
        )
    random = np.random.default_rng(seed)
    order = random.permutation(len(good))
    fit, test = np.sort(order[: len(good) // 2]), order[len(good) // 2 :]
    shape = image_shape(good[0].path)
    pictures = len(read_digits(surfaces.digits))
    count = max(1, round(SPOILT * len(test)))
    places = [
        (
            int(random.integers(pictures)),
            int(random.integers(shape[0] - SIDE + 1)),
            int(random.integers(shape[1] - SIDE + 1)),
        )
        for _ in range(count)
    ]
    added, pasted = (
        tuple(
            Shot(good[at], Digit(surfaces.digits, *place, pasted))
            for at, place in zip(test[:count], places, strict=True)
        )
        for pasted in (False, True)
    )
    return Deal(
        shape,
        seed,
        tuple(Shot(good[at]) for at in fit),
        tuple(Shot(good[at]) for at in test),
        tuple(map(Shot, defective)),
        added,
        pasted,
    )


def _good_items(surfaces: SurfaceImages, name: str) -> list[Item]:
    layout = layout_of(surfaces.folder, name)
    return [*layout.good, *(item for item in layout.test if item.defective is False)][: surfaces.images]


def _defective_items(surfaces: SurfaceImages, name: str) -> list[Item]:
    items = layout_of(surfaces.folder, name).test
    return [item for item in items if item.defective and item.mask][: surfaces.images]


@lru_cache(maxsize=8)
def image_shape(path: Path) -> tuple[int, int]:
    """Return the shape of an image."""
    height, width = read_image(path, PAPER_GRID.size).shape
    return height, width


@lru_cache(maxsize=32)
def images_digest(surfaces: SurfaceImages, name: str) -> str:
    """Return a digest of the file names and sizes of a class's images and of the digits.

    The location of the folder is not part of it, so that a run can continue after the images were moved.
    """
    items = [*_good_items(surfaces, name), *_defective_items(surfaces, name)]
    files = [(item.name, item.path) for item in items]
    if surfaces.digits is not None:
        files.append((surfaces.digits.name, surfaces.digits))
    listing = "".join(f"{title} {path.stat().st_size}\n" for title, path in files)
    return sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGEST]


def surfaces_of(scale: Scale) -> SurfaceImages:
    """Return the images of a run; raise an error if it has none."""
    if scale.surfaces is None:
        raise ValueError("This needs DAGM's images: give the folder that contains the classes.")
    return scale.surfaces
