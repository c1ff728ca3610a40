"""Images in files: found in a folder, read safely as gray, refused with one line that names the file.

Images come from cameras, phones and other people, so nothing is taken on trust. Only a few common formats are tried,
size and number of frames are checked in the header before any pixel is decoded, and what a decoder complains about
becomes one `ImageError` for that file, so that the rest of a batch can go on.

Every image becomes gray with values from 0 to 1. Whole numbers are divided by the largest that their type can hold, and
colours become luminance (ITU-R BT.601). An alpha channel is dropped, and a photograph is turned upright as its EXIF
data ask. Colours of 16 bits are read with 8.
"""

import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.shared import Shared
from vwkde.inspection.data.extra import require

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""Images with more pixels than this are refused."""

MOST_MEBIBYTES = 32
"""MiB that may be sent to a server at a time, unless it is told otherwise."""

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm")
"""What the names of image files end in, in small letters."""

_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "PPM", "GIF")
"""Pillow's names of the formats that are tried; to read some of its others it starts other programs."""

_BITS_PER_SAMPLE, _SAMPLE_FORMAT = 258, 339
"""TIFF tags that tell how numbers are stored."""

_SIGNED = 2
"""The TIFF sample format of whole numbers that may be negative."""

_ROUNDING = 1e-6
"""By how much numbers may be below 0 or above 1: arithmetic rounds."""

_FINGERPRINT = 32
"""Characters of a fingerprint."""


class ImageError(ValueError):
    """An image or a folder of images cannot be used; the message is one line that begins with its name."""


def read_image(path: Path, least_side: int = 1) -> NDArray[np.float32]:
    """Read an image file as gray, shape (height, width), values 0 to 1; neither side may be below `least_side`."""
    require("PIL")
    try:
        if not path.exists():
            _refuse(path, "there is no such file; check the name.")
        if not path.is_file():
            _refuse(path, "this is not a file; name an image file.")
        with path.open("rb") as file:
            return _read(file, str(path), least_side)
    except PermissionError:
        _refuse(path, "the file may not be read; change its permissions.")
    except OSError as error:
        _refuse(path, f"the file cannot be read ({error.strerror or error}); check the name and the disk.")


def decode_image(data: bytes, name: str) -> NDArray[np.float32]:
    """Read the bytes of an image file, as `read_image` does; errors call it `name`."""
    require("PIL")
    return _read(io.BytesIO(data), name)


def as_image(pixels: Any, name: str) -> NDArray[np.floating]:
    """Return an array as `read_image` would return it: gray, values 0 to 1; errors call it `name`.

    8 and 16 bits are divided by the largest number that they hold; other numbers must lie from 0 to 1 already.
    """
    try:
        values = np.asarray(pixels)
    except (TypeError, ValueError):
        _refuse(name, "this is not an array of pixels; give one of shape (height, width).")
    if values.dtype not in (np.uint8, np.uint16) and values.dtype.kind != "f":
        _refuse(
            name,
            f"pixels must be numbers from 0 to 1, or whole ones of type uint8 or uint16. Got {values.dtype} instead; "
            "convert them, for example with image.astype(np.uint8).",
        )
    if values.ndim != 2 or not values.size:
        _refuse(name, f"an image must be gray, of shape (height, width). Got shape {values.shape} instead.")
    if values.dtype.kind == "u":
        return np.divide(values, np.float32(np.iinfo(values.dtype).max), dtype=np.float32)
    low, high = values.min(), values.max()
    if not (low >= -_ROUNDING and high <= 1 + _ROUNDING):
        if not np.isfinite(values).all():
            _refuse(name, "pixels must be finite. Got NaN or infinity instead; fill them in, or leave the image out.")
        found = f"values from {low:g} to {high:g}"
        _refuse(name, f"pixels must lie from 0 to 1. Got {found} instead; divide by the value of white, such as 255.")
    return values


def fingerprint(image: NDArray[np.floating]) -> str:
    """Return what tells the pixels of an image from those of all others."""
    pixels = np.ascontiguousarray(image, dtype=np.float32)
    return sha256(f"{pixels.shape}".encode() + pixels.tobytes()).hexdigest()[:_FINGERPRINT]


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG file of a colour image, shape (height, width, 3 or with opacity 4), or a gray one."""
    require("PIL")
    from PIL import Image

    if pixels.dtype != np.uint8 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))):
        raise ValueError(
            "Pixels must be 8-bit, of shape (height, width), (height, width, 3) or (height, width, 4). "
            f"Got {pixels.dtype} of shape {pixels.shape} instead."
        )
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, format="PNG")
    return file.getvalue()


def find_images(folder: Path, recursive: bool = False) -> list[Path]:
    """Return the image files of a folder in natural order; a folder without any is an error."""
    images = list_images(folder, recursive)
    if not images:
        within = "in it or below it" if recursive else "directly in it"
        _refuse(folder, f"the folder has no images {within} ({_suffixes_in_words()}).")
    return images


def list_images(folder: Path, recursive: bool = False) -> list[Path]:
    """Return the image files of a folder in natural order, possibly none; hidden files are passed over."""
    return [path for path in list_files(folder, recursive) if path.suffix.lower() in IMAGE_SUFFIXES]


def list_files(folder: Path, recursive: bool = False) -> list[Path]:
    """Return the files of a folder in natural order; hidden files and folders are passed over."""
    files = [
        Path(base, name) for base, _, names in _walk(folder, recursive) for name in names if not name.startswith(".")
    ]
    return sorted(files, key=lambda path: natural_key(path.relative_to(folder)))


def list_folders(folder: Path) -> list[Path]:
    """Return the folders directly in a folder in natural order; hidden ones are passed over."""
    names = next(_walk(folder, recursive=False))[1]
    return sorted((folder / name for name in names), key=natural_key)


def natural_key(path: Path) -> tuple[Any, ...]:
    """Return a sort key by which image 2 comes before image 10."""
    return tuple(_key_of_name(part) for part in path.parts)


@contextmanager
def _ignoring_pillow() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        yield


_without_pillow_warnings = Shared(_ignoring_pillow)
"""Hold back Pillow's warnings: an image that it warns about is refused here, or it can be read all the same."""


