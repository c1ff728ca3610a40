"""Image files: read safely as gray, or refused in one line that names the file; and written as PNG.

Images come from cameras, phones and other people, so no file is trusted. Only a few common formats are tried. Size,
number of frames and number of scans are checked before any pixel is decoded. Every error of a decoder becomes one
`ImageError` for that file, so that the rest of a batch can continue.

Every image becomes gray with values from 0 to 1. Integers are divided by the largest value of their type. Colours
become luminance (ITU-R BT.601); 16-bit colours are read with 8 bits. An alpha channel is dropped, and photographs are
rotated according to their EXIF data.
"""

import io
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require
from vwkde._runtime.filters import ignoring
from vwkde.inspection.data.arrays import check_shape, refuse_shape
from vwkde.inspection.data.errors import ImageError, refuse

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""Maximum number of pixels of an image."""

_MOST_SCANS = 100
"""Maximum number of scans of a JPEG. Each goes over all pixels; usual progressive files have about ten."""
_MOST_SCANNED = 12 * MOST_PIXELS
"""Maximum number of scans times pixels of a JPEG: a progressive file of usual kind at the largest size."""
_START_OF_SCAN = b"\xff\xda"
_PIECE = 2**20
"""Bytes in which scans are counted at a time."""

_PNG = b"\x89PNG\r\n\x1a\n"
_MOST_CHUNKS = 50_000
"""Maximum number of chunks of a PNG. Usual ones have 8 KiB: this is enough for 400 MB."""

_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "WEBP", "PPM", "GIF")
"""Pillow's names of the formats that are tried. For some of the others, Pillow starts external programs."""

_BITS_PER_SAMPLE, _SAMPLE_FORMAT = 258, 339
"""TIFF tags for the number format."""

_ORIENTATION, _ON_THEIR_SIDE = 0x112, (5, 6, 7, 8)
"""The EXIF tag for how a camera was held, and its values for images that are to be turned by a quarter."""

_SIGNED = 2
"""The TIFF sample format of signed integers."""


def read_image(path: Path | str, least_side: int = 1) -> NDArray[np.float32]:
    """Read an image file as gray.

    Parameters
    ----------
    path : Path or str
        A PNG, JPEG, BMP, TIFF, WebP or PGM file with one frame.
    least_side : int, default=1
        Minimum length of each side, in pixels.

    Returns
    -------
    ndarray of shape (height, width)
        Values from 0 to 1, in single precision.

    Raises
    ------
    ImageError
        If the file cannot be read, or is not such an image. The message is one line that begins with its name.
    TypeError
        If `path` is not a path.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from vwkde.inspection import read_image
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gradient.pgm"
    ...     _ = path.write_bytes(b"P5 3 1 255 " + bytes([0, 51, 255]))
    ...     print(read_image(path))
    [[0.  0.2 1. ]]
    """
    if not isinstance(path, Path | str):
        raise TypeError(f"The 'path' parameter must be the name of an image file. Got {path!r} instead.")
    return _read_file(Path(path), _Wanted(least_side))


def read_image_like(
    path: Path, shape: tuple[int, ...] | None, example: str, colour: bool = False
) -> NDArray[np.float32]:
    """Read an image file of a known shape, that of its example; another is refused before its pixels are decoded.

    With `colour`, a file with colours becomes (height, width, 3).
    """
    return _read_file(path, _Wanted(1, shape, example, colour=colour))


def decode_image(
    data: bytes, name: str, shape: tuple[int, ...] | None = None, most_pixels: int = MOST_PIXELS, colour: bool = False
) -> NDArray[np.float32]:
    """Read the bytes of an image file, as `read_image_like` does. Errors use `name`."""
    _require_pillow()
    return _read(io.BytesIO(data), name, _Wanted(1, shape, "the others", most_pixels, colour))


def read_shape(path: Path) -> tuple[int, int]:
    """Return the height and width of an image file by its header; its pixels are not decoded."""
    _require_pillow()
    try:
        with path.open("rb") as file, _without_pillow_warnings(), _open(file, str(path)) as image:
            turned = image.format != "TIFF" and image.getexif().get(_ORIENTATION, 1) in _ON_THEIR_SIDE
            width, height = image.size
            return (width, height) if turned else (height, width)
    except ImageError:
        raise
    except Exception:  # of the disk, or of a decoder
        refuse(path, "the file cannot be read; check the name and the disk.")


@dataclass(frozen=True)
class _Wanted:
    """What an image must be: a minimum length of its sides, and the shape of its example, if that is known."""

    least_side: int = 1
    shape: tuple[int, ...] | None = None
    example: str = ""
    most_pixels: int = MOST_PIXELS
    colour: bool = False


def _read_file(path: Path, wanted: _Wanted) -> NDArray[np.float32]:
    _require_pillow()
    try:
        if not path.exists():
            refuse(path, "there is no such file; check the name.")
        if not path.is_file():
            refuse(path, "this is not a file; name an image file.")
        with path.open("rb") as file:
            return _read(file, str(path), wanted)
    except PermissionError:
        refuse(path, "the file may not be read; change its permissions.")
    except OSError as error:
        refuse(path, f"the file cannot be read ({error.strerror or error}); check the name and the disk.")


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG file of a gray image, or of a colour image of shape (height, width, 3 or, with opacity, 4)."""
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
"""Suppress Pillow's warnings: an image that it warns about is either refused here, or can be read anyway."""


