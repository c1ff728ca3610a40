"""The format of model files: arrays as safetensors, everything else as JSON in the header. No code, no pickle.

What the arrays and settings mean is no concern of this module; a digest of both tells whether the file is whole.
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
VERSION = 2
"""Raised whenever older programs could not read the file rightly; files of all earlier versions are still read."""
_SETTINGS_UNCHECKED = 1
"""The last version whose digest was of the arrays alone."""


class ModelFileError(ValueError):
    """A model file cannot be read; the message names it and says why."""


def write_container(path: Path, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]) -> None:
    """Write arrays and settings; a reader never sees half a file."""
    _require_safetensors()
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    written = json.dumps(settings, allow_nan=False, sort_keys=True)
    header = {"format": FORMAT, "version": str(VERSION), "settings": written, "digest": _digest(tensors, written)}
    with whole_file(path) as file:
        file.write(save(tensors, header))


def read_container(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and settings of a model file."""
    _require_safetensors()
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            version = _version(path, header)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dictionary
    except FileNotFoundError:
        raise ModelFileError(
            f"{path}: there is no such file; check the name, or fit an inspection and save it there."
        ) from None
    except IsADirectoryError:
        raise ModelFileError(f"{path}: a folder, not a model file.") from None
    except SafetensorError:
        raise ModelFileError(f"{path}: not a model file, or a damaged one. Fit it again, or take a copy.") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror or error}.") from None
    written = header.get("settings", "")
    if header.get("digest") != _digest(tensors, "" if version <= _SETTINGS_UNCHECKED else written):
        raise ModelFileError(f"{path}: damaged: its numbers are not those that were written. Take a copy.")
    return tensors, _settings(path, written)


def _require_safetensors() -> None:
    require("safetensors", "Inspection needs safetensors", "inspect")


def _version(path: Path, header: Mapping[str, str]) -> int:
    if header.get("format") != FORMAT:
        raise ModelFileError(f"{path}: a safetensors file, but not one that vwkde wrote.")
    version = header.get("version", "")
    if not version.isdecimal():
        raise ModelFileError(f"{path}: damaged: it does not tell its version. Take a copy.")
    if int(version) > VERSION:
        raise ModelFileError(
            f"{path}: written by a newer vwkde (format {version}, this one reads up to {VERSION}). Upgrade "
            f"with: pip install -U vwkde"
        )
    return int(version)


def _settings(path: Path, written: str) -> dict[str, Any]:
    try:
        settings = json.loads(written)
    except json.JSONDecodeError:
        settings = None
    if not isinstance(settings, dict):
        raise ModelFileError(f"{path}: damaged: its settings cannot be read. Take a copy.")
    return settings


def _digest(tensors: Mapping[str, NDArray[Any]], settings: str) -> str:
    digest = sha256(settings.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
