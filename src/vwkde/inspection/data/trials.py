"""Which images of a data set to fit on and which to test; no image is used for both."""

from collections.abc import Mapping
from dataclasses import replace

from vwkde.inspection.data.arrays import fingerprint
from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.images import read_image
from vwkde.inspection.data.layouts import Item, Layout, LayoutError

_HALF = 0.5
"""Share of the good images to hold out if a data set has no good images to test."""


def without_model(layout: Layout, hold_out: float | None, seed: int) -> Layout:
    """Return what to fit on and what to test; if no good image would be tested, half of them are held out."""
    if hold_out is None and not _good_tests(layout):
        hold_out = _HALF
    return _checked(layout if hold_out is None else layout.divided(hold_out, seed))


def with_model(layout: Layout, learnt: Mapping[str, str | None], hold_out: float | None, seed: int) -> Layout:
    """Return what to test a model on. `learnt` maps the names of its good images to fingerprints, or to None.

    If the data set has no good images to test, the good images that the model did not learn are tested.
    """
    known = _Learnt(learnt)
    if hold_out is not None:
        layout = layout.divided(hold_out, seed)
        both = [item for item in _good_tests(layout) if known.has(item)]
    elif _good_tests(layout):
        both = [item for item in _good_tests(layout) if known.has(item, exactly=True)]
    else:
        both = []
        layout = _with_the_rest(layout, known)
    if both:
        raise LayoutError(
            f"{len(both)} of the good images to test were learnt ({both[0].name}). Hold out the same share with the "
            "same seed as for the fit, or give neither, or remove these images."
        )
    return _checked(layout)


def _with_the_rest(layout: Layout, known: "_Learnt") -> Layout:
    left = tuple(replace(item, defective=False) for item in layout.good if not known.has(item))
    if not left:
        raise LayoutError(
            "Every good image of this data set was learnt, so none is left to test. Hold out half of them in the fit, "
            "or evaluate without a model: then half of the good images are held out."
        )
    return replace(layout, good=(), test=(*left, *(item for item in layout.test if item.defective)))


class _Learnt:
    """The images that a model learnt, known by their pixels or, from an old model file, by their names."""

    def __init__(self, learnt: Mapping[str, str | None]) -> None:
        self._fingerprints = set(learnt.values()) - {None}
        self._names = [name for name, fingerprint in learnt.items() if fingerprint is None]

    def has(self, item: Item, exactly: bool = False) -> bool:
        """Return whether an image is one of them, or may be.

        Below another folder, a name may have more or fewer parts; with `exactly`, names must be equal.
        """
        if item.name in self._names if exactly else any(_may_be(item.name, name) for name in self._names):
            return True
        if not self._fingerprints:
            return False
        try:
            return fingerprint(read_image(item.path)) in self._fingerprints
        except ImageError:  # reported later, when the image is tested
            return False


def _may_be(one: str, other: str) -> bool:
    parts, others = one.split("/"), other.split("/")
    return parts[-len(others) :] == others[-len(parts) :]


def _checked(layout: Layout) -> Layout:
    if not layout.labelled:
        raise LayoutError(
            "An evaluation needs labels, but it is not known which images are defective. Give a data set with folders "
            "of good and of defective images, or use check."
        )
    return layout


def _good_tests(layout: Layout) -> list[Item]:
    return [item for item in layout.test if item.defective is False]
