"""The mask of what is not inspected, drawn on the page: a PNG next to the model file, for the next fit.

Its name is that of the model, never one from a client. It does not change the model: only a fit does.
"""

from pathlib import Path

import numpy as np

from vwkde._runtime.files import whole_file
from vwkde.inspection.data.images import encode_png
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.server.station import NotSavedError

_ENDING = ".ignore.png"


def mask_path(model: Path) -> Path:
    """Return the file of the mask of a model."""
    return model.with_name(model.stem + _ENDING)


def read_mask(inspector: SurfaceInspector, model: Path | None) -> bytes | None:
    """Return the mask that was saved last as PNG or, if there is none, that of the model; None without either."""
    if model is not None and mask_path(model).is_file():
        return mask_path(model).read_bytes()
    ignored = inspector.ignore
    return None if ignored is None else encode_png(np.where(ignored, np.uint8(255), np.uint8(0)))


def write_mask(png: bytes, model: Path) -> Path:
    """Write the mask of a model, and return its file."""
    path = mask_path(model)
    try:
        with whole_file(path) as file:
            file.write(png)
    except OSError as error:
        raise NotSavedError(f"{path.name}: the mask cannot be saved ({error.strerror or error}).") from None
    return path
