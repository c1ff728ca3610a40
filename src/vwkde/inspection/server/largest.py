"""How large the images of clients may be."""

from vwkde.inspection.model.inspector import SurfaceInspector

_TIMES = 4
"""If a model takes images of any size: how many times the pixels of the size at which it compares them."""


def most_pixels(inspector: SurfaceInspector) -> int:
    """Return the maximum number of pixels of an image that a client may send."""
    height, width = inspector.image_shape
    return height * width * (_TIMES if inspector.accepted_shape is None else 1)