def _read(file: IO[bytes], name: str, least_side: int = 1) -> NDArray[np.float32]:
    if not file.read(1):
        _refuse(name, "the file is empty (0 bytes); copy or save it again.")
    file.seek(0)
    with _without_pillow_warnings(), _open(file, name) as image:
        _check_header(image, name, least_side)
        try:
            image.load()
        except Exception:  # decoders raise errors of every kind
            _refuse(name, "the image is damaged or cut short; copy or save it again.")
        _turn_upright(image)
        return _to_gray(image, name)


def _open(file: IO[bytes], name: str) -> "Image":
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(file, formats=_FORMATS)
    except UnidentifiedImageError:
        _refuse(
            name,
            "this is not an image of a known kind, or damaged at its start; give PNG, JPEG, BMP, TIFF, WebP or PGM.",
        )
    except Image.DecompressionBombError:
        _refuse_size(name)
    except Exception:
        _refuse(name, "the image is damaged or cut short; copy or save it again.")


def _check_header(image: "Image", name: str, least_side: int) -> None:
    width, height = image.size
    if width * height > MOST_PIXELS:
        _refuse_size(name)
    if min(width, height) < least_side:
        _refuse(name, f"the image has {width}×{height} pixels, and each side needs at least {least_side}.")
    # A JPEG of format MPO is a photograph with previews, not an animation.
    if getattr(image, "is_animated", False) and image.format != "MPO":
        _refuse(name, "the file holds more than one frame or page; save each as a file of its own.")


def _to_gray(image: "Image", name: str) -> NDArray[np.float32]:
    if image.mode == "F":
        return _check_range(np.array(image), name)
    if image.mode.startswith("I"):
        return _check_range(_scaled(image), name)
    # Without this, Pillow thinks that the transparency is still wanted.
    image.info.pop("transparency", None)
    try:
        colours = image if image.mode in ("1", "L", "LA", "P", "PA", "RGB", "RGBA") else image.convert("RGB")
        gray = np.array(colours.convert("L"), np.float32)
    except ValueError:
        _refuse(name, f"its colours ({image.mode}) cannot be read; save it as gray or RGB.")
    gray /= 255
    return gray


def _turn_upright(image: "Image") -> None:
    """Turn the image as its EXIF data ask; data that cannot be read ask for nothing, and Pillow turns TIFF itself."""
    from PIL import ImageOps

    if image.format != "TIFF":
        with suppress(Exception):
            ImageOps.exif_transpose(image, in_place=True)


def _scaled(image: "Image") -> NDArray[np.float32]:
    """Return whole numbers of more than 8 bits as parts of the largest that their type holds.

    Of the formats read only TIFF has other than 16 bits; Pillow brings those of PGM to 16.
    """
    tags: Any = getattr(image, "tag_v2", {})
    bits = tags.get(_BITS_PER_SAMPLE, (16,))[0]
    signed = tags.get(_SAMPLE_FORMAT, (1,))[0] == _SIGNED
    values = np.asarray(image)
    if values.dtype == np.int32 and bits == 32 and not signed:
        values = values.view(np.uint32)
    return np.divide(values, np.float32(2 ** (bits - signed) - 1), dtype=np.float32)


def _check_range(values: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= 1):
        _refuse(
            name,
            "pixel values must not be negative or missing, and those that are no whole numbers must lie from 0 to 1; "
            "save it with 8 or 16 bits.",
        )
    return values


def _refuse_size(name: str) -> NoReturn:
    _refuse(name, f"the image has more than {MOST_PIXELS:,} pixels; scale it down or cut it into parts.")


def _refuse(name: Path | str, reason: str) -> NoReturn:
    """Raise an error of one line, whatever a name is made of."""
    raise ImageError(" ".join(f"{name}: {reason}".splitlines())) from None


def _walk(folder: Path, recursive: bool) -> Iterator[tuple[str, list[str], list[str]]]:
    """Give each folder with the names of its folders, but for hidden ones, and its files."""
    try:
        if not folder.exists():
            _refuse(folder, "there is no such folder; check the name.")
        if not folder.is_dir():
            _refuse(folder, "this is not a folder; name the folder that holds the images.")
        for base, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield base, folders, files
            if not recursive:
                return
    except PermissionError as error:
        _refuse(error.filename or folder, "the folder may not be read; change its permissions.")
    except OSError as error:
        _refuse(error.filename or folder, f"the folder cannot be read ({error.strerror or error}); check the disk.")


def _raise(error: OSError) -> NoReturn:
    raise error


def _key_of_name(name: str) -> tuple[Any, ...]:
    pieces = re.split(r"([0-9]+)", name.casefold())
    return tuple(int(piece) if index % 2 else piece for index, piece in enumerate(pieces)), name


def _suffixes_in_words() -> str:
    return ", ".join(IMAGE_SUFFIXES[:-1]) + f" or {IMAGE_SUFFIXES[-1]}"
