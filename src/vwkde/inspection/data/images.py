"""Images in files: read safely as gray, refused with one line that names the file; and written as PNG.

Images come from cameras, phones and other people, so nothing is taken on trust. Only a few common formats are tried,
size and number of frames are checked in the header before any pixel is decoded, and what a decoder complains about
becomes one `ImageError` for that file, so that the rest of a batch can go on.

Every image becomes gray with values from 0 to 1. Integers are divided by the largest that their type can hold, and
colours become luminance (ITU-R BT.601). An alpha channel is dropped, and a photograph is turned upright as its EXIF
data ask. Colours of 16 bits are read with 8.
"""

import io
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require
from vwkde._runtime.filters import ignoring
from vwkde.inspection.data.errors import refuse

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""Images with more pixels than this are refused."""

_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "PPM", "GIF")
"""Pillow's names of the formats that are tried; to read some of its others it starts other programs."""

_BITS_PER_SAMPLE, _SAMPLE_FORMAT = 258, 339
"""TIFF tags that tell how numbers are stored."""

_SIGNED = 2
"""The TIFF sample format of integers that may be negative."""


def read_image(path: Path, least_side: int = 1) -> NDArray[np.float32]:
    """Read an image file as gray.

    Parameters
    ----------
    path : Path
        A PNG, JPEG, BMP, TIFF, WebP or PGM file with one frame.
    least_side : int
        Pixels that each side needs.

    Returns
    -------
    ndarray of shape (height, width)
        Values from 0 to 1, in single precision.

    Raises
    ------
    ImageError
        If the file cannot be read, or holds something else; the message is one line that begins with its name.
    """
    _require_pillow()
    try:
        if not path.exists():
            refuse(path, "there is no such file; check the name.")
        if not path.is_file():
            refuse(path, "this is not a file; name an image file.")
        with path.open("rb") as file:
            return _read(file, str(path), least_side)
    except PermissionError:
        refuse(path, "the file may not be read; change its permissions.")
    except OSError as error:
        refuse(path, f"the file cannot be read ({error.strerror or error}); check the name and the disk.")


def decode_image(data: bytes, name: str) -> NDArray[np.float32]:
    """Read the bytes of an image file, as `read_image` does; errors call it `name`."""
    _require_pillow()
    return _read(io.BytesIO(data), name)


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG file of a colour image, shape (height, width, 3 or with opacity 4), or a gray one."""
    _require_pillow()
    from PIL import Image

    if pixels.dtype != np.uint8 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))):
        raise ValueError(
            "Pixels must be 8-bit, of shape (height, width), (height, width, 3) or (height, width, 4). "
            f"Got {pixels.dtype} of shape {pixels.shape} instead."
        )
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, format="PNG")
    return file.getvalue()


def _require_pillow() -> None:
    require("PIL", "Inspection needs Pillow", "inspect")


_without_pillow_warnings = ignoring(module=r"PIL\.")
"""Hold back Pillow's warnings: an image that it warns about is refused here, or it can be read all the same."""


def _read(file: IO[bytes], name: str, least_side: int = 1) -> NDArray[np.float32]:
    if not file.read(1):
        refuse(name, "the file is empty (0 bytes); copy or save it again.")
    file.seek(0)
    with _without_pillow_warnings(), _open(file, name) as image:
        _check_header(image, name, least_side)
        try:
            image.load()
        except Exception:  # decoders raise errors of every kind
            refuse(name, "the image is damaged or cut short; copy or save it again.")
        _turn_upright(image)
        return _to_gray(image, name)


def _open(file: IO[bytes], name: str) -> "Image":
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(file, formats=_FORMATS)
    except UnidentifiedImageError:
        refuse(
            name,
            "this is not an image of a known kind, or damaged at its start; give PNG, JPEG, BMP, TIFF, WebP or PGM.",
        )
    except Image.DecompressionBombError:
        _refuse_size(name)
    except Exception:
        refuse(name, "the image is damaged or cut short; copy or save it again.")


def _check_header(image: "Image", name: str, least_side: int) -> None:
    width, height = image.size
    if width * height > MOST_PIXELS:
        _refuse_size(name)
    if min(width, height) < least_side:
        refuse(name, f"the image has {width}×{height} pixels, and each side needs at least {least_side}.")
    # A JPEG of format MPO is a photograph with previews, not an animation.
    if getattr(image, "is_animated", False) and image.format != "MPO":
        refuse(name, "the file holds more than one frame or page; save each as a file of its own.")


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
        refuse(name, f"its colours ({image.mode}) cannot be read; save it as gray or RGB.")
    gray /= 255
    return gray


def _turn_upright(image: "Image") -> None:
    """Turn the image as its EXIF data ask; data that cannot be read ask for nothing, and Pillow turns TIFF itself."""
    from PIL import ImageOps

    if image.format != "TIFF":
        with suppress(Exception):
            ImageOps.exif_transpose(image, in_place=True)


def _scaled(image: "Image") -> NDArray[np.float32]:
    """Return integers of more than 8 bits as parts of the largest that their type holds.

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
        refuse(
            name,
            "pixel values must not be negative or missing, and non-integer values must lie from 0 to 1; "
            "save it with 8 or 16 bits.",
        )
    return values


def _refuse_size(name: str) -> NoReturn:
    refuse(name, f"the image has more than {MOST_PIXELS:,} pixels; scale it down or cut it into parts.")
