"""What networks have in common: how images enter them, and the digests of their files."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Shape = tuple[int, int]

Normal = tuple[tuple[float, float, float], tuple[float, float, float]]
"""What is subtracted from red, green and blue, and by what they are then divided."""

IMAGENET: Normal = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and standard deviation of photographs, as most networks that have seen ImageNet expect them."""
HALF: Normal = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)
"""Values from -1 to 1, as the networks of the EfficientNet-Lite family expect them."""
_MOST_BYTES = 2**30
"""Maximum size of a file with a network."""
_PIECE = 2**20


class NetworkError(ValueError):
    """A network cannot be used. The message is one line."""


def coloured(image: Singles, channels: int, normal: Normal = IMAGENET) -> Singles:
    """Return a gray image as a batch of one with these channels, normalised as a network expects it."""
    if channels == 1:
        return ((image - np.mean(normal[0])) / np.mean(normal[1])).astype(np.float32)[None, None]
    mean, spread = (np.array(each, dtype=np.float32).reshape(1, 3, 1, 1) for each in normal)
    return np.asarray((image[None, None] - mean) / spread, dtype=np.float32)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, computed again if the file changes."""
    try:
        status = path.stat()
        if not path.is_file() or status.st_size > _MOST_BYTES:
            raise NetworkError(f"{path}: must be a file of at most {_MOST_BYTES // 2**20} MiB. Give an ONNX file.")
        return _digest(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise NetworkError(
            f"{path}: the network cannot be read: {error.strerror or error}. Put the file there again, or fit with "
            "another."
        ) from None


@lru_cache(maxsize=8)
def _digest(path: Path, size: int, changed: int) -> str:
    del size, changed  # they tell one content of the file from another
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
