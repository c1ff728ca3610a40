"""The model file that an evaluation leaves in its folder. A later one replaces it only if it is still the same.

`results.json` keeps the digest of the model that was written. A model that was put there, or that has changed since, is
the user's.
"""

import os
from pathlib import Path
from typing import Any

from vwkde._runtime.files import can_be_replaced
from vwkde.inspection.model.files.container import stated_digest
from vwkde.inspection.runs.earlier import read_results
from vwkde.inspection.runs.output import OutputError

MODEL = "model.vwkde"
"""The name of that file."""
OWN_MODEL = "model_written"
"""The entry of `results.json` with the digest."""


def check_own_model(folder: Path, force: bool = False) -> None:
    """Raise an error if there is a file in place of the model that no evaluation wrote there, unless forced."""
    path = folder / MODEL
    if not can_be_replaced(path):
        what = "a folder" if path.is_dir() else "not a regular file"
        raise OutputError(f"{path}: is {what}, but the model is written there. Choose another folder.")
    if not force and os.path.lexists(path) and not _is_own(path):
        raise OutputError(
            f"{path}: already exists, and no evaluation wrote it, or it was changed since. Choose another folder, or "
            "overwrite it with --force."
        )


def own_model_entry(folder: Path) -> dict[str, Any]:
    """Return the entry of `results.json` as it is now, to be kept when the file is written anew; empty if none."""
    earlier = read_results(folder) or {}
    return {name: earlier[name] for name in (OWN_MODEL,) if name in earlier}


def _is_own(path: Path) -> bool:
    digest = own_model_entry(path.parent).get(OWN_MODEL)
    return digest is not None and not path.is_symlink() and digest == stated_digest(path)
