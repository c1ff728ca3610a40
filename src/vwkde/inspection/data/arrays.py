"""Images as arrays in memory: checks, conversion to gray values from 0 to 1, and hashes of pixels."""

from hashlib import sha256
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.errors import ImageError, refuse

_ROUNDING = 1e-6
"""Values may be this much below 0 or above 1, because of rounding."""
_FINGERPRINT = 32
"""Number of characters of a fingerprint."""


def as_image(pixels: Any, name: str, colour: bool = False) -> NDArray[np.floating]:
    """Return an array as `read_image` would return it: gray, values from 0 to 1. Errors use `name`.

    With `colour`, three colours are returned, (height, width, 3); those of a gray image are equal. Values of type uint8
    and uint16 are divided by the largest value of the type; floats must already be from 0 to 1.
    """
    try:
        values = np.asarray(pixels)
    except (TypeError, ValueError):
        refuse(name, "this is not an array of pixels; pass an array of shape (height, width).")
    if values.dtype not in (np.uint8, np.uint16) and values.dtype.kind != "f":
        refuse(
            name,
            f"pixels must be floats from 0 to 1, or integers of type uint8 or uint16. Got {values.dtype} instead; "
            "convert them, for example with image.astype(np.uint8).",
        )
    if colour and values.ndim == 2:
        values = np.repeat(values[..., None], 3, axis=2)
    if values.ndim != 2 + colour or not values.size or (colour and values.shape[2] != 3):
        wanted = "have colours, of shape (height, width, 3)" if colour else "be gray, of shape (height, width)"
        refuse(name, f"an image must {wanted}. Got shape {values.shape} instead.")
    if values.dtype.kind == "u":
        return np.divide(values, np.float32(np.iinfo(values.dtype).max), dtype=np.float32)
    low, high = values.min(), values.max()
    if not (low >= -_ROUNDING and high <= 1 + _ROUNDING):
        if not np.isfinite(values).all():
            refuse(name, "pixels must be finite. Got NaN or infinity instead; replace them, or leave the image out.")
        refuse(
            name,
            f"pixels must have values from 0 to 1. Got values from {low:g} to {high:g} instead; "
            "divide by the value of white, such as 255.",
        )
    return values


def check_shape(image: NDArray[np.floating], shape: tuple[int, ...], name: str, example: str = "the others") -> None:
    """Raise an error if an image has another shape than its example."""
    if image.shape[:2] != shape:
        refuse_shape(image.shape[:2], shape, name, example)


def refuse_shape(found: tuple[int, ...], shape: tuple[int, ...], name: str, example: str = "the others") -> NoReturn:
    """Raise the error for an image of another shape than its example."""
    size, wanted = (" × ".join(map(str, reversed(each))) for each in (found, shape))
    raise ImageError(f"{name}: is {size} pixels, but must have {wanted} like {example}. Crop or resize it.")


def fingerprint(image: NDArray[np.floating]) -> str:
    """Return a hash of the pixels of an image."""
    pixels = np.ascontiguousarray(image, dtype=np.float32)
    return sha256(f"{pixels.shape}".encode() + pixels.tobytes()).hexdigest()[:_FINGERPRINT]
