"""Which images of a data set to fit on and which to test, so that none is both."""

from collections.abc import Mapping
from dataclasses import replace

from vwkde.inspection.data.arrays import fingerprint
from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.images import read_image
from vwkde.inspection.data.layouts import Item, Layout, LayoutError

_HALF = 0.5
"""Share of the good images that is held out where a data set has no good ones to test."""


def without_model(layout: Layout, hold_out: float | None, seed: int) -> Layout:
    """Return what to fit on and what to test; where no good image would be tested, half of them are held out."""
    if hold_out is None and not _good_tests(layout):
        hold_out = _HALF
    return _checked(layout if hold_out is None else layout.divided(hold_out, seed))


def with_model(layout: Layout, learnt: Mapping[str, str | None], hold_out: float | None, seed: int) -> Layout:
    """Return what to test a model on that learnt images of these names and, where they are known, fingerprints.

    Where the data set has no good images to test, those are tested that the model did not learn.
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
            f"{len(both)} of the good images to test were learnt ({both[0].name}): hold out the same share with the "
            "same seed as for the fit, or name neither, or take those images away."
        )
    return _checked(layout)


def _with_the_rest(layout: Layout, known: "_Learnt") -> Layout:
    left = tuple(replace(item, defective=False) for item in layout.good if not known.has(item))
    if not left:
        raise LayoutError(
            "Every good image of this data set was learnt, so that none is left to test. Hold out half of them in "
            "the fit, or leave the model out here, and half of the good images are held out."
        )
    return replace(layout, good=(), test=(*left, *(item for item in layout.test if item.defective)))


class _Learnt:
    """The images that a model learnt, by their pixels; by their names where the model does not know the pixels."""

    def __init__(self, learnt: Mapping[str, str | None]) -> None:
        self._fingerprints = set(learnt.values()) - {None}
        self._names = [name for name, fingerprint in learnt.items() if fingerprint is None]

    def has(self, item: Item, exactly: bool = False) -> bool:
        """Return whether an image is one of them, or may be.

        Below another folder its name may have more or less parts, unless names must agree exactly.
        """
        if item.name in self._names if exactly else any(_may_be(item.name, name) for name in self._names):
            return True
        if not self._fingerprints:
            return False
        try:
            return fingerprint(read_image(item.path)) in self._fingerprints
        except ImageError:  # it is reported when its turn to be tested comes
            return False


def _may_be(one: str, other: str) -> bool:
    parts, others = one.split("/"), other.split("/")
    return parts[-len(others) :] == others[-len(parts) :]


def _checked(layout: Layout) -> Layout:
    if not layout.labelled:
        raise LayoutError(
            "It is not known which images are defective: an evaluation needs labels. Give a data set with folders for "
            "good and for defective images, or use check."
        )
    return layout


def _good_tests(layout: Layout) -> list[Item]:
    return [item for item in layout.test if item.defective is False]
