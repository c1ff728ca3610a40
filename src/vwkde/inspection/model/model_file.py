"""A fitted inspection in one file: arrays as safetensors, everything else as JSON in its header. No code, no pickle."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.files import whole_file
from vwkde.inspection.data.extra import require

FORMAT = "vwkde-inspection"
VERSION = 2
"""Raised whenever older programs could not read the file rightly; files of all earlier versions are still read."""
_SETTINGS_UNCHECKED = 1
"""The last version whose digest was of the arrays alone."""


class ModelFileError(ValueError):
    """A model file cannot be read; the message names it and says why."""


def write_model(path: Path, arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]) -> None:
    """Write arrays and settings; a reader never sees half a file."""
    require("safetensors")
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    told = json.dumps(settings, allow_nan=False, sort_keys=True)
    header = {"format": FORMAT, "version": str(VERSION), "settings": told, "digest": _digest(tensors, told)}
    with whole_file(path) as file:
        file.write(save(tensors, header))


def read_model(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and settings of a model file."""
    require("safetensors")
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            version = _version(path, header)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a dictionary
    except FileNotFoundError:
        raise ModelFileError(f"{path}: there is no such file. Make it with: vwkde inspect fit GOOD -o {path}") from None
    except IsADirectoryError:
        raise ModelFileError(f"{path}: a folder, not a model file.") from None
    except SafetensorError:
        raise ModelFileError(f"{path}: not a model file, or a damaged one. Fit it again, or take a copy.") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror or error}.") from None
    told = header.get("settings", "")
    if header.get("digest") != _digest(tensors, "" if version <= _SETTINGS_UNCHECKED else told):
        raise ModelFileError(f"{path}: damaged: its numbers are not those that were written. Take a copy.")
    return tensors, _settings(path, told)


def _version(path: Path, header: Mapping[str, str]) -> int:
    if header.get("format") != FORMAT:
        raise ModelFileError(f"{path}: a safetensors file, but not one that vwkde wrote.")
    told = header.get("version", "")
    if not told.isdecimal():
        raise ModelFileError(f"{path}: damaged: it does not tell its version. Take a copy.")
    if int(told) > VERSION:
        raise ModelFileError(
            f"{path}: written by a newer vwkde (format {told}, this one reads up to {VERSION}). Upgrade "
            f"with: pip install -U vwkde"
        )
    return int(told)


def _settings(path: Path, told: str) -> dict[str, Any]:
    try:
        settings = json.loads(told)
    except json.JSONDecodeError:
        settings = None
    if not isinstance(settings, dict):
        raise ModelFileError(f"{path}: damaged: its settings cannot be read. Take a copy.")
    return settings


def _digest(tensors: Mapping[str, NDArray[Any]], settings: str) -> str:
    found = sha256(settings.encode())
    for name in sorted(tensors):
        array = tensors[name]
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
