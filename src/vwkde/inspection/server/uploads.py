"""Uploaded images: names become labels, bytes become pixels."""

import unicodedata

import numpy as np
from fastapi import UploadFile

from vwkde.inspection.data.images import decode_image, encode_png
from vwkde.inspection.server.station import NamedImage

_LONGEST_NAME = 200
_PICTURE_SIDE = 2048
"""Maximum length of the longer side of a picture that is sent back, in pixels."""


def label(name: str) -> str:
    """Return a file name from a client as a label: no folders, no control characters, and not too long."""
    printable = "".join(character for character in name if unicodedata.category(character)[0] != "C")
    last = printable.replace("\\", "/").rsplit("/", 1)[-1].strip()[:_LONGEST_NAME]
    return last if last.strip(".") else "image"


def decode(image: UploadFile) -> NamedImage:
    """Return the label and the pixels of an image."""
    name = label(image.filename or "")
    return name, decode_image(image.file.read(), name)


def as_png(image: UploadFile) -> bytes:
    """Return an image as a gray PNG; a large image is reduced."""
    from PIL import Image

    _, pixels = decode(image)
    gray = Image.fromarray(np.rint(255 * pixels).astype(np.uint8))
    return encode_png(np.asarray(gray.reduce(-(-max(gray.size) // _PICTURE_SIDE))))
