"""Pictures of the digit 3, the unseen defect: from MNIST, or from scikit-learn where MNIST is not available."""

import gzip
import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

DIGIT = 3
SIDE = 28
"""Side of a picture in pixels."""
MNIST = "MNIST"
STAND_IN = "scikit-learn's digits, enlarged"
_IMAGES, _LABELS = "images-idx3", "labels-idx1"
"""Parts of the names of MNIST's files: images, and the labels that belong to them."""


def source(path: Path | None) -> str:
    """Return in words where the digits come from."""
    return STAND_IN if path is None else MNIST


@lru_cache(maxsize=1)
def read_digits(path: Path | None) -> Singles:
    """Return all pictures of the digit, (pictures, 28, 28), from 0 to 1, white on black.

    The file is one of MNIST's, `…-images-idx3-ubyte` with the file of labels in the same folder, compressed or not, or
    an `.npz` file with arrays x_test and y_test.
    """
    if path is None:
        return _stand_in()
    try:
        pictures, labels = _read_npz(path) if path.suffix == ".npz" else _read_idx(path)
        chosen = pictures[labels == DIGIT].astype(np.float32) / 255
    except (OSError, KeyError, ValueError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: cannot be read as MNIST's images and labels ({error}). Give another file.") from None
    if chosen.shape[1:] != (SIDE, SIDE) or not len(chosen):
        raise ValueError(f"{path}: has no {SIDE} × {SIDE} pictures of the digit {DIGIT}. Give another file.")
    return chosen


def _read_npz(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["x_test"], arrays["y_test"]


def _read_idx(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    labels = path.with_name(path.name.replace(_IMAGES, _LABELS))
    if labels == path:
        raise ValueError(f"its name does not contain {_IMAGES}, from which the name of the labels follows")
    pictures = np.frombuffer(_unpacked(path), np.uint8, offset=16).reshape(-1, SIDE, SIDE)
    return pictures, np.frombuffer(_unpacked(labels), np.uint8, offset=8)


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _stand_in() -> Singles:
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    digits = load_digits()
    small = digits.images[digits.target == DIGIT] / digits.images.max()
    return np.asarray(zoom(small, (1, SIDE / small.shape[1], SIDE / small.shape[2]), order=1), dtype=np.float32)
