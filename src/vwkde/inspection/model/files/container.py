"""The format of model files: arrays as safetensors, everything else as JSON in the header. No code, no pickle.

This module does not know what the arrays and settings mean. A digest of both shows whether the file is intact.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require
from vwkde._runtime.files import whole_file

FORMAT = "vwkde-inspection"
VERSION = 3
"""Increased whenever older versions of vwkde would misread the file. Files of all earlier formats are still read."""
_SETTINGS_UNCHECKED = 1
"""The last version whose digest covers the arrays only."""
_MOST_DIGITS = 9
"""Of a version; Python refuses to read numbers of thousands of digits."""


class ModelFileError(ValueError):
    """A model file cannot be read. The message names the file and the reason.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vwkde.inspection import ModelFileError, SurfaceInspector
    >>> try:
    ...     SurfaceInspector.load(Path("missing.vwkde"))
    ... except ModelFileError as error:
    ...     print(error)
    missing.vwkde: there is no such file. Check the name, or fit a model and save it there.
    """


def write_container(path: Path, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]) -> str:
    """Write arrays and settings, and return the digest; a reader never sees a partly written file."""
    _require_safetensors()
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    written = json.dumps(settings, allow_nan=False, sort_keys=True)
    header = {"format": FORMAT, "version": str(VERSION), "settings": written, "digest": _digest(tensors, written)}
    with whole_file(path) as file:
        file.write(save(tensors, header))
    return header["digest"]


def read_container(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any], str]:
    """Return the arrays, the settings and the digest of a model file."""
    _require_safetensors()
    from safetensors import SafetensorError, safe_open

    if path.is_dir():
        raise ModelFileError(f"{path}: this is a folder, not a model file. Name a file in it.")
    if _is_special(path):
        raise ModelFileError(f"{path}: is not a regular file, but a pipe or a device. Name a model file.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            version = _version(path, header)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dictionary
    except FileNotFoundError:
        raise ModelFileError(
            f"{path}: there is no such file. Check the name, or fit a model and save it there."
        ) from None
    except ModelFileError:
        raise
    except (SafetensorError, TypeError, AttributeError, ValueError):  # the last ones for types that NumPy lacks
        raise ModelFileError(f"{path}: not a model file, or damaged. Fit the model again, or restore a copy.") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror or error}.") from None
    written = header.get("settings", "")
    if header.get("digest") != _digest(tensors, "" if version <= _SETTINGS_UNCHECKED else written):
        raise ModelFileError(f"{path}: damaged: the checksum does not match. Fit the model again, or restore a copy.")
    return tensors, _settings(path, written), header["digest"]


def stated_digest(path: Path) -> str | None:
    """Return the digest that a model file states, without reading all of it; None if this is no model file."""
    return _header(path).get("digest")


def stated_settings(path: Path) -> dict[str, Any]:
    """Return the settings that a model file states, unchecked and without its arrays; none if they cannot be read."""
    try:
        return _settings(path, _header(path).get("settings", ""))
    except ModelFileError:
        return {}


def _header(path: Path) -> dict[str, str]:
    """Return what a model file says at its beginning; nothing if this is no model file."""
    _require_safetensors()
    from safetensors import SafetensorError, safe_open

    if _is_special(path):
        return {}
    try:
        with safe_open(path, framework="numpy") as file:
            header: dict[str, str] = file.metadata() or {}
    except (OSError, SafetensorError):
        return {}
    return header if header.get("format") == FORMAT else {}


def _require_safetensors() -> None:
    require("safetensors", "Inspection needs safetensors", "inspect")


def _is_special(path: Path) -> bool:
    """Return whether this is a pipe or a device: opening a pipe waits for a writer, and cannot be interrupted."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _version(path: Path, header: Mapping[str, str]) -> int:
    if header.get("format") != FORMAT:
        raise ModelFileError(f"{path}: a safetensors file, but not one written by vwkde.")
    version = header.get("version", "")
    if not version.isdecimal() or len(version) > _MOST_DIGITS:
        raise ModelFileError(f"{path}: damaged: the format version cannot be read. Fit again, or restore a copy.")
    if int(version) > VERSION:
        raise ModelFileError(
            f"{path}: written by a newer vwkde (format {version}; this version reads up to {VERSION}). "
            f"Upgrade with: pip install -U vwkde"
        )
    return int(version)


def _settings(path: Path, written: str) -> dict[str, Any]:
    try:
        settings = json.loads(written)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or lists in lists in lists
        settings = None
    if not isinstance(settings, dict):
        raise ModelFileError(f"{path}: damaged: the settings cannot be read. Fit the model again, or restore a copy.")
    return settings


def _digest(tensors: Mapping[str, NDArray[Any]], settings: str) -> str:
    digest = sha256(settings.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
