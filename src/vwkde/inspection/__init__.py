"""Surface inspection: learn a surface from good images alone, and find where other images differ.

The names below load on first use: importing this package does not load Pillow, FastAPI or scikit-learn.
"""

from typing import TYPE_CHECKING

from vwkde._runtime.exports import lazy_names

if TYPE_CHECKING:
    from vwkde.exceptions import FewImagesWarning, RepeatedImagesWarning, UnlikeImagesWarning
    from vwkde.inspection.data.errors import ImageError
    from vwkde.inspection.data.images import read_image
    from vwkde.inspection.data.synthetic import SURFACES, make_surfaces
    from vwkde.inspection.model.features.patches import PAPER_GRID
    from vwkde.inspection.model.files.container import ModelFileError
    from vwkde.inspection.model.inspection import Inspection
    from vwkde.inspection.model.inspector import SurfaceInspector

__all__ = [
    "PAPER_GRID",
    "SURFACES",
    "FewImagesWarning",
    "ImageError",
    "Inspection",
    "ModelFileError",
    "RepeatedImagesWarning",
    "SurfaceInspector",
    "UnlikeImagesWarning",
    "make_surfaces",
    "read_image",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "PAPER_GRID": "model.features.patches",
        "SURFACES": "data.synthetic",
        "FewImagesWarning": "model.calibration",
        "ImageError": "data.errors",
        "Inspection": "model.inspection",
        "ModelFileError": "model.files.container",
        "RepeatedImagesWarning": "model.measuring",
        "SurfaceInspector": "model.inspector",
        "UnlikeImagesWarning": "model.calibration",
        "make_surfaces": "data.synthetic",
        "read_image": "data.images",
    },
)
