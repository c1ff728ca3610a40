"""Good images, read one by one: each is measured and named, and a thumbnail is kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import run, thread_count
from vwkde._runtime.progress import track
from vwkde._runtime.warn import warn
from vwkde.exceptions import RepeatedImagesWarning
from vwkde.inspection.data.arrays import as_image, fingerprint
from vwkde.inspection.data.colours import PLANES, brightness, planes_of
from vwkde.inspection.model.coordinates import Coordinates
from vwkde.inspection.model.features.combined import Marking
from vwkde.inspection.model.features.registry import FeatureSet, is_trained, marking_of, whole_of
from vwkde.inspection.model.frames import AS_THEY_ARE, Frame, Framing, Shape
from vwkde.inspection.model.made_up.drawings import Drawing, has_drawing
from vwkde.inspection.model.marks.made_up import MadeUpMarks

Singles = NDArray[np.float32]
Halves = NDArray[np.float16]
Images = Iterable[Singles] | Iterable[tuple[str, Singles]]
Measure = Callable[[Sequence[Singles]], tuple[list[Singles], list[Halves]]]
"""Returns the features of the patches of each image, and its marks, if there are any."""

_THUMBNAIL = 96
"""Maximum length of the longer side of a thumbnail, in pixels."""
_NAMED = 3
"""Maximum number of images that a warning names."""


@dataclass(frozen=True)
class Measured:
    """Good images: names, features (patches, features), thumbnails, fingerprints, and the frame they were brought to.

    `marks` are the single marks of each image, if the features have them, and `made_up` those of made-up defects on it,
    if asked for; `drawings` are some of the images with further defects, by their numbers. `small` is each image as
    trained networks see it, if there are to be some. `colours` are the further planes of coloured images.
    """

    names: list[str]
    features: list[Singles]
    thumbnails: NDArray[np.uint8]
    fingerprints: list[str | None]
    frame: Frame
    marks: list[Halves] = field(default_factory=list)
    made_up: list[MadeUpMarks] = field(default_factory=list)
    small: list[Singles] = field(default_factory=list)
    colours: list["Plane"] = field(default_factory=list)
    drawings: dict[int, Drawing] = field(default_factory=dict)

    def plane(self, kind: int) -> "Measured":
        """Return what was measured of one plane: of brightness, which is 0, or of a difference of colours."""
        if kind == 0:
            return replace(self, colours=[])
        own = self.colours[kind - 1]
        parts = {name: getattr(own, name) for name in ("features", "marks", "made_up", "small", "drawings")}
        return replace(self, **parts, colours=[])

    @property
    def drawn_marks(self) -> dict[int, Halves]:
        """The marks of the drawings, by the numbers of the images."""
        return {number: drawing.marks for number, drawing in self.drawings.items()}

    @property
    def contrasts(self) -> list[float]:
        """How much contrast each further plane has at most in an image."""
        return [plane.contrast for plane in self.colours]

    @property
    def shape(self) -> Shape:
        """The shape at which images are compared."""
        return self.frame.shape


def measure_all(
    images: Images,
    features: FeatureSet,
    frame: Frame | Framing = AS_THEY_ARE,
    taken: Sequence[str] = (),
    known: Sequence[str | None] = (),
    measure: Measure | None = None,
    make_up: bool = False,
) -> Measured:
    """Measure images in a frame; a name that is already taken gets a number. `measure` is how, if not on the CPU.

    With `make_up`, the marks of made-up defects are measured, too, if the features have marks.

    An image whose fingerprint is known, or that came before, is left out: it is no further evidence of what good images
    look like, and would match itself when good images are judged by the others.
    """
    names: list[str] = []
    thumbnails: list[NDArray[np.uint8]] = []
    fingerprints: list[str | None] = []
    repeated: list[str] = []
    used, seen = set(taken), {*known}
    threads = thread_count()
    frame, named = _framed(_named(images, len(taken), frame.colour), frame)
    planes = [Plane() for _ in range(PLANES if frame.colour else 1)]
    total = getattr(images, "__len__", lambda: 0)()
    for few in track(iter(lambda: list(islice(named, threads)), []), "measuring images", -(-total // threads)):
        new = []
        for name, image in few:
            inside = frame.bring(image, name).image
            pixels = fingerprint(brightness(image))
            if pixels in seen:
                repeated.append(name)
                continue
            seen.add(pixels)
            new.append(inside)
            names.append(_unlike(name, used))
            used.add(names[-1])
            thumbnails.append(_shrunk(brightness(inside)))
            fingerprints.append(pixels)
        for plane, parts in zip(planes, zip(*map(planes_of, new), strict=True), strict=bool(new)):
            first_number = len(plane.features)
            plane.add(parts, _measure(parts, features) if measure is None else measure(parts))
            plane.small += _small(parts, features)
            if make_up:
                plane.made_up += _made_up(parts, features, first_number)
                plane.drawings |= _drawings(parts, features, first_number)
    _tell_repeated(repeated)
    first, *others = planes
    return Measured(
        names,
        first.features,
        np.array(thumbnails, dtype=np.uint8),
        fingerprints,
        frame,
        first.marks,
        first.made_up,
        first.small,
        others,
        first.drawings,
    )


@dataclass
class Plane:
    """What was measured of one plane of all images so far."""

    features: list[Singles] = field(default_factory=list)
    marks: list[Halves] = field(default_factory=list)
    made_up: list[MadeUpMarks] = field(default_factory=list)
    small: list[Singles] = field(default_factory=list)
    contrast: float = 0.0
    drawings: dict[int, Drawing] = field(default_factory=dict)

    def add(self, images: Sequence[Singles], measured: tuple[list[Singles], list[Halves]]) -> None:
        """Add images, and what was measured of each."""
        self.features += measured[0]
        self.marks += measured[1]
        self.contrast = max(self.contrast, *(float(image.std()) for image in images))


def _measure(images: Sequence[Singles], features: FeatureSet) -> tuple[list[Singles], list[Halves]]:
    marking = marking_of(features)
    patches = run(lambda image: rows_of(features(image)), images)
    return patches, [] if marking is None else run(lambda image: _halves(marking(image)), images)


def _halves(marks: Singles) -> Halves:
    """Return marks as they are kept until all images are read: in half of the memory, and precise enough."""
    return marks.astype(np.float16)


def _made_up(images: Sequence[Singles], features: FeatureSet, first: int) -> list[MadeUpMarks]:
    marking = marking_of(features)
    numbered = list(enumerate(images, start=first))
    return [] if marking is None else run(lambda pair: marking.made_up(pair[1], pair[0]), numbered)


def _drawings(images: Sequence[Singles], features: FeatureSet, first: int) -> dict[int, Drawing]:
    """Return what is measured of some images with made-up defects, by their numbers, if the features have marks."""
    marking = marking_of(features)
    if marking is None:
        return {}
    chosen = {number: image for number, image in enumerate(images, start=first) if has_drawing(number)}
    whole, marks = whole_of(features), Marking()

    def measured(number: int) -> Drawing:
        image, where = marking.drawn(chosen[number], number)
        return Drawing(rows_of(whole(image)), _halves(marks(image)), where)

    return dict(zip(chosen, run(measured, list(chosen)), strict=True))


def _small(images: Sequence[Singles], features: FeatureSet) -> list[Singles]:
    """Return images as trained networks see them, if there are to be some."""
    marking = marking_of(features) if is_trained(features) else None
    return [] if marking is None else run(marking.small, images)


def _tell_repeated(names: Sequence[str]) -> None:
    if names:
        some = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        words = f"{len(names)} images have the pixels of known good images, and were left out: {some}."
        warn(words, RepeatedImagesWarning)


def _named(images: Images, first: int, colour: bool) -> Iterator[tuple[str, Singles]]:
    for number, each in enumerate(images, start=first):
        name, image = each if isinstance(each, tuple) else (f"good {number}", each)
        yield name, as_image(image, name, colour)


def _framed(
    named: Iterator[tuple[str, Singles]], frame: Frame | Framing
) -> tuple[Frame, Iterator[tuple[str, Singles]]]:
    """Return the frame, made from the first images if need be, and all images."""
    if isinstance(frame, Frame):
        return frame, named
    first = list(islice(named, frame.needed))
    return frame.made_from([image for _, image in first]), chain(first, named)


def _unlike(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is already taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def thumbnail_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape of the thumbnails of images of this shape."""
    block = _block(shape)
    return max(shape[0] // block, 1), max(shape[1] // block, 1)


def _block(shape: tuple[int, ...]) -> int:
    """Return the side of the square of an image that becomes a pixel of its thumbnail."""
    return -(-max(shape) // _THUMBNAIL)


def _shrunk(image: Singles) -> NDArray[np.uint8]:
    """Return the thumbnail of an image: the mean gray of its blocks."""
    block, (rows, columns) = _block(image.shape), thumbnail_shape(image.shape)
    blocks = image[: rows * block, : columns * block].reshape(rows, block, columns, block)
    return np.rint(255 * np.clip(blocks.mean(axis=(1, 3)), 0, 1)).astype(np.uint8)


def rows_of(features: Singles) -> Singles:
    """Return the features of an image's patches, one row each."""
    return features.reshape(-1, features.shape[2])


def mapped(measured: list[Singles], coordinates: Coordinates) -> Singles:
    """Return the patches of all images in these coordinates; frees the features one by one."""
    first = coordinates(measured[0])
    patches = np.empty((len(measured), *first.shape), dtype=np.float32)
    for image in range(len(measured)):
        patches[image] = coordinates(measured[image])
        measured[image] = first[:0]
    return patches