def _read(file: IO[bytes], name: str, wanted: _Wanted) -> NDArray[np.float32]:
    if not file.read(1):
        refuse(name, "the file is empty (0 bytes); copy or save it again.")
    file.seek(0)
    _check_chunks(file, name)
    with _without_pillow_warnings(), _open(file, name) as image:
        _check_header(image, name, wanted)
        _check_scans(file, image, name)
        try:
            image.load()
        except Exception:  # decoders raise errors of every kind
            refuse(name, "the image is damaged or cut short; copy or save it again.")
        _turn_upright(image)
        pixels = _to_colours(image, name) if wanted.colour and _has_colours(image) else _to_gray(image, name)
    if wanted.shape is not None:
        check_shape(pixels, wanted.shape, name, wanted.example)
    return pixels


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


def _check_header(image: "Image", name: str, wanted: _Wanted) -> None:
    width, height = image.size
    most = wanted.most_pixels if wanted.shape is None else MOST_PIXELS  # the shape says more
    if width * height > most:
        _refuse_size(name, most)
    if min(width, height) < wanted.least_side:
        refuse(name, f"the image has {width}×{height} pixels, and each side needs at least {wanted.least_side}.")
    if wanted.shape is not None and wanted.shape not in ((height, width), (width, height)):  # it may be turned later
        refuse_shape((height, width), wanted.shape, name, wanted.example)
    # A JPEG of format MPO is a photograph with previews, not an animation.
    if getattr(image, "is_animated", False) and image.format != "MPO":
        refuse(name, "the file holds more than one frame or page; save each as a file of its own.")


def _check_chunks(file: IO[bytes], name: str) -> None:
    """Refuse a PNG of very many chunks, which would keep the decoder busy before it comes to any pixel."""
    if file.read(len(_PNG)) == _PNG:
        chunks = 0
        while len(head := file.read(8)) == 8 and head[4:] != b"IEND":
            chunks += 1
            if chunks > _MOST_CHUNKS:
                refuse(name, f"the file has more than {_MOST_CHUNKS:,} chunks; save the image again.")
            file.seek(int.from_bytes(head[:4], "big") + 4, io.SEEK_CUR)
    file.seek(0)


def _check_scans(file: IO[bytes], image: "Image", name: str) -> None:
    """Refuse a JPEG that goes over its pixels again and again: a small file could keep the decoder busy for minutes."""
    if image.format not in ("JPEG", "MPO"):
        return
    place = file.tell()
    file.seek(0)
    scans, last = 0, b""
    while piece := file.read(_PIECE):
        scans += (last + piece).count(_START_OF_SCAN)
        last = piece[-1:]
    file.seek(place)
    width, height = image.size
    if scans > _MOST_SCANS or scans * width * height > _MOST_SCANNED:
        refuse(name, f"the image has {scans} scans, too many for its size; save it again as usual JPEG or PNG.")


def _has_colours(image: "Image") -> bool:
    return image.mode not in ("1", "L", "LA", "F") and not image.mode.startswith("I")


def _to_colours(image: "Image", name: str) -> NDArray[np.float32]:
    image.info.pop("transparency", None)
    try:
        return np.array(image.convert("RGB"), np.float32) / np.float32(255)
    except ValueError:
        refuse(name, f"its colours ({image.mode}) cannot be read; save it as gray or RGB.")


def _to_gray(image: "Image", name: str) -> NDArray[np.float32]:
    if image.mode == "F":
        return _check_range(np.array(image), name)
    if image.mode.startswith("I"):
        return _check_range(_scaled(image), name)
    # Otherwise Pillow would try to keep the transparency.
    image.info.pop("transparency", None)
    try:
        colours = image if image.mode in ("1", "L", "LA", "P", "PA", "RGB", "RGBA") else image.convert("RGB")
        gray = np.array(colours.convert("L"), np.float32)
    except ValueError:
        refuse(name, f"its colours ({image.mode}) cannot be read; save it as gray or RGB.")
    gray /= 255
    return gray


def _turn_upright(image: "Image") -> None:
    """Rotate the image according to its EXIF data, if they can be read; Pillow itself rotates TIFF."""
    from PIL import ImageOps

    if image.format != "TIFF":
        with suppress(Exception):
            ImageOps.exif_transpose(image, in_place=True)


def _scaled(image: "Image") -> NDArray[np.float32]:
    """Return integers of more than 8 bits divided by the largest value of their type.

    Only TIFF can have a number of bits other than 16; Pillow converts PGM to 16.
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


def _refuse_size(name: str, most_pixels: int = MOST_PIXELS) -> NoReturn:
    refuse(name, f"the image has more than {most_pixels:,} pixels; scale it down or cut it into parts.")
